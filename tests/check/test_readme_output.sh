#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The output that README.md shows is what the programs print now.
set -euo pipefail
diff -u --label README.md --label 'docs/readme.sh now' "$GPULINK_SOURCE/README.md" \
    <("$GPULINK_SOURCE/docs/readme.sh") ||
    { echo 'README.md is old: docs/readme.sh >README.new && mv README.new README.md'; exit 1; }
