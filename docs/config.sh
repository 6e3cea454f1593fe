#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes docs/config.md from the field tables of the program: docs/config.sh >docs/config.md
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
plan=${GPULINK_BIN:-$source_folder/build/dev/bin}/gpulink-plan

schema() {
    "$plan" schema "$1" --format markdown
}

cat <<'TEXT'
# Fields of the files, columns of the answers

Made by `docs/config.sh` from the tables that the program itself reads: do not edit. The same is printed by
`gpulink-plan schema model`, `cluster`, `gpu`, `link`, `overlap`, `prices`, `runs` and `csv`.

Paths are dotted: `parallel.tp` is `tp:` below `parallel:`, and also what `--set parallel.tp=4` takes. Quantities
are written with their unit (`25 MiB`, `450 GB/s`, `400 Gbit/s`, `3.5 us`, `10%`); kB is 1000 bytes, KiB 1024.

TEXT
schema model
schema cluster
schema gpu
schema link
schema overlap
schema prices
schema runs
schema csv
