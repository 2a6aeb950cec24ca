#!/usr/bin/env bash
# Every header compiles alone and has a guard named after its path: RH_COMMON_BUF_H.
set -u
. "$(dirname "$0")/lint_lib.sh"
cd "$(lint_root "$@")" || exit 2

headers=$(lint_files '*.h')
libraries=""
for library in zlib libzstd libxxhash libpcre2-8 libpq openssl cmocka; do
    libraries+=" $(pkg-config --cflags "$library" 2>/dev/null)"
done

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

compile()
{
    # shellcheck disable=SC2086
    "${CC:-cc}" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
        -I. -Itests/unit -DRH_DATA_DIR='""' -DRH_SOURCE_DIR='""' $libraries "$@" 2>&1
}

check_guard()
{
    local header=$1 guard=${1^^}
    guard=RH_${guard//[.\/-]/_}
    [[ $'\n'$(<"$header")$'\n' == *$'\n#ifndef '"$guard"$'\n#define '"$guard"$'\n'* ]] ||
        echo "$header:1: the guard is not $guard"
}

# The source of a header: it, alone.  Every unit test begins with rh_test.h, and so may its headers.
write_source()
{
    local before=""
    [[ $1 = tests/unit/* ]] && before='#include "rh_test.h"'
    printf '%s\n#include "%s"\n' "$before" "$1" >"$work/${1//\//+}.c"
}

# Many sources in one command; one that fails is told file by file, as a header in it is not the one named.
check_sources()
{
    local source header output
    compile "$@" >/dev/null && return
    for source in "$@"; do
        header=${source##*/}
        header=${header%.c}
        header=${header//+/\/}
        output=$(compile "$source") ||
            printf '%s\n' "$output" | grep -m 1 error | sed "s,^,$header:1: does not compile alone: ,"
    done
}
export -f compile check_sources
export libraries

findings=$(
    for header in $headers; do
        check_guard "$header"
        write_source "$header"
    done
    find "$work" -name '*.c' -print0 | LC_ALL=C sort -z |
        xargs -0 -r -n 20 -P "$(nproc)" bash -c 'check_sources "$@"' -
)
lint_end headers "$findings"
