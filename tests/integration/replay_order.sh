#!/usr/bin/env bash
# --order: a transaction that is slower than in production lets others pass with none, and not with txn;
# a circle that an advisory lock closes is broken and named; who waits for a slot holds up nobody.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
sql 'CREATE TABLE t (n int); CREATE TABLE gate AS SELECT 1 AS n; GRANT ALL ON t, gate TO app' >/dev/null

# In production the INSERT had ended when the SELECT began.  Here somebody holds it up.
{
    session 1 0 4000
    session 2 0 4000
    query 1 10 1 be 'INSERT INTO t SELECT n FROM gate'
    query 2 20 1 be 'SELECT n FROM t'
    query 2 30 1 be 'SELECT n FROM t WHERE n > 0'
} | make_trace rows
coproc holder { server_psql "$cluster" -d shop -At; }
holder_pid=$!
hold() {
    echo 'BEGIN; LOCK gate; SELECT 1;' >&"${holder[1]}"
    read -r _ <&"${holder[0]}"
}
release() {
    echo 'COMMIT; SELECT 2;' >&"${holder[1]}"
    read -r _ <&"${holder[0]}"
}
blocked="SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'app'"

hold
replay_start rows --speed max --allow-source
log_until 1 'SELECT n FROM t WHERE n > 0'
release
replay_wait 0
check_equal 'none: the reader passed it' '1 done - 00000 0
2 done - 00000 0' "$(fates rows 2)"
mv "$WORK/rows.run" "$WORK/none.run"

sql 'TRUNCATE t'
hold
replay_start rows --speed max --allow-source --order txn --order-timeout 300s
sql_until 1 "$blocked"
sql_until 2 "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'"
sleep 0.5 # its waiting cannot be seen from outside
release
replay_wait 0
check_equal 'txn: the reader waited' '1 done - 00000 1
2 done - 00000 1' "$(fates rows 2)"
check 'it is told' grep -q '^order        1 waited for other transactions to end: ' "$WORK/err"
check_equal 'the run has the wait' true "$("$RH_BIN/pgrehearse" show "$WORK/rows.run" | jq -s 'map(select(.session == 2 and .ordinal == 1))[0].wait_us > 0')"
check_run 0 "$RH_BIN/pgrehearse-diff" --format json --judge-anyway "$WORK/none.run" "$WORK/rows.run"
check_equal 'the diff sees it' 2 "$(jq '.totals.row_mismatches' "$WORK/out")"
check_equal 'it is in the header' txn "$("$RH_BIN/pgrehearse" info --format json "$WORK/rows.run" | jq -r '.[0].settings.order')"
echo '\q' >&"${holder[1]}"
wait "$holder_pid"

# Here the second one gets the lock only when the first one lets it go, which has to wait for the second.
{
    session 1 0 4000
    session 2 0 4000
    query 1 10 1 be 'SELECT pg_advisory_lock(1)'
    query 2 20 1 be 'SELECT pg_advisory_lock(1)'
    query 1 30 1 be 'SELECT pg_advisory_unlock(1)'
    query 2 40 1 be 'SELECT pg_advisory_unlock(1)'
} | make_trace circle
replay 0 circle --speed max --order txn --order-timeout 300ms
check_equal 'the circle was broken' 4 "$(count_fate circle done)"
check 'it is named' grep -q 'warning: session 1, statement 2 has waited 0.3 s for 1 transaction to end and goes on without (--order-timeout); the first of them begins with statement 1 of session 2' "$WORK/err"
check 'and counted' grep -q '^             1 wait was given up after --order-timeout' "$WORK/err"

# Session 2 has no slot before 1 has closed, and 1 has to wait for it: it counts as ended.
{
    session 1 0 4000
    session 2 5 8
    query 1 1 1 be 'SELECT 1'
    query 2 6 1 be 'SELECT 2'
    query 1 20 1 be 'SELECT 3'
} | make_trace slots
replay 0 slots --speed 1 --order txn --order-timeout 300s --max-connections 1
check_equal 'nobody waits for a slot' 3 "$(count_fate slots done)"

# Those that are refused, skipped or fail hold up nobody either.
{
    session 1 0 4000
    session 2 0 4000 - nobody
    session 3 0 4000
    query 2 10 1 be 'SELECT 1'
    query 3 10 1 bk BEGIN
    query 3 11 1 k 'SELECT 1 / 0'
    query 3 12 1 ke COMMIT
    query 3 14 1 be 'SELECT 1' cut-text
    query 1 30 1 be 'SELECT 2'
} | make_trace lost
replay 0 lost --speed max --order txn --order-timeout 300s --no-preflight
check_equal 'the others go on' '1 done - 00000 1' "$(fates lost 1)"

# Copies wait for their own.
replay 0 lost --speed max --order txn --order-timeout 300s --no-preflight --scale 3
check_equal 'copies' 3 "$(fates lost 1 | grep -c '^1 done')"
check_run 2 "$RH_BIN/pgrehearse-replay" --order time "$WORK/lost.trace"
check_end
