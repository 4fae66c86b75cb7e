#compdef scrollback
# zsh completion for scrollback: source <(scrollback completion zsh)
_scrollback() {
    local line choice about
    local -a found shown
    while IFS=$'\t' read -r choice about; do
        if [[ $choice == *:files ]]; then
            _files
            return
        fi
        found+=("$choice")
        shown+=("$choice${about:+  -- $about}")
    done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2> /dev/null)
    (( ${#found} )) && compadd -U -l -d shown -a found
}
if [[ $funcstack[1] == _scrollback ]]; then
    _scrollback "$@"
else
    compdef _scrollback scrollback
fi
