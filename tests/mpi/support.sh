# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the tests of measuring share: starting several processes, killing one of them, looking at the
# file.
set -u
source "$GPULINK_SOURCE/tests/harness.sh"
for tool in mpirun sqlite3; do
    command -v $tool >/dev/null || { echo "$tool is missing: see bootstrap.sh"; exit 1; }
done
# Open MPI refuses root unless told twice; containers may forbid its way of copying between processes.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1
# A rank that waits gives its core to the others: these tests share cores with whatever else runs.
export OMPI_MCA_mpi_yield_when_idle=1
# MPI libraries leave memory behind that is none of ours.
export ASAN_OPTIONS=detect_leaks=0

# check WORDS COMMAND...: the command must succeed.
check() {
    local words=$1
    shift
    checks=$((checks + 1))
    "$@" || fail "$words"
}

# Each rank leaves its process number in pid.RANK, so that a test can kill just that one, and mpirun's.
cat >rank.sh <<'EOF'
#!/bin/sh
echo $PPID >pid.mpirun
echo $$ >"pid.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"
exec gpulink-calibrate "$@"
EOF
chmod +x rank.sh

# measure RANKS ARGUMENTS...: gpulink-calibrate run over MPI; output in out and err.
measure() {
    local ranks=$1
    shift
    timeout -s KILL 100 mpirun -n "$ranks" ./rank.sh run --backend mpi "$@" >out 2>err </dev/null
}

# expect STATUS WORDS RANKS ARGUMENTS...: the same with a known end; out or err must hold the words.
expect() {
    local status=$1 words=$2 actual=0
    shift 2
    checks=$((checks + 1))
    measure "$@" || actual=$?
    if [ "$actual" -ne "$status" ]; then
        fail "status $actual instead of $status: $*"
    elif [ -n "$words" ] && ! grep -qF -- "$words" out err; then
        fail "no '$words': $*"
    elif grep -Eq 'Sanitizer|runtime error' err; then
        fail "sanitizer: $*"
    fi
}

query() {
    sqlite3 -batch "$1" "$2"
}

# The file is sound, and every reader takes it.
sound() {
    [ "$(query "$1" 'PRAGMA quick_check')" = ok ] && gpulink-calibrate show "$1" >show.out 2>show.err
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
    local tries=$(($1 * 20))
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

ended() {
    ! kill -0 "$1" 2>/dev/null
}

# wait_killed JOB: for a session whose ranks were killed. At times mpirun of Open MPI 4.1 waits for itself while it
# ends (in PMIx_server_finalize).
wait_killed() {
    wait_for 10 ended "$1" || kill -9 "$(cat pid.mpirun)"
    wait "$1"
}

# Has a session stored points?
has_points() {
    [ "$(query "$1" 'SELECT COUNT(*) >= 3 FROM sample')" = 1 ]
}
