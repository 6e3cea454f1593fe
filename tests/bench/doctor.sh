#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What doctor takes for 100 MB of mixed logs of 512 ranks: wall time and largest resident set, beside what is
# allowed (3 s, 64 MB). For people; a busy machine would fail it as a test. doctor.sh [FOLDER OF PROGRAMS]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${1:-$root/build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -std=c11 -O2 -D_GNU_SOURCE -o "$work/measure" "$root/tests/bench/measure.c"
cc -std=c11 -O2 -o "$work/make_logs" "$root/tests/bench/make_logs.c"
"$work/make_logs" 512 100 >"$work/job.log"
read -r median fastest resident < <("$work/measure" 5 "$bin/gpulink-calibrate" doctor --log "$work/job.log")
printf '100 MB, 512 ranks: median %s ms, fastest %s ms, %s MiB (allowed: 3000 ms, 61 MiB)\n' "$median" "$fastest" "$resident"
