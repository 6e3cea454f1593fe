# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# LibreOffice Calc without a window, for tests that open what the programs write.

office=$(command -v soffice || command -v libreoffice || true)

# sheets FILE...: every sheet of workbooks, and CSVs, as FILE-Sheet.csv in the folder `sheets`, computed
# anew and as plain as it can be: numbers unformatted, texts in quotes.
sheets() {
    rm -rf sheets
    mkdir -p sheets profile/user
    # Otherwise Calc shows the values that are stored beside the formulas.
    cat >profile/user/registrymodifications.xcu <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
XML
    # Comma, quotes, UTF-8; quoted texts, cells not as shown, formulas not shown, all sheets.
    HOME=$PWD/profile "$office" "-env:UserInstallation=file://$PWD/profile" --headless --norestore \
        --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false,false,false,-1' \
        --outdir sheets "$@" >office.log 2>&1 || { cat office.log; return 1; }
}

# cell FILE ROW-PATTERN COLUMN: the cell of the first row that matches, quotes taken off.
cell() {
    awk -v pattern="$2" -v column="$3" '
        $0 ~ pattern {
            line = $0; field = 0
            while (length(line) > 0) {
                field++
                if (substr(line, 1, 1) == "\"") {
                    match(line, /^"([^"]|"")*"/); value = substr(line, 2, RLENGTH - 2); line = substr(line, RLENGTH + 2)
                } else {
                    match(line, /^[^,]*/); value = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 2)
                }
                if (field == column) { print value; exit }
            }
        }' "$1"
}

# close_to A B: equal within a millionth.
close_to() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a + 0 == a && d <= 1e-6 * (b < 0 ? -b : b)) }'
}
