#!/bin/bash
# Instructions that the trace takes for a statement, encoding and decoding, counted by valgrind: an
# upper bound for each shape of bench_trace.  What is counted does not depend on the machine's load.
# Needs valgrind and an optimised build without sanitizers.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/check.sh
. "$here/../lib/check.sh"
check_begin

[ "${RH_OPTIMISED:-}" = 1 ] || check_skip 'only an optimised build without sanitizers is counted'
command -v valgrind >/dev/null || check_skip 'valgrind is not installed'
bench=$RH_BIN/bench_trace
[ -x "$bench" ] || check_skip "$bench is not built"

STATEMENTS=50000

# instructions SHAPE FUNCTION...: of the functions and what they call, for one statement
instructions() {
    local shape=$1 toggles=() function
    shift
    for function in "$@"; do
        toggles+=("--toggle-collect=$function")
    done
    TMPDIR=$WORK valgrind --tool=callgrind "${toggles[@]}" --callgrind-out-file=/dev/null \
        "$bench" count "$shape" $STATEMENTS 2>&1 |
        awk -v n=$STATEMENTS '/Collected :/ { printf "%.0f", $NF / n }'
}

# at_most WHAT LIMIT FOUND
at_most() {
    printf '%-20s %6s instructions a statement, at most %s\n' "$1" "$3" "$2"
    # Nothing counted is a function that was not found.
    check "$1" test "${3:-0}" -gt 100 -a "${3:-0}" -le "$2"
}

# About a fifth more than was measured (gcc 12, zstd 1.5.4).
while read -r shape encode decode; do
    at_most "encode $shape" "$encode" "$(instructions "$shape" bench_encode bench_finish)"
    at_most "decode $shape" "$decode" "$(instructions "$shape" bench_decode)"
done <<'END'
text 1710 1000
split 1530 1000
extended 2040 1270
prepared 2230 1320
END

check_end
