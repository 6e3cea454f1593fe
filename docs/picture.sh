#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the picture of README.md, the charts of a comparison with costs, from the programs as they are now:
#   docs/picture.sh docs/images/report.png
# Needs Chromium (CHROMIUM names another program of it), and a build that found Chart.js.
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
plan=${GPULINK_BIN:-$source_folder/build/dev/bin}/gpulink-plan
picture=$(realpath -m "${1:?usage: docs/picture.sh FILE.png}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source_folder"
export GPULINK_DATA=''

"$plan" compare models/llama3-8b.yaml --cluster pcie5-switch-16 --cluster hgx-h100-16-ndr-4to1 --cluster hgx-h100-16-ndr \
    --cluster hgx-h200-16-ndr --quiet --output "$folder/report.html"
grep -q '<canvas' "$folder/report.html" || { echo 'the page has no charts: build with libjs-chart.js' >&2; exit 1; }
# The charts alone, below the title: the words are in README.md.
sed -i '/^<section class="answers"/,/^<\/section>/d' "$folder/report.html"
"${CHROMIUM:-chromium}" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
    --user-data-dir="$folder/profile" --window-size=960,1075 --virtual-time-budget=5000 \
    --screenshot="$picture" "file://$folder/report.html" 2>"$folder/messages" || { cat "$folder/messages" >&2; exit 1; }
echo "$picture: $(wc -c <"$picture") bytes"
