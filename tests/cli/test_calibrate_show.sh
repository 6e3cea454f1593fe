#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-calibrate show and merge as a user runs them.
set -u
calibrate=$GPULINK_BIN/gpulink-calibrate
logs=$GPULINK_SOURCE/tests/fixtures/nccl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

complain() {
    printf 'FAILED: %s\n' "$1"
    cat out err | head -20 | sed 's/^/    /'
    failures=$((failures + 1))
}

# expect STATUS WORDS ARGUMENTS...: standard output or error must hold the words.
expect() {
    local status=$1 words=$2
    shift 2
    "$calibrate" "$@" >out 2>err
    local got=$?
    [ "$got" = "$status" ] || complain "status $got instead of $status: $*"
    [ -z "$words" ] || grep -qF -- "$words" out err || complain "no \"$words\": $*"
}

"$calibrate" import -q --db a.db --transport nvlink "$logs/nvl_all_reduce_g2.txt" \
    "$logs/json_periter.json" 2>err >out || complain 'import'
"$calibrate" import -q --db b.db --transport nvlink "$logs/json_periter.json" || exit 1
"$calibrate" import -q --db b.db "$logs/made_failed_check.txt" || exit 1
printf 'transport,collective,size_bytes,gemm_m,gemm_n,gemm_k,compute_alone_s,communication_alone_s,together_s\nnvlink,all_reduce,67108864,8192,8192,8192,18.7e-3,1.35e-3,19.55e-3\n' >overlap.csv
"$calibrate" import -q --db a.db overlap.csv || exit 1

expect 0 '3 runs, 4 curves' show a.db
grep -q 'nvlink' out || complain 'no transport'
grep -q '63.0 %' out || complain 'no overlap tax'
expect 0 'transport unknown' show b.db
expect 0 'id,run_id,collective' show a.db --format csv
expect 0 'size_bytes,iterations,time_median_s' show a.db --curve 1 --format csv
[ "$(wc -l <out)" = 31 ] || complain 'not 30 samples'
expect 0 '4294967296,20,0.0124808' show a.db --curve 1 --format csv
expect 0 '"schema_version": 1' show a.db --format json
expect 0 '| curve' show a.db --format markdown --table curves
expect 0 '' show a.db --table runs --format csv --output runs.csv
grep -q 'nvl_all_reduce_g2.txt' runs.csv || complain 'no output file'

# Nothing wider than people's terminals; all of one curve is there.
"$calibrate" show a.db >out 2>err
awk 'length($0) > 110 { bad = 1 } END { exit bad }' out || complain 'lines of more than 110 columns'
expect 0 'LOO' show a.db --curve 1
cp a.db same.db
expect 2 'is a database' show same.db --output same.db
cmp -s a.db same.db || complain 'the database was replaced by its report'

expect 2 'there is no curve 99' show a.db --curve 99
expect 2 'curves' show a.db --table nonsense
expect 2 "did you mean 'markdown'" show a.db --format markdwn
expect 2 'an argument is missing' show
expect 3 'No such file' show missing.db
expect 3 'directory' show .
: >empty.db
expect 3 'empty' show empty.db
expect 3 'not a calibration database' show "$logs/one_rank.txt"
head -c 8192 a.db >cut.db
expect 3 'truncated' show cut.db
cp a.db corrupt.db
# Pages behind the schema filled with junk: found out, whichever table they belong to.
dd if=/dev/urandom of=corrupt.db bs=4096 seek=2 count=10 conv=notrunc 2>/dev/null
expect 3 'corrupt' show corrupt.db
cp a.db newer.db
printf '\0\0\0\7' | dd of=newer.db bs=1 seek=60 conv=notrunc 2>/dev/null
expect 3 'newer gpulink' show newer.db
cp a.db other.db
printf '\1\2\3\4' | dd of=other.db bs=1 seek=68 conv=notrunc 2>/dev/null
expect 3 'database of another program' show other.db
"$calibrate" show a.db >/dev/full 2>err
[ $? = 4 ] || complain 'a full disk is not status 4'
"$calibrate" show a.db --output none/x.txt 2>err >out
[ $? = 4 ] || complain 'an output that cannot be made is not status 4'

expect 0 '4 runs added, 1 were there already' merge a.db b.db --db m.db
expect 0 '0 runs added, 5 were there already' merge a.db b.db --db m.db
expect 0 '4 runs, 6 curves' show m.db
expect 3 'truncated' merge a.db cut.db --db n.db
[ -e n.db ] && complain 'merge of a bad file left a database'
expect 2 '--db is missing' merge a.db
expect 3 'not a calibration database' merge a.db "$logs/one_rank.txt" --db n.db

[ $failures = 0 ] || exit 1
echo "show and merge: all as expected"
