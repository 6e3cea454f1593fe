#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Manual pages, as the build made them, are well formed, and name every option that the programs have and every field.
set -euo pipefail
command -v mandoc >/dev/null || { echo 'mandoc is missing: see bootstrap.sh'; exit 1; }
cd "$GPULINK_BUILD/man"
for page in gpulink-plan.1 gpulink-calibrate.1 gpulink-model.5 gpulink-calibration.5 gpulink-prices.5 gpulink-csv.5; do
    # Whether other pages are installed on this machine is not this page's fault.
    lint=$(mandoc -Tlint -Wstyle "$page" | grep -v 'referenced manual not found' || true)
    if [ -n "$lint" ]; then
        echo "$lint"
        exit 1
    fi
done
status=0
# has PAGE WORD...: reads the page once for all of them.
has() {
    local page=$1 text word
    text=$(mandoc -Tutf8 "$page" | col -b)
    shift
    [ $# -gt 0 ] || { echo "nothing to look for in $page"; status=1; }
    for word in "$@"; do
        grep -qE -- "(^|[^[:alnum:]_-])$word([^[:alnum:]_-]|\$)" <<<"$text" || { echo "$page lacks $word"; status=1; }
    done
}
for program in gpulink-plan gpulink-calibrate; do
    for verb in $("$GPULINK_BIN/$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p'); do
        mapfile -t options < <("$GPULINK_BIN/$program" "$verb" --help | sed -n 's/^  \(-., \|    \)\(--[a-z0-9-]*\).*/\2/p' | sort -u)
        has "$program.1" "$verb" "${options[@]}"
    done
done
# fields SCHEMA: the first column.
fields() {
    "$GPULINK_BIN/gpulink-plan" schema "$1" --format markdown | sed -n '5,$s/^| \([^ ]*\) |.*/\1/p'
}
has gpulink-model.5 $(fields model) $(fields cluster) $(fields gpu) $(fields link)
has gpulink-prices.5 $(fields prices)
has gpulink-csv.5 $(fields csv | sort -u) $(fields runs)
has gpulink-calibration.5 run curve sample compute overlap topology
exit "$status"
