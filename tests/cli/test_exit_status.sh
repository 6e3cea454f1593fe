#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whose fault is it? Exit status 2: the command line is wrong, also a key or a value in --set, --sweep and --fix, or
# it asks for what the file does not hold. 3: a file is wrong or not there
# (also one that a setting names), or what is described cannot be planned.
# A row of the tables: status | what the message says | arguments.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama3-8b.yaml
cp "$model" model.yaml
logs=$GPULINK_SOURCE/tests/fixtures/nccl
gpulink-calibrate import -q "$logs/check_all_reduce.txt" --db lab.db --transport nvlink
gpulink-calibrate import -q "$logs/check_all_reduce.txt" --db other.db --transport nvlink

# What a terminal would obey is not passed on from names in the command line.
escape=$'\e'
for command in "gpulink-calibrate show no${escape}[31m.db" "gpulink-plan $models/llama-1.1b-ddp.yaml -c h200-nvlink -o no${escape}[31m/x" \
    "gpulink-plan $model -c no${escape}[31m" "gpulink-plan $model -c h200-nvlink --set model.name=${escape}[31mX"; do
    $command >out 2>err </dev/null || true
    checks=$((checks + 1))
    { grep -q '?\[31m' err && ! grep -q "$escape" err; } || fail "an escape sequence, or nothing of it: $command"
done

rows=0
table() {
    local program=$1 status pattern arguments
    while IFS='|' read -r status pattern arguments; do
        [ -n "$status" ] || continue
        rows=$((rows + 1))
        eval "expect $((status)) \"\$pattern\" $program $arguments"
    done
}

# What cannot be opened: a name that leads back to itself, for root, too.
for file in loop.yaml loop.db loop.csv loop.txt; do
    ln -s $file $file
done

cluster='--cluster hgx-h100-16-ndr'
table gpulink-plan <<ROWS
2|unknown option '--nonsense'|plan model.yaml $cluster --nonsense
2|--headroom: 0.5 is too small|plan model.yaml $cluster --headroom 0.5
2|--headroom: 'much'|plan model.yaml $cluster --headroom much
2|--seed: -1 is too small|plan model.yaml $cluster --seed=-1
2|--stage 7: the layout has|plan model.yaml $cluster --stage 7
2|--format 'xml' is not known|plan model.yaml $cluster --format xml
2|--table 'nonsense' is not known|plan model.yaml $cluster --table nonsense
2|--color: 'blue' is none of|plan model.yaml $cluster --color blue
2|--format: is given twice|plan model.yaml $cluster -f csv --format json
2|--seed: is given twice|plan model.yaml $cluster --seed 1 --seed 1
2|--set parallel.tp: this key is set twice|plan model.yaml $cluster --set parallel.tp=1 --set parallel.tp=2
2|--set batch.micro: this key is set twice, also by batch|plan model.yaml $cluster --set batch.micro=1 --set 'batch={global: 8}'
2|parallel.tpp: unknown field|plan model.yaml $cluster --set parallel.tpp=4
2|parallel.tp: 'many' is not a whole number|plan model.yaml $cluster --set parallel.tp=many
2|parallel.tp: '0' is out of range|plan model.yaml $cluster --set parallel.tp=0
2|parallel.schedule: found 'fast'|plan model.yaml $cluster --set parallel.schedule=fast
2|has no unit|plan model.yaml $cluster --set buckets.gradient=25
2|not valid YAML|plan model.yaml $cluster --set 'batch={global: 8'
2|holds a value, not further keys|plan model.yaml $cluster --set model.layers.x=1
2|cluster.nodes: 'two' is not a whole number|plan model.yaml $cluster --set cluster.nodes=two
2|cluster.nods: unknown field|plan model.yaml $cluster --set cluster.nods=2
2|--set cluster.nodes needs a cluster description|plan model.yaml --cluster lab.db --set cluster.nodes=2
2|parallel.tpp: unknown field|plan model.yaml $cluster --sweep parallel.tpp=1,2
2|parallel.tp: 'two' is not a whole number|plan model.yaml $cluster --sweep parallel.tp=1,two
2|--sweep parallel.tp: this key is set twice|plan model.yaml $cluster --sweep parallel.tp=1 --sweep parallel.tp=2
2|--sweep cluster.nodes has the value 16 twice|plan model.yaml $cluster --sweep cluster.nodes=16,8,16
2|--sweep batch.micro has the value 1.0 twice|plan model.yaml $cluster --sweep batch.micro=1,1.0
2|--sweep cluster.nodes has the value 16 twice|compare model.yaml $cluster --sweep cluster.nodes=16,16
3|heads .32. must be a multiple of tp .3.|plan model.yaml $cluster --set parallel.tp=3 --set parallel.dp=1
3|needs 2048 GPUs|plan model.yaml $cluster --set parallel.dp=1024 --set batch.global=1024
3|no such file|plan missing.yaml $cluster
3|loop.yaml: .*ymbolic links|plan loop.yaml $cluster
3|'loop.db'|plan model.yaml --cluster loop.db
3|./loop.yaml|plan model.yaml $cluster --set prices=./loop.yaml
3|loop.csv: .*ymbolic links|validate loop.csv
3|'loop.db'|accept model.yaml $cluster --measured loop.db
3|no such cluster|plan model.yaml --cluster nowhere
2|catalogue has no link 'wet-string'|plan model.yaml $cluster --set cluster.intra_node.link=wet-string
2|catalogue has no GPU 'H100'|plan model.yaml $cluster --set cluster.gpu=H100
2|catalogue has no GPU 'H100'|compare model.yaml $cluster --sweep cluster.gpu=h100-sxm,H100
2|catalogue has no price list 'nosuch'|plan model.yaml $cluster --set prices=nosuch
2|there is no price list 'nosuch'|plan model.yaml $cluster --set prices.base=nosuch
2|bundled calibration: 'nosuch'|plan model.yaml $cluster --set cluster.intra_node.calibration=nosuch
3|prices: no such file: quotes2.yaml|plan model.yaml $cluster --set prices=quotes2.yaml
3|prices.base: no such file: quotes2.yaml|plan model.yaml $cluster --set prices.base=quotes2.yaml
3|cluster.gpu: no such file: ./mine.yaml|plan model.yaml $cluster --set cluster.gpu=./mine.yaml
3|bundled calibration: 'nosuch.db'|plan model.yaml $cluster --set cluster.intra_node.calibration=nosuch.db
3|no such file: nosuch.json|plan model.yaml $cluster --set model.huggingface=nosuch.json
4|nowhere|plan model.yaml $cluster --output nowhere/x
2|two options or more|compare model.yaml $cluster
2|--within: is given twice|compare model.yaml $cluster $cluster --within 1% --within 2%
2|--jobs: 0 is too small|compare model.yaml $cluster $cluster --best-layout --jobs 0
2|parallel.tp: 'many'|compare model.yaml $cluster $cluster --set parallel.tp=many
3|no such cluster|compare model.yaml $cluster --cluster nowhere
2|--top: 0 is too small|search model.yaml $cluster --top 0
2|--jobs: 'all'|search model.yaml $cluster --jobs all
2|--gpus 'eight' is not a number|search model.yaml $cluster --gpus eight
2|256 GPUs: the cluster has 128|search model.yaml $cluster --gpus 256
2|--gpus: is given twice|search model.yaml $cluster --gpus 8 --gpus 16
2|--fix 'hidden' is not varied|search model.yaml $cluster --fix hidden
2|parallel.tp: 'many'|search model.yaml $cluster --fix tp=many
2|--fix parallel.tp: this field is fixed twice|search model.yaml $cluster --fix tp=2 --fix parallel.tp=4
2|--fix tp=2: this field is set twice, also by --set|search model.yaml $cluster --set parallel.tp=1 --fix tp=2
2|one cluster is searched|search model.yaml $cluster $cluster
2|there is no line 999|explain model.yaml $cluster 999
2|one plan is explained|explain model.yaml $cluster $cluster
2|no schema 'modle'|schema modle
2|unexpected argument|plan model.yaml other.yaml $cluster
3|no such file|check missing.yaml
2|--tolerance: |accept model.yaml $cluster --tolerance much
3|.|accept model.yaml $cluster --measured missing.db
2|--measured: is given twice|accept model.yaml $cluster --measured lab.db --measured other.db
3|.|validate missing.csv
ROWS
table gpulink-calibrate <<ROWS
2|--db is missing|import $logs/check_all_reduce.txt
2|--db: is given twice|import $logs/check_all_reduce.txt --db a.db --db b.db
2|--nodes: 0 is too small|import $logs/check_all_reduce.txt --db a.db --nodes 0
2|--transport: 'ib' is unknown|import $logs/check_all_reduce.txt --db a.db --transport ib
2|--transport: is given twice|import $logs/check_all_reduce.txt --db a.db -t nvlink -t shm
3|No such file|import missing.txt --db a.db
3|loop.txt: .*ymbolic links|import loop.txt --db a.db
3|loop.db: .*ymbolic links|import $logs/check_all_reduce.txt --db loop.db
3|loop.db: .*ymbolic links|show loop.db
3|loop.db: .*ymbolic links|merge lab.db loop.db --db a.db
3|loop.txt: .*ymbolic links|doctor --log loop.txt
3|loop.txt: .*ymbolic links|doctor --topo loop.txt
3|loop.db: .*ymbolic links|doctor --db loop.db
3|loop.csv: .*ymbolic links|run --db a.db --acceptance loop.csv
2|there is no curve 99|show lab.db --curve 99
2|--curve: is given twice|show lab.db --curve 1 --curve 2
2|--format 'xml' is not known|show lab.db --format xml
2|only plan has it|show lab.db -o show.xlsx
2|only plan has it|show lab.db --format trace
2|do not go with them|show lab.db --tuner --format csv
2|do not go with them|show lab.db --nccl-tests --table runs
2|.|show lab.db --table nonsense
3|No such file|show missing.db
2|--format 'xml' is not known|doctor --log $logs/debug_shm.txt --format xml
2|only plan has it|doctor --log $logs/debug_shm.txt --output doctor.xlsx
2|--format: is given twice|doctor --log $logs/debug_shm.txt -f csv -f csv
3|No such file|doctor --log missing.txt
2|--db is missing|merge lab.db other.db
2|--db: is given twice|merge lab.db other.db --db a.db --db b.db
3|No such file|merge lab.db missing.db --db a.db
2|--backend: 'smoke' is none of|run --db a.db --backend smoke
2|--min: |run --db a.db --min tiny
2|--budget: '10' has no unit|run --db a.db --budget 10
2|--ranks: |run --db a.db --ranks two
2|--ops: |run --db a.db --ops all_reduse
2|--dtype: |run --db a.db --dtype bf17
2|--min: is given twice|run --db a.db --min 8 --min 16
ROWS

# Lists grow, and a flag that is given twice is given.
expect 0 '' gpulink-plan plan model.yaml --cluster lab.db --cluster other.db -q -q --allow-extrapolation --allow-extrapolation \
    --set parallel.dp=2 --set parallel.tp=1 --set batch.global=8
# A part refines a mapping that was set before it.
expect 0 'micro 2|Llama' gpulink-plan plan model.yaml --cluster hgx-h100-16-ndr --set 'batch={global: 512, micro: 1}' --set batch.micro=2
# Values that are right and exclude each other are listed in a sweep as impossible; a wrong one is not.
expect 0 '' gpulink-plan plan model.yaml --cluster hgx-h100-16-ndr --sweep parallel.tp=1,3 -q
checks=$((checks + 1))
[ "$rows" -eq 110 ] || fail "$rows rows"
