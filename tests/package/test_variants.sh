#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The programs build, without a warning, with the other compiler and with as little as possible: no CUDA, MPI, hwloc,
# libxlsxwriter, Chart.js, OpenMP. They give the same answers, and say what is not there. (With MPICH:
# check/test_mpich. The build under test has all that this machine has.) The builds stay in the build folder.
source "$GPULINK_SOURCE/tests/package/support.sh"
need clang

# variant NAME OPTION...
variant() {
    local build=$GPULINK_BUILD/variants/$1
    cmake -S "$GPULINK_SOURCE" -B "$build" -Wno-dev -DCMAKE_BUILD_TYPE=Debug -DGPULINK_WERROR=ON -DBUILD_TESTING=OFF "${@:2}" \
        >/dev/null || die "$1 is not configured"
    cmake --build "$build" --parallel "$(nproc)" >"$build/log" 2>&1 || { cat "$build/log"; die "$1 does not build"; }
    bin=$build/bin
    GPULINK_BIN=$bin "$GPULINK_SOURCE/tests/golden/run.sh" || die "$1 answers otherwise"
}

# refuses STATUS PATTERN COMMAND...
refuses() {
    local status=0 said
    said=$("${@:3}" 2>&1 >/dev/null) || status=$?
    [ "$status" -eq "$1" ] && grep -q "$2" <<<"$said" || die "status $status of ${*:3}: $said"
}

cd "$GPULINK_SOURCE"
variant clang -DCMAKE_C_COMPILER=clang
grep -q Clang <<<"$("$bin/gpulink-plan" --version)" || die 'not built by clang'

variant bare -DCMAKE_C_COMPILER=gcc -DGPULINK_NCCL=OFF -DGPULINK_MPI=OFF -DGPULINK_HWLOC=OFF -DGPULINK_XLSX=OFF \
    -DGPULINK_CHARTJS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if readelf -d "$bin/gpulink-plan" "$bin/gpulink-calibrate" | grep -E 'NEEDED.*(mpi|nccl|cuda|hwloc|xlsx|gomp)'; then
    die 'linked all the same'
fi
refuses 2 libxlsxwriter "$bin/gpulink-plan" "$example_model" --cluster "$example_cluster" --format xlsx --output "$work/x.xlsx"
refuses 5 MPI "$bin/gpulink-calibrate" run --backend mpi --db "$work/x.db"
refuses 5 NCCL "$bin/gpulink-calibrate" run --backend nccl --db "$work/x.db"
"$bin/gpulink-plan" "$example_model" --cluster "$example_cluster" --format html >"$work/page.html"
grep -q 'Traffic of one rank' "$work/page.html" || die 'a page without charts has no tables'
echo 'clang and a bare build: the same answers'
