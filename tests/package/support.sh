# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What tests of packages share.
set -euo pipefail
: "${GPULINK_BUILD:?build folder}" "${GPULINK_SOURCE:?source folder}"
readonly example_model=models/llama-1.1b-ddp.yaml example_cluster=h200-nvlink

die() {
    printf '%s\n' "$*"
    exit 1
}

# Which of these programs is missing is said together with how to get it.
need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || die "$tool is missing: see bootstrap.sh"
    done
}

# What the README shows of its first example.
readme_example() {
    sed -n "/^<!-- output [0-9]*: gpulink-plan models\/llama-1.1b-ddp.yaml --cluster h200-nvlink -->/,/^\`\`\`\$/p" \
        "$GPULINK_SOURCE/README.md" | sed '1,2d;$d'
}

# check_example COMMAND...: prints, as its first lines, what the README shows.
check_example() {
    local shown
    shown=$(readme_example)
    [ "$(wc -l <<<"$shown")" -ge 10 ] || die 'the example is not found in README.md'
    # The whole output is read: a closed pipe would be an error of the program.
    diff -u --label README.md --label "$*" <(echo "$shown") <("$@" | sed -n "1,$(wc -l <<<"$shown")p")
}
