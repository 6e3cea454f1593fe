#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-calibrate import as a user runs it: messages, exit statuses, what is stored.
source "$GPULINK_SOURCE/tests/cli/support.sh"
calibrate() { gpulink-calibrate "$@"; }
logs=$GPULINK_SOURCE/tests/fixtures/nccl

# Good files.
says 0 'all_reduce, 2 ranks on 1 node, nvlink: 2 curves, 60 samples' calibrate \
    import "$logs/nvl_all_reduce_g2.txt" --db a.db --label lab --transport nvlink
[ ! -s out ] || fail 'import writes to standard output'
says 0 'were in the database already' calibrate \
    import "$logs/nvl_all_reduce_g2.txt" --db a.db --label lab --transport nvlink
says 0 '3 of 3 files imported: 5 runs' calibrate import -v --db b.db \
    "$logs/json_all_reduce.json" "$logs/made_several.txt" "$logs/debug_shm.txt"
says 0 '' calibrate import -q --db c.db "$logs/nvl_all_reduce_g2.txt" "$logs/json_periter.json"
[ ! -s err ] || fail '-q is not quiet'
calibrate import - --db d.db <"$logs/check_all_reduce.txt" 2>err || fail 'standard input'
grep -q 'standard input: all_reduce' err || fail 'standard input is not named'
printf 'kind,dtype,m,n,k,time_s,time_p95_s\ngemm,bf16,8192,8192,8192,1.5e-3,\n' >rates.csv
says 0 '1 compute rates' calibrate import rates.csv --db d.db

# No secrets, no host names.
if grep -qaE 'API_TOKEN|not-a-real-secret|node01|HOSTNAME' b.db; then fail 'secrets are stored'; fi

# Bad files beside good ones: the good ones are imported.
says 3 'one_rank.txt:1:1: one rank alone' calibrate import --db e.db \
    "$logs/one_rank.txt" "$logs/check_all_reduce.txt"
grep -q '1 of 2 files imported: 1 runs' err || fail 'the good file was not imported'
: >empty.txt
says 3 'empty.txt: the file is empty' calibrate import empty.txt --db f.db
head -c 4096 /dev/urandom >random.bin
says 3 'random.bin: this is a binary file' calibrate import random.bin --db f.db
says 3 'this is a directory' calibrate import . --db f.db
says 3 'missing.txt: cannot open: No such file' calibrate import missing.txt --db f.db
says 3 'this is a database; use gpulink-calibrate merge' calibrate import a.db --db f.db
says 3 'rebuild nccl-tests with MPI=1' calibrate import "$logs/made_without_mpi.txt" --db f.db
says 3 'ib_write_bw' calibrate import "$logs/other_ib_write_bw.txt" --db f.db
says 3 '--transport says nvlink' calibrate import "$logs/debug_shm.txt" --db f.db --transport nvlink
[ ! -e f.db ] || fail 'a database was made for files that were all refused'
says 0 'INCOMPLETE: Test NCCL failure' calibrate import "$logs/made_aborted_rows.txt" --db g.db
says 0 'validation FAILED: 768' calibrate import "$logs/made_failed_check.txt" --db g.db

# A run that is left out of a file is a refusal, too; the others are stored.
cat "$logs/one_rank.txt" "$logs/check_all_reduce.txt" "$logs/check_all_reduce.txt" >three.txt
says 3 'three.txt:1:1: one rank alone' calibrate import three.txt --db i.db
grep -q '(this run was left out)' err || fail 'not said what happens to the run'
grep -q '1 of 2 runs were in the database already' err || fail 'a run was stored twice'
[ "$(grep -c ': all_reduce, 2 ranks' err)" = 1 ] || fail 'a known run is reported as stored'

# Names: one printable line, for rates as for curves.
for option in --label --gpu; do
    says 2 'one line of printable' calibrate import rates.csv --db i.db "$option" $'a\nb'
    says 2 'a name of 10000 bytes' calibrate import rates.csv --db i.db "$option" \
        "$(head -c 10000 /dev/zero | tr '\0' x)"
done
says 0 '' calibrate import -q rates.csv --db i.db --label "'; DROP TABLE run; --"
calibrate show i.db --table runs >out 2>err && grep -q 'DROP TABLE' out || fail 'odd label'

# The same samples under another name, label or end of line are no second run.
sed 's/$/\r/' "$logs/nvl_all_reduce_g2.txt" >copy.txt
says 0 'to the last digit: run 1 (nvl_all_reduce_g2.txt)' calibrate \
    import copy.txt --db a.db --label again --transport nvlink
calibrate show a.db --table runs --format csv >out 2>err
[ "$(wc -l <out)" = 2 ] || fail 'a copy was stored as a run'

# differs NUMBER: the two files, as if measured once more.
differs() {
    sed -E "0,/float/ s/^(.*float.* -1 +[0-9]+[.][0-9]+)/\1$1/" "$logs/types_all_reduce.txt" >"t$1.txt"
    sed -E "s/(\"time\":[0-9.]+)/\1$1/" "$logs/json_periter.json" >"j$1.json"
}

# Many files are few transactions, and all of them are told of.
for number in $(seq 100 160); do
    differs "$number"
done
says 0 '122 of 122 files imported: 122 runs' calibrate import j1??.json t1??.txt --db many.db
[ "$(grep -c ': all_' err)" = 122 ] || fail 'a file is not reported'
says 3 '61 of 63 files imported: 0 runs' calibrate import t1??.txt empty.txt missing.txt --db many.db
calibrate show many.db --table runs --format csv >out 2>err
[ "$(wc -l <out)" = 123 ] || fail 'a run is missing'

# A writer that is killed at any moment leaves whole files or nothing.
for delay in 0.01 0.03 0.05 0.08 0.12 0.2; do
    differs "${delay#0.}"
    gpulink-calibrate import -q "t${delay#0.}.txt" "j${delay#0.}.json" --db kill.db >/dev/null 2>&1 &
    sleep "$delay"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    [ -s kill.db ] || continue
    status=0
    calibrate show kill.db --format csv >out 2>err || status=$?
    # Killed while the file was being created: rolled back, it is empty again, and the next takes it.
    if [ ! -s kill.db ]; then
        [ "$status" = 3 ] && grep -q 'this file is empty' err || fail 'an empty file is not told'
        continue
    fi
    [ "$status" = 0 ] || fail "a whole file is not read"
    [ $(($(grep -c ',all_reduce,' out) % 144)) = 0 ] ||
        fail 'half a file was stored'
done

# Writers take turns, and a reader sees whole runs.
for writer in 1 2 3; do
    for round in 1 2 3; do
        differs "$writer$round"
        calibrate import -q "j$writer$round.json" --db turns.db 2>"err$writer" ||
            printf 'writer %s: %s\n' "$writer" "$(cat "err$writer")" >>turns
    done &
done
for _ in $(seq 20); do
    calibrate show turns.db --format csv >out 2>err ||
        grep -q 'No such file\|is empty' err || fail 'a reader saw half a run'
done
wait
[ ! -e turns ] || fail "a writer did not get its turn: $(cat turns)"
says 0 '' calibrate show turns.db --table runs --format csv
[ "$(wc -l <out)" = 10 ] || fail 'runs of a writer are missing'

# Databases that cannot be written.
printf 'hello' >text.db
says 3 'this is not a calibration database' calibrate import "$logs/check_all_reduce.txt" --db text.db
mkdir folder.db
says 3 'this is a directory' calibrate import "$logs/check_all_reduce.txt" --db folder.db
says 3 'device or pipe' calibrate import "$logs/check_all_reduce.txt" --db /dev/full
says 4 'cannot open or create' calibrate import "$logs/check_all_reduce.txt" --db none/x.db
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod a-w locked
    says 4 'x.db' calibrate import "$logs/check_all_reduce.txt" --db locked/x.db
fi

# The command line.
says 2 'a command is missing' calibrate
says 2 "did you mean 'import'" calibrate imprt x
says 2 '--db is missing' calibrate import x
says 2 'an argument is missing' calibrate import --db x.db
says 2 "did you mean '--transport'" calibrate import x --db x.db --transprt nvlink
says 2 "did you mean 'nvlink'" calibrate import x --db x.db --transport nvlnk
says 2 "did you mean 'all_reduce'" calibrate import x --db x.db --collective allreduce
says 2 '--nodes' calibrate import x --db x.db --nodes 0
says 0 '' calibrate import --help
grep -q -- '--keep-host' out || fail 'help without options'
says 2 "did you mean 'net-ib'? allowed: nvlink, pcie-p2p, shm" calibrate import x --db x.db -t ib
says 2 "did you mean 'import'" calibrate help imprt
says 0 '' calibrate help import
grep -q -- '--keep-host' out || fail 'help VERB is not the help of the verb'
says 0 '' calibrate help
says 0 '' calibrate --help
says 0 '' calibrate --version
grep -q 'SQLite .*NCCL: .*MPI: ' <(tr '\n' ' ' <out) || fail 'version without build information'
! calibrate --version >/dev/full 2>err || fail 'a full disk is not noticed'

# Ten megabytes of log: the time is printed, not judged.
{
    cat "$logs/debug_all_reduce_g2.txt"
    for _ in $(seq 100); do grep 'NCCL INFO' "$logs/debug_all_reduce_g2.txt"; done
} >large.txt
started=$(date +%s.%N)
says 0 '2 curves, 36 samples' calibrate import large.txt --db h.db
printf '%s bytes in %s s\n' "$(wc -c <large.txt)" \
    "$(echo "$(date +%s.%N) $started" | awk '{printf "%.2f", $1 - $2}')"

# A log that does not say its transport: what to do is said once, and doing it names the curves that are there.
pair=("$logs/nvl_all_reduce_g2.txt" "$logs/nvl_all_gather_g2.txt")
curves() { gpulink-calibrate show named.db --format csv | cut -d, -f 2-; }
says 0 'warning: the transport of 2 runs is not known' calibrate import "${pair[@]}" --db named.db
checks=$((checks + 5))
[ "$(grep -c 'with --transport nvlink' err)" -eq 1 ] || fail 'the remedy is not said once'
curves >before
says 0 'run 1 (nvl_all_reduce_g2.txt) was in the database already, and its transport is known now: nvlink' \
    calibrate import "${pair[@]}" --db named.db --transport nvlink
curves >after
sed 's/unknown/nvlink/' before | cmp -s - after || fail 'naming the transport changed something else, or added curves'
says 0 '2 of 2 files imported: 0 runs' calibrate import "${pair[@]}" --db named.db
curves | cmp -s - after || fail 'an import without the transport forgets it'
gpulink-calibrate show named.db >out 2>err
! grep -q 'transport unknown' out || fail 'the warning stays'
says 0 '' calibrate import "${pair[@]}" --db other.db --transport nvlink
! grep -q 'warning' err || fail 'a warning, though the transport is said'
