# bash completion for scrollback: source <(scrollback completion bash)
_scrollback() {
    local cur words choice
    cur=${COMP_LINE:0:COMP_POINT}
    # The words as they were typed: "=" and ":" do not part them.
    read -r -a words <<< "$cur"
    case $cur in
        *[[:space:]]) words+=("") ;;
    esac
    cur=${words[${#words[@]}-1]}
    local -a found=() about=()
    while IFS=$'\t' read -r choice text; do
        if [[ $choice == *:files ]]; then
            compopt -o filenames 2> /dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
            return
        fi
        found+=("$choice") about+=("$text")
    done < <("${words[0]}" __complete -- "${words[@]:1}" 2> /dev/null)
    # Bash replaces only what stands behind the last "=".
    local cut=
    case $cur in
        -*=*) cut=${cur%%=*}= ;;
    esac
    COMPREPLY=()
    local i
    for i in "${!found[@]}"; do
        choice=${found[i]#"$cut"}
        if (( ${#found[@]} > 1 && COMP_TYPE != 37 )) && [[ -n ${about[i]} && $choice == [0-9]* ]]; then
            choice+="  (${about[i]})"
        fi
        COMPREPLY+=("$choice")
    done
}
complete -F _scrollback scrollback
