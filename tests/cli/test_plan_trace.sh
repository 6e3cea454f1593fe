#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --format trace from the command line; tests/unit/test_trace.c reads the events.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama-1.1b-ddp.yaml cluster=h200-nvlink

expect 0 '"name": "backward mb 0"' gpulink-plan "$model" --cluster "$cluster" --format trace
expect 0 '"name": "pipeline send"' gpulink-plan "$models/llama3-405b.yaml" \
    --cluster hgx-h100-16-ndr -q --format trace
expect 0 '"args": \{"name": "stage 0, .*micro=2"\}' gpulink-plan "$model" --cluster "$cluster" \
    --sweep batch.micro=1,2 --format trace
expect 0 '"name": "stage 0, .*h200-host-memory"' gpulink-plan "$model" --cluster "$cluster" \
    --cluster h200-host-memory --format trace

# To a file as to standard output; a combination that cannot be is left out, once said.
gpulink-plan "$model" --cluster "$cluster" --format trace >a.json
expect 0 '' gpulink-plan "$model" --cluster "$cluster" --format trace --output b.json
checks=$((checks + 1))
cmp -s a.json b.json || fail 'a file holds another trace than standard output'
gpulink-plan "$model" --cluster "$cluster" --sweep parallel.tp=1,3 --format trace >out 2>err
checks=$((checks + 1))
[ "$(grep -c 'left out parallel.tp=3' err)" -eq 1 ] || fail 'what was left out is not said once'

# Nothing is written when anything is wrong.
expect 2 'a trace has no tables' gpulink-plan "$model" --cluster "$cluster" --format trace --table step
expect 2 'only plan has it' gpulink-plan explain "$model" --cluster "$cluster" --format trace
expect 2 'only plan has it' gpulink-plan schema --format trace
expect 3 'compute time is not known' gpulink-plan "$models/minimal.yaml" --cluster "$cluster" \
    --format trace
expect 3 'about .* entries, more than 2e\+06: trace fewer microbatches' gpulink-plan \
    "$models/llama3-405b.yaml" --cluster hgx-h100-16-ndr --set batch.global=1000000 --format trace
expect 4 'No space left' gpulink-plan "$model" --cluster "$cluster" --format trace --output /dev/full
