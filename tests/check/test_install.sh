#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed works from another folder, with the data beside it, under any prefix.
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$GPULINK_BUILD" --prefix "$prefix" >/dev/null
cd /
# Only the installed copy: a binary that is moved with its prefix still finds its data.
mv "$prefix" "$prefix.moved"
trap 'rm -rf "$prefix.moved"' EXIT
share=$prefix.moved/share/gpulink
for file in "$share"/models/llama-1.1b-ddp.yaml "$share"/calibrations/h200-nvlink.db \
    "$share"/gpus/h200-sxm.yaml "$share"/links/nvlink4.yaml "$share"/clusters/hgx-h100-16-ndr.yaml "$share"/prices/standard.yaml \
    "$share"/validation/conventions.yaml "$share"/validation/h200-pair.csv \
    "$prefix.moved"/share/man/man1/gpulink-plan.1 "$prefix.moved"/bin/gpulink-calibrate; do
    [ -s "$file" ] || { echo "not installed: $file"; exit 1; }
done
"$prefix.moved/bin/gpulink-plan" "$share/models/llama-1.1b-ddp.yaml" --cluster h200-nvlink -v 2>&1 |
    grep 'Llama 1.1B'
"$prefix.moved/bin/gpulink-plan" validate --table accuracy | grep 'this project'
