#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a plan of the 405B description costs: wall time, largest resident set, instructions; beside a
# program that does nothing; then rates of the core: layouts evaluated, steps simulated. For people to compare before and after a change: no test, since a busy
# machine would fail it. bench.sh [FOLDER OF PROGRAMS]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${1:-$root/build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
cc -std=c11 -O2 -D_GNU_SOURCE -o "$work/measure" tests/bench/measure.c
printf 'int main(void) { return 0; }\n' >"$work/empty.c"
cc -O2 -o "$work/empty" "$work/empty.c"

plan=("$bin/gpulink-plan" models/llama3-405b.yaml --cluster hgx-h100-16-ndr)
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-34s %12s %12s %12s %16s\n' program 'median' 'fastest' 'max RSS' instructions
report() {
    local name=$1 counted='no valgrind'
    shift
    ! command -v valgrind >/dev/null || counted=$(instructions "$@")
    # shellcheck disable=SC2046,SC2183 # measure prints three numbers
    printf '%-34s %9.2f ms %9.2f ms %8.1f MiB %16s\n' "$name" $("$work/measure" 21 "$@") "$counted"
}
report 'empty main' "$work/empty"
report 'gpulink-plan --version' "$bin/gpulink-plan" --version
report 'gpulink-plan 405B' "${plan[@]}"
report 'gpulink-plan 405B, JSON' "${plan[@]}" --format json
options=()
for cluster in hgx-h100-16-ndr hgx-h100-16-ndr-2to1 hgx-h100-16-ndr-4to1 hgx-h200-16-ndr; do
    options+=(--cluster "$cluster")
done
report 'compare four with cost, HTML' "$bin/gpulink-plan" compare models/llama3-8b.yaml "${options[@]}" \
    --set training.tokens=15e12 --format html --output "$work/four.html"
report 'gpulink-plan 1.1B, measured' "$bin/gpulink-plan" models/llama-1.1b-ddp.yaml --cluster h200-nvlink

# The core's rates: the programs' build folder is the one above bin.
cmake --build "$bin/.." --target gpulink-rates >/dev/null
rates=$bin/gpulink-rates
for case in 'models/llama3-405b.yaml hgx-h100-16-ndr' 'models/llama3-70b.yaml hgx-h100-16-ndr' \
    'models/mixtral-8x7b.yaml hgx-h100-16-ndr' 'models/llama3-8b.yaml h200-nvlink'; do
    printf '\n%s\n' "$case"
    # shellcheck disable=SC2086 # a case is two words
    "$rates" evaluate $case 20000
    ! command -v valgrind >/dev/null || {
        # shellcheck disable=SC2086 # as above
        counted=$(($(instructions "$rates" evaluate $case 1500) - $(instructions "$rates" evaluate $case 500)))
        printf '%-44s %10d instructions, three times and drawing it\n' '  a layout' $((counted / 1000))
    }
done
printf '\n'
"$rates" simulate 50
"$rates" plan models/llama3-405b.yaml hgx-h100-16-ndr 100
"$rates" plan models/llama-1.1b-ddp.yaml h200-nvlink 100
