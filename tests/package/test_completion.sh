#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# bash, zsh and fish complete what the programs know: verbs, options, choices, bundled clusters, fields; else files.
source "$GPULINK_SOURCE/tests/package/support.sh"
need zsh fish
export PATH=$GPULINK_BIN:$PATH
scripts=$GPULINK_SOURCE/packaging/completion
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
touch lab.db
mkdir functions
cp "$scripts/gpulink.zsh" functions/_gpulink-plan
cp "$scripts/gpulink.zsh" functions/_gpulink-calibrate
failed=0

# What follows the last blank or '=' of a line, once completed, by each shell.
in_bash() {
    bash -c 'source "$1/gpulink.bash"
        COMP_LINE=$2 COMP_POINT=${#2}
        compopt() { :; }
        _gpulink
        printf "%s\n" "${COMPREPLY[@]}"' bash "$scripts" "$1"
}

in_fish() {
    fish --no-config -c 'source $argv[1]/gpulink.fish; complete -C $argv[2]' "$scripts" "$1" | cut -f 1 | sed 's/^--[a-z]*=//'
}

# The line after the tab key, in a terminal: it is then made the argument of an echo.
cat >in_zsh <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1="READY> "; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; echo A"B"'
zpty -r shell seen '*AB*READY> '
zpty -w -n shell "$1"$'\t'
sleep 0.3
zpty -w -n shell $'\x01echo "::\x05::"\n'
zpty -r shell seen $'*\n::*::*'
print -r -- "$seen"
zpty -w shell exit
ZSH
in_zsh() {
    timeout 60 zsh -f in_zsh "$1" | tr -d '\r' | sed -n 's/^::\(.*[^ ]\) *::.*/\1/p' | tail -n 1
}

# expect LINE CANDIDATE...: all that may follow, in any order.
expect() {
    local line=$1 shell
    shift
    for shell in bash fish; do
        diff -u --label "expected of '$line'" --label "$shell" <(printf '%s\n' "$@" | sort) <("in_$shell" "$line" | sort) ||
            failed=1
    done
}

expect 'gpulink-plan sea' search
expect 'gpulink-plan model.yaml --allow' --allow-extrapolation
expect 'gpulink-plan search model.yaml --no-r' --no-recompute
expect 'gpulink-plan model.yaml --cluster h200-nv' h200-nvlink h200-nvlink-bf16
expect 'gpulink-plan compare model.yaml -c pcie5-' pcie5-direct-16 pcie5-pairs-16 pcie5-switch-16
expect 'gpulink-plan model.yaml --color a' auto always
expect 'gpulink-plan model.yaml --format=x' xlsx
expect 'gpulink-plan model.yaml --set parallel.t' parallel.tp=
expect 'gpulink-plan schema pr' prices
expect 'gpulink-plan help val' validate
expect 'gpulink-calibrate mer' merge
expect 'gpulink-calibrate run --backend m' mpi
[ -z "$(in_bash 'gpulink-plan lab')" ] || failed=1 # bash's own completion of files takes over
[ "$(in_fish 'gpulink-plan lab')" = lab.db ] || { echo 'fish offers no files'; failed=1; }

in_a_terminal() {
    local got
    got=$(in_zsh "$1")
    [ "$got" = "$2" ] || { echo "zsh made '$got' of '$1'"; failed=1; }
}
in_a_terminal 'gpulink-plan sea' 'gpulink-plan search'
in_a_terminal 'gpulink-plan model.yaml --cluster h200-nvlink-' 'gpulink-plan model.yaml --cluster h200-nvlink-bf16'
in_a_terminal 'gpulink-plan model.yaml --set parallel.t' 'gpulink-plan model.yaml --set parallel.tp='
in_a_terminal 'gpulink-plan lab' 'gpulink-plan lab.db'
exit "$failed"
