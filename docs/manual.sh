#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes a manual page of section 5 from the field tables of the program and the pages of this folder:
# docs/manual.sh gpulink-model FILE
set -eu
docs=$(dirname "$0")
plan=${GPULINK_BIN:-$docs/../build/dev/bin}/gpulink-plan

schema() {
    "$plan" schema "$1" --format markdown
    echo
}

page() {
    LC_ALL=C.UTF-8 awk -v name="$1" -v about="$2" -v date='November 30, 2026' -f "$docs/manual.awk"
    printf '.Sh SEE ALSO\n.Xr gpulink-calibrate 1 ,\n.Xr gpulink-plan 1\n'
}

quantities() {
    cat <<'TEXT'
Quantities are written with their unit (`25 MiB`, `450 GB/s`, `400 Gbit/s`, `3.5 us`, `10%`); kB is 1000 bytes, KiB
1024. Paths are dotted: `parallel.tp` is `tp:` below `parallel:`, and also what `--set parallel.tp=4` takes. Keys that
are not known are errors. `gpulink-plan check` reads a file without planning.

TEXT
}

[ -z "${2-}" ] || exec >"$2"
case ${1-} in
gpulink-model)
    {
        echo 'Descriptions are YAML files: of a model and how it is trained, and of a cluster, which names GPUs and links'
        echo 'of the catalogue. Examples are installed with the program, in `models` and `clusters` of its data folder.'
        echo
        quantities
        for name in model cluster gpu link overlap; do schema "$name"; done
    } | page gpulink-model 'descriptions of models, clusters, GPUs and links'
    ;;
gpulink-prices)
    {
        echo 'A price list is a YAML file that `prices:` of a cluster description names. What it leaves out comes from'
        echo 'the list that it is based on.'
        echo
        quantities
        schema prices
    } | page gpulink-prices 'price lists'
    ;;
gpulink-csv)
    {
        echo 'Answers as CSV follow RFC 4180: UTF-8, commas, one row of names that end in their unit, one table a file,'
        echo 'the column `scenario` first. A cell is empty where a figure is not known.'
        echo
        schema csv
        schema runs
    } | page gpulink-csv 'columns of answers, and of tables of training runs'
    ;;
gpulink-calibration)
    page gpulink-calibration 'databases of measured curves' <"$docs/calibration-file.md"
    ;;
*)
    echo 'usage: docs/manual.sh gpulink-model|gpulink-prices|gpulink-csv|gpulink-calibration [FILE]' >&2
    exit 2
    ;;
esac
