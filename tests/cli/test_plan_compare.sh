#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# compare: what it answers, when the answer is no, and what it refuses.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama-1.1b-ddp.yaml
pair=(--cluster h200-nvlink --cluster h200-host-memory)

# In words and in tables.
expect 0 '^1  h200-nvlink .1 x 2 GPUs.: fastest' gpulink-plan compare "$model" "${pair[@]}"
expect 0 '2 is within 5.0 % of 1: for this work what 1 has more is not needed' \
    gpulink-plan compare "$model" "${pair[@]}"
expect 0 '2 comes within 1.0 % of 1 with bandwidth inside a node' \
    gpulink-plan compare "$model" "${pair[@]}" --within 1%
expect 0 'compression of gradients .*; or sequences of a step' \
    gpulink-plan compare "$model" "${pair[@]}" --cluster h200-socket
expect 0 '^1  2 +100 %' gpulink-plan compare "$model" "${pair[@]}" --table probability
expect 0 '^intra_node.bandwidth .* -0\.0' gpulink-plan "$model" --cluster h200-host-memory --table sensitivity
expect 0 '^intra_node.bandwidth .*spare' gpulink-plan "$model" --cluster h200-nvlink --table break_even

# CSV has a row for each option; JSON what the contract says.
gpulink-plan compare "$model" "${pair[@]}" --format csv >out 2>err
checks=$((checks + 1))
[ "$(wc -l <out)" -eq 3 ] && grep -q '^scenario,option,cluster,' <<<"$(head -n 1 out)" || fail 'CSV is not a row for each option'
expect 0 '"probability_a_faster_frac": 1' gpulink-plan compare "$model" "${pair[@]}" --format json
expect 0 '"break_even": \[' gpulink-plan compare "$model" "${pair[@]}" --format json
expect 0 ',1,h200-nvlink,intra_node.bandwidth,B/s,' gpulink-plan compare "$model" "${pair[@]}" -f csv -t break_even
expect 0 'on h200-nvlink,intra_node.bandwidth,B/s,' gpulink-plan compare "$model" "${pair[@]}" -f csv -t sensitivity
expect 0 '' gpulink-plan compare "$model" "${pair[@]}" -f csv -t traffic

# The same seed gives the same answer.
gpulink-plan compare "$model" "${pair[@]}" --seed 7 -f json >a.json
gpulink-plan compare "$model" "${pair[@]}" --seed 7 -f json >b.json
checks=$((checks + 1))
cmp -s a.json b.json || fail 'the same seed gives another answer'

# The answer is no: and what would change it.
expect 1 '' gpulink-plan compare "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster l40s-16-roce
grep -q 'DOES NOT FIT' out && grep -q 'fits with parallel.zero=3' out || fail 'not said what would make it fit'
# … and what has no answer is compared with nothing, in words and in figures.
none() {
    checks=$((checks + 1))
    ! grep -Eq -- "$1" out || fail "an option without an answer is compared: $1"
}
none '^A  B|P\(A|slower|^2  (intra|inter)|option 2'
expect 1 '' gpulink-plan compare "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster hgx-h100-16-ndr-4to1 \
    --set parallel.zero=0 --set parallel.pp=1 --set parallel.schedule=1f1b --set parallel.virtual_stages=1 --set parallel.dp=16
none 'What each costs|pays for itself|is cheapest|^A  B'
expect 1 '' gpulink-plan compare "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster l40s-16-roce \
    --cluster hgx-h100-16-ndr-4to1 -f json
sed -n '/"probability": \[/,/\]/p' out | grep -c '"option_a"' >pairs
checks=$((checks + 1))
[ "$(cat pairs)" -eq 1 ] || fail 'pairs of options that have no answer'
sed -n '/"options": \[/,/\]/p' out >rows
for key in step_time_s slower_frac fastest_probability_frac per_million_tokens; do
    checks=$((checks + 1))
    [ "$(grep -c "\"$key\": null" rows)" -eq 1 ] || fail "$key of an option without an answer"
done
expect 0 '' grep -q '"note": "needs 53' rows
# Every option has the same keys, and a null its reason.
keys() {
    awk '/^      "name"/ { n++ } /^      "[a-z_]+":/ { sub(/:.*/, ""); print > "keys-" n }' "$1"
}
gpulink-plan compare "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster h200-nvlink -f json >answer.json || true
keys answer.json
expect 0 '' cmp keys-1 keys-2
expect 0 '' grep -q 'h200-nvlink has no answer: .*needs 128 GPUs' answer.json
expect 1 'possible with cluster.nodes=16, or with parallel.dp=2' gpulink-plan compare "$models/llama3-70b.yaml" \
    --cluster hgx-h100-16-ndr --cluster l40s-16-roce --set cluster.nodes=8 -f csv
checks=$((checks + 1))
grep -q 'IMPOSSIBLE' <(gpulink-plan compare "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr \
    --cluster l40s-16-roce --set cluster.nodes=8 || true) || fail 'IMPOSSIBLE is not said'
expect 1 'possible with cluster.nodes=29, or with parallel.dp=8, parallel.ep=8' gpulink-plan compare "$models/deepseek-v3.yaml" \
    --cluster hgx-h100-16-ndr --cluster nvl72-2 -f csv
# What it advises is so.
expect 0 'Memory .*: fits' gpulink-plan "$models/deepseek-v3.yaml" --cluster nvl72-2 --set parallel.dp=8 --set parallel.ep=8
expect 0 'Memory .*: fits' gpulink-plan "$models/llama3-70b.yaml" --cluster l40s-16-roce --set parallel.zero=3

# What is not known is said, and equals are equal.
expect 0 'NOT KNOWN; ' gpulink-plan compare "$models/minimal.yaml" "${pair[@]}"
expect 0 'Step times are not known: nothing says which' gpulink-plan compare "$models/minimal.yaml" "${pair[@]}"
expect 0 '2 is within 5.0 % of 1: for this work what 1 has more is not needed' gpulink-plan compare \
    "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster hgx-h100-16-ndr-4to1
# One switch joins eight nodes of either, and thins nothing.
expect 0 '2 is as fast as 1: for this work what either has more is not needed' gpulink-plan compare \
    "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster hgx-h100-16-ndr-4to1 --set cluster.nodes=8 --set parallel.dp=2
expect 0 '^Llama 1.1B: 2 options' bash -c "gpulink-plan compare - ${pair[*]} <'$model'"

# What cannot be built is refused with the reason.
expect 3 'need 256 PCIe lanes, the CPUs have 160' gpulink-plan "$models/llama3-8b.yaml" --cluster pcie5-direct-16 \
    --set cluster.inter_node.nics_per_node=8

# Any field of the cluster can be swept.
expect 0 '^ *1 .*' gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr \
    --sweep cluster.inter_node.nics_per_node=1,2,4,8
expect 0 '100 GB/s' gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr \
    --sweep 'cluster.inter_node.bandwidth=50 GB/s,100 GB/s' --sweep cluster.inter_node.oversubscription=1,4
expect 0 'pcie5-x16' gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr \
    --sweep cluster.intra_node.link=nvlink4,pcie5-x16

# Each with its own layout; nothing fits: no, and what would.
expect 0 '2 options, each with its best layout' gpulink-plan compare "$models/llama2-7b-finetune.yaml" \
    --set cluster.nodes=1 --best-layout --cluster pcie5-switch-16 --cluster pcie5-pairs-16
expect 1 'no layout fits: the nearest lacks .*; fits with 96 such GPUs' gpulink-plan compare "$models/llama3-405b.yaml" \
    --set cluster.nodes=1 --best-layout --cluster hgx-h100-16-ndr --cluster l40s-16-roce -f csv
# The described layout does not pose as the best one.
expect 1 '' gpulink-plan compare "$models/llama3-405b.yaml" --best-layout --cluster hgx-h100-16-ndr --cluster h200-nvlink -f json
keys out
for pattern in '"layout": null' '"gpus": null' '"parallel": null' '"step": null' '"remedy": "fits with [0-9]+ such GPUs' \
    '"note": "no layout fits: the nearest lacks'; do
    checks=$((checks + 1))
    grep -Eq -- "$pattern" out || fail "nothing fits, and yet no $pattern"
done
expect 0 '' cmp keys-1 keys-2
expect 1 '' gpulink-plan compare "$models/llama3-405b.yaml" --best-layout --cluster hgx-h100-16-ndr --cluster h200-nvlink
none 'layers held by stage|uneven'
# What the layouts are searched over cannot be said, too.
expect 2 '--set parallel\.tp: --best-layout chooses it for each option; leave one.*search .* --fix tp=4$' gpulink-plan compare \
    "$models/llama3-8b.yaml" -c hgx-h100-16-ndr -c pcie5-switch-16 --best-layout --set parallel.tp=4
expect 2 '--sweep batch\.micro: --best-layout chooses it.* --fix micro=VALUE$' gpulink-plan compare \
    "$models/llama3-8b.yaml" -c hgx-h100-16-ndr --best-layout --sweep batch.micro=1,2
# The same with any number of jobs.
for jobs in 1 3; do
    gpulink-plan compare "$models/llama2-7b-finetune.yaml" --set cluster.nodes=1 --best-layout --jobs $jobs \
        --cluster pcie5-switch-16 --cluster hgx-h100-16-ndr -f json >jobs-$jobs
done
expect 0 '' cmp jobs-1 jobs-3
# Interrupted: the best so far, and who says it is that.
interrupt() {
    "$@" >partial 2>err &
    local pid=$!
    sleep 0.4
    kill -TERM $pid 2>/dev/null || true # a shell lets its jobs ignore SIGINT
    wait $pid
}
status=0
interrupt gpulink-plan compare "$models/llama3-405b.yaml" --best-layout --jobs 1 --cluster hgx-h800-256-ndr \
    --cluster hgx-h100-16-ndr || status=$?
checks=$((checks + 1))
case $status in
0 | 1) grep -q 'interrupted' partial || fail 'an interrupted comparison does not say so' ;;
*) fail "status $status after an interrupt" ;;
esac

# In money.
money=(gpulink-plan compare "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster hgx-h100-16-ndr-4to1)
expect 0 '^2 is cheapest: [0-9.]+ USD a million tokens \([0-9.]+ to [0-9.]+\)$' "${money[@]}"
expect 0 '^1 costs [0-9.]+ % more: .* P\(1 is cheaper\) = 0\.0 %|P\(1 is cheaper\) = 0\.0 %' "${money[@]}"
expect 0 '^3 has no price: its cluster names no price list \(prices: standard\)$' "${money[@]}" --cluster pcie5-switch-16
expect 0 '^3 has no price: a part of it has none, see the warnings$' "${money[@]}" --cluster l40s-16-roce --set parallel.zero=3
# A warning of one option says whose it is; one of all is said once.
uneven=(--set parallel.pp=3 --set parallel.dp=5 --set batch.global=510 --set parallel.schedule=1f1b --set parallel.virtual_stages=1)
runs 0 "${money[@]}" --cluster l40s-16-roce --set parallel.zero=3 "${uneven[@]}"
holds '^- --set parallel.pp=3: parallel.pp: layers .80. is no multiple of pp'
holds '^- 16 x 8 L40S PCIe, 2 x 200G RoCE: costs are not totalled'
checks=$((checks + 1))
[ "$(grep -c 'layers .80. is no multiple' out)" -eq 1 ] || fail 'a warning of all options is said more than once'
# Every amount has its currency.
expect 0 'a million tokens .*, [0-9,]+ USD a run \(' "${money[@]}" --set training.tokens=15e12
expect 0 '1 is 591,200 USD dearer to buy than 2 and pays for itself never; its network, 1,248,800 USD,' "${money[@]}"
expect 0 '^When what is dearer to buy .*, in USD$' "${money[@]}"
expect 0 ',never,,1248800,' "${money[@]}" -t probability -f csv
# Where nothing is bought, nothing pays for itself.
bought=$GPULINK_SOURCE/data/clusters/hgx-h100-16-ndr.yaml
sed 's/^prices:/  cost: {acquisition: rent}\nprices:/' "$bought" >rented.yaml
sed 's/h100-sxm/h200-sxm/' rented.yaml >rented-h200.yaml
expect 0 '^1 is cheapest' gpulink-plan compare "$models/llama3-70b.yaml" --cluster rented.yaml --cluster rented-h200.yaml
none 'dearer to buy|pays for itself|May cost'
# Another currency is neither cheaper nor dearer.
sed 's/^prices:.*/prices: {base: standard, currency: JPY, exchange: {USD: 150}}/' "$bought" >yen.yaml
expect 0 '^2 costs [0-9.]+ JPY a million tokens .*, in another currency$' gpulink-plan compare \
    "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --cluster yen.yaml
none '150'
# What gets nothing done has no cost, and no sentence is made of it.
expect 0 'of its time counts' "${money[@]}" --set cluster.cost.failures_per_gpu_hour=1 --set 'cluster.cost.restart=200 h'
none '[^a-z](inf|-?nan)[^a-z]|cheapest|pays for itself (after|never)'
# What stands alone is not cheapest.
expect 0 '^1 costs [0-9.]+ USD a million tokens \([0-9.]+ to [0-9.]+\)$' gpulink-plan compare "$models/llama3-8b.yaml" \
    --cluster hgx-h100-16-ndr --cluster pcie5-switch-16
none 'cheapest'
expect 0 '"cost_missing": "its cluster names no price list' "${money[@]}" --cluster pcie5-switch-16 -f json
expect 0 '"per_run": [0-9]' "${money[@]}" --set training.tokens=15e12 -f json
expect 0 '^Llama 3 8B' gpulink-plan compare "$models/llama3-8b.yaml" --cluster pcie5-switch-16 --cluster pcie5-pairs-16
none 'cheapest|has no price'

expect 2 'two options or more' gpulink-plan compare "$model" --cluster h200-nvlink
expect 2 'cluster is missing' gpulink-plan compare "$model"
expect 2 'table .nonsense' gpulink-plan compare "$model" "${pair[@]}" --table nonsense
expect 3 'no such cluster' gpulink-plan compare "$model" --cluster h200-nvlink --cluster nowhere
expect 2 'calibration database' gpulink-plan compare "$model" "${pair[@]}" --set cluster.nodes=2
expect 4 'No space left' gpulink-plan compare "$model" "${pair[@]}" --output /dev/full

# A sweep makes an option of each value: the same answer as the same options given one by one, by names that tell them apart.
large=("$models/llama3-8b.yaml" --cluster hgx-h100-16-ndr)
thin=cluster.inter_node.oversubscription
expect 0 '^2  16 x HGX H100.* with inter_node.oversubscription=4' gpulink-plan compare "${large[@]}" --sweep $thin=1,4
expect 0 '^1  8 x HGX H100' gpulink-plan compare "${large[@]}" --sweep cluster.nodes=8,16 --set parallel.dp=32
gpulink-plan compare "${large[@]}" --cluster hgx-h100-16-ndr-4to1 -q -f csv >by-hand.csv
gpulink-plan compare "${large[@]}" --sweep cluster.inter_node.fabric=rail-optimised,fat-tree --sweep $thin=1,4 -q -f csv >swept.csv
checks=$((checks + 1))
figures() { sed -n '2p;$p' "$1" | sed 's/"[^"]*"/name/g' | cut -d, -f 11-14,48-; }
[ "$(wc -l <swept.csv)" -eq 5 ] && [ "$(figures swept.csv)" = "$(figures by-hand.csv)" ] || fail 'a swept option is another than the same by hand'
# Idle GPUs are those of an option.
expect 0 '32 x HGX H100, .*: the cost is that of all 256 GPUs of the cluster, of which this layout leaves 128 idle' \
    gpulink-plan compare "${large[@]}" --sweep cluster.nodes=16,32 -f json
# Values that exclude each other are an option with its reason, whatever is printed, as one is that the cluster has no room for.
crossed=("${large[@]}" --sweep 'parallel.tp=2,3,4' --set batch.global=1024 --set parallel.dp=32 -q)
expect 1 '' gpulink-plan compare "${crossed[@]}"
holds '^2  16 x HGX H100.* with parallel.tp=3 .*: IMPOSSIBLE$'
holds '^   parallel.tp: heads .32. must be a multiple of tp .3.'
expect 1 '' gpulink-plan compare "${crossed[@]}" -f html
holds 'IMPOSSIBLE'
expect 1 '' gpulink-plan compare "${crossed[@]}" -f csv
holds ',2,"16 x HGX H100.*with parallel.tp=3",.*,false,.*heads .32. must be a multiple of tp'
expect 1 '' gpulink-plan compare "${crossed[@]}" -f json
holds 'with parallel.tp=3 has no answer: parallel.tp: heads .32. must be a multiple of tp'
keys out
expect 0 '' cmp keys-1 keys-2
expect 1 '' gpulink-plan compare "${large[@]}" --sweep batch.micro=1,3 -q
holds 'batch.global: global .512. must be a multiple of dp x micro .192.'
none ' waits for communication: .*micro 3'
# What the cluster's own rules exclude; a cluster that is not there is no option.
expect 1 '' gpulink-plan compare "${large[@]}" --sweep cluster.inter_node.medium=dac,auto --set 'cluster.inter_node.reach.leaf=9 m' -q
holds 'inter_node.medium=dac .*IMPOSSIBLE|8 GPUs.: IMPOSSIBLE'
expect 3 'no such cluster' gpulink-plan compare "${large[@]}" --cluster nowhere --sweep batch.micro=1,2
expect 3 'heads .32. must be a multiple of tp .3.' gpulink-plan compare "${large[@]}" --sweep parallel.tp=3,5
expect 2 'changes the work.*: gpulink-plan plan .* --sweep model.sequence=4096,8192$' \
    gpulink-plan compare "${large[@]}" --sweep model.sequence=4096,8192
expect 2 'parallel.tp: --best-layout chooses it for each option' gpulink-plan compare "${large[@]}" --best-layout --sweep parallel.tp=2,4
expect 2 'two options or more: give --cluster for each, or --sweep' gpulink-plan compare "${large[@]}" --sweep $thin=2
expect 2 'at most 100 options, found 200' gpulink-plan compare "${large[@]}" --cluster hgx-h200-16-ndr --sweep "$thin=$(seq -s, 100)"
