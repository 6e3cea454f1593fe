#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# SIGINT, SIGTERM and SIGHUP end a session in order, SIGPIPE does not; a second writer is told; others may read and import.
source "$GPULINK_SOURCE/tests/mpi/support.sh"
command=(--db i.db --max 1MiB --label interrupt)

running() {
    [ -s pid.0 ] && grep -q running <<<"$(gpulink-calibrate show "$1" --table runs)" && has_points "$1"
}

for signal in INT TERM HUP; do
    rm -f pid.*
    measure 2 "${command[@]}" --budget 60s &
    job=$!
    wait_for 20 running i.db || fail 'no points'
    if [ $signal = INT ]; then
        checks=$((checks + 4))
        gpulink-calibrate show i.db >show.out 2>show.err
        grep -q running show.out || fail 'show does not say running'
        gpulink-calibrate run --backend mpi --db i.db >second.out 2>second.err
        [ $? = 2 ] || fail 'one process alone'
        mpirun -n 2 gpulink-calibrate run --backend mpi --db i.db --budget 1s >second.out 2>second.err
        status=$?
        [ $status = 3 ] || fail "second writer: status $status: $(cat second.err)"
        grep -q 'another gpulink-calibrate run measures into this database' second.err ||
            fail "second writer: $(cat second.err)"
        gpulink-calibrate import -q --db i.db --transport nvlink \
            "$GPULINK_SOURCE/tests/fixtures/nccl/nvl_all_reduce_g2.txt" 2>second.err ||
            fail "import meanwhile: $(cat second.err)"
    fi
    kill -PIPE "$(cat pid.0)"
    kill -$signal "$(cat pid.0)"
    wait $job
    status=$?
    check "SIG$signal: status $status" [ "$status" = $((128 + $(kill -l $signal))) ]
    check "SIG$signal: sound" sound i.db
    check "SIG$signal: marked" [ "$(query i.db "SELECT state FROM run WHERE label = 'interrupt'")" = interrupted ]
    check "SIG$signal: told" grep -q 'the same command goes on' err
done
expect 0 'complete' 2 "${command[@]}" --budget 3s
check 'one run of ours' [ "$(query i.db "SELECT COUNT(*) || state FROM run WHERE label = 'interrupt'")" = 1complete ]

# A reader that goes away takes nothing along.
checks=$((checks + 2))
timeout -s KILL 60 mpirun -n 2 bash -c \
    'gpulink-calibrate run --backend mpi --db r.db --max 4KiB --budget 2s -v 2>&1 | true; exit "${PIPESTATUS[0]}"' \
    >out 2>err </dev/null
[ $? = 4 ] || fail 'nobody reads: status'
[ "$(query r.db 'SELECT state FROM run')" = complete ] || fail 'nobody reads: not complete'

# When the end of a run cannot be stored, all processes hear of it.
measure 2 --db end.db --ops alltoall --max 1MiB --precision 0.1% --budget 6s &
job=$!
wait_for 20 has_points end.db || fail 'no points'
query end.db 'DELETE FROM run'
wait $job
status=$?
check "no end: status $status" [ "$status" = 70 ]
check 'no end: told once' [ "$(grep -c 'there is no row' err)" = 1 ]

# mpirun that is asked to stop takes its processes along: whatever they manage, the file is sound.
measure 2 --max 1MiB --label mpirun --db m.db --budget 60s &
job=$!
wait_for 20 has_points m.db || fail 'no points'
kill -INT "$(ps -o ppid= -p "$(cat pid.0)" | tr -d ' ')"
wait $job
check 'mpirun: sound' sound m.db
grep -q interrupted show.out || fail 'mpirun: not interrupted'
