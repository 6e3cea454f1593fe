#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No script has a finding of shellcheck.
set -euo pipefail
cd "$GPULINK_SOURCE"
command -v shellcheck >/dev/null || { echo 'shellcheck is missing: see bootstrap.sh'; exit 1; }
mapfile -t files < <(find . -path ./build -prune -o -name '*.sh' -print | sort)
# 1091: what is sourced lies beside the script, which shellcheck looks at by itself.
# 2015: `a && b || fail` is meant, where b cannot fail but a may. 2016: $ in quotes is for another program.
shellcheck --exclude=SC1091,SC2015,SC2016 "${files[@]}" .ci/run
# A grep that stops at its first match closes the pipe: the command before it fails, or not, by chance.
if grep -nE '[^|]\|\s*grep[^|]*(\s-[a-zA-Z]*[qm]|> ?/dev/null)' "${files[@]}" .ci/run; then
    # shellcheck disable=SC2016 # as it is to be written
    echo 'write grep -q PATTERN <<<"$(COMMAND)"'
    exit 1
fi
echo "${#files[@]} scripts: no finding"
