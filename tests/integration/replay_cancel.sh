#!/usr/bin/env bash
# What production cancelled is cancelled, and nothing else is.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

# cancel SESSION AT: a cancel request of the wire
cancel() {
    printf 'record\t%s\tcancel\t%s\t-\t-\t-\t-\t-\t\n' "$1" "$2"
}

replay_begin

# A statement ends at the moment in which its cancel goes out; the next one is sent at once.
{
    session 1 0 3300
    for i in $(seq 0 14); do
        query 1 $((100 + i * 200)) 20 be 'SELECT pg_sleep(0.0205)' 'canceled,sqlstate=57014'
        query 1 $((120 + i * 200)) 100 be 'SELECT pg_sleep(0.1) /* innocent */'
    done
} | make_trace innocent
for jobs in 1 2; do
    replay 0 innocent --jobs "$jobs"
    check_equal 'all ran' 30 "$(count_fate innocent done)"
    check_equal 'no other statement was hit' '15 00000' \
        "$(dump innocent | grep innocent | cut -f5 | sort | uniq -c | xargs)"
done

# The cancels of the wire: one for what runs, one that comes too late, one whose statement was not
# sent; and one right behind the message, which may overtake its statement.  The late one is so late
# that its statement has ended on a busy machine too.
{
    session 1 0 5000
    query 1 10 300 be 'SELECT pg_sleep(60)'
    cancel 1 200
    query 1 400 1 be 'SELECT 1'
    cancel 1 3400
    query 1 3500 1 be 'SELECT 2' cut-text
    cancel 1 3550
    query 1 3600 300 be 'SELECT pg_sleep(60)'
    cancel 1 3600
    query 1 3900 1 be 'SELECT 3'
} | make_trace wire
for speed in 1 max; do
    replay 0 wire --speed "$speed"
    check_equal "cancels of the wire at speed $speed" '1 done - 57014 -1
2 done - - -1
3 done - 00000 1
4 skipped cancel-not-needed - -1
5 skipped cut-text - -1
6 skipped cancel-not-needed - -1
7 done - 57014 -1
8 done - - -1
9 done - 00000 1' "$(fates wire 1)"
    check 'they are counted' grep -q ' 2 cancel requests' "$WORK/err"
done
check_run 0 "$RH_BIN/pgrehearse" show "$WORK/wire.run"
check_equal 'the first was sent after 190 ms' true \
    "$(jq -s '[.[] | select(.ordinal == 1 or .ordinal == 2) | .sent | sub("\\.(?<f>.*)Z"; "Z") as $s | ($s | fromdate) + ("0." + (capture("\\.(?<f>.*)Z").f) | tonumber)] | .[1] - .[0] | . > 0.185 and . < 59' "$WORK/out")"

# A batch ends with the statement: its cancel comes with the next one.
{
    session 1 0 1500
    for i in $(seq 1 7); do query 1 $((i * 10)) 1 be "SELECT $i"; done
    query 1 100 1100 be 'SELECT pg_sleep(60)'
    cancel 1 1250
} | make_trace late
replay 0 late
check_equal 'a cancel that is read later' '8 done - 57014 -1
9 done - - -1' "$(fates late 1 | tail -n 2)"

# Known only from its ERROR: it begins when it can have begun, and is cancelled at its time.
{
    session 1 0 5000
    query 1 10 90 be 'SELECT 1'
    query 1 1500 0 be 'SELECT pg_sleep(60)' 'canceled,start-estimated,sqlstate=57014'
    query 1 4000 0 be 'SELECT pg_sleep(0.1)' 'canceled,start-estimated,sqlstate=57014'
    query 1 4100 1 be 'SELECT 2'
    query 1 4200 0 be 'SELECT broken' 'start-estimated,sqlstate=42703'
} | make_trace estimated
replay 0 estimated
check_equal 'planned' '0 90 1490 4090 4190' "$(dump estimated | cut -f8 | xargs)"
check_equal 'outcomes' '00000 57014 00000 00000 42703' "$(dump estimated | cut -f5 | xargs)"
replay 0 estimated --speed max
check_equal 'outcomes flat out' '00000 57014 00000 00000 42703' "$(dump estimated | cut -f5 | xargs)"

# A server that takes no cancel requests holds up one session, and only that one, and not for ever.
# (Its postmaster is stopped; backends that are there go on.)
{
    session 1 0 6000
    session 2 0 6000
    query 1 10 1 be 'SELECT $$deaf$$'
    query 2 10 1 be 'SELECT $$deaf$$'
    query 1 5000 100 be 'SELECT pg_sleep(5)' 'canceled,sqlstate=57014'
    query 1 5200 1 be 'SELECT 1'
    for i in $(seq 0 9); do query 2 $((4900 + i * 50)) 1 be "SELECT $i"; done
} | make_trace deaf
replay_start deaf
log_until 2 '.*deaf'
postmaster=$(head -n 1 "$cluster/postmaster.pid")
kill -STOP "$postmaster"
replay_wait 0
kill -CONT "$postmaster"
check_equal 'the session that waited' '1 done - 00000 1
2 done - 00000 1
3 done - 00000 1' "$(fates deaf 1)"
check 'the summary tells' grep -q ' 1 cancel request did not get through' "$WORK/err"
check_equal 'the other' '11 done' "$(fates deaf 2 | cut -d' ' -f2 | sort | uniq -c | xargs)"
check_end
