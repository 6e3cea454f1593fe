#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every help fits a screen, teaches by examples that stand before the options, and its examples work.
source "$GPULINK_SOURCE/tests/cli/support.sh"
lines_max=40 columns_max=100

# screen COMMAND...: its help is one screen, with examples first.
screen() {
    runs 0 "$@" --help || return 0
    checks=$((checks + 1))
    if [ "$(wc -l <out)" -gt $lines_max ] || [ "$(wc -L <out)" -gt $columns_max ]; then
        fail "$(wc -l <out) lines of $(wc -L <out) columns: $*"
    elif ! grep -q "^  .*$1" <<<"$(sed -n '/^Examples:$/,/^$/p;/^Options:$/q' out)"; then
        fail "no examples before the options: $*"
    fi
}
verbs() { "$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p'; }
for program in gpulink-plan gpulink-calibrate; do
    screen $program
    for verb in $(verbs $program); do
        screen $program "$verb"
    done
done
[ "$checks" -ge 30 ] || fail 'commands were not found'

# Examples of gpulink-plan run as they are, where they name no file of one's own.
cp -r "$GPULINK_SOURCE/models" .
cp "$GPULINK_SOURCE/tests/fixtures/huggingface/llama-3-8b.json" config.json
grep -q 'no libxlsxwriter' <<<"$(gpulink-plan --version)" && without=xlsx || without=nothing
{
    gpulink-plan --help
    for verb in $(verbs gpulink-plan); do gpulink-plan "$verb" --help; done
} | sed -n 's/^  \(gpulink-plan .*\)/\1/p' | sort -u >examples
checks=$((checks + 1))
[ "$(wc -l <examples)" -ge 15 ] || fail 'examples were not found'
while IFS= read -r example <&3; do
    case $example in
    *new.db* | *my-* | *"$without"* | 'gpulink-plan validate'* | *405b*trace* | *gpt3-175b*) continue ;; # foreign, or long and run by other tests
    *) expect 0 '' bash -euo pipefail -c "$example" ;;
    esac
done 3<examples
