#!/usr/bin/env bash
# Thousands of sessions at once: the replay opens all of them on a null server, and every statement is
# answered.  Prints the memory of a session.  RH_NULL_SESSIONS=10000 tries more.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/integration/null_lib.sh
source "$here/null_lib.sh"

check_begin
sessions=${RH_NULL_SESSIONS:-2000}
files=$(ulimit -Hn)
[ "$files" = unlimited ] || [ "$files" -gt $((sessions + 200)) ] ||
    check_skip "ulimit -n allows $files open files, $sessions sessions need more"

# All ran when the capture began, so the clock waits for them, and none ends before the last
# statement.  Every session asks twice, the second time with a parameter.
make() {
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++)
            printf "session\t%d\tapp\tshop\t0\t3000\tjoined\n", i
        for (i = 1; i <= n; i++)
            printf "record\t%d\tquery\t%.3f\t1\tbe\t-\t-\t-\tSELECT %d\n", i, 100 + i * 900 / n, i
        for (i = 1; i <= n; i++)
            printf "record\t%d\texecute\t%.3f\t1\tbe\tno-types\tS_1\t-\tSELECT $1\t%d\n",
                i, 1200 + i * 900 / n, i
    }' | "$RH_BIN/replay_trace" make "$WORK/$1.trace"
}

# Replay it; the most memory that was resident, in kilobytes, is in $peak_kb.
replay_on_null() {
    local pid status=0 now
    peak_kb=0
    null_start
    timeout -k 5 "$CHECK_TIMEOUT_S" "$RH_BIN/pgrehearse-replay" -h "$WORK" -p "$NULL_PORT" \
        --allow-source --jobs 2 -o "$WORK/$1.run" "$WORK/$1.trace" \
        >"$WORK/out" 2>"$WORK/err" </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        now=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
        now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/${now% }/status" 2>/dev/null)
        [ -z "$now" ] || peak_kb=$now
        sleep 0.1
    done
    wait "$pid" || status=$?
    check_equal "status of a replay of $1 sessions" 0 "$status" || cat "$WORK/err"
    check 'the null server ends well' null_stop
}

make 10
make "$sessions"
replay_on_null 10
small_kb=$peak_kb
replay_on_null "$sessions"
sed 's/^/    /' "$WORK/err" "$WORK/null.err"

check "all are open at once" grep -q " at most $sessions at once" "$WORK/null.err"
check 'none is refused or lost' grep -q "$sessions opened, 0 refused, 0 lost" "$WORK/err"
"$RH_BIN/replay_trace" dump "$WORK/$sessions.run" >"$WORK/dump"
check_equal 'every statement is answered' $((2 * sessions)) \
    "$(awk -F '\t' '$3 == "done" && $5 == "00000" && $6 == 1' "$WORK/dump" | wc -l)"
served=$(sed -n 's/.*; \([0-9]*\) statements.*/\1/p' "$WORK/null.err")
check "the server has answered as many ($served)" test "$served" -ge $((2 * sessions))

session_bytes=$(((peak_kb - small_kb) * 1024 / (sessions - 10)))
echo "    resident: $peak_kb kB with $sessions sessions, $small_kb kB with 10: $session_bytes bytes a session"
if grep -q __asan_init "$RH_BIN/pgrehearse-replay"; then
    echo '    (a sanitizer takes memory of its own: not judged)'
else
    check "a session takes at most 40 kB ($session_bytes bytes)" test "$session_bytes" -le 40960
fi
check_end
