#!/usr/bin/env bash
# The manual pages: one for every program, opened by man, clean for mandoc, with the options that the
# programs have, in the words of --help.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/check.sh"
check_begin
command -v mandoc >/dev/null || check_skip "mandoc is not installed"
pages=$RH_BUILD/man

# help_of PAGE: --help of the page's program.
help_of() {
    if [ -x "$RH_BIN/$1" ]; then
        "$RH_BIN/$1" --help
    else
        "$RH_BIN/pgrehearse" "${1#pgrehearse-}" --help
    fi
}

# One line, single blanks.
flat() {
    tr -s ' \n' '  '
}

# The texts of --help's options, one a line: what stands from the third column on, behind the option.
texts_of_help() {
    awk '/^[A-Z].*:$/ { inside = ($0 != "Usage:" && $0 !~ /^(Example|A rehearsal|Commands|Exit)/); next }
        !inside || /^$/ { if (text != "") print text; text = ""; next }
        /^  (-[^-],|    --|  +--)/ || /^  -/ {
            if (text != "") print text
            text = $0
            sub(/^ *(-.,)? *--[^ ]+ */, "", text)
            next
        }
        /^   / { sub(/^ */, ""); text = text (text == "" ? "" : " ") $0; next }
        { if (text != "") print text; text = ""; inside = 0 }
        END { if (text != "") print text }' | sed '/^$/d' | tr -s ' '
}

every_option=$(for program in "$RH_BIN"/pgrehearse-* "$RH_BIN/pgrehearse"; do
    "$program" --help | grep -oE -- '--[a-z][a-z-]+'
done | sort -u)
every_option+=$(printf '\n'; help_of pgrehearse-info | grep -oE -- '--[a-z][a-z-]+'
    help_of pgrehearse-show | grep -oE -- '--[a-z][a-z-]+')

check_page() {
    local page=$1 name=${1##*/} rendered
    name=${name%.*}
    check_equal "$name: lint" "" "$(mandoc -Tlint -Wwarning "$page" 2>/dev/null)"
    mandoc -Tascii -O width=1000 "$page" 2>/dev/null | sed 's/.\x08//g' >"$WORK/page"
    rendered=$(flat <"$WORK/page")
    if command -v man >/dev/null; then
        check_run 0 env MANPAGER=cat PAGER=cat man -l "$page"
        check "$name: opened by man" grep -q NAME "$WORK/out"
    fi
    # What a page says of options, of this program or another, is so.
    for option in $(grep -oE -- '(^|[^-a-z])--[a-z][a-z-]+' "$WORK/page" | grep -oE -- '--.*' | sort -u); do
        [ "$option" = --name ] || check "$name: $option is an option" grep -qxF -- "$option" <<<"$every_option"
    done
    [[ $page = *.1 ]] || return 0

    help_of "$name" >"$WORK/help"
    sed -n '/^ *\(-., \)\{0,1\}--/s/^ *\(-.\), \(--[^ ]*\).*/\1, \2/;s/^ *\(--[^ ]*\).*/\1/;/^-/p' \
        "$WORK/help" | sort >"$WORK/options.help"
    sed -n '/^OPTIONS/,/^[A-NP-Z]/p' "$WORK/page" | sed -n 's/^ *\(\(-., \)\{0,1\}--[^ ]*\)$/\1/p' |
        sort >"$WORK/options.page"
    check "$name: has options" test -s "$WORK/options.help"
    check "$name: the options of --help" diff "$WORK/options.help" "$WORK/options.page"
    while IFS= read -r text; do
        check "$name: in the words of --help: $text" grep -qF -- "$text" <<<"$rendered"
    done < <(texts_of_help <"$WORK/help")
}

for program in "$RH_BIN"/pgrehearse "$RH_BIN"/pgrehearse-*; do
    check "a page for ${program##*/} (add docs/man/${program##*/}.1.in)" \
        test -s "$pages/man1/${program##*/}.1"
done
for page in "$pages"/man*/*; do
    check_page "$page"
done
check_end
