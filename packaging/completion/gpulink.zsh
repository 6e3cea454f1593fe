#compdef gpulink-plan gpulink-calibrate
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion in zsh: the program itself says how a line may go on.
local text about
local -a closed open
while IFS=$'\t' read -r text about; do
    if [[ $text == *= ]]; then
        open+=("${text//:/\\:}:$about")
    else
        closed+=("${text//:/\\:}:$about")
    fi
done < <(${(Q)words[1]} complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
if (( $#closed + $#open )); then
    _describe argument closed -- open -S ''
else
    _files
fi
