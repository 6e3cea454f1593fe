#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Golden tests: run.sh [--update] [NAME …]. NAME.cmd holds a command line, NAME.out what it printed
# when somebody last looked at it and found it right. Fails with a diff; --update renews.
set -euo pipefail
unset COLUMNS
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${GPULINK_SOURCE:=$(cd "$here/../.." && pwd)}" "${GPULINK_BIN:=$GPULINK_SOURCE/build/dev/bin}"
export PATH=$GPULINK_BIN:$PATH GPULINK_DATA='' NO_COLOR=1 LC_ALL=${GPULINK_LOCALE:-C.UTF-8}

update=false
if [ "${1-}" = --update ]; then
    update=true
    shift
fi
names=("$@")
if [ "${#names[@]}" -eq 0 ]; then
    for file in "$here"/*.cmd; do
        name=${file##*/}
        names+=("${name%.cmd}")
    done
fi

# Compilers and options differ in the last digits of a double: figures of full precision are compared
# to nine digits, everything else to the letter.
rounded() {
    perl -pe 's/(?<![\w.])-?\d[\d.]{9,}(?:e[-+]?\d+)?/sprintf("%.9g", $&)/ge' "$1"
}

failed=0
cd "$GPULINK_SOURCE"
for name in "${names[@]}"; do
    actual=$(mktemp)
    bash -euo pipefail "$here/$name.cmd" >"$actual" || { echo "golden/$name: status $?"; failed=1; }
    if $update; then
        cp "$actual" "$here/$name.out"
    elif ! diff -u --label "$name.out (expected)" --label 'printed now' \
        <(rounded "$here/$name.out") <(rounded "$actual"); then
        echo "golden/$name: differs; if the new output is right: tests/golden/run.sh --update $name"
        failed=1
    fi
    rm -f "$actual"
done
exit "$failed"
