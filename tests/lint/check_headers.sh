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

check_header()
{
    local header=$1 guard output before=""
    guard="RH_$(printf '%s' "$header" | tr 'a-z/.-' 'A-Z___')"
    grep -qx "#ifndef $guard" "$header" && grep -qx "#define $guard" "$header" ||
        echo "$header:1: the guard is not $guard"
    # Every unit test begins with rh_test.h, and so may its headers.
    [[ $header = tests/unit/* ]] && before='#include "rh_test.h"'
    # shellcheck disable=SC2086
    output=$(printf '%s\n#include "%s"\n' "$before" "$header" |
        "${CC:-cc}" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only \
            -I. -Itests/unit -DRH_DATA_DIR='""' -DRH_SOURCE_DIR='""' $libraries -x c - 2>&1) ||
        printf '%s\n' "$output" | grep -m 1 error | sed "s,^,$header:1: does not compile alone: ,"
}
export -f check_header
export libraries

findings=$(printf '%s\n' "$headers" | xargs -r -n 1 -P "$(nproc)" bash -c 'check_header "$1"' -)
lint_end headers "$findings"
