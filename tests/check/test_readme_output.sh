#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The output that README.md and other pages show is what the programs print now.
set -euo pipefail
status=0
for page in README.md README.zh-CN.md docs/choosing.md docs/acceptance.md docs/library.md; do
    diff -u --label "$page" --label 'docs/readme.sh now' "$GPULINK_SOURCE/$page" \
        <("$GPULINK_SOURCE/docs/readme.sh" "$page") ||
        { echo "$page is old: docs/readme.sh $page >page.new && mv page.new $page"; status=1; }
done
exit $status
