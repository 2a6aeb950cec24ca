#!/usr/bin/env bash
# bash completes commands, options, values and files, by the installed script and the programs' words.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/check.sh"
check_begin
export PATH=$RH_BIN:$PATH
script=$RH_SOURCE/front/completion.bash
# As it is installed: under the name of each program.
mkdir "$WORK/completions" "$WORK/files" "$WORK/files/logs.trace.d" "$WORK/files/sub dir"
for program in "$RH_BIN"/pgrehearse "$RH_BIN"/pgrehearse-*; do
    cp "$script" "$WORK/completions/${program##*/}"
done
touch "$WORK/files/"{shop.trace,shop.run,shop.csv,notes.txt,gates.ini,'a b.trace'}

# completed WORD...: the completions of the last word, sorted, joined by blanks; breaks words at "=" as
# readline does.
completed() {
    bash --norc -c '
        completions=$1; shift
        cd "$1" && shift || exit
        . "$completions/$1"
        # Outside readline there is nothing to set; a test may ask for it.
        compopt() { printf "%s\n" "$*" >>"$completions/../compopt"; }
        COMP_WORDS=()
        for word; do
            if [[ $word = --*=* ]]; then
                COMP_WORDS+=("${word%%=*}" =)
                [[ ${word#*=} = "" ]] || COMP_WORDS+=("${word#*=}")
            else
                COMP_WORDS+=("$word")
            fi
        done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        function=$(complete -p "$1" | sed "s/.*-F \([^ ]*\).*/\1/")
        "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
        - "$WORK/completions" "$WORK/files" "$@" 2>&1 | LC_ALL=C sort -u | paste -sd ' '
}

# completes "WANTED" WORD...
completes() {
    local wanted=$1
    shift
    check_equal "$(printf '%q ' "$@")" "$wanted" "$(completed "$@")"
}

completes 'replay' pgrehearse re
completes '--help --version' pgrehearse --
completes 'info' pgrehearse help i
completes '' pgrehearse help info ''
completes 'log wire' pgrehearse capture ''
completes 'log' pgrehearse-capture --quiet l
completes 'log wire' pgrehearse capture -o shop.trace ''
completes 'logs.trace.d shop.csv sub dir' pgrehearse capture log ''
completes '--filter= --format= --from=' pgrehearse capture log --f
completes 'auto csv' pgrehearse capture log --format ''
completes 'csv' pgrehearse-capture log --format=c
completes 'auto csv' pgrehearse-capture log --format=
completes 'a b.trace logs.trace.d shop.trace sub dir' pgrehearse capture log -o ''
completes 'shop.trace' pgrehearse replay shop.
completes 'shop.trace' pgrehearse-replay --output=new.run sh
completes 'shop.run' pgrehearse replay -o shop.
completes 'max' pgrehearse replay --speed m
completes 'max' pgrehearse replay -s m
completes '' pgrehearse replay --host ''
completes '--scale= --skip-idle --speed=' pgrehearse replay --s
completes 'a b.trace logs.trace.d shop.trace sub dir' pgrehearse replay --skip-idle ''
completes '' pgrehearse replay --skip-idle=1
completes '' pgrehearse replay -- --sp
completes 'csv html json junit markdown text' pgrehearse diff -f ''
completes 'missing=' pgrehearse diff --gate mis
completes 'missing=' pgrehearse diff --gate=mis
completes 'shop.run shop.trace' pgrehearse-diff --gate missing=0 shop.
completes 'gates.ini logs.trace.d sub dir' pgrehearse diff --gates ''
completes 'cancel close copy-data' pgrehearse show --kind c
completes 'shop.run shop.trace' pgrehearse info shop.
completes '' pgrehearse nosuchcommand --he
check 'a word that goes on has no blank behind it' grep -qx -- '-o nospace' "$WORK/compopt"
check 'file names are quoted by readline' grep -q -- '-o filenames' "$WORK/compopt"

# Words that a table offers are words that its program takes.
check_words() {
    local name letter words word
    while IFS=$'\t' read -r name letter words; do
        [[ $name = --*= && $words && $words != *\** ]] || continue
        for word in $words; do
            [[ $word != *= ]] || word+=1
            "$@" "$name$word" >"$WORK/out" 2>&1 </dev/null
            check "$* $name$word" test -z "$(grep "option ${name%=}:" "$WORK/out")"
        done
    done < <("$@" --completion)
}
check_words "$RH_BIN/pgrehearse" info
check_words "$RH_BIN/pgrehearse" show
for program in "$RH_BIN"/pgrehearse-*; do
    check_words "$program"
done

# A shell with a terminal and the TAB key: the line runs only if both words were completed.
if command -v script >/dev/null; then
    printf 'PS1=; . %q\n' "$WORK/completions/pgrehearse" >"$WORK/rc"
    printf 'pgrehearse rep\t--versi\t\nexit\n' | TERM=dumb INPUTRC=/dev/null timeout 60 script -qec \
        "bash --noprofile --rcfile '$WORK/rc' -i" /dev/null >"$WORK/terminal" 2>&1
    check 'completed in a terminal' grep -q 'pgrehearse-replay (pgrehearse) [0-9]' "$WORK/terminal"
fi
check_end
