#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What needs GPUs, in less than nine minutes on two of one host:
#   OUT=results tests/gpu/run_all.sh BUILD_DIR [FOLDER with nccl-tests logs] [STEP...]
# Steps (all by default): sanity nvlink shm socket mpi nodes resume compare. Results go to $OUT: a
# database and a log of each step. With one GPU only sanity is run, where ranks talk to themselves.
set -uo pipefail

build=$(cd "${1:?build directory}" && pwd)
logs=${2-}
shift $(($# < 2 ? $# : 2))
steps=${*:-sanity nvlink shm socket mpi nodes resume compare}
out=${OUT:-gpu-results}
mkdir -p "$out"
calibrate=$build/bin/gpulink-calibrate
probe=$build/bin/gpulink-probe
failures=0
began=$SECONDS

# Multicast in the switch may be forbidden in a virtual machine, and hang there: these tests do without.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE-0}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NO_COLOR=1

# step NAME LIMIT_S COMMAND...: runs it into $out/NAME.log, says how it ended.
step() {
    local name=$1 limit=$2 start=$SECONDS status=0
    shift 2
    printf '==> %s\n' "$name"
    timeout -k 25 "$limit" "$@" >"$out/$name.log" 2>&1 || status=$?
    if [ "$status" -eq 0 ]; then
        printf '    ok, %d s\n' $((SECONDS - start))
    else
        printf '    FAILED with status %d after %d s; the end of %s:\n' "$status" $((SECONDS - start)) "$out/$name.log"
        tail -n 12 "$out/$name.log" | sed 's/^/    | /'
        failures=$((failures + 1))
    fi
    return 0
}

# Every operation and type at small sizes, verified; exit status 1 of the probe means wrong results.
do_sanity() {
    step sanity-types 80 "$probe" nccl all all 8 2097152 64 10
    grep -E 'wrong elements|warning' "$out/sanity-types.log" | sed 's/^/    /'
}

# A transport: with rates into a database, and in fp32 at nccl-tests' sizes for the comparison.
transport() {
    local name=$1 budget=$2 max=$3 probe_max=$4
    shift 4
    step "run-$name" 125 env "$@" "$calibrate" run --db "$out/$name.db" --label "two GPUs, $name" \
        --budget "${budget}s" --max "$max" --compute --overlap -v
    tail -n 4 "$out/run-$name.log" | sed 's/^/    /'
    step "probe-$name" 60 env "$@" "$probe" nccl all fp32 8 "$probe_max" 2 20
    "$calibrate" show "$out/$name.db" >"$out/show-$name.txt" 2>&1
}

do_nvlink() { transport nvlink 85 4GiB 4294967296; }
do_shm() { transport shm 75 1GiB 268435456 NCCL_P2P_DISABLE=1; }
do_socket() { transport socket 75 64MiB 16777216 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1; }

have_mpi() {
    command -v mpirun >/dev/null && grep -q 'MPI: [^a]' <<<"$("$calibrate" --version)"
}

# Two processes, a GPU each: NCCL between processes.
do_mpi() {
    have_mpi || { echo '==> mpi: SKIPPED, no mpirun or built without MPI'; return; }
    step mpi-probe 60 mpirun --bind-to none -n 2 "$probe" nccl all bf16,fp32 8 67108864 8 20
    grep -E '^# from|wrong elements' "$out/mpi-probe.log" | head -n 4 | sed 's/^/    /'
}

# The same with a host identifier each: two nodes to NCCL, joined by sockets.
do_nodes() {
    have_mpi || { echo '==> nodes: SKIPPED, no mpirun or built without MPI'; return; }
    # shellcheck disable=SC2016 # expanded by the inner shell
    local as_node='NCCL_HOSTID=node${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} exec "$@"'
    step nodes 70 mpirun --bind-to none -n 2 bash -c "$as_node" - "$calibrate" run --db "$out/nodes.db" \
        --label "two nodes by NCCL_HOSTID" --max 16MiB --budget 30s --overlap -v
    "$calibrate" show "$out/nodes.db" --table curves --format csv 2>&1 | cut -d, -f4-11 | sed 's/^/    /' | head -n 12
}

# Killed without warning, then the same command again: it goes on where it was.
do_resume() {
    local command=("$calibrate" run --db "$out/resume.db" --label resume --ops all_reduce --max 256MiB --budget 20s --precision 0.5%)
    printf '==> resume\n'
    "${command[@]}" >"$out/resume-killed.log" 2>&1 &
    local pid=$!
    sleep 12
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    "$calibrate" show "$out/resume.db" >"$out/resume-killed-show.txt" 2>&1 || failures=$((failures + 1))
    step resume-again 60 "${command[@]}"
    tail -n 3 "$out/resume-again.log" | sed 's/^/    /'
}

do_compare() {
    if [ ! -d "$logs" ]; then
        echo '==> compare: SKIPPED, no folder with logs was given'
        return
    fi
    bash "$(dirname "$0")/compare.sh" "$build" "nvlink=nvl=$out/probe-nvlink.log" "shm=shm=$out/probe-shm.log" \
        "socket=sock=$out/probe-socket.log" "nvlink.db=nvl=$out/nvlink.db" "shm.db=shm=$out/shm.db" \
        "socket.db=sock=$out/socket.db" "$logs" | tee "$out/compare.txt"
}

"$calibrate" --version
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
printf '%s GPUs\n' "${gpus:-unknown}"
[ "$gpus" = 1 ] && [ $# -eq 0 ] && steps=sanity
for name in $steps; do
    case $name in
    sanity | nvlink | shm | socket | mpi | nodes | resume | compare) "do_$name" ;;
    *) echo "no such step: $name" >&2 && exit 2 ;;
    esac
done
printf '%d s in all, %d failures\n' $((SECONDS - began)) "$failures"
[ "$failures" -eq 0 ]
