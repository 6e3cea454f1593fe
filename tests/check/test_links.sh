#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every link between the pages leads to a file, and each page of docs/ is linked from another page.
set -euo pipefail
cd "$GPULINK_SOURCE"
mapfile -t pages < <(find . -path ./build -prune -o -name '*.md' -printf '%P\n' | sort)
count=0 broken=0
declare -A linked=()
for page in "${pages[@]}"; do
    while read -r target; do
        path=$(realpath -m --relative-to=. "$(dirname "$page")/${target%%#*}")
        linked[$path]=yes
        count=$((count + 1))
        [ -e "$path" ] || { echo "$page: $target leads nowhere"; broken=$((broken + 1)); }
    done < <(grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//;s/)$//' | grep -vE '^(https?:|#)' || true)
done
for page in "${pages[@]}"; do
    [ -n "${linked[$page]-}" ] || [[ $page != docs/* ]] || { echo "$page: no page leads there"; broken=$((broken + 1)); }
done
[ "$count" -ge 50 ] || { echo "only $count links were found"; exit 1; }
[ "$broken" -eq 0 ] || exit 1
echo "${#pages[@]} pages, $count links"
