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
# A digit too few: check asks what a plan asks.
sed 's/268000/26800/' quotes.yaml >few.yaml
says 0 'few.yaml: server.h100-sxm is quoted at 26,800, where the list that it replaces has' gpulink-plan check few.yaml
checks=$((checks + 1))
[ -z "$(gpulink-plan check quotes.yaml 2>&1 >/dev/null)" ] || fail 'check asks about a near quote'
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

# In thousands, or in cents: as far from the list's as this is mostly a slip.
for quote in server.h100-sxm=268 electricity.default=21; do
    expect 0 "${quote%%=*} is quoted at .*, where the list that it replaces has" gpulink-plan models/llama3-70b.yaml \
        --cluster $cluster --format markdown --set prices.base=standard --set "prices.parts.$quote"
done
expect 0 '' gpulink-plan models/llama3-70b.yaml --cluster $cluster --set prices.parts.server.h100-sxm=250000
checks=$((checks + 1))
! grep -q 'is quoted at' out || fail 'a near quote is called far'

# The same seed, the same interval; another seed, another.
one() { gpulink-plan models/llama3-70b.yaml --cluster $cluster -q --table cost --format csv --seed "$1"; }
one 1 >first && one 1 >again && one 2 >other
checks=$((checks + 1))
cmp -s first again && ! cmp -s first other || fail 'intervals do not follow the seed'

# What has no price has no range either, in any format.
expect 0 ',gpu.l40s,,L40S 48GB,card,128,0,,,,,USD,' gpulink-plan models/llama3-70b.yaml --cluster l40s-16-roce -q --table bom --format csv
checks=$((checks + 1))
! grep -q '1000000000000' out || fail 'a range of what has no price'
# What a figure is made of.
for figure in per_pflop_year expansion_at_once goodput_frac power_w; do
    expect 0 '^  = .*[0-9].*[·+/]' gpulink-plan explain models/llama3-70b.yaml --cluster $cluster --set cluster.expansion.nodes=32 cost.$figure
done
# A network of an expansion that no switches make has no total, and says so.
expect 0 'the expansion to 5000 nodes has no total' gpulink-plan models/llama3-70b.yaml --cluster $cluster \
    --set cluster.inter_node.radix=16 --set cluster.expansion.nodes=5000 --set cluster.expansion.after_months=12 --table cost
expect 0 'the switches of the description have 4096 ports' gpulink-plan models/llama3-70b.yaml --cluster $cluster \
    --set cluster.inter_node.radix=4096 --table cost

# GPUs that the layout leaves idle are paid for, and said wherever a cost is: in words, tables, JSON, CSV, HTML, side by side.
half=(models/llama3-8b.yaml --set cluster.nodes=32)
expect 0 '^ +all of it pays for 256 GPUs, of which 128 are idle$' gpulink-plan "${half[@]}" --cluster $cluster
expect 0 '^  of them idle +128$' gpulink-plan "${half[@]}" --cluster $cluster --table cost
says 0 'the cost is that of all 256 GPUs of the cluster, of which this layout leaves 128 idle' \
    gpulink-plan "${half[@]}" --cluster $cluster --format json
expect 0 '"idle_gpus": 128' gpulink-plan "${half[@]}" --cluster $cluster -q --format json
says 0 'all of it pays for 256 GPUs, of which 128 are idle' gpulink-plan "${half[@]}" --cluster $cluster --format html
both=(gpulink-plan compare "${half[@]}" --cluster "$cluster" --cluster hgx-h200-16-ndr)
expect 0 'with 128( idle|$)|^128 idle' "${both[@]}"
expect 0 'Idle GPUs' "${both[@]}"
expect 0 'Idle GPUs' "${both[@]}" --format html
says 0 'of which this layout leaves 128 idle' "${both[@]}" --format json
checks=$((checks + 1))
gpulink-plan models/llama3-8b.yaml --cluster $cluster >out 2>err
! grep -q 'idle' out || fail 'idle GPUs where all are used'
expect 0 '"idle_gpus": 0' gpulink-plan models/llama3-8b.yaml --cluster $cluster -q --format json
