#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of the documents work as written, each once: each ```sh block whose line before is
# <!-- test -->.
source "$GPULINK_SOURCE/tests/cli/support.sh"
cp -r "$GPULINK_SOURCE/models" .
mkdir -p build/release tests
ln -s "$GPULINK_SOURCE/tests/fixtures" tests/fixtures
ln -s "$GPULINK_BIN" build/release/bin
awk '
    /^<!-- test -->$/ { wanted = 1; next }
    /^```sh$/ && wanted { inside = 1; wanted = 0; next }
    /^```$/ { inside = 0 }
    inside && !/^#/ && NF
    NF { if (!inside) wanted = 0 }
' "$GPULINK_SOURCE"/README*.md "$GPULINK_SOURCE/docs/choosing.md" | awk '!seen[$0]++' >commands
while IFS= read -r command <&3; do
    expect 0 '' bash -euo pipefail -c "$command"
    printf 'ran: %s\n' "$command"
done 3<commands
[ "$checks" -ge 20 ] || fail "only $checks commands found"
