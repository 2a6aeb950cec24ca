#!/usr/bin/env bash
# File names are unique in the tree, and some functions and habits are not used.
set -u
. "$(dirname "$0")/lint_lib.sh"
cd "$(lint_root "$@")" || exit 2

# Every tool has its main.c.
doubled=$(lint_files '*.c' '*.h' '*.cmake' | grep -vE '(^|/)main\.c$' |
    awk -F/ '{
        if ($NF in seen)
            printf "%s:1: the file name is taken by %s\n", $0, seen[$NF]
        seen[$NF] = $0
    }')

sources=$(lint_files '*.c' '*.h')

# Unbounded copies, hidden state, and conversions that cannot report an error.
banned='strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|strtok|localtime|gmtime|ctime|asctime|alloca'
calls=$(printf '%s\n' "$sources" | xargs -r grep -HnoE "\\b($banned)\\(" |
    sed -E 's/:([a-z]+)\($/: \1() is not used here/')
typedefs=$(printf '%s\n' "$sources" | xargs -r grep -HnoE '^typedef (struct|union|enum)' |
    sed -E 's/:typedef (.*)$/: a \1 has no typedef here/')

lint_end names "$(printf '%s\n' "$doubled" "$calls" "$typedefs" | sed '/^$/d')"
