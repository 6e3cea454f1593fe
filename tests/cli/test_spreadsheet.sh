#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the programs write opens in a spreadsheet: numbers are numbers, totals agree, and in a workbook
# the cost of a run follows a price that is changed.
source "$GPULINK_SOURCE/tests/cli/support.sh"
source "$GPULINK_SOURCE/tests/cli/spreadsheet_support.sh"
[ -n "$office" ] || { echo 'LibreOffice Calc is missing: see bootstrap.sh'; exit 1; }
plan=(gpulink-plan "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --set training.tokens=15e12 -q)

# same WHAT A B
same() {
    checks=$((checks + 1))
    close_to "$2" "$3" || fail "$1: '$2' is not '$3'"
}

expect 0 '' "${plan[@]}" --table cost --format json --output cost.json
# key NAME: a figure of the plan.
key() {
    grep -oE "\"$1\": *[-+0-9.eE]+" cost.json | head -n 1 | sed 's/.*: *//'
}

# CSV: unquoted what is a number, and the amounts of the bill sum up to the purchase.
expect 0 '' "${plan[@]}" --table bom --format csv --output bom.csv
expect 0 '' "${plan[@]}" --table cost --format csv --output one.csv
sed 's/^  name: .*/  name: "=HYPERLINK(1)"/' "$GPULINK_SOURCE/data/clusters/hgx-h100-16-ndr.yaml" >evil.yaml
expect 0 '' gpulink-plan "$models/llama3-70b.yaml" --cluster evil.yaml --format csv --table summary --output evil.csv -q
sheets bom.csv one.csv evil.csv
file=$(echo sheets/bom*.csv)
checks=$((checks + 1))
awk -F, 'NR > 1 && $0 !~ /,[0-9]+,[0-9]+,[0-9.]+,[0-9.]+,[0-9.]+,[0-9.]+,"USD",/ { bad = 1 } END { exit bad || NR < 5 }' \
    "$file" || fail 'bom.csv: numbers are not numbers'
total=$(awk '{ sub(/^.*",[0-9]+,[0-9]+,[0-9.]+,[0-9.]+,[0-9.]+,/, ""); sub(/,.*/, ""); sum += $0 } END { printf "%.6f", sum }' <(tail -n +2 "$file"))
same 'sum of the bill' "$total" "$(key capex)"
file=$(echo sheets/one*.csv)
column=$(head -n 1 "$file" | tr -d '"' | tr , '\n' | grep -nx per_run | cut -d: -f1)
same 'per_run in CSV' "$(cell "$file" '^"Llama' "$column")" "$(key per_run)"
# A name is a text, whatever it looks like.
checks=$((checks + 1))
grep -q 'HYPERLINK(1)' sheets/evil*.csv || fail 'a name was run as a formula'

# A workbook says so when it is not there.
if grep -q 'no libxlsxwriter' <<<"$(gpulink-plan --version)"; then
    expect 2 'without libxlsxwriter' "${plan[@]}" --format xlsx --output cost.xlsx
    exit 0
fi
expect 2 'add --output' "${plan[@]}" --format xlsx
expect 2 'only plan has it' gpulink-plan explain "$models/llama3-70b.yaml" --cluster hgx-h100-16-ndr --format xlsx --output a.xlsx
expect 0 '' "${plan[@]}" --format xlsx --output cost.xlsx
expect 0 '' "${plan[@]}" --cluster hgx-h100-16-ndr-4to1 --format xlsx --output two.xlsx

# Computed anew, the formulas give the program's figures.
# line LABEL: the figure of a line of the first option's sheet.
line() {
    cell 'sheets/cost-Option 1.csv' "^\"$1" 8
}
sheets cost.xlsx
same 'purchase' "$(line 'Purchase')" "$(key capex)"
same 'year' "$(line 'Cost of a year')" "$(key per_year)"
same 'GPU-hour' "$(line 'Cost of a delivered GPU-hour')" "$(key per_gpu_hour)"
same 'million tokens' "$(line 'Cost of a million tokens')" "$(key per_million_tokens)"
same 'run' "$(line 'Cost of a run')" "$(key per_run)"
same 'run in the summary' "$(cell sheets/cost-Summary.csv '^1,' 10)" "$(key per_run)"

# Another price of a server, typed into its cell.
mkdir book
(cd book && unzip -q ../cost.xlsx)
sheet=book/xl/worksheets/sheet2.xml
grep -q '<v>296644</v>' "$sheet" || fail 'no price of a server in the sheet'
sed -i 's|<v>296644</v>|<v>400000</v>|' "$sheet"
(cd book && zip -q -r ../cost.xlsx .)
before=$(key per_run)
expect 0 '' gpulink-plan "$models/llama3-70b.yaml" --cluster l40s-16-roce --format xlsx --output unpriced.xlsx -q
sheets cost.xlsx unpriced.xlsx
expect 0 '' "${plan[@]}" --set prices.parts.server.h100-sxm=400000 --table cost --format json --output cost.json
same 'run at another price' "$(line 'Cost of a run')" "$(key per_run)"
checks=$((checks + 1))
! close_to "$(line 'Cost of a run')" "$before" || fail 'the cost of a run did not follow the price'

# What stops a total stops it in the workbook, until the price is there.
checks=$((checks + 1))
purchase=$(cell 'sheets/unpriced-Option 1.csv' '^"Purchase' 8)
[ "$purchase" = 'a price is missing' ] || fail "a total without a price: $purchase"
# … everywhere: in the parts of the year and in the summary.
for label in 'of it hardware' 'of it between nodes' 'Amortised a year' 'Energy a year' 'Support a year' \
    'Cost of a year' 'Cost of a delivered GPU-hour' 'Cost of a million tokens' 'Cost of a run'; do
    checks=$((checks + 1))
    found=$(cell 'sheets/unpriced-Option 1.csv' "^\"$label\"" 8)
    [ "$found" = 'a price is missing' ] || fail "$label without a price: $found"
done
for column in 4 5 6 7 8; do
    checks=$((checks + 1))
    found=$(cell sheets/unpriced-Summary.csv '^1,' $column)
    [ "$found" = 'a price is missing' ] || fail "column $column of the summary without a price: $found"
done
# A price that is no part of the bill, a network that no switches make, and a job that gets nothing done.
expect 0 '' "${plan[@]}" --set cluster.site.region=Beijing --set cluster.site.power_by=colocation --format xlsx --output colocation.xlsx
sed -e '/radix/d' -e 's/^prices: .*/prices: {base: standard, parts: {switch.ib-ndr: {ports: 4}}}/' \
    "$GPULINK_SOURCE/data/clusters/hgx-h100-16-ndr.yaml" >radix.yaml
expect 0 '' gpulink-plan "$models/llama3-70b.yaml" --cluster radix.yaml --set training.tokens=15e12 -q --format xlsx --output radix.xlsx
expect 0 '' "${plan[@]}" --set cluster.cost.failures_per_gpu_hour=1 --set 'cluster.cost.restart=200 h' --format xlsx --output stopped.xlsx
expect 0 '' "${plan[@]}" --sweep parallel.tp=8,3 --format xlsx --output swept.xlsx
sheets colocation.xlsx radix.xlsx stopped.xlsx swept.xlsx
summary() {
    checks=$((checks + 1))
    found=$(cell "sheets/$1-Summary.csv" '^1,' "$2")
    [ "$found" = "$3" ] || fail "$1, column $2 of the summary: $found"
}
for column in 4 6 8 10; do summary colocation $column 'a price is missing'; done
summary radix 4 'no total: see above'
for column in 6 8 10; do summary radix $column 'a price is missing'; done
summary stopped 4 5995104
for column in 7 8 9 10; do summary stopped $column 'no work is done'; done
checks=$((checks + 1))
! grep -Eq '#(DIV|VALUE|NUM|REF|NAME)|Err:' sheets/*.csv || fail 'an error in a workbook'
# What cannot be planned stands in the summary, with the reason.
checks=$((checks + 1))
grep -Eq '^,"[^"]*parallel\.tp=3",,"IMPOSSIBLE; parallel\.tp: heads .64. must be a multiple' sheets/swept-Summary.csv ||
    fail 'what cannot be planned is not in the workbook'
