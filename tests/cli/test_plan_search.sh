#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-plan search: the answer in every format, constraints, what does not fit, interruption.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama3-8b.yaml
cluster=hgx-h100-16-ndr
# A name without a comma, so that awk splits the CSV; without context parallelism it is quick.
search=(gpulink-plan search "$model" --cluster "$cluster" --gpus 8 --fix cp --set cluster.name=eight -k 3)

expect 0 '^Searched +[0-9,]+ layouts, [0-9,]+ of them fit' "${search[@]}"
expect 0 '^Best +[a-z]' "${search[@]}"
expect 0 '^Step  ' "${search[@]}"
expect 0 '^does not fit without recomputation' "${search[@]}" -t rejected
expect 0 '^scenario,rank,gpus,tp,cp,ep,pp,dp,micro,microbatches,schedule,' "${search[@]}" -f csv
expect 0 '^scenario,rule,reason,layouts,smallest_miss_bytes,' "${search[@]}" -f csv -t rejected
expect 0 '^scenario,layouts,looked_at,fitting,stopped,' "${search[@]}" -f csv -t search
expect 0 '"layouts": \[' "${search[@]}" -f json
expect 0 '"rejected": \[' "${search[@]}" -f json
expect 0 '^\| # \| GPUs \| Layout' "${search[@]}" -f markdown -t layouts
"${search[@]}" >page
expect 1 '' grep -nE '^.{101,}' page
expect 0 '^gpulink-plan search MODEL|gpulink-plan search models' gpulink-plan search --help

# The column of a CSV by its name.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$2" | sort -u | xargs
}
same() {
    checks=$((checks + 1))
    [ "$1" = "$2" ] || { : >out; : >err; fail "'$1' is not '$2'"; }
}

# The best is the best of all that was planned, however many are shown; the front is that of the plans.
for top in 1 10 30; do
    expect 0 '' gpulink-plan search "$models/gpt3-175b.yaml" --cluster hgx-a100-16-hdr --set cluster.name=own -k "$top" -q -f csv \
        -t layouts -o "top-$top.csv"
    same "$(awk -F, 'NR > 1 && $2 != ""' "top-$top.csv" | wc -l)" "$top"
    same "$(sed -n 2p "top-$top.csv" | cut -d, -f4,7,9,12)" 8,16,2,6
    checks=$((checks + 1))
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { time = $at["step_time_s"]; memory = $at["memory_per_gpu_bytes"]; front = NR == 2 || memory < least }
        NR > 2 && $2 != "" && time < before || NR > 2 && time < best { exit 1 }
        front != ($at["on_front"] == "true") || ($2 == "" && !front) { exit 1 }
        { before = time; if (NR == 2) best = time; if (front) least = memory }' "top-$top.csv" ||
        fail "top $top: not in the order of the plans, or a wrong front"
done

# The described layout has one time: in the headline, in the tables, and by plan. Its column is a number.
own=(search "$models/llama3-70b.yaml" --cluster "$cluster" --set cluster.name=own -q)
for axis in tp pp cp dp micro schedule virtual_stages zero recompute sequence_parallel; do
    own+=(--fix "$axis")
done
expect 0 '' gpulink-plan "${own[@]}" -f csv -t search -o described.csv
expect 0 '' gpulink-plan "${own[@]}" -f csv -t layouts -o own.csv
expect 0 '' gpulink-plan "$models/llama3-70b.yaml" --cluster "$cluster" --set cluster.name=own --set model.name=own -f csv -t summary -o plan.csv
same "$(column described_time_s described.csv)" "$(column step_time_s own.csv)"
same "$(column described_time_s described.csv)" "$(column step_time_s plan.csv)"
same "$(column faster_than_described described.csv)" 0
# Among others, too.
expect 0 '' gpulink-plan search "$model" --cluster "$cluster" --fix cp --fix tp --set cluster.name=eight -k 3 -q -f csv -t search -o described.csv
expect 0 '' gpulink-plan "$model" --cluster "$cluster" --set cluster.name=eight -f csv -t summary -o plan.csv
same "$(column described_time_s described.csv)" "$(column step_time_s plan.csv)"

# The options that it prints plan the best layout, however the description has it; its step is the same.
for model_file in "$model" "$models/llama3-70b.yaml"; do
    best=(search "$model_file" --cluster "$cluster" --fix cp --set cluster.name=own --set model.name=own -q -k 1)
    expect 0 '^As options +--set ' gpulink-plan "${best[@]}"
    gpulink-plan "${best[@]}" 2>err | sed -n '/^As options/,/^$/p' | sed 's/^As options//' | xargs >line
    read -ra options <line
    expect 0 '' gpulink-plan "${best[@]}" -f csv -t layouts -o best.csv
    expect 0 '' gpulink-plan "$model_file" --cluster "$cluster" --set cluster.name=own --set model.name=own "${options[@]}" -f csv -t summary -o plan.csv
    same "$(column step_time_s best.csv | cut -d' ' -f1)" "$(column step_time_s plan.csv)"
done

# A batch that only other layouts can have: plan refuses the described one, search does not.
expect 3 'global \(96\) must be a multiple of dp x micro \(64\)' gpulink-plan "$model" --cluster "$cluster" --set batch.global=96
expect 0 '^Best +[a-z]' gpulink-plan search "$model" --cluster "$cluster" --set batch.global=96 --fix cp --fix pp
says 1 'global (96) must be a multiple of dp x micro' gpulink-plan search "$model" --cluster "$cluster" --set batch.global=96 --fix tp --fix cp --fix pp --fix dp
expect 0 '1 .*fastest' gpulink-plan compare "$model" --cluster "$cluster" --cluster pcie5-pairs-16 --best-layout --set batch.global=96

# Constraints.
expect 0 '' "${search[@]}" -f csv -q --fix tp=2 --fix zero=1 --no-recompute --min-microbatches 4 -o fixed.csv
same "$(column tp fixed.csv)" 2
same "$(column zero fixed.csv)" 1
same "$(column recompute fixed.csv)" none
expect 0 '' "${search[@]}" -f csv -q --fix parallel.dp=8 --fix micro -o dp.csv
same "$(column dp dp.csv)" 8
same "$(column micro dp.csv)" "$(sed -n 's/^batch:.*micro: \([0-9]*\).*/\1/p' "$model")"
expect 0 '^tp above 4: by --max-tp' "${search[@]}" --max-tp 4 -t rejected
expect 0 '' "${search[@]}" -f csv -q -o two.csv
same "$(awk -F, 'NR > 1 && $2 != ""' two.csv | wc -l)" 3

# Several numbers of GPUs: the front crosses them.
expect 0 '' gpulink-plan search "$model" --cluster "$cluster" --fix cp -k 3 --set cluster.name=some --gpus 4,8-16 \
    -f csv -q -o several.csv
expect 0 '^Searched' gpulink-plan search "$model" --cluster h200-nvlink
same "$(column gpus several.csv)" '16 4 8'

# The same with any number of jobs.
for jobs in 1 3; do
    "${search[@]}" -f json --jobs $jobs >jobs-$jobs
done
checks=$((checks + 1))
cmp -s jobs-1 jobs-3 || fail 'the number of jobs changes the answer'

# Nothing fits: status 1, and what would.
expect 1 '' gpulink-plan search "$models/llama3-405b.yaml" --cluster "$cluster" --gpus 16 -o none
expect 0 'no layout fits' cat none
expect 0 '^with [0-9]+ such GPUs: tp' cat none
expect 0 '^with GPUs of [0-9.]+ GiB instead of' cat none
expect 1 '' gpulink-plan search "$models/llama3-405b.yaml" --cluster "$cluster" --no-recompute --fix tp=1 --fix cp=1 -o none
expect 0 '^with recomputation: |^without the other constraints: ' cat none
expect 1 '' gpulink-plan search "$models/llama3-405b.yaml" --cluster "$cluster" --gpus 16 -f json

# What is fixed leaves no layout: the reason all the same.
for row in 'tp=3|heads .32. must be a multiple of tp .3.' 'pp=3|pp 3: does not divide the 8 GPUs' 'ep=2|needs a model with experts' \
    'dp=1000|global .* must be a multiple of dp x micro'; do
    expect 1 '' "${search[@]}" --fix "${row%%|*}" -o none
    expect 0 "${row#*|}" cat none
done
expect 1 '' "${search[@]}" --fix tp=2 --fix pp=2 --fix dp=1 -o none
expect 0 '^tp 2 x cp 1 x pp 2 x dp 1: does not make the 8' cat none
# One number of GPUs of several.
expect 0 '^cp 1 x pp 8: does not divide the 4 GPUs' gpulink-plan search "$model" --cluster "$cluster" --gpus 4,8 --fix cp --fix pp=8 -t rejected

# What cannot be asked.
expect 2 "did you mean 'zero'" "${search[@]}" --fix zreo=1
expect 2 'is not varied' "${search[@]}" --fix hidden=1
expect 2 'has no value' "${search[@]}" --fix tp=
expect 2 'parallel\.tp: .many' "${search[@]}" --fix tp=many
expect 2 "^gpulink-plan: .*not a number of GPUs" gpulink-plan search "$model" --cluster "$cluster" --gpus eight
expect 2 'the range is empty' gpulink-plan search "$model" --cluster "$cluster" --gpus 16-8
expect 2 '8 is given twice' gpulink-plan search "$model" --cluster "$cluster" --gpus 8,8
expect 2 '8 is given twice' gpulink-plan search "$model" --cluster "$cluster" --gpus 4-16,8
expect 2 'no whole nodes' gpulink-plan search "$model" --cluster "$cluster" --gpus 9-15
expect 2 '^gpulink-plan: 256 GPUs: the cluster has 128' gpulink-plan search "$model" --cluster "$cluster" --gpus 256
expect 2 '--cluster is missing' gpulink-plan search "$model"
expect 2 'one cluster is searched' gpulink-plan search "$model" --cluster "$cluster" --cluster h200-nvlink
expect 3 'step times are not known' gpulink-plan search "$models/minimal.yaml" --cluster "$cluster"

# An architecture alone: what it leaves open is assumed, and said.
config=$GPULINK_SOURCE/tests/fixtures/huggingface/llama-3-8b.json
quick=(gpulink-plan --huggingface "$config" --cluster "$cluster")
expect 0 '^llama-3-8b, 8.03 billion parameters, on 8 GPUs' "${quick[@]}" --gpus 8 --quiet
for word in 'sequence: assumed: 4096 tokens' 'batch.global: assumed: 1024 sequences'; do
    expect 0 '' "${quick[@]}" --gpus 8 --top 1
    checks=$((checks + 1))
    grep -q "$word" out err || fail "no '$word' from a configuration alone"
done
cp out assumed
expect 0 '' "${quick[@]}" --gpus 8 --top 1 --set model.sequence=4096 --set batch.global=1024
checks=$((checks + 1))
! grep -q 'assumed: ' out err || fail 'says assumed of what is given'
checks=$((checks + 1))
cmp <(grep '^Step' out) <(grep '^Step' assumed) || fail 'given and assumed differ'
expect 0 '512 sequences' "${quick[@]}" --gpus 8 --top 1 --set model.sequence=8192
expect 2 'not both' "${quick[@]}" models/llama3-8b.yaml
expect 2 'an argument is missing' gpulink-plan search --cluster "$cluster"
expect 3 'no such file' gpulink-plan --huggingface=none.json --cluster "$cluster"
expect 3 '' gpulink-plan --huggingface=none.json --set model.layers=4 --cluster "$cluster"

# Interrupted: the best so far, with a note; the second signal would end it.
gpulink-plan search "$models/llama3-70b.yaml" --cluster "$cluster" --gpus 8-128 --jobs 1 >partial 2>err &
pid=$!
sleep 0.7
kill -TERM $pid 2>/dev/null || true
status=0
wait $pid || status=$?
checks=$((checks + 1))
case $status in
0) grep -q 'interrupted: the best of' partial || fail 'an interrupted search says nothing' ;;
4) grep -q 'interrupted before any layout' err || fail 'status 4 without a reason' ;;
*) fail "status $status after an interrupt" ;;
esac
