# bash completion for pgrehearse: the programs tell their own words.

_pgrehearse()
{
    local current=${COMP_WORDS[COMP_CWORD]} words
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$("${COMP_WORDS[0]}" --completion 2>/dev/null)
    elif [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = capture ]; then
        words=log
    elif [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = help ]; then
        words=$("${COMP_WORDS[0]}" --completion 2>/dev/null | grep -v '^-')
    elif [[ $current = -* ]]; then
        words=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --completion 2>/dev/null)
    else
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} = *= ]]; then
        compopt -o nospace
    fi
}

complete -o default -F _pgrehearse pgrehearse
