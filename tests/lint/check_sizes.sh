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

over 50 600 | sed 's/^/note: /'
lint_end sizes "$(over 100 1000)"
