#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a plan may not claim: shares above one, negative times, fits that nobody knows.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama-1.1b-ddp.yaml

cluster() {
    printf 'cluster: {name: C, gpu: %s, nodes: 1, gpus_per_node: %s, intra_node: {%s}}\n' "$2" "$3" "$4" >"$1"
}

# The value of a column in the first row of a CSV table; no name here has commas.
value() {
    tr -d '\r' <"$1" | awk -F, -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == 2 { print $column }'
}

holds() {
    checks=$((checks + 1))
    awk "BEGIN { exit !($1) }" || fail "$1 does not hold"
}

# Peaks: MFU is over the peak of the type in use; a type without a peak is refused, not waited for.
cluster volta.yaml v100-sxm2-32gb 8 'link: nvlink2'
gpulink-plan "$model" --cluster volta.yaml --set precision.compute=fp16 --format csv --table step >step.csv
holds "$(value step.csv mfu) < 1"
cluster ampere.yaml a100-sxm-80gb 8 'link: nvlink3'
expect 0 'has no FP8' gpulink-plan "$model" --cluster ampere.yaml --set precision.compute=fp8
sed -E '/^  (fp16|fp32|fp8|fp8_gemm_efficiency):/d' "$GPULINK_SOURCE/data/gpus/h100-sxm.yaml" >own.yaml
cluster own-gpu.yaml ./own.yaml 8 'link: nvlink4'
expect 0 'MFU' gpulink-plan "$model" --cluster own-gpu.yaml --set precision.compute=fp16
expect 3 "precision\.compute: the GPU 'own' has no peak for fp32" \
    timeout 20 gpulink-plan "$model" --cluster own-gpu.yaml --set precision.compute=fp32

# A link that joins two GPUs does not join eight.
cluster bridges.yaml rtx-3090 8 'link: nvlink-bridge-3090'
expect 0 'nvlink-bridge-3090 joins at' gpulink-plan "$model" --cluster bridges.yaml \
    --set parallel.dp=8 --set batch.global=64

# An interval of what is hardly known is wide, and ends above nothing.
cluster far.yaml h200-sxm 1024 'calibration: h200-socket'
gpulink-plan "$model" --cluster far.yaml --allow-extrapolation --set parallel.dp=1024 \
    --set batch.global=8192 --format csv --table step >step.csv
holds "0 < $(value step.csv time_p10_s)"
holds "$(value step.csv time_p10_s) < $(value step.csv time_s)"
holds "$(value step.csv time_s) < $(value step.csv time_p90_s)"

# A parameter count alone: a lower bound below the capacity fits nothing yet, one above does not fit.
minimal() {
    gpulink-plan "$models/minimal.yaml" --cluster h200-nvlink --format csv "$@" 2>/dev/null >table.csv
}
same() {
    checks=$((checks + 1))
    [ "$(value table.csv "$1")" = "$2" ] || fail "$1 is '$(value table.csv "$1")', not '$2'"
}
minimal --table memory
same fits ''
same logits_bytes ''
minimal --table summary
same memory_fits ''
same evidence none
minimal --table memory --set model.parameters=100e9
same fits false
minimal --table model
same parameters 3000000000
same layers ''
same moe_experts ''
expect 0 'whether it fits is not known' gpulink-plan "$models/minimal.yaml" --cluster h200-nvlink

# One GPU waits for nobody: not even for the last digits of a sum.
gpulink-plan "$models/llama3-8b.yaml" --cluster h200-nvlink --set 'parallel={dp: 1}' \
    --set 'batch={global: 3, micro: 1}' --set model.sequence=4096 --format csv --table step >table.csv
same exposed_communication_s 0

# What is not used is not swallowed.
expect 2 "has no price list 'nowhere'" gpulink-plan "$model" --cluster hgx-h100-16-ndr --set prices=nowhere

# A stated time that no GPU can reach is doubted, and a limit that is printed is allowed.
expect 0 'compute as stated makes an MFU of [0-9.e+]+ %, which no GPU can do' bash -c \
    "gpulink-plan '$model' --cluster hgx-h100-16-ndr --set 'compute.step=1 us' 2>&1"
expect 2 'allowed: above 0, at most 100 d' \
    gpulink-plan "$model" --cluster hgx-h100-16-ndr --set 'compute.step=101 d'
expect 0 'Step' gpulink-plan "$model" --cluster hgx-h100-16-ndr --set 'compute.step=100 d'

# What one row of a pipeline's sends costs is not charged to another, and no row to more than its time.
gpulink-plan "$models/gpt3-175b.yaml" --cluster hgx-h100-16-ndr --set 'cluster.inter_node.latency=10 ms' \
    --set 'parallel={tp: 8, pp: 8, dp: 2, scatter_gather: true}' --set 'batch={global: 16, micro: 1}' \
    --format json >plan.json
checks=$((checks + 1))
awk '/"operation"/ { name = $0 } /"time_s"/ { gsub(/[^0-9.e+-]/, "", $2); time = $2 }
     /"exposed_s"/ { gsub(/[^0-9.e+-]/, "", $2); if ($2 > time) { print name, time, $2; bad = 1 } }
     END { exit bad }' plan.json || fail 'a row is exposed for longer than it takes'

# Thinned switches have more ports down: where a group fits on a leaf or into a pod only for that, it is said.
pods() { # CORE_OVERSUBSCRIPTION NODES [OVERSUBSCRIPTION]
    printf '%s\n' 'cluster: {name: pods, gpu: h200-sxm, nodes: 512, gpus_per_node: 8, intra_node: {link: nvlink4}, inter_node:' \
        '  {link: ib-ndr, nics_per_node: 8, fabric: rail-optimised, radix: 64,' \
        "   oversubscription: ${3:-1}, core_oversubscription: $1}}" >pods.yaml
    gpulink-plan "$model" --cluster pods.yaml --set "parallel.dp=$(($2 * 8))" --set "batch.global=$(($2 * 64))" |
        tr -s ' \n' ' '
}
expect 0 'of 7 makes room for 224 nodes there: with 1 there is room for 128' pods 7 160
expect 0 'of 2 makes room for 42 nodes there: with 1 there is room for 32' pods 1 40 2
for owing_nothing in '1 160' '7 128' '7 225' '1 43 2'; do
    # shellcheck disable=SC2086 # words
    runs 0 pods $owing_nothing
    ! grep 'only because' out || fail "pods $owing_nothing: the group is where it would be without thinning"
done

# Two microbatches through eleven stages: what a message is late adds up over stages, and is no part of what
# one GPU communicates; the four bytes of a norm inside a node need no bandwidth.
long=(gpulink-plan "$models/llama-1.1b-ddp.yaml" --cluster hgx-h100-16-ndr --set parallel.dp=1 --set parallel.pp=11)
expect 0 '^Communication  32\.7 ms is exposed: on stage 0 pp 6\.53 ms' "${long[@]}"
expect 0 'the rest on other' "${long[@]}"
expect 0 'In a node      nvlink4 moves 7\.27 B a step and GPU: any link is enough' "${long[@]}"

# What is not known is left out or said to be: no number is "nan" or "inf".
numbers() {
    local format
    for format in table markdown html csv json; do
        checks=$((checks + 1))
        "$@" --format "$format" >out 2>err </dev/null || [ $? -eq 1 ] || fail "no answer: $*"
        sed -i '/<script>/,/<\/script>/d' out
        if grep -Eiqw -- 'nan|inf' out err; then
            fail "not a number ($format): $*"
        fi
    done
}
bare=$models/minimal.yaml
known='compute.step=400 ms' # a step's time, without what a token costs
pair=(--cluster h200-nvlink --cluster h200-host-memory)
priced=(--cluster hgx-h100-16-ndr --set prices=standard)
for command in plan explain; do
    numbers gpulink-plan $command "$bare" --cluster h200-nvlink
    numbers gpulink-plan $command "$bare" --cluster h200-nvlink --set "$known"
    numbers gpulink-plan $command "$bare" "${priced[@]}"
    numbers gpulink-plan $command "$bare" "${priced[@]}" --set "$known"
done
numbers gpulink-plan compare "$bare" "${pair[@]}"
numbers gpulink-plan compare "$bare" "${pair[@]}" --set "$known"
numbers gpulink-plan compare "$bare" "${priced[@]}" --cluster hgx-a100-16-hdr --set "$known"
numbers gpulink-plan search "$models/llama3-8b.yaml" --cluster h200-nvlink --top 2
expect 0 '^2  h200-host-memory .* ms \(.* ms\); dp 2, micro 1' gpulink-plan compare "$bare" "${pair[@]}" --set "$known"
expect 0 '3 rate: .* a step, whose time is not known' gpulink-plan explain "$bare" --cluster h200-nvlink \
    required_bandwidth.intra_node
for figure in required_bandwidth.intra_node step.tokens_per_s step.mfu memory.per_gpu_bytes; do
    numbers gpulink-plan explain "$bare" --cluster h200-nvlink "$figure"
    numbers gpulink-plan explain "$bare" --cluster h200-nvlink --set "$known" "$figure"
done
