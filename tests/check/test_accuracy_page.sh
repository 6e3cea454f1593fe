#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/accuracy.md is what docs/accuracy.sh makes now.
set -euo pipefail
diff -u --label 'docs/accuracy.md' --label 'docs/accuracy.sh now' "$GPULINK_SOURCE/docs/accuracy.md" \
    <("$GPULINK_SOURCE/docs/accuracy.sh") ||
    { echo 'docs/accuracy.md is old: docs/accuracy.sh >docs/accuracy.new && mv docs/accuracy.new docs/accuracy.md'; exit 1; }
