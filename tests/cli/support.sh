# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What every script here sources.
set -euo pipefail
source "$GPULINK_SOURCE/tests/harness.sh"
# shellcheck disable=SC2034 # for the scripts that source this
models=$GPULINK_SOURCE/models

# runs STATUS COMMAND...: the exit status must be that, an error leaves standard output empty, no sanitizer complains.
runs() {
    local status=$1 actual=0
    shift
    checks=$((checks + 1))
    "$@" >out 2>err </dev/null || actual=$?
    if [ "$actual" -ne "$status" ]; then
        fail "status $actual instead of $status: $*"
    elif [ "$status" -ge 2 ] && [ -s out ]; then
        fail "an error, and yet something on standard output: $*"
    elif grep -Eq 'Sanitizer|runtime error' err; then
        fail "sanitizer: $*"
    else
        return 0
    fi
    return 1
}

# expect STATUS PATTERN COMMAND...: besides, a line of standard error (of standard output when nothing went wrong)
# must match the extended regular expression (empty: anything).
expect() {
    local status=$1 pattern=$2 where=err
    shift 2
    [ "$status" -ne 0 ] || where=out
    if runs "$status" "$@" && [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$where"; then
        fail "std$where has no '$pattern': $*"
    fi
}

# holds PATTERN: so does what the last command answered.
holds() {
    checks=$((checks + 1))
    grep -Eq -- "$1" out || fail "stdout has no '$1'"
}

# says STATUS WORDS COMMAND...: besides, either of them holds the words as they are (empty: anything).
says() {
    local status=$1 words=$2
    shift 2
    if runs "$status" "$@" && [ -n "$words" ] && ! grep -Fq -- "$words" out err; then
        fail "it does not say '$words': $*"
    fi
}

# Writes a description with changed lines: variant FILE 's/old/new/' …
variant() {
    local file=$1 script
    shift
    # shellcheck disable=SC2154 # the script says which
    cp "$base" "$file"
    for script in "$@"; do
        sed -i "$script" "$file"
        if cmp -s "$base" "$file"; then
            : >out; : >err
            fail "the change '$script' changes nothing"
        fi
    done
}
