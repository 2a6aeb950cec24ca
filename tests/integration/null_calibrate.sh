#!/usr/bin/env bash
# pgrehearse calibrate: its figures are those of its replays, and it leaves no process behind.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
check_begin

# 20 sessions; 200 statements in the first second, 400 in the second, 100 in the third.
make() {
    awk -v sessions=20 'BEGIN {
        for (i = 1; i <= sessions; i++)
            printf "session\t%d\tapp\tshop\t0\t2990\tjoined\n", i
        split("200 400 100", count, " ")
        for (s = 1; s <= 3; s++)
            for (k = 0; k < count[s]; k++)
                printf "record\t%d\tquery\t%.3f\t1\tbe\t-\t-\t-\tSELECT %d\n",
                    k % sessions + 1, (s - 1) * 1000 + k * 900 / count[s], k
    }' | "$RH_BIN/replay_trace" make "$1"
}
field() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$WORK/out" | sed -n "${2:-1}p"; }
# Children of ours that are left, and folders of theirs.
left_over() { ls -d /tmp/pgrehearse-null.* 2>/dev/null; }
before=$(left_over)

make "$WORK/t.trace"
# A variable of libpq must not lead it elsewhere.
check_run 0 env PGHOSTADDR=192.0.2.1 PGSERVICE=none "$RH_BIN/pgrehearse-calibrate" --format json "$WORK/t.trace"
check_equal 'statements of the trace' 700 "$(field statements 1)"
check_equal 'the busiest second' 400 "$(field statements 2)"
check_equal 'when it was' 2026-01-01T00:00:01.000000Z "$(field at)"
check_equal 'sessions at once' 20 "$(field sessions_peak 1)"
replays=$(field replays 1)
check_equal 'flat out: all of them, each time' $((700 * replays)) "$(field statements 3)"
check_equal 'at 1x: all of them' 700 "$(field statements 4)"
check_equal 'none failed' '0 0' "$(field failed 1) $(field failed 2)"
check_equal 'none was left out' '0 0' "$(field unsent 1) $(field unsent 2)"
check "the server answered as many ($(field server_statements 2))" test "$(field server_statements 2)" -ge 700
check_equal 'it saw the sessions' '20 20' "$(field sessions_peak 2) $(field sessions_peak 3)"
check_equal 'hosts for 1x, 2x, 4x' 3 "$(grep -c '"hosts": [1-9]' "$WORK/out")"

check_run 0 "$RH_BIN/pgrehearse-calibrate" --first 1s --jobs 1 "$WORK/t.trace"
check 'a part of it' grep -q '^             its first 1 s were replayed' "$WORK/out"
check 'which has 200 statements' grep -q '^at 1x        200 statements in ' "$WORK/out"
check 'the lag is told' grep -q '^             lag p50 ' "$WORK/out"
check 'and the hosts' grep -Eq '^             4x the busiest second \(1600/s\): [0-9]+$' "$WORK/out"

check_run 2 "$RH_BIN/pgrehearse-calibrate" "$WORK/none.trace"
head -c 100 "$WORK/t.trace" >"$WORK/cut.trace"
check_run 2 "$RH_BIN/pgrehearse-calibrate" "$WORK/cut.trace"

# Signals: an interrupt is answered in order, a kill cannot be, and neither leaves anything.
printf 'session\t1\tapp\tshop\t0\t600000\tjoined\nrecord\t1\tquery\t%s\t1\tbe\t-\t-\t-\tSELECT 1\n' 10 >"$WORK/long"
printf 'record\t1\tquery\t%s\t1\tbe\t-\t-\t-\tSELECT 2\n' 500000 >>"$WORK/long"
"$RH_BIN/replay_trace" make "$WORK/long.trace" <"$WORK/long"
for signal in INT TERM KILL; do
    "$RH_BIN/pgrehearse-calibrate" --first 1h "$WORK/long.trace" >"$WORK/out" 2>"$WORK/err" </dev/null &
    pid=$!
    # The replay at original speed is the one whose null server stays.
    last='' child=''
    for _ in {1..200}; do
        child=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
        [ -n "$child" ] && [ "$child" = "$last" ] && break
        last=$child
        sleep 0.5
    done
    check "a null server runs before $signal" test -n "$child"
    kill -s "$signal" "$pid"
    status=0
    wait "$pid" 2>/dev/null || status=$?
    case $signal in
    KILL) check_equal 'status after KILL' 137 "$status" ;;
    *)
        check_equal "status after $signal" 3 "$status"
        check "what was measured is shown after $signal" grep -q '^flat out ' "$WORK/out"
        ;;
    esac
    for _ in {1..200}; do
        [ -d "/proc/${child% }" ] || break
        sleep 0.05
    done
    check "no null server is left after $signal" test ! -d "/proc/${child% }"
done
check_equal 'no folder is left' "$before" "$(left_over)"
check_end
