#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Descriptions that come over pipes, which can be read once and are needed more often.
source "$GPULINK_SOURCE/tests/cli/support.sh"
export model=$models/llama-1.1b-ddp.yaml cluster=hgx-h100-16-ndr
export described=$GPULINK_SOURCE/data/clusters/$cluster.yaml

lines_of() {
    checks=$((checks + 1))
    [ "$(wc -l <out)" -eq "$1" ] || fail "$(wc -l <out) lines instead of $1"
}

csv='--format csv --table summary'
expect 0 '^standard input|-: ok' bash -c 'gpulink-plan check - <"$model"'
expect 0 ': ok$' bash -c 'gpulink-plan check <(cat "$model") <(cat "$described")'
expect 0 'Llama' bash -c "gpulink-plan - --cluster $cluster --cluster l40s-16-roce $csv <\"\$model\""
lines_of 3
expect 0 'Llama' bash -c "gpulink-plan - --cluster $cluster --sweep batch.micro=1,2,4 $csv <\"\$model\""
lines_of 4
expect 0 'Llama' bash -c "gpulink-plan <(cat \"\$model\") --cluster $cluster --cluster l40s-16-roce $csv"
lines_of 3
expect 0 'Llama' bash -c \
    "gpulink-plan \"\$model\" --cluster <(cat \"\$described\") --sweep cluster.nodes=1,2 $csv"
lines_of 3
expect 2 'both the model and the cluster' bash -c 'gpulink-plan - --cluster - <"$model"'

# A named pipe that nobody writes to is no reason to wait for ever.
mkfifo pipe
expect 3 'pipe: is a pipe that nobody writes to' timeout 30 gpulink-plan pipe --cluster "$cluster"
expect 0 'Llama' bash -c "{ sleep 1; cat \"\$model\"; } >pipe & gpulink-plan pipe --cluster $cluster"

# What overrides a swept value would make the answer say something else than was planned.
expect 2 'set twice, also by batch' gpulink-plan "$model" --cluster "$cluster" \
    --sweep 'batch={micro: 4},{micro: 8}' --sweep batch.micro=1,2
expect 2 'set twice, also by batch\.micro' gpulink-plan "$model" --cluster "$cluster" \
    --set batch.micro=4 --sweep 'batch={global: 16},{global: 32}'
expect 0 'Llama' gpulink-plan "$model" --cluster "$cluster" --set 'batch={global: 16}' \
    --sweep batch.micro=1,2 --format csv --table summary
