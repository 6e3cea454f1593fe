#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that fills up: exit status 4, a valid file, and the same command goes on when there is room.
# Without the right to mount a small disk, a new user namespace gives it.
if [ "${1-}" != inside ]; then
    if [ "$(id -u)" = 0 ]; then
        exec unshare --mount bash "$0" inside
    fi
    exec unshare --map-root-user --mount bash "$0" inside
fi
source "$GPULINK_SOURCE/tests/mpi/support.sh"
mkdir disk
mount -t tmpfs -o size=256k none disk || { echo 'cannot mount a small disk'; exit 1; }
# shellcheck disable=SC2054 # one list, with commas
command=(--db disk/f.db --max 64KiB --ops all_reduce,sendrecv)

measure 2 "${command[@]}" --budget 60s &
job=$!
wait_for 20 has_points disk/f.db || fail 'no points'
cat /dev/zero >disk/filler 2>/dev/null
wait $job
status=$?
check "status $status" [ "$status" = 4 ]
check 'the reason' grep -q 'the disk is full' err
check 'told once' [ "$(grep -c 'the disk is full' err)" = 1 ]
check 'points are there' has_points disk/f.db
points=$(query disk/f.db 'SELECT COUNT(*) FROM sample')
rm disk/filler
check 'sound' sound disk/f.db
check 'interrupted' grep -q interrupted show.out
expect 0 'run 1 complete' 2 "${command[@]}" --budget 3s
check 'nothing lost' [ "$(query disk/f.db 'SELECT COUNT(*) FROM sample')" -ge "$points" ]

# A limit on the size of files is no end without a word.
rm -f pid.*
measure 2 --db limit.db --max 64KiB --budget 60s &
job=$!
wait_for 20 has_points limit.db || fail 'no points'
prlimit --pid "$(cat pid.0)" --fsize=20000
wait $job
status=$?
check "limit: status $status" [ "$status" = 4 ]
check 'limit: the reason' grep -q 'limit.db: .*: File too large' err
check 'limit: sound' sound limit.db
check 'limit: interrupted' grep -q interrupted show.out

# No room from the start.
cat /dev/zero >disk/filler 2>/dev/null
expect 4 '' 2 --db disk/new.db --budget 1s
umount disk
