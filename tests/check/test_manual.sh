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
status=0
# check_page PROGRAM FOLDER VERB...
check_page() {
    local program=$1 page verb option
    page=$(mandoc -Tutf8 "$2/$program.1" | col -b)
    shift 2
    for verb in "$@"; do
        for option in $("$GPULINK_BIN/$program" "$verb" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
            grep -qF -- "$option" <<<"$page" || { echo "$program.1 lacks $option of $verb"; status=1; }
        done
    done
}
check_page gpulink-plan planner plan explain accept validate schema check
check_page gpulink-calibrate calibrate run import show merge
exit "$status"
