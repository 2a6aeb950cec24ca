#!/usr/bin/env bash
# Functions aim at 50 lines and files at 600 (those above are listed); 100 and 1000 fail.
set -u
. "$(dirname "$0")/lint_lib.sh"
cd "$(lint_root "$@")" || exit 2

# The layout has a function's braces alone in the first column.
sizes=$(lint_files '*.c' '*.h' | xargs -r awk '
    function file_end() { if (file != "") print lines, file ":1", "the file" }
    FNR == 1 { file_end(); file = FILENAME; start = 0; name = "" }
    { lines = FNR }
    /^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
    /^\{/ { start = FNR }
    /^\}/ && start { print FNR - start + 1, FILENAME ":" start, name "()"; start = 0 }
    END { file_end() }')

over()
{
    printf '%s\n' "$sizes" | awk -v functions="$1" -v files="$2" '
        $3 == "the" ? $1 > files : $1 > functions {
            where = $2; n = $1; $1 = $2 = ""; sub(/^ */, "")
            print where ": " $0 " has " n " lines"
        }'
}

# biggest COUNT files|functions
biggest()
{
    printf '%s\n' "$sizes" | awk -v what="$2" '($3 == "the") == (what == "files")' | sort -rn | head -n "$1" |
        awk '{ n = $1; where = $2; $1 = $2 = ""; sub(/^ */, ""); print "    " n " lines: " where " " ($1 == "the" ? "" : $0) }'
}

over 50 600 | sed 's/^/note: /'
printf '%s\n' "$sizes" | awk '$3 == "the" { files++; lines += $1; next } { functions++; inside += $1 }
    END { printf "%d files, %d lines (%d a file); %d functions (%d lines each)\n", files, lines,
        files ? lines / files : 0, functions, functions ? inside / functions : 0 }'
echo 'the biggest files'
biggest 5 files
echo 'the biggest functions'
biggest 5 functions
lint_end sizes "$(over 100 1000)"
