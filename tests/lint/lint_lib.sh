# shellcheck shell=bash
# Shared by the checks of this folder; sourced, not run.
#
# Every check takes the root of a tree as its argument (default: this checkout), prints one line a
# finding as FILE:LINE: TEXT, and ends with 0 (nothing found), 1 (found) or 77 (cannot check here).

lint_root()
{
    if [ $# -gt 0 ]; then
        cd "$1" || exit 2
    else
        cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
    fi
    pwd
}

# lint_files PATTERN...: the tree's own files by name, sorted, relative to the present folder.
lint_files()
{
    local names=()
    for pattern in "$@"; do
        names+=(-o -name "$pattern")
    done
    find . \( -name '.?*' -o -path ./build -o -path './build-*' \) -prune -o \
        -type f \( "${names[@]:1}" \) -print | sed 's,^\./,,' | LC_ALL=C sort
}

# lint_end NAME FINDINGS: the verdict of a check.
lint_end()
{
    if [ -n "$2" ]; then
        printf '%s\n' "$2"
        echo "$1: $(printf '%s\n' "$2" | wc -l) findings"
        exit 1
    fi
    echo "$1: nothing found"
    exit 0
}
