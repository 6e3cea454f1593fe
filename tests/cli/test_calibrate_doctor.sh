#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# gpulink-calibrate doctor and the exports of show, as a user runs them.
source "$GPULINK_SOURCE/tests/cli/support.sh"
logs=$GPULINK_SOURCE/tests/fixtures/nccl machine=$GPULINK_SOURCE/tests/fixtures/machine
doctor() { gpulink-calibrate doctor "$@"; }

# Three transports of one machine.
expect 0 '^No fault found, 1 note$' doctor --topo "$machine/topo-m.txt" --p2p "$machine/topo-p2p.txt" \
    --nvlink "$machine/nvlink-s.txt" --xml "$machine/topo.xml" --log "$logs/debug_all_reduce_g2.txt"
expect 1 '' doctor --log "$logs/debug_shm.txt"
grep -q '^FAULT .*\[shm-fallback\]' out || fail 'host memory is not found'
grep -q 'debug_shm.txt:68: ' out || fail 'the proof has no line'
grep -q 'NCCL_P2P_DISABLE=1 is set' out || fail 'the cause is not named'
expect 1 '' doctor --log "$logs/debug_sock.txt"
grep -q '^FAULT .*sockets \[net-inside-node\]' out || fail 'sockets are not found'

# What each file is can be left to the program; logs of several ranks; standard input.
expect 0 '^No fault found$' doctor "$machine"/topo-m.txt "$machine"/topo-p2p.txt "$machine"/nvlink-s.txt "$machine"/topo.xml
expect 1 '' doctor --log "$logs/debug_shm.txt" "$logs/debug_all_reduce_g2.txt"
# shellcheck disable=SC2317 # called by name
from_input() { doctor --topo - <"$machine/topo-m.txt"; }
expect 0 '^No fault found$' from_input
from_input() { doctor - <"$logs/debug_shm.txt"; }
expect 1 '' from_input
grep -q 'standard input:68: ' out || fail 'standard input is not named'

# A text of another kind says what it is, whichever option it is given to; both matrices may be in one file.
expect 3 'topo-m.txt: it is the output of nvidia-smi topo -m, which --topo takes; wanted: the output of nvidia-smi topo -p2p' \
    doctor --p2p "$machine/topo-m.txt"
expect 3 'topo -p2p, which --p2p takes' doctor --topo "$machine/topo-p2p.txt"
expect 3 'nvlink -s, which --nvlink takes' doctor --xml "$machine/nvlink-s.txt"
expect 3 'XML of NCCL, which --xml takes' doctor --log "$machine/topo.xml"
expect 3 'NCCL_DEBUG=INFO, which --log takes' doctor --topo "$logs/debug_shm.txt"
expect 3 'topo -m, which --topo takes' doctor --db "$machine/topo-m.txt"
expect 3 'calibration database, which --db takes' doctor --log "$GPULINK_BUILD/data/calibrations/h200-nvlink.db"
cat "$machine/topo-m.txt" "$machine/topo-p2p.txt" | sed 's/\tOK/\tGNS/g' >both.txt
expect 1 '' doctor both.txt
grep -q 'p2p-unsupported' out || fail 'the second matrix of a file is not read'
# Cards without links: the same with and without the option.
printf 'GPU 0: NVIDIA L40S (UUID: GPU-1)\nGPU 1: NVIDIA L40S (UUID: GPU-2)\n' >cards.txt
expect 0 '^No fault found$' doctor --nvlink cards.txt
expect 0 '^No fault found$' doctor cards.txt
# Every link at half speed; what is no speed.
sed 's/26.562/13.281/' "$machine/nvlink-s.txt" >half.txt
expect 1 '' doctor half.txt
grep -q 'GPU 1 has its links at 13.28 GB/s; this model runs them at 25' out || fail 'half speed is not found'
printf 'GPU 0: NVIDIA L40S (UUID: GPU-1)\n\t Link 0: abc\n' >odd.txt
expect 1 '' doctor odd.txt
grep -q 'odd.txt:2: Link 0: abc' out || fail 'an unreadable link is not told'

# Formats.
expect 1 '' doctor --log "$logs/debug_shm.txt" --format csv
grep -q '^scenario,severity,finding,subject,title,meaning,advice,file,line,proof,more_proof' <<<"$(head -n 1 out)" || fail 'columns'
grep -q '^doctor,fault,shm-fallback,.*,68,' out || fail 'no finding in CSV'
expect 1 '' doctor --log "$logs/debug_shm.txt" --format json
grep -q '"severity": "fault"' out || fail 'no severity in JSON'
expect 1 '' doctor --log "$logs/debug_shm.txt" --format markdown
expect 1 '' doctor --log "$logs/debug_shm.txt" --table settings
grep -q 'NCCL_NVLS_ENABLE' out || fail 'no settings'
expect 1 '' doctor --log "$logs/debug_shm.txt" --table findings --output f.txt
grep -q 'shm-fallback' f.txt || fail 'no output file'
expect 2 "no table 'nonsense'|findings" doctor --log "$logs/debug_shm.txt" --table nonsense

# Databases: expected values, slow paths, stored texts.
expect 0 '' doctor --db "$GPULINK_BUILD/data/calibrations/h200-nvlink.db"
grep -Eq 'all_reduce +2 +nvlink4 +450 GB/s +371 GB/s +351 GB/s +279 to 369' out || fail 'no expected values'
expect 1 '' doctor --db "$GPULINK_BUILD/data/calibrations/h200-host-memory.db" --format csv --table expected
grep -q 'line_busbw_bytes_per_s,assumed_busbw_bytes_per_s,typical_busbw_bytes_per_s' <<<"$(head -n 1 out)" || fail 'columns of expected'
gpulink-calibrate import -q --db wrong.db --transport nvlink "$logs/made_failed_check.txt"
expect 1 '' doctor --db wrong.db
grep -q 'wrong-results' out || fail 'wrong results are not found'

# Bad input.
printf 'hello\n' >hello.txt
: >empty.txt
for option in --topo --p2p --nvlink --log --xml; do
    expect 3 'hello.txt:.* wanted: ' doctor "$option" hello.txt
    expect 3 'No such file' doctor "$option" missing.txt
    expect 3 'directory' doctor "$option" .
done
expect 3 'none of the texts' doctor hello.txt
expect 3 'No such file' doctor missing.txt
for option in --topo --p2p --nvlink --log --xml ''; do
    expect 3 'empty.txt: ' doctor $option empty.txt
done
expect 3 'it is empty: if the cards have no NVLink, leave it out' doctor --nvlink empty.txt
expect 3 'not a calibration database' doctor --db hello.txt

# No answer is written over what it was read from.
for option in --topo ''; do
    cp "$machine/topo-m.txt" own.txt
    expect 2 'writing \./own\.txt would overwrite the input own\.txt' doctor $option own.txt --output ./own.txt
    expect 0 '' cmp "$machine/topo-m.txt" own.txt
done
expect 2 'standard input can be read once' doctor --log - --topo -
expect 2 'cannot be read from standard input' doctor --db -
expect 2 "did you mean '--topo'" doctor --top x
printf '<system version="1">\n<cpu>\n' >cut.xml
expect 3 'cut.xml:3:1: .*cut off' doctor --xml cut.xml

# The machine itself: without nvidia-smi, with one that fails, with one that answers.
mkdir none some
ln -s "$(command -v gpulink-calibrate)" "$(command -v bash)" none/
alone() { PATH=$PWD/none gpulink-calibrate doctor; }
expect 5 'nvidia-smi is not on this machine; give --topo' alone
printf '#!/bin/sh\nexit 9\n' >some/nvidia-smi
chmod +x some/nvidia-smi
# shellcheck disable=SC2317 # called by name
asked() { PATH=$PWD/some:$PATH NCCL_P2P_DISABLE=1 doctor; }
expect 5 'no GPU is visible' asked
cat >some/nvidia-smi <<'END'
#!/bin/sh
case "$*" in
    "topo -m") cat "$MACHINE/topo-m.txt" ;;
    "topo -p2p r") cat "$MACHINE/topo-p2p.txt" ;;
    "nvlink -s") cat "$MACHINE/nvlink-s.txt" ;;
    *) exit 1 ;;
esac
END
export MACHINE=$machine
expect 1 '' asked
grep -q 'environment: NCCL_P2P_DISABLE=1' out || fail 'the environment is not looked at'
# What is named like a secret is one, wherever it stands.
# shellcheck disable=SC2317 # called by name
asked() { PATH=$PWD/some:$PATH NCCL_X_TOKEN=geheim doctor --format json; }
expect 0 '"NCCL_X_TOKEN"' asked
if grep -q geheim out; then fail 'the environment tells a secret'; fi
{ cat "$logs/debug_shm.txt"; echo 'vm:1:2 [0] NCCL INFO NCCL_X_CREDENTIAL set by environment to geheim.'; } >told.txt
says 1 '"NCCL_X_CREDENTIAL"' gpulink-calibrate doctor --log told.txt --format json
if grep -q geheim out; then fail 'a log tells a secret'; fi
asked() { PATH=$PWD/some:$PATH doctor; }
expect 0 '^No fault found$' asked

# What was fastest, for NCCL's tuner; the commands that measure the same by hand.
for choice in ring:ll:1 ring:simple:2; do
    IFS=: read -r algorithm protocol factor <<<"$choice"
    cp "$logs/nvl_all_reduce_g2.txt" "$protocol.txt"
    gpulink-calibrate import -q --db "choices$factor.db" --transport nvlink --algorithm "$algorithm" \
        --protocol "$protocol" "$protocol.txt"
done
expect 3 'NCCL_ALGO and NCCL_PROTO' gpulink-calibrate show choices1.db --tuner
gpulink-calibrate merge -q choices1.db choices2.db --db both.db
expect 0 '^allreduce,0,[0-9]+,ring,(ll|simple),-1,1,2$' gpulink-calibrate show both.db --tuner
expect 0 '^NCCL_ALGO=ring NCCL_PROTO=ll all_reduce_perf -b 8 -e 4G -f 2 -g 2$' gpulink-calibrate show choices1.db --nccl-tests
expect 2 'only one of' gpulink-calibrate show both.db --tuner --nccl-tests
expect 0 '' gpulink-calibrate show both.db --tuner --output tuner.conf
grep -q '^allreduce,' tuner.conf || fail 'no tuner file'
