# fish completion for scrollback: scrollback completion fish | source
function __scrollback_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l found ($words[1] __complete -- $words[2..-1] $typed 2> /dev/null)
    if string match -q '*:files*' -- $found[1]
        __fish_complete_path $typed
    else
        printf '%s\n' $found
    end
end
complete -c scrollback -f -a '(__scrollback_complete)'
