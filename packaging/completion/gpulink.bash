# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of gpulink-plan and gpulink-calibrate in bash: the program itself says how a line may go on.
_gpulink() {
    local words current kept line
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} != *[[:space:]] ]] || words+=('')
    current=${words[-1]}
    # bash replaces what follows the last of these signs, where they break words.
    kept=${current%"${current##*["${COMP_WORDBREAKS//[!=:]/}"]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        COMPREPLY+=("${line#"$kept"}")
    done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o bashdefault -o default -F _gpulink gpulink-plan gpulink-calibrate
