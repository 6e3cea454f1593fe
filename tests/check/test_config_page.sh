#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/config.md is what docs/config.sh makes now.
set -euo pipefail
diff -u --label 'docs/config.md' --label 'docs/config.sh now' "$GPULINK_SOURCE/docs/config.md" \
    <("$GPULINK_SOURCE/docs/config.sh") ||
    { echo 'docs/config.md is old: docs/config.sh >docs/config.md'; exit 1; }
