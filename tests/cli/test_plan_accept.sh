#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-plan accept: bundled calibrations as deliveries, lists, commands by hand, broken deliveries.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama-1.1b-ddp.yaml

# says PATTERN: the last answer has a line like that; wrapped PATTERN: it has, whatever the line breaks.
says() {
    checks=$((checks + 1))
    grep -Eq -- "$1" out || fail "no '$1'"
}
wrapped() {
    checks=$((checks + 1))
    grep -Eq -- "$1" <<<"$(tr -s '\n ' ' ' <out)" || fail "no '$1'"
}

accept=(gpulink-plan accept "$model" --cluster h200-nvlink)

# A machine against itself, and against one that talks through sockets or host memory.
expect 0 '^ACCEPTED, with reservations: all 6 messages pass' "${accept[@]}" --measured h200-nvlink
says '^You will get +240 ms .*: as planned'
expect 1 '' "${accept[@]}" --measured h200-socket
says '^REJECTED: 3 of 6 messages fail'
says 'over net-socket instead of nvlink'
says '^You will get .*times as long'
wrapped 'gpulink-calibrate run --db new.db --ops all_reduce --ranks 2 --min 69210112 --max'
expect 1 '' "${accept[@]}" --measured h200-host-memory --format json
says '"decision": "REJECTED"'
says '"which": "delivered"'
expect 1 '' "${accept[@]}" --measured h200-socket --format csv -q
says '^scenario,line,dimension,operation,collective,dtype,ranks,'
expect 0 '' "${accept[@]}" --measured h200-nvlink --format markdown --output signed.md
expect 0 '^\| supplier \|' cat signed.md

# The day of measuring is that of the log, where there is one; otherwise the import's is called so.
expect 0 'not known; imported' "${accept[@]}" --measured h200-nvlink --table runs
gpulink-calibrate import -q --db dated.db --transport nvlink "$GPULINK_SOURCE/tests/fixtures/nccl/json_all_reduce.json"
expect 0 '2026-11-30T02:26:29' "${accept[@]}" --measured dated.db --table runs
expect 0 '"imported_at": null' "${accept[@]}" --measured dated.db --format json

# Tolerance: the same machine passes without any.
expect 0 '' "${accept[@]}" --measured h200-nvlink --tolerance 0
expect 2 'tolerance' "${accept[@]}" --measured h200-nvlink --tolerance -1%
expect 2 'tolerance' "${accept[@]}" --measured h200-nvlink --tolerance 10 # would be 1000 %, meant is 10 %

# A copy that is spoilt: wrong results, a run that was cut off, a transport nobody knows, too few calls.
data=$(dirname "$GPULINK_BIN")/data/calibrations
[ -e "$data/h200-nvlink.db" ] || data=$(dirname "$(find "$(dirname "$GPULINK_BIN")" -name h200-nvlink.db | head -n 1)")
spoil() {
    cp "$data/h200-nvlink.db" new.db
    sqlite3 -batch new.db "$1"
}
spoil "UPDATE sample SET wrong = 0"
expect 0 'results +pass +348 points' "${accept[@]}" --measured new.db
spoil "UPDATE sample SET wrong = 5 WHERE size_bytes = 134217728"
expect 1 '' "${accept[@]}" --measured new.db
says 'results: 348 points, [0-9]+ of them wrong'
wrapped 'WRONG RESULTS: 5 elements'
# A run that says only as a whole that its results were wrong: text, JSON, and a log of before 2.13.
fixtures=$GPULINK_SOURCE/tests/fixtures/nccl
sed 's/values : 0 OK/values : 3 FAILED/' "$fixtures/nvl_all_reduce_g2.txt" >failed.txt
sed 's/"out_of_bounds":{"count":0,"okay":"true"}/"out_of_bounds":{"count":3,"okay":"false"}/' "$fixtures/json_all_reduce.json" >failed.json
sed -E 's/values : 0 OK/values : 3 FAILED/; s/(type   redop) {4}root/\1/; s/( sum) +-1/\1/; s/#wrong/ error/g; s|  N/A|5e-07|g' \
    "$fixtures/nvl_all_reduce_g2.txt" >failed_old.txt
for log in failed.txt failed.json failed_old.txt; do
    rm -f failed.db
    expect 0 '' gpulink-calibrate import -q --db failed.db --transport nvlink "$log"
    expect 1 '' "${accept[@]}" --measured failed.db
    says '^REJECTED'
    wrapped 'results: [0-9]+ points, 0 of them wrong, [0-9]+ not checked; run 1: validation FAILED: 3 values out of bounds'
    expect 1 '' gpulink-calibrate doctor --db failed.db
    says '^proof +failed.db: validation FAILED: 3 values out of bounds'
    says '\[wrong-results\]'
done
spoil "UPDATE run SET state = 'interrupted'"
expect 0 'runs +warn +8, of which 8 did not end well' "${accept[@]}" --measured new.db
spoil "UPDATE curve SET transport = 'unknown'"
expect 0 'nothing says that it went over nvlink' "${accept[@]}" --measured new.db --format csv -q
spoil "UPDATE sample SET iterations = 2"
expect 0 'few calls: 2' "${accept[@]}" --measured new.db --format csv -q
spoil "UPDATE sample SET time_median_s = time_median_s * 1.5"
expect 1 '' "${accept[@]}" --measured new.db
says '50 % slower than planned'
spoil "UPDATE sample SET time_median_s = time_median_s / 1000"
expect 1 '' "${accept[@]}" --measured new.db
wrapped "is above the link's rate, 450: measured wrongly"
expect 1 '' gpulink-calibrate doctor --db new.db
says 'above what the link can carry, 450 \[above-link\]'
expect 0 'over nvlink instead of shm' gpulink-plan accept "$model" --cluster h200-host-memory --measured h200-nvlink --format csv -q
expect 0 'nvlink4 +450 GB/s +371 GB/s +351 GB/s +150 MB +285 GB/s' "${accept[@]}" --table expected
spoil "DELETE FROM sample WHERE curve_id IN (SELECT id FROM curve WHERE collective = 'all_reduce');
    DELETE FROM curve WHERE collective = 'all_reduce'"
expect 1 '' "${accept[@]}" --measured new.db
says '^NOT PROVEN: 6 of 6 messages were not measured'
spoil "UPDATE run SET gpu = 'NVIDIA A100-SXM4-80GB' WHERE gpu != ''"
expect 1 '' "${accept[@]}" --measured new.db
says 'gpu: NVIDIA A100-SXM4-80GB, where'
expect 1 '' "${accept[@]}" --measured "new.db#h200-nvlink"
expect 3 "no run has the label 'x'" "${accept[@]}" --measured 'new.db#x'
expect 3 'no such file' "${accept[@]}" --measured nowhere.db
echo 'not a database' >text.db
expect 3 'text.db' "${accept[@]}" --measured text.db

# What to measure.
expect 0 '^NOT MEASURED YET' "${accept[@]}"
expect 0 '' "${accept[@]}" --list list.csv
[ ! -s out ] || fail '--list alone prints something'
expect 0 ',all_reduce,bf16,2,1,2,1,131072000,' cat list.csv
# Whatever else is asked for is written as well; commands stand alone.
expect 0 '"acceptance_list"' "${accept[@]}" --list list.csv --format json
expect 0 '' "${accept[@]}" --list list.csv --output report.txt
expect 0 '^NOT MEASURED YET' cat report.txt
expect 0 '^ACCEPTED' "${accept[@]}" --list list.csv --measured h200-nvlink
expect 0 '^all_reduce_perf' "${accept[@]}" --list list.csv --nccl-tests
expect 0 '' "${accept[@]}" --nccl-tests --output commands.sh
expect 0 '^all_reduce_perf' cat commands.sh
expect 2 'plain commands' "${accept[@]}" --nccl-tests --format json
expect 2 'plain commands' "${accept[@]}" --nccl-tests --table nccl_tests
expect 2 'does not go with' "${accept[@]}" --nccl-tests --measured h200-nvlink
[ "$(wc -l <list.csv)" -eq 7 ] || fail "$(wc -l <list.csv) lines in list.csv"
expect 0 '^all_reduce_perf -b 8 -e 268435456 -f 2 -g 2 -d bfloat16 -n 20 -c 1$' "${accept[@]}" --nccl-tests
expect 0 "^mpirun -n 32 -N 8 -x NCCL_TESTS_SPLIT='MOD 8' all_gather_perf" \
    gpulink-plan accept "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --nccl-tests
says '^mpirun -n 128 -N 8 all_reduce_perf'

# Where a limit comes from.
expect 0 '466 us · \(1 \+ 0.1\)' gpulink-plan explain "$model" --cluster h200-nvlink acceptance.1

# Slips.
expect 2 'give one --cluster' "${accept[@]}" --cluster h200-socket
expect 2 '--cluster is missing' gpulink-plan accept "$model"
expect 2 'would overwrite the input' "${accept[@]}" --measured new.db --output new.db
expect 2 'name the same file' "${accept[@]}" --list a.csv --output a.csv
expect 2 "did you mean 'acceptance'" "${accept[@]}" --table aceptance
expect 2 'only plan has it' "${accept[@]}" --format trace

# The other side of the list.
run=(gpulink-calibrate run --backend mpi --db x.db)
expect 2 '--ranks does not go with it' "${run[@]}" --acceptance list.csv --ranks 2
expect 2 'a list needs none' "${run[@]}" --acceptance list.csv --cluster h200-nvlink
expect 2 'say with --cluster what was planned' "${run[@]}" --acceptance "$model"
expect 2 'goes with --acceptance' "${run[@]}" --cluster h200-nvlink
expect 3 "no column: 'collective'" "${run[@]}" --acceptance "$GPULINK_SOURCE/README.md"
expect 3 'No such file' "${run[@]}" --acceptance nowhere.csv
