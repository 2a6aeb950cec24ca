#!/usr/bin/env bash
# The checks themselves: each must find what is planted in a small tree, and nothing before that.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

plant_clean_tree()
{
    rm -rf "$work/tree"
    mkdir -p "$work/tree"/{common,formats,capture,replay,diff,front,tests/unit}
    cd "$work/tree" || exit 2
    cp "$here/../../.clang-format" .
    printf '#ifndef RH_COMMON_ONE_H\n#define RH_COMMON_ONE_H\n\nint rh_one(void);\n\n#endif\n' >common/one.h
    printf '#include "common/one.h"\n\nint rh_one(void)\n{\n    return 1;\n}\n' >common/one.c
    printf '#include <stdio.h>\n\n#include "common/one.h"\n' >capture/two.c
}

# expect CHECK STATUS PATTERN WHAT
expect()
{
    local output status
    output=$("$here/check_$1.sh" "$work/tree" 2>&1)
    status=$?
    if [ "$1" = format ] && [ "$status" -eq 77 ]; then
        return
    fi
    if [ "$status" -ne "$2" ] || ! printf '%s\n' "$output" | grep -q -- "$3"; then
        echo "check_$1.sh: $4: status $status instead of $2, or no \"$3\" in:"
        printf '%s\n' "$output" | sed 's/^/    /'
        failed=1
    fi
}

# planted CHECK FILE LINE PATTERN: a line added to a file of a clean tree must be found.
planted()
{
    plant_clean_tree
    printf '%s\n' "$3" >>"$2"
    expect "$1" 1 "$4" "planted in $2: $3"
}

plant_clean_tree
for check in layers headers names sizes format; do
    expect "$check" 0 "$check: nothing found" "a clean tree"
done

planted layers common/one.c '#include "formats/record.h"' 'common/one.c:7: common/ must not include'
planted layers formats/x.c '#include "capture/source.h"' 'formats/ must not include'
planted layers capture/two.c '#include "replay/conn.h"' 'capture/ must not include'
planted layers diff/x.h '# include  "capture/a.h"' 'diff/ must not include'
planted layers front/x.c '#include "diff/a.h"' 'front/ must not include'
planted layers replay/x.c '#include "conn.h"' 'not named from the root'
planted layers capture/two.c '#include <libpq-fe.h>' '<libpq-fe.h> does not belong'
planted layers diff/x.c '#include <openssl/ssl.h>' 'does not belong'
planted layers replay/x.c '#include <pcap/pcap.h>' 'does not belong'
planted layers common/one.c '#include <pcre2.h>' 'does not belong'
planted layers replay/x.c '#include <zstd.h>' 'does not belong'
planted layers formats/x.c '#include <msgpack.h>' 'does not belong'
planted headers common/other.h '#ifndef RH_OTHER_H' 'the guard is not RH_COMMON_OTHER_H'
planted headers common/one.h 'size_t rh_needs_stddef(void);' 'does not compile alone'
planted names formats/one.c '' 'formats/one.c:1: the file name is taken by common/one.c'
planted names capture/two.c 'int x = atoi("1");' 'atoi() is not used'
planted names capture/two.c 'strcpy(a, b);' 'strcpy() is not used'
planted names capture/two.c 'typedef struct a b;' 'a struct has no typedef'
planted format capture/two.c 'int   x ;' 'capture/two.c:4'

plant_clean_tree
{
    printf 'void big(void)\n{\n'
    yes '    x++;' | head -n 99
    printf '}\n'
} >diff/big.c
expect sizes 1 'diff/big.c:2: big() has 101 lines' 'a function of 101 lines'
sed -i 4,50d diff/big.c
expect sizes 0 'note: diff/big.c:2: big() has 54 lines' 'a function of 54 lines'
yes '/* */' | head -n 1001 >diff/big.c
expect sizes 1 'diff/big.c:1: the file has 1001 lines' 'a file of 1001 lines'

[ "$failed" -eq 0 ] && echo "checks: each finds what it must"
exit "$failed"
