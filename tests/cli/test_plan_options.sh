#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the options do, on answers that work.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama-1.1b-ddp.yaml
cluster=hgx-h100-16-ndr

lines() {
    "$@" 2>/dev/null | wc -l
}

# The default verb, and options before the file.
expect 0 'Llama 1\.1B' gpulink-plan "$model" --cluster "$cluster"
expect 0 'Llama 1\.1B' gpulink-plan --cluster "$cluster" "$model"
expect 0 'Llama 1\.1B' gpulink-plan plan "$model" --cluster="$cluster"
expect 0 'Llama 1\.1B' bash -c "gpulink-plan - --cluster $cluster <'$model'"
expect 0 'Llama 1\.1B' gpulink-plan "$model" --cluster "$GPULINK_SOURCE/data/clusters/$cluster.yaml"

# Help and version go to standard output.
expect 0 '^gpulink-plan [0-9]+\.[0-9]+\.[0-9]+' gpulink-plan --version
expect 0 'GSL' gpulink-plan --version
expect 0 'explain' gpulink-plan --help
expect 0 'Usage: gpulink-plan COMMAND' gpulink-plan help
expect 0 'gpulink-plan explain MODEL' gpulink-plan help explain
for verb in plan explain schema check; do
    expect 0 "gpulink-plan $verb" gpulink-plan "$verb" --help
done

# Formats.
expect 0 '"schema_version": 1' gpulink-plan "$model" --cluster "$cluster" --format json
expect 0 '^scenario,dimension,operation,phase,collective,group_ranks,nodes,' \
    gpulink-plan "$model" --cluster "$cluster" --format csv
expect 0 '^\|' gpulink-plan "$model" --cluster "$cluster" --format markdown
for table in traffic step required_bandwidth memory network compute summary model parallel cluster; do
    expect 0 '^scenario,' gpulink-plan "$model" --cluster "$cluster" --format csv --table "$table"
done

# The name of a file says its format, unless the command line does.
for kind in html:html csv:scenario json:schema_version md:'## '; do
    gpulink-plan "$model" --cluster "$cluster" -q --output "answer.${kind%%:*}"
    expect 0 "${kind#*:}" cat "answer.${kind%%:*}"
done
gpulink-plan "$model" --cluster "$cluster" -q --format table --output answer.csv
expect 0 '^Step  ' cat answer.csv
# What is warned of is said once where the summary alone is shown, too: bytes for bits, by --set and by --sweep.
doubts() { gpulink-plan "$model" --cluster "$cluster" "$@" 2>&1 | grep -c 'a NIC of 400 GB/s is planned' || :; }
expect 0 '^1$' doubts --table summary --set 'cluster.inter_node.bandwidth=400 GB/s'
expect 0 '^1$' doubts --sweep 'cluster.inter_node.bandwidth=50 GB/s,400 GB/s' --sweep batch.global=16,32
expect 0 '^0$' doubts --sweep 'cluster.inter_node.bandwidth=50 GB/s,400 GB/s' -q
# An ending that is no format gets a table, and a warning; none where --format, -q or the ending says text.
promised() { gpulink-plan "$model" --cluster "$cluster" "$@" 2>&1 | grep -c "the ending '.pdf' is no format" || :; }
expect 0 '^1$' promised --output answer.pdf
expect 0 '^0$' promised --output answer.pdf -q
expect 0 '^0$' promised --output answer.pdf --format csv
expect 0 '^0$' promised --output answer.txt
# Whose an option is that this command has not, and a command that does not come first.
expect 2 "'gpulink-plan search' has --gpus" gpulink-plan "$model" --cluster "$cluster" --gpus 32
expect 2 "'compare' is a command and comes first" gpulink-plan --cluster "$cluster" compare "$model"
expect 0 'GPUs are idle: gpulink-plan search' gpulink-plan "$models/llama3-70b.yaml" --cluster "$cluster" \
    --set parallel.tp=1 --set parallel.pp=1 --set parallel.dp=1 --set parallel.sequence_parallel=false --set batch.global=8 \
    --set parallel.schedule=1f1b --set parallel.virtual_stages=1

# No line for people is wider than 100 columns, and none has escapes outside of a terminal.
gpulink-plan "$model" --cluster "$cluster" >page
expect 1 '' grep -nE '^.{101,}' page
expect 1 '' grep -n $'\033' page
COLUMNS=90 gpulink-plan "$model" --cluster "$cluster" >page
expect 1 '' grep -nE '^.{91,}' page
expect 0 '^               [a-z0-9]' cat page
COLUMNS=140 gpulink-plan "$models/llama3-70b.yaml" --cluster "$cluster" >page
expect 0 '^.{101,}' cat page
# A terminal says its width itself.
if command -v script >/dev/null; then
    script -qec "stty cols 92; gpulink-plan '$model' --cluster $cluster --color never" /dev/null |
        tr -d '\r' >page
    expect 1 '' grep -nE '^.{93,}' page
fi
expect 0 $'\033' gpulink-plan "$model" --cluster "$cluster" --color always

# A tier that no link makes fast enough: what stalls compute, and the switches.
expect 0 '^               tp stalls compute for [0-9.]+ s: lower parallel\.tp, or let it hide \(overlap\.tp: true\)$' \
    gpulink-plan "$models/llama3-70b.yaml" --cluster "$cluster"
gpulink-plan "$models/llama3-70b.yaml" --cluster "$cluster" --set overlap.tp=true >page
expect 1 '' grep 'let it hide (overlap.tp' page
gpulink-plan "$model" --cluster "$cluster" >page
expect 1 '' grep 'stalls compute' page

# Settings and sweeps.
expect 0 'dp 4' gpulink-plan "$model" --cluster "$cluster" --set parallel.dp=4 --set batch.global=32
expect 0 'batch_micro' gpulink-plan "$model" --cluster "$cluster" --sweep batch.micro=1,2,4 \
    --format csv --table summary
checks=$((checks + 1))
count=$(lines gpulink-plan "$model" --cluster "$cluster" --sweep batch.micro=1,2,4 \
    --sweep 'parallel.zero=0,1' --format csv --table summary)
[ "$count" -eq 7 ] || fail "six scenarios and a header, not $count lines"
# Commas inside braces belong to the value.
expect 0 'gradient: 25 MiB, first: 1 MiB' gpulink-plan "$model" --cluster "$cluster" \
    --sweep 'buckets={gradient: 25 MiB, first: 1 MiB},{gradient: 200 MiB, first: 1 MiB}' \
    --format csv --table summary
# What cannot be planned is listed with the reason, whatever is printed.
crossed=(gpulink-plan "$model" --cluster "$cluster" --sweep 'parallel.tp=1,3' -q)
expect 0 '^parallel\.tp=3: IMPOSSIBLE; parallel\.tp: heads .* must be a multiple of tp .3.' "${crossed[@]}"
holds '^ +3 *$'
expect 0 ',3,"16 x HGX H100[^"]*",,,,,,,,,,,,,,,,"parallel.tp: heads .*must be a multiple of tp .3.' "${crossed[@]}" --format csv --table summary
expect 0 'IMPOSSIBLE.*; parallel.tp: heads' "${crossed[@]}" --format html
expect 0 '"impossible": "parallel.tp: heads' "${crossed[@]}" --format json
holds 'parallel.tp=3 cannot be planned: parallel.tp: heads'
expect 1 '' "${crossed[@]}" --strict
expect 3 'must be a multiple of tp' gpulink-plan "$model" --cluster "$cluster" --sweep parallel.tp=3,5
expect 3 'no such cluster' gpulink-plan "$model" --cluster "$cluster" --cluster nowhere --sweep cluster.nodes=8,16

# Side by side.
expect 0 'Side by side' gpulink-plan "$model" --cluster "$cluster" --cluster l40s-16-roce
checks=$((checks + 1))
count=$(lines gpulink-plan "$model" --cluster "$cluster" --cluster l40s-16-roce --format csv \
    --table summary)
[ "$count" -eq 3 ] || fail "two scenarios and a header, not $count lines"

# --output writes the same bytes as standard output.
gpulink-plan "$model" --cluster "$cluster" --format json >a.json
gpulink-plan "$model" --cluster "$cluster" --format json --output b.json
expect 0 '' cmp a.json b.json

# --strict: an answer of no is status 1 and still an answer.
expect 1 '' gpulink-plan "$models/llama3-405b.yaml" --cluster "$cluster" --strict \
    --set parallel.tp=1 --set parallel.pp=1 --set parallel.dp=128 --set batch.global=128
expect 0 'DOES NOT FIT' gpulink-plan "$models/llama3-405b.yaml" --cluster "$cluster" \
    --set parallel.tp=1 --set parallel.pp=1 --set parallel.dp=128 --set batch.global=128

# -q says nothing; -v says what was read.
gpulink-plan "$model" --cluster "$cluster" -q --format csv >out 2>messages
expect 1 '' grep . messages
gpulink-plan "$model" --cluster "$cluster" -v >out 2>messages
expect 0 'GPUs' cat messages

# explain: lists, a number, a name, a prefix.
expect 0 'traffic\.1' gpulink-plan explain "$model" --cluster "$cluster"
expect 0 'size_bytes' gpulink-plan explain "$model" --cluster "$cluster" 1
expect 0 'evidence: ' gpulink-plan explain "$model" --cluster "$cluster" step.time_s
gpulink-plan explain "$model" --cluster "$cluster" >lines.txt
# shellcheck disable=SC2013 # names have no blanks
for name in $(grep -oE '(traffic\.[0-9]+|(step|memory|required_bandwidth|compute)\.[a-z_0-9]+)' lines.txt); do
    expect 0 'evidence: ' gpulink-plan explain "$model" --cluster "$cluster" "$name"
done

expect 0 'GEMM efficiency of [0-9]+ %' gpulink-plan explain "$model" --cluster "$cluster" compute.2

# One log that does not tell its transport stops nothing; several known ones do.
logs=$GPULINK_SOURCE/tests/fixtures/nccl
gpulink-calibrate import -q "$logs/nvl_all_reduce_g2.txt" --db lab.db --transport nvlink
gpulink-calibrate import -q "$logs/check_all_reduce.txt" --db lab.db
expect 0 'inside a node of an unknown transport: [0-9]+, left out beside those over nvlink' \
    gpulink-plan "$model" --cluster lab.db
gpulink-calibrate import -q "$logs/check_all_reduce.txt" --db two.db --transport shm
gpulink-calibrate import -q "$logs/nvl_all_reduce_g2.txt" --db two.db --transport nvlink
expect 3 'several transports inside a node \(nvlink, shm\)' gpulink-plan "$model" --cluster two.db

# Costs: a list that is not there, a site without prices, a part without a price.
sed 's/^prices:.*//' "$GPULINK_SOURCE/data/clusters/$cluster.yaml" >priced.yaml
printf 'prices: nonsense\n' >>priced.yaml
expect 3 "has no price list 'nonsense'" gpulink-plan "$model" --cluster priced.yaml
sed -i 's/^prices:.*//' priced.yaml
printf '  site: {pue: 1.3}\n' >>priced.yaml
expect 0 'not used without a price list: add prices: standard' gpulink-plan "$model" --cluster priced.yaml
expect 0 'no cost is planned: the cluster names no price list' gpulink-plan "$model" --cluster priced.yaml --table cost --format json
expect 0 '"cost": null' gpulink-plan "$model" --cluster priced.yaml --format json
expect 0 'no price for gpu.l40s' gpulink-plan "$models/llama3-70b.yaml" --cluster l40s-16-roce
expect 0 '"capex": null' gpulink-plan "$models/llama3-70b.yaml" --cluster l40s-16-roce --format json
expect 0 '"per_run": [0-9]' gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --set training.tokens=1e12 --format json
expect 0 'its tokens are not stated' gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr
for table in cost bom staircase cost_structure cost_uncertainty; do
    expect 0 '^scenario,' gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --format csv --table "$table" -q
done
printf 'prices: {parts: {nic.ib-ndr: 990}}\n' >quotes.yaml
expect 0 'quotes.yaml: ok' gpulink-plan check quotes.yaml
printf 'prices: {parts: {nik.ib-ndr: 990}}\n' >quotes.yaml
expect 3 "no such kind of part; did you mean 'nic'" gpulink-plan check quotes.yaml

# check and schema.
expect 0 ': ok$' gpulink-plan check "$GPULINK_SOURCE"/models/*.yaml "$GPULINK_SOURCE"/data/clusters/*.yaml
expect 0 ': ok$' gpulink-plan check "$GPULINK_SOURCE"/data/gpus/*.yaml "$GPULINK_SOURCE"/data/links/*.yaml
printf 'model: {layers: 0}\n' >bad.yaml
gpulink-plan check bad.yaml "$model" >answers 2>messages && fail 'check of a bad file succeeds'
expect 0 'llama-1.1b-ddp.yaml: ok' cat answers
expect 0 'parallel\.tp' gpulink-plan schema model
expect 0 'required_busbw_bytes_per_s' gpulink-plan schema csv
for name in model cluster gpu link prices csv; do
    expect 0 '^\|' gpulink-plan schema "$name" --format markdown
done

# Sweeps of several keys keep to the width; what does not differ is not a column.
for last in '' parallel.zero=0,1; do
    gpulink-plan "$models/bloom-176b.yaml" --cluster "$cluster" --sweep batch.micro=1,2 \
        --sweep parallel.recompute=none,full ${last:+--sweep "$last"} >page
    expect 1 '' grep -nE '^.{101,}' page
    expect 0 'recompute' cat page
done
# Last words that are the same do not tell two keys apart.
gpulink-plan "$model" --cluster "$cluster" --sweep overlap.dp=true,false --sweep parallel.dp=1,2 >page
expect 0 'overlap\.dp  parallel\.dp' cat page
gpulink-plan "$models/llama-8b-16l-tp.yaml" --cluster "$cluster" --sweep batch.micro=1,2 >page
expect 1 '' grep 'Between' page

# Echoes of the input are for machines, and --table says so.
for table in model parallel training cluster; do
    expect 2 "--table $table .*--format csv" gpulink-plan "$model" --cluster "$cluster" --table "$table"
done
