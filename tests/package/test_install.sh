#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed works under any prefix, from any folder, also when the prefix is moved; and from nowhere else.
source "$GPULINK_SOURCE/tests/package/support.sh"
unset GPULINK_DATA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$GPULINK_BUILD" --prefix "$work/first" >/dev/null
cd /
mkdir "$work/other place"
mv "$work/first" "$work/other place/moved"
prefix="$work/other place/moved"
share=$prefix/share/gpulink

for file in bin/gpulink-plan bin/gpulink-calibrate share/gpulink/{models/llama-1.1b-ddp.yaml,calibrations/h200-nvlink.db} \
    share/gpulink/{gpus/h200-sxm.yaml,links/nvlink4.yaml,clusters/hgx-h100-16-ndr.yaml,prices/standard.yaml} \
    share/gpulink/{validation/conventions.yaml,validation/h200-pair.csv,expected/links.csv,expected/gpus.csv} \
    share/man/man1/{gpulink-plan,gpulink-calibrate}.1 share/man/man5/gpulink-{model,calibration,prices,csv}.5 \
    share/bash-completion/completions/gpulink-{plan,calibrate} share/zsh/site-functions/_gpulink-{plan,calibrate} \
    share/fish/vendor_completions.d/gpulink-{plan,calibrate}.fish; do
    [ -s "$prefix/$file" ] || die "not installed: $file"
done
[ "$(find "$share/models" -name '*.yaml' | wc -l)" -eq "$(find "$GPULINK_SOURCE/models" -name '*.yaml' | wc -l)" ] ||
    die 'not all models are installed'

plan=$prefix/bin/gpulink-plan calibrate=$prefix/bin/gpulink-calibrate
check_example "$plan" "$share/$example_model" --cluster "$example_cluster"
grep -q 'this project' <<<"$("$plan" validate --table accuracy)" || die 'validate has no runs'
grep -q nvlink4 <<<"$("$calibrate" doctor --db "$share/calibrations/h200-nvlink.db" --table expected)" || die 'doctor knows no links'
# A link to the program is not where its data is.
ln -s "$plan" "$work/linked"
check_example "$work/linked" "$share/$example_model" --cluster "$example_cluster"

# Without its data the program says so: it was not another copy that answered until now.
mv "$share" "$work/data"
status=0
"$plan" "$work/data/$example_model" --cluster "$example_cluster" >/dev/null 2>"$work/err" || status=$?
[ "$status" -eq 3 ] || { cat "$work/err"; die "status $status without data"; }
GPULINK_DATA=$work/data check_example "$plan" "$work/data/$example_model" --cluster "$example_cluster"
echo 'installed, moved, linked and with GPULINK_DATA: the same answer'
