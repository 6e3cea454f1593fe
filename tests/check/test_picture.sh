#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The picture of README.md can be made from the programs as they are, and is small.
set -euo pipefail
command -v "${CHROMIUM:-chromium}" >/dev/null || { echo 'chromium is missing: see bootstrap.sh'; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$GPULINK_SOURCE/docs/picture.sh" "$work/report.png"
for picture in "$work/report.png" "$GPULINK_SOURCE/docs/images/report.png"; do
    size=$(wc -c <"$picture")
    # Of nothing but a title there are few bytes.
    [ "$size" -gt 40000 ] && [ "$size" -lt 200000 ] || { echo "$picture: $size bytes"; exit 1; }
    [ "$(od -An -tx1 -j16 -N4 "$picture" | tr -d ' ')" = 000003c0 ] || { echo "$picture is not 960 wide"; exit 1; }
done
