# shellcheck shell=bash
# bash completion for pgrehearse and each of its programs, which tell their own words: the lines that
# "--completion" prints are described in common/opt.h.  Installed under the name of every program; sourced
# under its own it serves them all.

# _pgrehearse_offer TEXT: complete $current with TEXT's words, and with files where it has patterns.
_pgrehearse_offer()
{
    local word plain='' files='' paths=()
    local -a words
    read -ra words <<<"$1"
    for word in "${words[@]}"; do
        if [[ $word = *\** ]]; then
            files=yes
            # -X takes away what matches.
            mapfile -t -O ${#paths[@]} paths < <(compgen -f -X "!$word" -- "$current")
        else
            plain+=" $word"
        fi
    done
    mapfile -t COMPREPLY < <(compgen -W "$plain" -- "$current")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} = *= ]]; then
        compopt -o nospace
    fi
    if [[ $files ]]; then
        # Folders lead to files; where nothing fits, readline offers what there is.
        mapfile -t -O ${#paths[@]} paths < <(compgen -d -- "$current")
        COMPREPLY+=("${paths[@]}")
        compopt -o filenames -o default
    fi
}

# _pgrehearse_value TABLE OPTION: the words of an option that takes a value; fails for any other one.
_pgrehearse_value()
{
    local name letter words
    while IFS=$'\t' read -r name letter words; do
        if [[ $letter && (($2 = --* && $2 = "${name%=}") || ($2 = -[!-] && $2 = "$letter")) ]]; then
            # "--skip-idle" alone is whole; only "--skip-idle=" goes on.
            [[ $name = *= || $3 = equals ]] || return
            _pgrehearse_offer "$words"
            return 0
        fi
    done <<<"$1"
    return 1
}

_pgrehearse()
{
    local program=${COMP_WORDS[0]/#\~/$HOME} first=1 operands=0 bare='' kind which words table i
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} cut=
    COMPREPLY=()
    if [[ ${program##*/} = pgrehearse ]]; then
        first=2
        if [[ $COMP_CWORD -eq 1 || ($COMP_CWORD -eq 2 && $previous = help) ]]; then
            words=$("$program" --completion 2>/dev/null | grep -v '^operand')
            [[ $COMP_CWORD -eq 1 ]] || words=$(grep -v '^-' <<<"$words")
            _pgrehearse_offer "${words//$'\n'/ }"
            return
        fi
        [[ ${COMP_WORDS[1]} != help ]] || return
        table=$("$program" "${COMP_WORDS[1]}" --completion 2>/dev/null) || return
    else
        table=$("$program" --completion 2>/dev/null) || return
    fi

    # A shell splits words at "=" unless COMP_WORDBREAKS was changed.
    if [[ $current = '=' ]]; then
        current=''
        _pgrehearse_value "$table" "$previous" equals
        return
    elif [[ $previous = '=' ]]; then
        _pgrehearse_value "$table" "${COMP_WORDS[COMP_CWORD - 2]}" equals
        return
    elif [[ $current = --*=* ]]; then
        cut=${current%%=*}
        current=${current#*=}
        _pgrehearse_value "$table" "$cut" equals
        COMPREPLY=("${COMPREPLY[@]/#/$cut=}")
        return
    fi
    for ((i = first; i < COMP_CWORD; i++)); do
        if [[ $bare || ${COMP_WORDS[i]} != -?* ]]; then
            operands=$((operands + 1))
        elif [[ ${COMP_WORDS[i]} = -- ]]; then
            bare=yes
        elif [[ ${COMP_WORDS[i + 1]} = '=' ]]; then
            i=$((i + 2))
        elif [[ $'\n'$table = *$'\n'"${COMP_WORDS[i]}="* || $table = *$'\t'"${COMP_WORDS[i]}"$'\t'* ]]; then
            i=$((i + 1))
        fi
    done
    if [[ ! $bare ]] && _pgrehearse_value "$table" "$previous"; then
        return
    fi
    if [[ ! $bare && $current = -* ]]; then
        words=$(grep '^-' <<<"$table" | cut -f 1)
        _pgrehearse_offer "${words//$'\n'/ }"
        return
    fi
    while IFS=$'\t' read -r kind which words; do
        if [[ $kind = operand && ($which = '*' || $operands -eq 0) ]]; then
            _pgrehearse_offer "$words"
            return
        fi
    done <<<"$table"
}

case ${BASH_SOURCE[0]##*/} in
pgrehearse | pgrehearse-*) complete -F _pgrehearse "${BASH_SOURCE[0]##*/}" ;;
*) complete -F _pgrehearse pgrehearse pgrehearse-{capture,replay,diff,explain,nullserver,calibrate} ;;
esac
