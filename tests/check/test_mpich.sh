#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tests of measuring take the MPI that CMake finds, mostly Open MPI. The same sources build with MPICH, and
# measure. The build stays in the build folder, so that a second check compiles what changed.
set -euo pipefail
for tool in mpicc.mpich mpiexec.mpich sqlite3; do
    command -v $tool >/dev/null || { echo "$tool is missing: see bootstrap.sh"; exit 1; }
done
build=$GPULINK_BUILD/mpich
cmake -S "$GPULINK_SOURCE" -B "$build" -Wno-dev -DCMAKE_BUILD_TYPE=Debug -DGPULINK_WERROR=ON \
    -DMPI_C_COMPILER=mpicc.mpich >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target gpulink-calibrate >"$build/log" || { cat "$build/log"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
program=$build/bin/gpulink-calibrate
grep -q '^MPI: MPICH' <<<"$("$program" --version)" || { "$program" --version; exit 1; }
# Every curve is asked for, so the time is what a busy machine needs: a quiet one is precise enough long before.
timeout 150 mpiexec.mpich -n 2 "$program" run --backend mpi --db m.db --max 4KiB --budget 120s --precision 20% --label mpich \
    >out 2>err ||
    { cat out err; exit 1; }
got=$(sqlite3 -batch m.db "PRAGMA quick_check; SELECT state FROM run WHERE parameters LIKE 'MPICH%';
    SELECT COUNT(*) FROM curve; SELECT COUNT(*) FROM sample WHERE wrong IS NOT 0.0")
[ "$got" = $'ok\ncomplete\n10\n0' ] || { echo "$got"; cat err; exit 1; }
# A wrong command line is told once here, too.
timeout 60 mpiexec.mpich -n 2 "$program" run --backend mpi --db m.db --ranks 7 >out 2>err && exit 1
[ "$(grep -c 'cannot be measured' err)" = 1 ] || { cat err; exit 1; }
