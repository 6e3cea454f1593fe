#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gcc -fanalyzer finds nothing. The build stays in the build folder, so that a second check compiles what changed.
set -euo pipefail
command -v gcc >/dev/null || { echo 'gcc is missing: see bootstrap.sh'; exit 1; }
build=$GPULINK_BUILD/analyzer
# Values that loops fill in are not followed (GCC 12): what is not initialised, valgrind finds in the unit tests.
cmake -S "$GPULINK_SOURCE" -B "$build" -Wno-dev -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc -DGPULINK_WERROR=ON \
    -DBUILD_TESTING=OFF -DCMAKE_C_FLAGS='-fanalyzer -Wno-analyzer-use-of-uninitialized-value' >/dev/null
cmake --build "$build" --parallel "$(nproc)" -- --keep-going --no-print-directory >"$build/log" 2>&1 ||
    { grep -E 'warning:|error:' "$build/log" || tail -n 30 "$build/log"; exit 1; }
