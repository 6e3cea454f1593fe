#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/acceptance.md end as it says: each ```sh block below a line <!-- test STATUS -->.
source "$GPULINK_SOURCE/tests/cli/support.sh"
ln -s "$GPULINK_SOURCE/models" "$GPULINK_SOURCE/data" .
awk '
    /^<!-- test [0-9]+ -->$/ { wanted = 1; status = $3; next }
    /^```sh$/ && wanted { inside = 1; wanted = 0; next }
    /^```$/ { inside = 0 }
    inside && NF { print status, $0 }
    NF { if (!inside) wanted = 0 }
' "$GPULINK_SOURCE/docs/acceptance.md" >commands
while read -r status command <&3; do
    expect "$status" '' bash -euo pipefail -c "$command"
    printf 'ran: %s\n' "$command"
done 3<commands
[ "$checks" -ge 8 ] || fail "only $checks commands found in docs/acceptance.md"
grep -q '^ACCEPTED' acceptance.md || fail 'the second delivery is not accepted'
grep -q 'all_reduce' contract.md || fail 'the contract has no table'
