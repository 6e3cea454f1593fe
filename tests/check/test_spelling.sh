#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
set -euo pipefail
cd "$GPULINK_SOURCE"
command -v codespell >/dev/null || { echo 'codespell is missing: see bootstrap.sh'; exit 1; }
mapfile -t ignored < <(grep -v '^#' tests/check/spelling.txt)
codespell --ignore-words-list "$(IFS=,; echo "${ignored[*]}")" --skip './build,./.git,./LICENSE,*.db,./tests/fuzz/corpus,./tests/fixtures' .
