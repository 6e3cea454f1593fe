#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The sources are formatted as .clang-format says. Other versions of clang-format differ in details.
set -euo pipefail
cd "$GPULINK_SOURCE"
tool=$(command -v clang-format-14) || { echo 'clang-format-14 is missing: see bootstrap.sh'; exit 1; }
mapfile -t files < <(find common planner lib calibrate docs/examples tests -name '*.[ch]' | sort)
"$tool" --dry-run -Werror "${files[@]}"
echo "${#files[@]} files are formatted"
