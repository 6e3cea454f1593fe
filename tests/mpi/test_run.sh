#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-calibrate run --backend mpi with 2, 3 and 4 processes: what is measured, stored and printed.
source "$GPULINK_SOURCE/tests/mpi/support.sh"

equal() {
    [ "$(query "$1" "$2")" = "$3" ] || { echo "got $(query "$1" "$2") instead of $3: $2"; false; }
}

# Where every curve is asked for, the budget is what a busy machine needs; a quiet one is precise enough long before.
for ranks in 2 3 4; do
    db=n$ranks.db
    expect 0 'run 1 complete' "$ranks" --db $db --budget 60s --precision 20% --max 64KiB --label "host $ranks"
    check "$db is sound" sound $db
    check 'complete' equal $db 'SELECT state || backend || host FROM run' completempi
    groups=$([ "$ranks" = 2 ] && echo 2 || echo "2,$ranks")
    check 'groups' equal $db 'SELECT GROUP_CONCAT(r) FROM (SELECT DISTINCT ranks r FROM curve ORDER BY r)' "$groups"
    check 'collectives' equal $db 'SELECT COUNT(DISTINCT collective) FROM curve' 6
    check 'both ways' equal $db "SELECT COUNT(*) FROM curve WHERE ranks = 2 AND in_place" 4
    check 'a curve has points' equal $db 'SELECT MIN(n) >= 2 FROM (SELECT COUNT(*) n FROM sample GROUP BY curve_id)' 1
    check 'host memory' equal $db 'SELECT DISTINCT transport FROM curve' host
    check 'sane times' equal $db 'SELECT COUNT(*) FROM sample WHERE NOT (time_min_s <= time_p05_s
        AND time_p05_s <= time_median_s AND time_median_s <= time_p95_s AND time_median_s BETWEEN 1e-8 AND 10)' 0
    check 'bandwidth' equal $db 'SELECT COUNT(*) FROM sample_bw WHERE NOT busbw_bytes_per_s BETWEEN 1 AND 1e13' 0
    check 'all checked' equal $db 'SELECT COUNT(*) FROM sample WHERE wrong IS NOT 0.0' 0
    check 'whole parts' equal $db "SELECT COUNT(*) FROM sample_bw WHERE size_bytes % (4 * ranks) != 0
        AND collective IN ('all_gather', 'reduce_scatter', 'alltoall')" 0
    check 'a summary' grep -q 'plateau' out
    check 'overhead' grep -q 'did not measure; peak memory' err
done

# The planner takes the file, or says why not.
checks=$((checks + 1))
gpulink-plan "$GPULINK_SOURCE/models/llama-1.1b-ddp.yaml" --cluster n2.db >out 2>err
status=$?
[ $status = 0 ] || { [ $status = 3 ] && [ -s err ]; } || fail "gpulink-plan: status $status"

# Other types and what MPI has not.
expect 0 '' 2 --db t.db --budget 30s --precision 20% --max 4KiB --ops all_reduce --dtype int8 -q
[ -s out ] || [ -s err ] && fail '-q is not quiet'
check 'int8' equal t.db 'SELECT DISTINCT dtype FROM curve' int8
export NCCL_X_TOKEN=geheim NCCL_TOPO_FILE=/home/someone/topo.xml
expect 0 '' 2 --db t.db --budget 30s --precision 20% --max 4KiB --ops all_gather,sendrecv --dtype fp64 --keep-host
unset NCCL_X_TOKEN NCCL_TOPO_FILE
check 'no secrets' equal t.db "SELECT environment LIKE '%NCCL_TOPO_FILE=topo.xml%NCCL_X_TOKEN=(set)%' FROM run WHERE host != ''" 1
check 'a new run' equal t.db "SELECT COUNT(*) FROM run WHERE host != ''" 1
expect 2 'the mpi backend has no bf16; it measures fp32' 2 --db u.db --dtype bf16
expect 2 '8 ranks cannot be measured' 2 --db u.db --ranks 8
expect 2 'did you mean' 2 --db u.db --ops all_reduse
expect 2 'above --max' 2 --db u.db --min 8MiB --max 8KiB
expect 2 '--db is missing' 2
expect 2 '--ops: all_reduce is given twice' 2 --db u.db --ops all_reduce,sendrecv,all_reduce
expect 2 '--ranks: 2 is given twice' 2 --db u.db --ranks 2,4,2
expect 2 "--ranks: '2x'" 2 --db u.db --ranks 2,2x
expect 3 'name of the calibration database is empty' 2 --db ''
no_rates='they go with --backend nccl'
grep -q 'NCCL: absent' <<<"$(gpulink-calibrate --version)" && no_rates='was built without CUDA'
expect 5 "$no_rates" 2 --db u.db --compute
check 'no file for a wrong command' [ ! -e u.db ]
# The leader tells, and nobody else.
check 'told once' [ "$(grep -cF "$no_rates" err)" = 1 ]
# Groups at the same time: as many as fit, ranks that are left over are idle; every element of every group is right.
placements='SELECT GROUP_CONCAT(k) FROM (SELECT DISTINCT ranks || "x" || concurrent_groups || "/" || ranks_per_node || "/" ||
    nodes k FROM curve ORDER BY k)'
expect 0 'run 1 complete' 4 --db g.db --ranks 2,3 --concurrent --ops all_reduce --budget 30s --precision 20% --max 4KiB
check 'groups at once' equal g.db "$placements" 2x1/2/1,2x2/2/1,3x1/3/1
expect 0 'run 1 complete' 5 --db five.db --concurrent --ops all_gather,sendrecv,broadcast --budget 30s --precision 20% --max 4KiB
check 'two pairs of five' equal five.db "$placements" 2x1/2/1,2x2/2/1,4x1/4/1,5x1/5/1
check 'groups are shown' grep -qE ' 2 x 2 ' out
check 'all ways of all groups' equal five.db 'SELECT COUNT(*) FROM curve' 20
check 'all right in two pairs' equal five.db 'SELECT COUNT(*) FROM sample WHERE wrong IS NOT 0.0' 0
check 'groups of a kind have points' equal five.db 'SELECT MIN(n) >= 2 FROM (SELECT COUNT(s.size_bytes) n FROM curve c
    LEFT JOIN sample s ON s.curve_id = c.id GROUP BY c.id)' 1
# The bandwidth is that of one group.
check 'bandwidth of a group' equal five.db "SELECT COUNT(*) FROM sample_bw WHERE ABS(busbw_bytes_per_s * time_median_s / size_bytes
    - CASE collective WHEN 'all_gather' THEN (ranks - 1.0) / ranks ELSE 1 END) > 1e-9" 0

# A short budget is kept, however large the messages may get.
start=$SECONDS
expect 0 "run 1 complete" 2 --db short.db --budget 4s
check "$((SECONDS - start)) s for a budget of 4 s" [ $((SECONDS - start)) -lt 20 ]
check 'and yet there are points' equal short.db 'SELECT COUNT(*) > 0 FROM sample' 1

# One process alone, and no GPUs.
checks=$((checks + 2))
gpulink-calibrate run --backend mpi --db u.db >out 2>err
[ $? = 2 ] && grep -q 'mpirun -n 4' err || fail 'one process alone'
if grep -q 'NCCL: absent' <<<"$(gpulink-calibrate --version)"; then
    gpulink-calibrate run --db u.db >out 2>err
    [ $? = 5 ] && grep -q -- '--backend mpi' err || fail 'without NCCL'
fi
gpulink-calibrate --version >out
check 'the version of MPI' grep -qE '^MPI: .*[0-9]' out
