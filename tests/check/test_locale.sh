#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Outputs are the same under a locale with a decimal comma and other orders of letters (de_DE), one where i and I are other
# letters than elsewhere (tr_TR), and one of wide letters (zh_CN); numbers on the command line and in logs are read the same.
# The locales are made here: few machines have them.
set -euo pipefail
command -v localedef >/dev/null || { echo 'localedef is missing: see bootstrap.sh'; exit 1; }
[ -e /usr/share/i18n/locales/tr_TR ] || { echo 'the sources of locales are missing: see bootstrap.sh'; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LOCPATH=$work
# Logs into a database and out of it, a diagnosis, numbers of options: what the golden files do not show.
others() {
    local folder=$work/$1
    mkdir -p "$folder/out"
    cd "$folder"
    export LC_ALL=$1
    "$GPULINK_BIN/gpulink-calibrate" import "$GPULINK_SOURCE"/tests/fixtures/nccl/nvl_*.txt --db lab.db --transport nvlink 2>out/import
    "$GPULINK_BIN/gpulink-calibrate" show lab.db --format csv >out/show.csv
    "$GPULINK_BIN/gpulink-calibrate" show lab.db --curve 1 >out/curve
    "$GPULINK_BIN/gpulink-calibrate" doctor --db lab.db >out/doctor || true
    "$GPULINK_BIN/gpulink-calibrate" doctor "$GPULINK_SOURCE/tests/fixtures/nccl/debug_sock.txt" --format json >out/doctor.json || true
    "$GPULINK_BIN/gpulink-plan" compare "$GPULINK_SOURCE/models/llama-1.1b-ddp.yaml" --cluster h200-nvlink --cluster lab.db --headroom 1.5 \
        --within 2.5% --set 'buckets.gradient=0.04 GB' >out/compare 2>&1 || true
    "$GPULINK_BIN/gpulink-plan" search "$GPULINK_SOURCE/models/llama-1.1b-ddp.yaml" --cluster h200-nvlink --format html >out/search.html
    "$GPULINK_BIN/gpulink-plan" schema model cluster >out/schema
    "$GPULINK_BIN/gpulink-plan" models/none.yaml --cluster none 2>out/error || true
    "$GPULINK_BIN/gpulink-plan" --help >out/help
}
(others C.UTF-8)
for locale in de_DE tr_TR zh_CN; do
    localedef -i $locale -f UTF-8 "$work/$locale.UTF-8" 2>/dev/null || [ -d "$work/$locale.UTF-8" ]
    [ "$(LC_ALL=$locale.UTF-8 locale noexpr)" != "$(LC_ALL=C.UTF-8 locale noexpr)" ] || { echo "$locale is not in force"; exit 1; }
    [ $locale = zh_CN ] || [ "$(LC_ALL=$locale.UTF-8 locale decimal_point)" = , ] || { echo "$locale has no comma"; exit 1; }
    GPULINK_LOCALE=$locale.UTF-8 "$GPULINK_SOURCE/tests/golden/run.sh"
    (others $locale.UTF-8)
    diff -r "$work/C.UTF-8/out" "$work/$locale.UTF-8/out" || { echo "another answer under $locale"; exit 1; }
done
