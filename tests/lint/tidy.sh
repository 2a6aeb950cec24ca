#!/usr/bin/env bash
# clang-tidy on every source file, with the flags of a build directory of clang (.clang-tidy has the
# checks; the flags of a file that is not built there are taken from its neighbours).
#
#     tests/lint/tidy.sh [BUILD]     default: build/fuzz; the last line is "N passed, N failed"
set -u
. "$(dirname "$0")/lint_lib.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
export build=${1:-build/fuzz}
[ -s "$build/compile_commands.json" ] || {
    echo "tidy: no $build/compile_commands.json: configure that preset first"
    exit 2
}

# clang-tidy on one file.  Its summary of what it left out goes to standard error, as do real
# errors: shown only on failure.
check_file() {
    local output
    output=$(clang-tidy --quiet -p "$build" "$1" 2>&1) && echo "$1: clean" && return
    printf '%s\n' "$output" | grep -vE '^[0-9]+ warnings? (and [0-9]+ errors? )?(generated|treated as errors?)\.?$'
    echo "$1: FAILED"
}

# Several files in one process take half the time, since it reads the compilation database once.  It does
# not tell whose a finding is, so that a group with one is checked again, file by file.
check_files() {
    local file
    if clang-tidy --quiet -p "$build" "$@" >/dev/null 2>&1; then
        printf '%s: clean\n' "$@"
    else
        for file in "$@"; do check_file "$file"; done
    fi
}
export -f check_file check_files

lint_files '*.c' |
    xargs -r -n 8 -P "$(nproc)" bash -c 'check_files "$@"' - |
    awk '/: clean$/ { good++; next } /: FAILED$/ { bad++ } { print } END { printf "%d passed, %d failed\n", good, bad; exit bad > 0 || good == 0 }'
