#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Without a GPU, or without NCCL, measuring with it ends with status 5 and a message that says why.
source "$GPULINK_SOURCE/tests/cli/support.sh"

# A program for a GPU that is not there: with one, this would measure.
if command -v nvidia-smi >/dev/null && grep -q '^GPU' <<<"$(nvidia-smi -L 2>/dev/null)"; then
    echo 'SKIPPED: this machine has a GPU (tests/gpu/run_all.sh is for it)'
    exit 0
fi
run=(gpulink-calibrate run --db none.db --budget 1s)
expect 5 'no GPU: CUDA says|built without NCCL' "${run[@]}"
expect 5 'no GPU: CUDA says|built without NCCL' "${run[@]}" --compute --overlap
expect 2 'concerns|nccl|--backend' gpulink-calibrate run --db none.db --backend nvlink
checks=$((checks + 1))
[ ! -e none.db ] || fail 'a database was made although nothing can be measured'
# NCCL's settings of the user are not touched by a run that fails.
checks=$((checks + 1))
gpulink-calibrate --version >out 2>err
grep -q '^NCCL: ' out || fail '--version does not say whether NCCL is there'
