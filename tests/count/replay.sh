#!/usr/bin/env bash
# What a replay needs for a statement, counted and not timed: instructions of user code of all its
# threads, and system calls.  Eight sessions flat out on the null server, twice, with traces of
# different length: what one statement needs is the difference by the difference of the statements.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/count/count_lib.sh
source "$here/count_lib.sh"
# shellcheck source=tests/integration/null_lib.sh
source "$here/../integration/null_lib.sh"

# About a fourth more than was measured (gcc 12): who wakes how often differs from run to run.
instructions_simple_max=8000
instructions_prepared_max=10900
# One wait, one receive, one send, where no two sessions are ready at a time; what batches and the
# threads between themselves need comes on top.  Measured: 0.5.
calls_hundredths_max=330

count_begin

sessions=8
short=500
long=3000

# make KIND N: N statements in each session; all sessions are open from the beginning to the end
make() {
    awk -v kind="$1" -v n="$2" -v sessions=$sessions 'BEGIN {
        for (s = 1; s <= sessions; s++)
            printf "session\t%d\tapp\tshop\t0\t%d\tjoined\n", s, 2 * n + 100
        for (i = 1; i <= n; i++)
            for (s = 1; s <= sessions; s++)
                if (kind == "simple")
                    printf "record\t%d\tquery\t%d\t1\tbe\t-\t-\t-\tUPDATE pgbench_accounts SET abalance = abalance + %d WHERE aid = %d\n", s, 2 * i, i * s % 4999, i * 31 + s
                else
                    printf "record\t%d\texecute\t%d\t1\tbe\tno-types\tP_1\t-\tUPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2\t%d\t%d\n", s, 2 * i, i * s % 4999, i * 31 + s
    }' | "$RH_BIN/replay_trace" make "$WORK/$1-$2.trace" || check_fail "no trace $1-$2"
}

# play TRACE TOOL...: under the tool; all are done
play() {
    local trace=$1
    shift
    "$@" "$RH_BIN/pgrehearse-replay" -h "$WORK" -p "$NULL_PORT" --speed max --jobs 1 --no-preflight --allow-source \
        -o "$WORK/t.run" "$WORK/$trace.trace" >"$WORK/out" 2>"$WORK/err" || {
        check_fail "replay of $trace: $(tail -n 5 "$WORK/err")"
        return 1
    }
}

# user_code TRACE: instructions, in all
user_code() {
    play "$1" valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null &&
        sed -n 's/^.*I  *refs: *\([0-9,]*\).*$/\1/p' "$WORK/err" | tr -d ,
}

# calls TRACE: into the kernel, in all
calls() {
    play "$1" strace -f -c -o "$WORK/strace" && awk '$NF == "total" { print $4 }' "$WORK/strace"
}

null_start
statements=$(((long - short) * sessions))
for kind in simple prepared; do
    make $kind $short
    make $kind $long
    limit=instructions_${kind}_max
    few=$(user_code $kind-$short)
    many=$(user_code $kind-$long)
    check "$kind: both were counted" test "${few:-0}" -gt 0 -a "${many:-0}" -gt "${few:-0}"
    each=$(((many - few) / statements))
    echo "$kind: $each instructions a statement, at most ${!limit}"
    check "$kind: $each instructions a statement" test "$each" -le "${!limit}"
done

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    few=$(calls simple-$short)
    many=$(calls simple-$long)
    check 'both were counted' test "${few:-0}" -gt 0 -a "${many:-0}" -gt "${few:-0}"
    each=$(((many - few) * 100 / statements))
    echo "$((each / 100)).$((each / 10 % 10)) system calls a statement"
    check "$each hundredths of a system call a statement" test "$each" -le $calls_hundredths_max
else
    echo 'strace is not installed, or may not trace: system calls were not counted'
fi
check 'the null server ends well' null_stop
check_end
