#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kill -9 at twenty random moments, of the leader or of another rank: the file stays sound, nothing
# that was stored is lost, and the same command goes on.
source "$GPULINK_SOURCE/tests/mpi/support.sh"
seed=${TEST_SEED:-$(date +%s)}
RANDOM=$seed
echo "seed $seed"
command=(--db k.db --min 8 --max 1MiB --label kill)
before=0

for i in $(seq 20); do
    rm -f pid.*
    measure 2 "${command[@]}" --budget 60s &
    job=$!
    wait_for 20 test -s pid.0 -a -s pid.1 || fail "round $i: the ranks did not start"
    # From before the file is there to well into the measuring.
    sleep "$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))"
    # Both at once, as when a node goes down; at times the leader or the other rank alone, and mpirun ends the rest.
    case $((i % 4)) in
    0) kill -9 "$(cat pid.1)" ;;
    1) kill -9 "$(cat pid.0)" ;;
    *) kill -9 "$(cat pid.0)" "$(cat pid.1)" ;;
    esac
    wait_killed $job && fail "round $i: a killed session ends well"
    # Killed while the tables were made, the file goes back to what it was: empty.
    query k.db 'PRAGMA quick_check' >/dev/null
    [ -s k.db ] || continue
    check "round $i: sound" sound k.db
    now=$(query k.db 'SELECT COUNT(*) FROM sample')
    check "round $i: $now points after $before" [ "$now" -ge "$before" ]
    check "round $i: one run" [ "$(query k.db 'SELECT COUNT(*) <= 1 FROM run')" = 1 ]
    grep -qE 'interrupted|^0 runs' show.out || fail "round $i: show does not say interrupted"
    before=$now
done

check 'kills left points behind' [ "$before" -gt 0 ]
expect 0 'run 1 complete' 2 "${command[@]}" --budget 10s
check 'complete' [ "$(query k.db 'SELECT GROUP_CONCAT(state) FROM run')" = complete ]
check 'all curves' [ "$(query k.db 'SELECT COUNT(*) FROM curve')" = 10 ]
check 'sound' sound k.db
