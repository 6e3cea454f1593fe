#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Documents and messages name no command that the programs do not have.
set -euo pipefail
cd "$GPULINK_SOURCE"
status=0
for program in gpulink-plan gpulink-calibrate; do
    verbs=$("$GPULINK_BIN/$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p')
    [ "$(wc -w <<<"$verbs")" -ge 3 ] || { echo "$program --help lists no commands"; exit 1; }
    # A command line in backquotes, in a block or in quotes: the word behind the program is a verb, unless it
    # is a file, an option or part of a sentence.
    while read -r verb; do
        grep -qx -- "$verb" <<<"$verbs"$'\nhelp' || { echo "no such command: $program $verb"; status=1; }
    done < <(grep -rhoE "(\`|'|^|bin/|: )$program [a-z]+( |\`|')" --include='*.md' --include='*.c' --include='*.sh' --include='*.yaml' \
        README.md CONTRIBUTING.md docs models data common planner calibrate bootstrap.sh |
        sed -E "s/.*$program ([a-z]+).*/\1/" | sort -u)
done
exit $status
