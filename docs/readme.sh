#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Prints README.md (or another page) with its examples of output as the programs print them now:
#   docs/readme.sh >README.new && mv README.new README.md
#   docs/readme.sh docs/acceptance.md >page.new && mv page.new docs/acceptance.md
# A block follows a line <!-- output N: COMMAND --> and holds the first N lines of the output.
set -euo pipefail
unset COLUMNS
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=${GPULINK_BIN:-$source_folder/build/dev/bin}:$PATH GPULINK_DATA='' NO_COLOR=1 LC_ALL=C.UTF-8
cd "$source_folder"
inside=false
while IFS= read -r line <&3; do
    if $inside && [ "$line" != '```' ]; then
        continue
    fi
    inside=false
    printf '%s\n' "$line"
    if [[ $line =~ ^'<!-- output '([0-9]+)': '(.*)' -->'$ ]]; then
        count=${BASH_REMATCH[1]} command=${BASH_REMATCH[2]}
        IFS= read -r line <&3
        printf '%s\n' "$line"
        output=$(bash -euo pipefail -c "$command")
        head -n "$count" <<<"$output"
        inside=true
    fi
done 3<"${1:-README.md}"
