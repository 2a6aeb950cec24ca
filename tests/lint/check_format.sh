#!/usr/bin/env bash
# clang-format finds nothing to change.  Its major versions differ in details: only 14 is asked.
set -u
. "$(dirname "$0")/lint_lib.sh"
cd "$(lint_root "$@")" || exit 2

formatter=""
for name in clang-format-14 clang-format; do
    if "$name" --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$name
        break
    fi
done
if [ -z "$formatter" ]; then
    echo "format: SKIPPED: clang-format 14 is not installed"
    exit 77
fi
findings=$(lint_files '*.c' '*.h' | xargs -r "$formatter" --dry-run -Werror 2>&1 | awk -F: '
    / error: / {
        if (!($1 in places))
            order[++files] = $1 ":" $2
        places[$1]++
    }
    END {
        for (i = 1; i <= files; i++) {
            split(order[i], part, ":")
            print order[i] ": not as clang-format has it, in " places[part[1]] " places"
        }
    }')
lint_end format "$findings"
