#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands and the list of quotes of docs/cost.md work as written.
source "$GPULINK_SOURCE/tests/cli/support.sh"
cp -r "$GPULINK_SOURCE/models" .
page=$GPULINK_SOURCE/docs/cost.md
grep -q 'no libxlsxwriter' <<<"$(gpulink-plan --version)" && without=xlsx || without=nothing
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside && NF' "$page" >commands
while IFS= read -r command <&3; do
    case $command in *"$without"*) continue ;; esac
    expect 0 '' bash -euo pipefail -c "$command"
done 3<commands
[ "$checks" -ge 5 ] || fail "only $checks commands found in docs/cost.md"

# The quotes, as a file beside the cluster description and on the command line.
awk '/^# quotes.yaml$/ { inside = 1 } /^```$/ { inside = 0 } inside' "$page" >quotes.yaml
expect 0 'quotes.yaml: ok' gpulink-plan check quotes.yaml
cluster=hgx-h100-16-ndr
plan=(gpulink-plan models/llama3-70b.yaml -q --table bom --format csv)
expect 0 'server.h100-sxm,.*,268000,268000,268000,.*quote 4711' "${plan[@]}" --cluster $cluster --set prices=quotes.yaml
checks=$((checks + 1))
! grep -q 'nic.ib-ndr' out || fail 'the NICs are in the quoted server'
mkdir mine
sed 's/^prices:.*/prices: quotes.yaml/' "$GPULINK_SOURCE/data/clusters/$cluster.yaml" >mine/cluster.yaml
mv quotes.yaml mine/
expect 0 'switch.ib-ndr,leaf,.*,24000,27500,31000,' "${plan[@]}" --cluster mine/cluster.yaml
expect 0 '250000' "${plan[@]}" --cluster $cluster --set prices.parts.server.h100-sxm=250000

# The same seed, the same interval; another seed, another.
one() { gpulink-plan models/llama3-70b.yaml --cluster $cluster -q --table cost --format csv --seed "$1"; }
one 1 >first && one 1 >again && one 2 >other
checks=$((checks + 1))
cmp -s first again && ! cmp -s first other || fail 'intervals do not follow the seed'
