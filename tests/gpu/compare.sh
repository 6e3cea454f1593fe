#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Times of this program against logs of nccl-tests of the same kind of machine:
#   compare.sh BUILD_DIR NAME=PREFIX=RESULT... LOGS_DIR
# where RESULT is a database or the output of gpulink-probe, and LOGS_DIR holds PREFIX_OPERATION_*.txt
# (nvl_all_reduce_g2.txt). Prints a line for each operation: points that both have, the median and the
# worst difference at sizes from 64 KiB, and below.
set -euo pipefail

build=$1
shift
logs=${!#}

# Rows "operation size in_place time_us" of a database.
rows_of_database() {
    local show=("$build/bin/gpulink-calibrate" show "$1")
    "${show[@]}" --table curves --format csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { print $column["id"], $column["collective"], $column["in_place"] }' |
        while read -r id operation in_place; do
            "${show[@]}" --curve "$id" --format csv | awk -F, -v op="$operation" -v ip="$in_place" '
                NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
                { printf "%s %.0f %s %.4f\n", op, $column["size_bytes"], ip, 1e6 * $column["time_median_s"] }'
        done
}

rows_of_probe() {
    awk '$1 == "#" && $4 ~ /,$/ || $1 == "#" && $3 ~ /,$/ { operation = $2 }
        $1 ~ /^[0-9]+$/ && NF >= 13 {
            if ($6 != "N/A") print operation, $1, "false", $6
            if ($10 != "N/A") print operation, $1, "true", $10
        }' "$1"
}

rows_of_log() {
    awk -v operation="$2" '$1 ~ /^[0-9]+$/ && NF >= 13 && $6 + 0 > 0 {
        print operation, $1, "false", $6
        print operation, $1, "true", $10
    }' "$1"
}

rows_of_result() {
    case $1 in
    *.db) rows_of_database "$1" ;;
    *) rows_of_probe "$1" ;;
    esac
}

printf '%-10s %-15s %6s %16s %16s %16s\n' result operation points 'median >=64KiB' 'worst >=64KiB' 'median below'
for argument in "$@"; do
    case $argument in *=*=*) ;; *) continue ;; esac
    IFS='=' read -r name prefix result <<<"$argument"
    [ -s "$result" ] || continue
    rows_of_result "$result" >"$result.rows"
    for log in "$logs/$prefix"_*_g2.txt; do
        [ -s "$log" ] || continue
        operation=${log##*/"$prefix"_}
        operation=${operation%_g2.txt}
        rows_of_log "$log" "$operation" | awk -v name="$name" -v operation="$operation" '
            function median(list, n,   i, k, t) {
                if (n == 0) return "-"
                for (i = 2; i <= n; i++)
                    for (k = i; k > 1 && list[k] < list[k - 1]; k--) { t = list[k]; list[k] = list[k - 1]; list[k - 1] = t }
                return sprintf("%+.1f %%", list[int((n + 1) / 2)])
            }
            NR == FNR { ours[$1, $2, $3] = $4; next }
            ($1, $2, $3) in ours && $4 > 0 {
                d = 100 * (ours[$1, $2, $3] / $4 - 1); points++
                if ($2 < 65536) { low[++nl] = d; next }
                high[++nh] = d; size = d < 0 ? -d : d
                if (size > worst) { worst = size; at = $2 }
            }
            END {
                if (points) printf "%-10s %-15s %6d %16s %16s %16s\n", name, operation, points, median(high, nh), nh ? sprintf("%.0f %% @%d", worst, at) : "-", median(low, nl)
            }' "$result.rows" -
    done
done
