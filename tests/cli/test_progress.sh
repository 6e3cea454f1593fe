#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What takes more than a second says on a terminal how far it is, in one line that is wiped at the end; elsewhere nothing is
# said, and the answer is the same.
source "$GPULINK_SOURCE/tests/cli/support.sh"
command -v script >/dev/null || { echo 'script (util-linux) is missing: see bootstrap.sh'; exit 1; }
logs=$GPULINK_SOURCE/tests/fixtures/nccl
wipe=$'\r\033[K'

# progress PATTERN COMMAND...: in a pipe it shows nothing; with standard error on a terminal the same answer, and progress, if it
# takes long enough, which is wiped. Returns whether progress was shown: how long a machine takes is not known.
progress() {
    local pattern=$1 command
    shift
    printf -v command '%q ' "$@"
    checks=$((checks + 1))
    "$@" >in-pipe 2>err || true
    ! grep -aq $'\r' err || fail "progress in a pipe: $*"
    script -qec "$command >on-terminal" /dev/null >err </dev/null || true
    : >out
    cmp -s on-terminal in-pipe || fail "another answer on a terminal: $*"
    grep -aEq "$pattern" err || return 1
    grep -aqF "$wipe" err || fail "the line stays: $*"
}
# until_shown PATTERN MAKER COMMAND...: a command that is made longer until it takes long enough.
until_shown() {
    local size=1
    # shellcheck disable=SC2046 # several words
    until progress "$1" "${@:3}" $("$2" $size); do
        size=$((size * 2))
        [ $size -le 64 ] || { fail "no '$1' on a terminal: ${*:3}"; break; }
    done
}
cp -r "$GPULINK_SOURCE/models" .
large=(models/llama3-8b.yaml --cluster hgx-h100-16-ndr -f csv)
sweep() { echo "--sweep cluster.inter_node.latency=$(seq -s us, $((50 * $1)))us"; }
until_shown '[0-9]+ of [0-9]+ scenarios planned' sweep gpulink-plan "${large[@]}" --table summary
tables() {
    for i in $(seq "$1"); do
        sed "2,\$ s/^/$i-/" "$GPULINK_SOURCE/data/validation/megatron-bridge.csv" >"runs$i.csv"
        echo "runs$i.csv"
    done
}
until_shown '[0-9]+ of [0-9]+ runs planned' tables gpulink-plan validate
progress 'comparing 100 options|[0-9]+ of 100 options planned' gpulink-plan compare "${large[@]}" \
    --sweep "cluster.inter_node.latency=$(seq -s us, 100)us" || true
nodes() { echo "--set cluster.nodes=$((16 * $1))"; }
until_shown '[0-9]+ % of [0-9]+ layouts' nodes gpulink-plan search models/llama3-405b.yaml --cluster hgx-h100-16-ndr --jobs 1 -f csv

# A large log says so at once, and quiet is quiet.
{
    cat "$logs/debug_all_reduce_g2.txt"
    for _ in $(seq 240); do grep 'NCCL INFO' "$logs/debug_all_reduce_g2.txt"; done
} >large.log
checks=$((checks + 3))
script -qec 'gpulink-calibrate doctor large.log >/dev/null' /dev/null >err </dev/null || true
: >out
grep -aq 'file 1 of 1: large.log' err && grep -aqF "$wipe" err || fail 'doctor says nothing on a terminal'
script -qec 'gpulink-calibrate import large.log --db a.db' /dev/null >err </dev/null || fail 'import'
grep -aq 'file 1 of 1: large.log' err || fail 'import says nothing on a terminal'
script -qec 'gpulink-calibrate import large.log --db b.db -q' /dev/null >err </dev/null || fail 'import'
[ ! -s err ] || fail 'import -q says something'
# What is done within a second shows nothing.
checks=$((checks + 1))
script -qec "gpulink-plan models/minimal.yaml --cluster h200-nvlink -q >/dev/null" /dev/null >err </dev/null || true
! grep -aq $'\r\033' err || fail 'progress of what takes no time'
