#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-tidy finds nothing, by .clang-tidy. GPULINK_TIDY adds checks.
set -euo pipefail
cd "$GPULINK_SOURCE"
tool=$(command -v clang-tidy-14) || { echo 'clang-tidy-14 is missing: see bootstrap.sh'; exit 1; }
commands=$GPULINK_BUILD/compile_commands.json
# What this machine compiles: files for libraries that it lacks have no command.
mapfile -t files < <(sed -nE "s|^ *\"file\": \"($GPULINK_SOURCE/(common\|planner\|lib\|calibrate)/.*\.c)\".*|\1|p" "$commands" | sort -u)
[ "${#files[@]}" -gt 100 ] || { echo "$commands names few files"; exit 1; }
# clang does not know gcc's -Wdouble-promotion as gcc means it: see cmake/GpulinkFlags.cmake.
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 8 "$tool" -p "$GPULINK_BUILD" --quiet \
    ${GPULINK_TIDY:+--checks="$GPULINK_TIDY"} --extra-arg=-Wno-double-promotion 2>/dev/null ||
    { echo 'clang-tidy has findings: mend them, or say beside the line why not'; exit 1; }
echo "${#files[@]} files: no finding"
