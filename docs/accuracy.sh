#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes docs/accuracy.md from what the program predicts now: docs/accuracy.sh >docs/accuracy.new && mv docs/accuracy.new docs/accuracy.md
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
plan=${GPULINK_BIN:-$source_folder/build/dev/bin}/gpulink-plan
export GPULINK_DATA='' NO_COLOR=1 LC_ALL=C.UTF-8

# The table alone, without the headline in front of it and the warnings behind it.
table() {
    "$plan" validate --format markdown --table "$1" | sed -n '/^|/,/^$/p' | grep '^|'
}

# Rows of the runs whose error is at least LIMIT percent, the worst first. Column 7 is the error.
misses() {
    local rows
    rows=$(table validation)
    head -n 2 <<<"$rows"
    tail -n +3 <<<"$rows" | awk -F'|' -v limit="$1" '
        { size = $7 + 0 < 0 ? -($7 + 0) : $7 + 0
          if (size >= limit) printf "%09.3f\t%s\n", size, $0 }' | sort -k1,1nr -k2 | cut -f2-
}

# How many runs each reason leaves out, and which. Column 5 is the reason.
reasons() {
    printf '| Why | Runs | Which |\n| --- | ---: | --- |\n'
    table not_planned | tail -n +3 | awk -F' *[|] *' '
        { if (!($5 in count)) order[++n] = $5; count[$5]++; ids[$5] = ids[$5] (count[$5] > 1 ? ", " : "") $2 }
        END { for (i = 1; i <= n; i++) printf "| %s | %d | %s |\n", order[i], count[order[i]], ids[order[i]] }'
}

cat <<'TEXT'
# How far predictions are from measured steps

Made by `docs/accuracy.sh` from `gpulink-plan validate`: do not edit. The runs are in `data/validation/`: published by others,
with their sources, and measured by this project on two H200. The error is predicted / measured − 1 of the time of a step:
below 0 is too fast. "Held" is the share of runs within their interval of 80 %: between 70 and 90 % the intervals are honest,
below they are too narrow.

TEXT
"$plan" validate --format markdown --table accuracy | grep -vE '^(#|\||- |$|Warnings)' | sed 's/^/> /'
cat <<'TEXT'

A figure counts as fitted to a run when it was chosen so that this run comes out; `fitted:` in
`data/validation/conventions.yaml` says which. The catalogue was chosen from data sheets, kernel benchmarks and collectives,
not from these steps.

TEXT
table accuracy
cat <<'TEXT'

## What the tables do not say

Tables of results leave out how a framework trains: which attention kernel, what overlaps, in which type gradients are
reduced. `data/validation/conventions.yaml` says it for each source, with where it is known from. A wrong statement there is a
wrong prediction here, and no fault of the formulas; both look alike in the table.

- **Vendor-tuned runs** (Megatron-Bridge) appear several times with one layout and times that differ by up to a half between
  releases: no model of layout and hardware can hit them all.
- **BLOOM**'s cluster was shared while its layouts were compared; its log names 5 % between repetitions, and kernels were
  launched one after the other (`CUDA_LAUNCH_BLOCKING=1`).
- **slow TCP** holds runs that its authors call noisy (microbatch 2), and TP over the network of single-GPU nodes.
- **Slow-downs of this project's runs** (a step over the same step without its collectives): 8 of 11 are within 10 %.
  TP with SP is 11 and 16 % too low, though the steps themselves are within 3 %: the measured steps with and without
  collectives differ by 22.5 and 62.7 ms, of which the kernels of the collectives take 15.1 and 29.1, so the run
  without them left out other work, too. Sockets are 17 % too high: the messages took 618 ms in training and take
  704 ms on the curve of nccl-tests. No factor is fitted to these three.
- **The CP run of this project** has contiguous halves of the sequence: one rank waits for the other.

## Misses

Runs that are off by 20 % or more, the worst first. The four shares of the predicted step are compute, exposed
communication, pipeline bubble and optimizer.

TEXT
misses 20
cat <<'TEXT'

## Runs that were not planned

TEXT
reasons
