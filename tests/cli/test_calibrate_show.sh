#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-calibrate show and merge as a user runs them.
source "$GPULINK_SOURCE/tests/cli/support.sh"
logs=$GPULINK_SOURCE/tests/fixtures/nccl
calibrate() { gpulink-calibrate "$@"; }

gpulink-calibrate import -q --db a.db --transport nvlink "$logs/nvl_all_reduce_g2.txt" \
    "$logs/json_periter.json" 2>err >out || fail 'import'
gpulink-calibrate import -q --db b.db --transport nvlink "$logs/json_periter.json"
gpulink-calibrate import -q --db b.db "$logs/made_failed_check.txt"
printf 'transport,collective,size_bytes,gemm_m,gemm_n,gemm_k,compute_alone_s,communication_alone_s,together_s\nnvlink,all_reduce,67108864,8192,8192,8192,18.7e-3,1.35e-3,19.55e-3\n' >overlap.csv
gpulink-calibrate import -q --db a.db overlap.csv

says 0 '3 runs, 4 curves' calibrate show a.db
grep -q 'nvlink' out || fail 'no transport'
grep -q '63.0 %' out || fail 'no overlap tax'
says 0 'transport unknown' calibrate show b.db
says 0 'id,run_id,collective' calibrate show a.db --format csv
says 0 'size_bytes,iterations,time_median_s' calibrate show a.db --curve 1 --format csv
[ "$(wc -l <out)" = 31 ] || fail 'not 30 samples'
says 0 '4294967296,20,0.0124808' calibrate show a.db --curve 1 --format csv
says 0 '"schema_version": 1' calibrate show a.db --format json
says 0 '| curve' calibrate show a.db --format markdown --table curves
says 0 '' calibrate show a.db --table runs --format csv --output runs.csv
grep -q 'nvl_all_reduce_g2.txt' runs.csv || fail 'no output file'

# Nothing wider than people's terminals; all of one curve is there.
gpulink-calibrate show a.db >out 2>err
awk 'length($0) > 110 { bad = 1 } END { exit bad }' out || fail 'lines of more than 110 columns'
says 0 'LOO' calibrate show a.db --curve 1
cp a.db same.db
says 2 'is a database' calibrate show same.db --output same.db
cmp -s a.db same.db || fail 'the database was replaced by its report'

says 2 'there is no curve 99' calibrate show a.db --curve 99
says 2 'curves' calibrate show a.db --table nonsense
says 2 "did you mean 'markdown'" calibrate show a.db --format markdwn
# The format is what was said, else what the file ends in.
says 0 '' calibrate show a.db --output runs.csv --table runs
grep -q '^scenario,id,label' runs.csv || fail 'runs.csv is no CSV'
says 0 '' calibrate show a.db --output runs.csv --table runs --format table
grep -q '^scenario,' runs.csv && fail '--format table wrote CSV'
says 2 'only plan has it' calibrate show a.db --output runs.xlsx
[ -e runs.xlsx ] && fail 'a workbook that is none'
says 2 'an argument is missing' calibrate show
says 3 'No such file' calibrate show missing.db
says 3 'directory' calibrate show .
: >empty.db
says 3 'empty' calibrate show empty.db
says 3 'not a calibration database' calibrate show "$logs/one_rank.txt"
head -c 8192 a.db >cut.db
says 3 'truncated' calibrate show cut.db
cp a.db corrupt.db
# Pages behind the schema filled with junk: found out, whichever table they belong to.
dd if=/dev/urandom of=corrupt.db bs=4096 seek=2 count=10 conv=notrunc 2>/dev/null
says 3 'corrupt' calibrate show corrupt.db
cp a.db newer.db
printf '\0\0\0\7' | dd of=newer.db bs=1 seek=60 conv=notrunc 2>/dev/null
says 3 'newer gpulink' calibrate show newer.db
cp a.db other.db
printf '\1\2\3\4' | dd of=other.db bs=1 seek=68 conv=notrunc 2>/dev/null
says 3 'database of another program' calibrate show other.db
says 4 '' bash -c 'gpulink-calibrate show a.db >/dev/full'
says 4 '' calibrate show a.db --output none/x.txt

says 0 '4 runs added, 1 were there already' calibrate merge a.db b.db --db m.db
says 0 '0 runs added, 5 were there already' calibrate merge a.db b.db --db m.db
says 0 '4 runs, 6 curves' calibrate show m.db
says 3 'truncated' calibrate merge a.db cut.db --db n.db
[ -e n.db ] && fail 'merge of a bad file left a database'
says 2 '--db is missing' calibrate merge a.db
says 3 'not a calibration database' calibrate merge a.db "$logs/one_rank.txt" --db n.db
