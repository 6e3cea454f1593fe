#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-calibrate import as a user runs it: messages, exit statuses, what is stored.
set -u
calibrate=$GPULINK_BIN/gpulink-calibrate
logs=$GPULINK_SOURCE/tests/fixtures/nccl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

complain() {
    printf 'FAILED: %s\n' "$1"
    sed 's/^/    /' err
    failures=$((failures + 1))
}

# expect STATUS WORDS ARGUMENTS...: runs the program; standard error must hold the words.
expect() {
    local status=$1 words=$2
    shift 2
    "$calibrate" "$@" >out 2>err
    local got=$?
    [ "$got" = "$status" ] || complain "status $got instead of $status: $*"
    [ -z "$words" ] || grep -qF -- "$words" err || complain "no \"$words\": $*"
}

# Good files.
expect 0 'all_reduce, 2 ranks on 1 node, nvlink: 2 curves, 60 samples' \
    import "$logs/nvl_all_reduce_g2.txt" --db a.db --label lab --transport nvlink
[ -s out ] && complain 'import writes to standard output'
expect 0 'were in the database already' \
    import "$logs/nvl_all_reduce_g2.txt" --db a.db --label lab --transport nvlink
expect 0 '3 of 3 files imported: 5 runs' import -v --db b.db \
    "$logs/json_all_reduce.json" "$logs/made_several.txt" "$logs/debug_shm.txt"
expect 0 '' import -q --db c.db "$logs/nvl_all_reduce_g2.txt" "$logs/json_periter.json"
[ -s err ] && complain '-q is not quiet'
"$calibrate" import - --db d.db <"$logs/check_all_reduce.txt" 2>err || complain 'standard input'
grep -q 'standard input: all_reduce' err || complain 'standard input is not named'
printf 'kind,dtype,m,n,k,time_s,time_p95_s\ngemm,bf16,8192,8192,8192,1.5e-3,\n' >rates.csv
expect 0 '1 compute rates' import rates.csv --db d.db

# No secrets, no host names.
if grep -qaE 'API_TOKEN|not-a-real-secret|node01|HOSTNAME' b.db; then complain 'secrets are stored'; fi

# Bad files beside good ones: the good ones are imported.
expect 3 'one_rank.txt:1:1: one rank alone' import --db e.db \
    "$logs/one_rank.txt" "$logs/check_all_reduce.txt"
grep -q '1 of 2 files imported: 1 runs' err || complain 'the good file was not imported'
: >empty.txt
expect 3 'empty.txt: the file is empty' import empty.txt --db f.db
head -c 4096 /dev/urandom >random.bin
expect 3 'random.bin: this is a binary file' import random.bin --db f.db
expect 3 'this is a directory' import . --db f.db
expect 3 'missing.txt: cannot open: No such file' import missing.txt --db f.db
expect 3 'this is a database; use gpulink-calibrate merge' import a.db --db f.db
expect 3 'rebuild nccl-tests with MPI=1' import "$logs/made_without_mpi.txt" --db f.db
expect 3 'ib_write_bw' import "$logs/other_ib_write_bw.txt" --db f.db
expect 3 '--transport says nvlink' import "$logs/debug_shm.txt" --db f.db --transport nvlink
[ -e f.db ] && complain 'a database was made for files that were all refused'
expect 0 'INCOMPLETE: Test NCCL failure' import "$logs/made_aborted_rows.txt" --db g.db
expect 0 'validation FAILED: 768' import "$logs/made_failed_check.txt" --db g.db

# A run that is left out of a file is a refusal, too; the others are stored.
cat "$logs/one_rank.txt" "$logs/check_all_reduce.txt" "$logs/check_all_reduce.txt" >three.txt
expect 3 'three.txt:1:1: one rank alone' import three.txt --db i.db
grep -q '(this run was left out)' err || complain 'not said what happens to the run'
grep -q '1 of 2 runs were in the database already' err || complain 'a run was stored twice'
[ "$(grep -c ': all_reduce, 2 ranks' err)" = 1 ] || complain 'a known run is reported as stored'

# Names: one printable line, for rates as for curves.
for option in --label --gpu; do
    expect 2 'one line of printable' import rates.csv --db i.db "$option" $'a\nb'
    expect 2 'a name of 10000 bytes' import rates.csv --db i.db "$option" \
        "$(head -c 10000 /dev/zero | tr '\0' x)"
done
expect 0 '' import -q rates.csv --db i.db --label "'; DROP TABLE run; --"
"$calibrate" show i.db --table runs >out 2>err && grep -q 'DROP TABLE' out || complain 'odd label'

# The same samples under another name, label or end of line are no second run.
sed 's/$/\r/' "$logs/nvl_all_reduce_g2.txt" >copy.txt
expect 0 'to the last digit: run 1 (nvl_all_reduce_g2.txt)' \
    import copy.txt --db a.db --label again --transport nvlink
"$calibrate" show a.db --table runs --format csv >out 2>err
[ "$(wc -l <out)" = 2 ] || complain 'a copy was stored as a run'

# differs NUMBER: the two files, as if measured once more.
differs() {
    sed -E "0,/float/ s/^(.*float.* -1 +[0-9]+[.][0-9]+)/\1$1/" "$logs/types_all_reduce.txt" >"t$1.txt"
    sed -E "s/(\"time\":[0-9.]+)/\1$1/" "$logs/json_periter.json" >"j$1.json"
}

# Many files are few transactions, and all of them are told of.
for number in $(seq 100 160); do
    differs "$number"
done
expect 0 '122 of 122 files imported: 122 runs' import j1??.json t1??.txt --db many.db
[ "$(grep -c ': all_' err)" = 122 ] || complain 'a file is not reported'
expect 3 '61 of 63 files imported: 0 runs' import t1??.txt empty.txt missing.txt --db many.db
"$calibrate" show many.db --table runs --format csv >out 2>err
[ "$(wc -l <out)" = 123 ] || complain 'a run is missing'

# A writer that is killed at any moment leaves whole files or nothing.
for delay in 0.01 0.03 0.05 0.08 0.12 0.2; do
    differs "${delay#0.}"
    "$calibrate" import -q "t${delay#0.}.txt" "j${delay#0.}.json" --db kill.db >/dev/null 2>&1 &
    sleep "$delay"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    [ -s kill.db ] || continue
    "$calibrate" show kill.db --format csv >out 2>err
    status=$?
    # Killed while the file was being created: rolled back, it is empty again, and the next takes it.
    if [ ! -s kill.db ]; then
        [ $status = 3 ] && grep -q 'this file is empty' err || complain 'an empty file is not told'
        continue
    fi
    [ $status = 0 ] || complain "a whole file is not read: $(cat err)"
    [ $(($(grep -c ',all_reduce,' out) % 144)) = 0 ] ||
        complain 'half a file was stored'
done

# Writers take turns, and a reader sees whole runs.
for writer in 1 2 3; do
    for round in 1 2 3; do
        differs "$writer$round"
        "$calibrate" import -q "j$writer$round.json" --db turns.db ||
            complain 'a writer did not get its turn'
    done 2>turns &
done
for _ in $(seq 20); do
    "$calibrate" show turns.db --format csv >out 2>err ||
        grep -q 'No such file\|is empty' err || complain 'a reader saw half a run'
done
wait
expect 0 '' show turns.db --table runs --format csv
[ "$(wc -l <out)" = 10 ] || complain 'runs of a writer are missing'

# Databases that cannot be written.
printf 'hello' >text.db
expect 3 'this is not a calibration database' import "$logs/check_all_reduce.txt" --db text.db
mkdir folder.db
expect 3 'this is a directory' import "$logs/check_all_reduce.txt" --db folder.db
expect 3 'device or pipe' import "$logs/check_all_reduce.txt" --db /dev/full
expect 4 'cannot open or create' import "$logs/check_all_reduce.txt" --db none/x.db
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod a-w locked
    expect 4 'x.db' import "$logs/check_all_reduce.txt" --db locked/x.db
fi

# The command line.
expect 2 'a command is missing'
expect 2 "did you mean 'import'" imprt x
expect 2 '--db is missing' import x
expect 2 'an argument is missing' import --db x.db
expect 2 "did you mean '--transport'" import x --db x.db --transprt nvlink
expect 2 "did you mean 'nvlink'" import x --db x.db --transport nvlnk
expect 2 "did you mean 'all_reduce'" import x --db x.db --collective allreduce
expect 2 '--nodes' import x --db x.db --nodes 0
expect 0 '' import --help
grep -q -- '--keep-host' out || complain 'help without options'
expect 2 "did you mean 'net-ib'? allowed: nvlink, pcie-p2p, shm" import x --db x.db -t ib
expect 2 "did you mean 'import'" help imprt
expect 0 '' help import
grep -q -- '--keep-host' out || complain 'help VERB is not the help of the verb'
expect 0 '' help
expect 0 '' --help
expect 0 '' --version
grep -q 'SQLite .*NCCL: .*MPI: ' <(tr '\n' ' ' <out) || complain 'version without build information'
"$calibrate" --version >/dev/full 2>err && complain 'a full disk is not noticed'

# Ten megabytes of log: the time is printed, not judged.
{
    cat "$logs/debug_all_reduce_g2.txt"
    for _ in $(seq 100); do grep 'NCCL INFO' "$logs/debug_all_reduce_g2.txt"; done
} >large.txt
started=$(date +%s.%N)
expect 0 '2 curves, 36 samples' import large.txt --db h.db
printf '%s bytes in %s s\n' "$(wc -c <large.txt)" \
    "$(echo "$(date +%s.%N) $started" | awk '{printf "%.2f", $1 - $2}')"

# A log that does not say its transport: what to do is said once, and doing it names the curves that are there.
pair=("$logs/nvl_all_reduce_g2.txt" "$logs/nvl_all_gather_g2.txt")
curves() { "$calibrate" show named.db --format csv | cut -d, -f 2-; }
expect 0 'warning: the transport of 2 runs is not known' import "${pair[@]}" --db named.db
[ "$(grep -c 'with --transport nvlink' err)" -eq 1 ] || complain 'the remedy is not said once'
curves >before
expect 0 'run 1 (nvl_all_reduce_g2.txt) was in the database already, and its transport is known now: nvlink' \
    import "${pair[@]}" --db named.db --transport nvlink
curves >after
sed 's/unknown/nvlink/' before | cmp -s - after || complain 'naming the transport changed something else, or added curves'
expect 0 '2 of 2 files imported: 0 runs' import "${pair[@]}" --db named.db
curves | cmp -s - after || complain 'an import without the transport forgets it'
"$calibrate" show named.db >out 2>err
! grep -q 'transport unknown' out || complain 'the warning stays'
expect 0 '' import "${pair[@]}" --db other.db --transport nvlink
! grep -q 'warning' err || complain 'a warning, though the transport is said'


[ $failures = 0 ] || exit 1
echo "import: all as expected"
