#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a plan over the list to the verdict, with 2 to 4 processes for GPUs.
source "$GPULINK_SOURCE/tests/mpi/support.sh"

equal() {
    [ "$(query "$1" "$2")" = "$3" ] || { echo "got $(query "$1" "$2") instead of $3: $2"; false; }
}

# verdict STATUS WORDS ARGUMENTS...: gpulink-plan accept; its status and words of its answer.
verdict() {
    local status=$1 words=$2 actual=0
    shift 2
    checks=$((checks + 1))
    gpulink-plan accept "$@" >out 2>err || actual=$?
    [ "$actual" -eq "$status" ] || fail "status $actual instead of $status: accept $*"
    grep -qF -- "$words" out || fail "no '$words': accept $*"
}

cat >model.yaml <<'YAML'
model: {name: small, parameters: 4e6}
parallel: {dp: 2}
precision: {compute: fp32, gradients: fp32}
buckets: {gradient: 4 MiB}
compute: {step: 100 s}
YAML

# What was promised, by ordinary curves.
expect 0 'run 1 complete' 2 --db planned.db --ops all_reduce --ranks 2 --budget 30s --precision 10% --max 16MiB
verdict 0 'gradient norm' model.yaml --cluster planned.db --list list.csv --table acceptance_list
sizes=$(awk -F, 'NR > 1 { print $8 }' list.csv | sort -n | paste -sd,)

# Exactly the list, no size more.
expect 0 'run 1 complete' 2 --db new.db --acceptance list.csv --budget 60s --precision 10% --label delivered
check 'the sizes of the list' equal new.db \
    'SELECT GROUP_CONCAT(s) FROM (SELECT DISTINCT size_bytes s FROM sample ORDER BY s)' "$sizes"
check 'its collectives' equal new.db 'SELECT GROUP_CONCAT(DISTINCT collective) FROM curve' all_reduce
check 'checked' equal new.db 'SELECT COUNT(*) FROM sample WHERE wrong IS NOT 0.0' 0
# Ranks that share cores are not steady: the tolerance is wide, and the verdict is about the path.
verdict 0 'ACCEPTED' model.yaml --cluster planned.db --measured new.db --tolerance 1000%

# The model itself, by the planner that lies beside.
expect 0 'run 1 complete' 3 --db direct.db --acceptance model.yaml --cluster planned.db --budget 60s --precision 10%
check 'the same list' equal direct.db \
    'SELECT GROUP_CONCAT(s) FROM (SELECT DISTINCT size_bytes s FROM sample ORDER BY s)' "$sizes"
expect 3 'ended with status 3' 2 --db none.db --acceptance model.yaml --cluster nowhere.db
check 'told once' [ "$(grep -c 'no such cluster' err)" = 1 ]

# Slow, wrong, over another way, cut short: no.
query new.db 'UPDATE sample SET time_median_s = time_median_s * 1000'
verdict 1 'slower than planned' model.yaml --cluster planned.db --measured new.db --tolerance 1000%
query direct.db 'UPDATE sample SET wrong = 1'
verdict 1 'WRONG RESULTS' model.yaml --cluster planned.db --measured direct.db --tolerance 1000% --format csv
query direct.db "UPDATE sample SET wrong = 0; UPDATE curve SET transport = 'net-socket'"
verdict 1 'over net-socket instead of host' model.yaml --cluster planned.db --measured direct.db --tolerance 1000% -f csv
query direct.db "DELETE FROM sample WHERE size_bytes > 2000000; UPDATE curve SET transport = 'host'"
verdict 1 'mpirun -n 2 gpulink-calibrate run --backend mpi --db direct.db --ops all_reduce --ranks 2 --min' \
    model.yaml --cluster planned.db --measured direct.db --table missing -f csv

# Groups side by side, and what does not fit on this machine.
cat >hand.csv <<'CSV'
collective,ranks,concurrent_groups,size_bytes
all_gather,2,2,64 KiB
all_gather,2,2,128 KiB
sendrecv,4,1,4096
alltoall,8,1,4096
CSV
expect 1 'run 1 complete' 4 --db hand.db --acceptance hand.csv --budget 60s --precision 20%
check 'pairs at once' equal hand.db 'SELECT DISTINCT ranks || "x" || concurrent_groups FROM curve
    WHERE collective = "all_gather"' 2x2
check 'one of all' equal hand.db 'SELECT GROUP_CONCAT(DISTINCT collective) FROM curve' all_gather,sendrecv
check 'named at the end' grep -q 'alltoall of 8 ranks on 1 nodes, 1 groups on a node: not measured' \
    <(grep -A 1 'not all of the list was measured' err)
check 'a second size beside a single one' equal hand.db 'SELECT GROUP_CONCAT(s) FROM (SELECT DISTINCT size_bytes s
    FROM sample JOIN curve ON curve.id = curve_id WHERE collective = "sendrecv" ORDER BY s)' 2048,4096
expect 2 'nothing on the list fits' 2 --db none.db --acceptance hand.csv
sed -Ei 's/,64 KiB$/&,bf16/; s/size_bytes/size_bytes,dtype/; s/(128 KiB|4096)$/\1,/' hand.csv
expect 2 'has no bf16, which the list asks for' 4 --db none.db --acceptance hand.csv
expect 1 'run 1 complete' 4 --db typed.db --acceptance hand.csv --dtype fp32 --budget 60s --precision 20%
check 'no file for a wrong command' [ ! -e none.db ]

# The commands of docs/acceptance.md.
cat >small.yaml <<'YAML'
model: {parameters: 4e5}
parallel: {dp: 2}
compute: {step: 100 s}
YAML
awk '/^<!-- mpi test -->$/ { wanted = 1 } /^```$/ { wanted = inside = 0 } inside { print }
    /^```sh$/ && wanted { inside = 1 }' "$GPULINK_SOURCE/docs/acceptance.md" >commands
check 'the page has commands' [ "$(wc -l <commands)" -ge 4 ]
check 'they work' bash -euo pipefail -x commands >page.out 2>&1
grep -q '^ACCEPTED' page.out || { cp page.out out; fail 'the delivery of the page is not accepted'; }
