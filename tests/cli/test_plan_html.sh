#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --format html from the command line; tests/report looks at the pages in a browser.
source "$GPULINK_SOURCE/tests/cli/support.sh"
model=$models/llama-1.1b-ddp.yaml cluster=h200-nvlink
four=(--cluster h200-nvlink --cluster h200-host-memory --cluster h200-socket --cluster h200-nvlink-bf16)

expect 0 '^<title>Llama 1.1B on h200-nvlink</title>' gpulink-plan "$model" --cluster "$cluster" --format html
expect 0 '<dt>Step</dt><dd>240 ms' gpulink-plan "$model" --cluster "$cluster" -f html
expect 0 '<title>Llama 1.1B: 4 scenarios' gpulink-plan "$model" "${four[@]}" -f html
expect 0 'Side by side' gpulink-plan "$model" --cluster "$cluster" --sweep batch.micro=1,2 -f html
expect 0 '<caption>Traffic' gpulink-plan "$model" --cluster "$cluster" -f html --table traffic
expect 0 '<p class="formula">= 228 ms' gpulink-plan explain "$model" --cluster "$cluster" step.time_s -f html
expect 0 '<caption>' gpulink-plan schema model -f html
expect 0 '<caption>Curves' gpulink-calibrate show "$GPULINK_BUILD/data/calibrations/h200-nvlink.db" --format html
expect 2 'use table, csv, json, markdown, html, trace or xlsx' gpulink-plan "$model" --cluster "$cluster" -f htm
expect 4 'No space left' gpulink-plan "$model" --cluster "$cluster" -f html --output /dev/full

# A file as standard output; the same each time.
gpulink-plan "$model" "${four[@]}" -f html >a.html
expect 0 '' gpulink-plan "$model" "${four[@]}" -f html -o b.html
checks=$((checks + 1))
cmp -s a.html b.html || fail 'a file holds another page than standard output'

checks=$((checks + 1))
[ "$(stat -c %s a.html)" -le 1000000 ] || fail "the page of four scenarios has $(stat -c %s a.html) bytes"

# Nothing is fetched: no address in what loads, and a policy that forbids it.
checks=$((checks + 1))
! grep -Eiq '(src|href|action|srcset|data|poster)=["'\'']?(https?:)?//|(^|[^a-z])url\(|@import' a.html ||
    fail 'the page names what it would have to fetch'
expect 0 "Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-" cat a.html
