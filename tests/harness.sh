# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What scripts that try the programs share: an empty temporary folder, the programs first in PATH, failures counted.
unset COLUMNS
: "${GPULINK_BIN:?folder of the built programs}" "${GPULINK_SOURCE:?source folder}"
PATH=$GPULINK_BIN:$PATH
work=$(mktemp -d)
cd "$work" || exit 1
failures=0 checks=0

finish() {
    local status=$?
    cd /
    rm -rf "$work"
    printf '%d checks, %d failed\n' "$checks" "$failures"
    [ "$status" -eq 0 ] || exit "$status"
    [ "$failures" -eq 0 ] || exit 1
}
trap finish EXIT

# fail WORDS...: says so, with what the last command wrote, and goes on.
fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$*"
    [ ! -e out ] || sed 's/^/    out| /' out | head -n 15
    [ ! -e err ] || sed 's/^/    err| /' err | head -n 15
}
