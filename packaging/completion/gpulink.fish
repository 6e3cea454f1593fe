# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of gpulink-plan and gpulink-calibrate in fish: the program itself says how a line may go on.
function __gpulink_complete
    set -l words (commandline -opc)
    set -l found ($words[1] complete $words[2..-1] (commandline -ct) 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c gpulink-plan -f -a '(__gpulink_complete)'
complete -c gpulink-calibrate -f -a '(__gpulink_complete)'
