#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# cppcheck finds nothing. It does not read the headers of libraries: with them it takes an hour, for no more.
set -euo pipefail
cd "$GPULINK_SOURCE"
command -v cppcheck >/dev/null || { echo 'cppcheck is missing: see bootstrap.sh'; exit 1; }
mapfile -t files < <(find common planner lib calibrate -name '*.c' | sort)
# One process a file: -j would not keep the order of what it says.
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 12 cppcheck --quiet --error-exitcode=1 --std=c11 --language=c \
    --library=posix --enable=warning,style,performance,portability --inline-suppr \
    --suppressions-list=tests/check/cppcheck.txt -I . -I "$GPULINK_BUILD/generated" \
    -D_POSIX_C_SOURCE=200809L '-DNULL=((void*)0)' --template='{file}:{line}: {id}: {message}' ||
    { echo 'cppcheck has findings: mend them, or say beside the line why not'; exit 1; }
echo "${#files[@]} files: no finding"
