#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The table "Measured again" of docs/models/network.md is what a second and a third session say of the bundled curves.
set -euo pipefail
: "${GPULINK_BIN:?}" "${GPULINK_BUILD:?}" "${GPULINK_SOURCE:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for name in nvlink nvlink-third host-memory socket; do
    "$GPULINK_BIN/gpulink-calibrate" import -q --db "$name.db" --label again --gpu 'NVIDIA H200' \
        "$GPULINK_SOURCE/tests/gpu/measured/$name.csv"
    "$GPULINK_BUILD/tests/network_check" again "h200-${name%-third}-bf16" "$name.db" | awk '
        function part(x) { return x >= 9.95 ? sprintf("%.0f", x) : sprintf("%g", x) }
        match($0, /^ +/) && / points / {
            sub(/^ +/, ""); split($0, half, / +[0-9]+ points /)
            match($0, /[0-9]+ points/); points = substr($0, RSTART, RLENGTH - 7)
            match($0, /median +[0-9.]+/); median = substr($0, RSTART + 6, RLENGTH - 6) + 0
            match($0, /P90 +[0-9.]+/); p90 = substr($0, RSTART + 3, RLENGTH - 3) + 0
            match($0, /holds +[0-9]+/); held = substr($0, RSTART + 5, RLENGTH - 5) + 0
            printf "| %s | %d | %s %% | %s %% | %d %% |\n", half[1], points, part(median), part(p90), held
        }'
done >found
sed -n '/^### Measured again/,/^## /p' "$GPULINK_SOURCE/docs/models/network.md" |
    sed -nE 's/^\| [A-Za-z ]*\| ((below|1 to|above).*)$/| \1/p' >stated
[ "$(wc -l <stated)" -eq 12 ]
diff stated found && echo 'the table holds'
