#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-plan validate: bundled tables, tables of one's own, what cannot be planned, what is no table.
source "$GPULINK_SOURCE/tests/cli/support.sh"

# Everything that is bundled: no row is lost.
rows=$(cat "$GPULINK_SOURCE"/data/validation/*.csv | wc -l)
tables=$(find "$GPULINK_SOURCE/data/validation" -maxdepth 1 -name '*.csv' | wc -l)
gpulink-plan validate -f csv -q -t validation >planned.csv
gpulink-plan validate -f csv -q -t not_planned >left.csv
checks=$((checks + 1))
[ $(($(wc -l <planned.csv) + $(wc -l <left.csv) - 2)) -eq $((rows - tables)) ] ||
    fail "$(wc -l <planned.csv) planned and $(wc -l <left.csv) left out are not all of $rows rows"
expect 0 '^validation,h200-ddp-1,this project,' cat planned.csv
expect 0 '^validation,meg20-003,.*network between them is not stated' cat left.csv
expect 0 '' gpulink-plan validate -o answer.txt
expect 0 '^[0-9]+ of [0-9]+ runs planned' cat answer.txt
expect 0 '^all +all runs +[0-9]+ +[0-9]+' cat answer.txt
eight=$GPULINK_SOURCE/data/validation/megatron-2022.csv
expect 0 '^\| source \| Megatron-LM 2022 \| 8 \| 8 \|' gpulink-plan validate "$eight" -f markdown -t accuracy
expect 0 '"not_planned": \[' gpulink-plan validate "$eight" -f json
expect 0 '"mean_absolute_error_frac"' gpulink-plan validate "$eight" -f json -t accuracy

# A table of one's own, from a file, from standard input, beside others.
cat >own.csv <<'CSV'
measured_step_s,id,layers,hidden,heads,kv_heads,ffn,vocab,seq,cluster,gpus,precision,global_batch,settings
0.25,mine,22,2048,32,4,5632,32000,2048,h200-nvlink,2,BF16,16,"batch.micro=8; precision.gradients=bf16"
0.25,other,22,2048,32,4,5632,32000,2048,h200-nvlink,4,BF16,16,
CSV
expect 0 '^mine +2 +dp2 +250 ms' gpulink-plan validate own.csv
expect 0 '^other .*needs 4 GPUs' gpulink-plan validate own.csv
expect 0 '1 of 2 runs planned' sh -c 'gpulink-plan validate - <own.csv'
cp own.csv again.csv
expect 3 "^gpulink-plan: again\.csv:2:6: id: 'mine' is there already \(own\.csv:2\)" gpulink-plan validate own.csv again.csv
expect 0 '^mine' gpulink-plan validate -t validation own.csv

# Conventions of one's own.
cat >mine.yaml <<'YAML'
conventions:
  - when: {precision: BF16}
    because: test
    precision: {compute: bf16}
  - when: {id: mine}
    because: test
    leave_out: not today
YAML
expect 0 'mine .*not today' gpulink-plan validate own.csv --conventions mine.yaml
expect 3 'nowhere\.yaml: no such file' gpulink-plan validate own.csv --conventions nowhere.yaml
expect 0 'mine\.yaml: ok' gpulink-plan check mine.yaml
expect 0 'conventions\.yaml: ok' gpulink-plan check "$GPULINK_SOURCE/data/validation/conventions.yaml"
sed -i 's/leave_out/leave_it/' mine.yaml
expect 3 "mine\.yaml:7:5: conventions: unknown key 'leave_it'" gpulink-plan check mine.yaml
expect 3 "mine\.yaml:7:5: conventions: unknown key 'leave_it'" gpulink-plan validate own.csv --conventions mine.yaml

# No answer is written over what it was read from.
cp own.csv table.csv
cp "$GPULINK_SOURCE/data/validation/conventions.yaml" conv.yaml
expect 2 'writing table\.csv would overwrite the input table\.csv' gpulink-plan validate table.csv -o table.csv -f csv
expect 2 'writing \./conv\.yaml would overwrite the input conv\.yaml' gpulink-plan validate own.csv --conventions conv.yaml -o ./conv.yaml
expect 0 '' cmp own.csv table.csv
expect 0 '' cmp "$GPULINK_SOURCE/data/validation/conventions.yaml" conv.yaml

# What is no table.
expect 3 'nowhere\.csv: no such file' gpulink-plan validate nowhere.csv
expect 3 'empty\.csv:1:1: is empty' sh -c ': >empty.csv; gpulink-plan validate empty.csv'
expect 3 'short\.csv:2:1: the row has 1 cells where the header has 2' sh -c 'printf "id,measured_step_s\na\n" >short.csv; gpulink-plan validate short.csv'
expect 3 "slip\.csv:1:4: unknown column 'measured_steps_s'; did you mean 'measured_step_s'" sh -c 'printf "id,measured_steps_s\na,1\n" >slip.csv; gpulink-plan validate slip.csv'
expect 3 'text\.csv:2:3: measured_step_s: ' sh -c 'printf "id,measured_step_s\na,soon\n" >text.csv; gpulink-plan validate text.csv'
expect 3 'binary file' sh -c 'printf "id,measured_step_s\na,\0\n" >binary.csv; gpulink-plan validate binary.csv'
expect 3 'is a folder|directory' gpulink-plan validate .
expect 2 'table .nothing. is not known; there are: accuracy, validation, not_planned' gpulink-plan validate -t nothing
expect 2 'format' gpulink-plan validate -f pdf
expect 0 'Usage: gpulink-plan validate' gpulink-plan validate --help
