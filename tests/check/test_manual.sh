#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Manual pages are well formed and name every option that the program has.
set -euo pipefail
cd "$GPULINK_SOURCE"
command -v mandoc >/dev/null || { echo 'mandoc is missing: see bootstrap.sh'; exit 1; }
for page in */*.1; do
    # Whether other pages are installed on this machine is not this page's fault.
    lint=$(mandoc -Tlint -Wstyle "$page" | grep -v 'referenced manual not found' || true)
    if [ -n "$lint" ]; then
        echo "$lint"
        exit 1
    fi
done
page=$(mandoc -Tutf8 planner/gpulink-plan.1 | col -b)
status=0
for verb in plan explain schema check; do
    for option in $("$GPULINK_BIN/gpulink-plan" "$verb" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
        grep -qF -- "$option" <<<"$page" || { echo "gpulink-plan.1 lacks $option of $verb"; status=1; }
    done
done
exit "$status"
