#!/usr/bin/env bash
# Sessions that are refused or lost cost themselves: they are recorded, and the rest goes on.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin

# A backend is killed while its statement runs, another while it is idle.
{
    session 1 0 6000
    session 2 0 6000
    session 3 0 6000
    query 1 10 1 be 'SELECT 1'
    query 1 20 900 be 'SELECT pg_sleep(20) /* victim */'
    query 1 1000 1 be 'SELECT 2'
    query 1 1010 1 be 'SELECT 3'
    query 2 10 1 be 'SELECT $$idle victim$$'
    query 2 5500 1 be 'SELECT 2'
    for i in $(seq 0 100 2900); do query 3 "$i" 1 be "SELECT $i"; done
} | make_trace killed
replay_start killed -v --no-reconnect
log_until 1 'SELECT pg_sleep'
log_until 1 '.*idle victim'
# The replay stands still meanwhile: however long this takes, session 2 finds its backend gone.
replay_child=$(pgrep -P "$replay_pid")
kill -STOP "$replay_child"
sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%victim%' AND pid <> pg_backend_pid()" >/dev/null
sql_until 0 "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%victim%' AND pid <> pg_backend_pid()"
kill -CONT "$replay_child"
replay_wait 0
check_equal 'the killed one' '1 done - 00000 1
2 done - 57P01 -1
3 not-sent session-lost - -1
4 not-sent session-lost - -1' "$(fates killed 1)"
check_equal 'the idle one' '1 done - 00000 1
2 not-sent session-lost - -1' "$(fates killed 2)"
check_equal 'the other' 30 "$(dump killed | awk -F '\t' '$1 == 3 && $3 == "done"' | wc -l)"
check 'the summary counts them' grep -q '3 opened, 0 refused, 2 lost' "$WORK/err"
check 'and a warning' grep -q 'warning: 3 statements were not sent and 0 got no answer, as connections were refused or lost' "$WORK/err"
check 'that tells of the sessions' grep -q 'warning: sessions refused: 0, lost for good: 2' "$WORK/err"

# A backend dies without a word: its statement is lost.
{
    session 1 0 1000
    query 1 10 1 be 'SELECT pg_sleep(20) /* victim */'
    query 1 500 1 be 'SELECT 2'
    session 2 0 1000
    query 2 10 1 be 'SELECT 1'
} | make_trace crash
replay_start crash --no-reconnect
sql_until 1 "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%victim */' AND state = 'active' AND pid <> pg_backend_pid()"
# The server takes the crash of a backend for a reason to restart all of them.
kill -KILL "$(sql "SELECT pid FROM pg_stat_activity WHERE query LIKE '%victim */' AND pid <> pg_backend_pid()")"
replay_wait 0
check_equal 'a crash' '1 lost - - -1
2 not-sent session-lost - -1' "$(fates crash 1)"
for _ in {1..100}; do sql 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done

# The server restarts in the middle: who was there is lost, who comes later is served.
{
    for i in 1 2 3; do
        session "$i" 0 6000
        for t in $(seq 10 100 5000); do query "$i" "$t" 1 be "SELECT $t"; done
    done
    session 4 4500 6000
    for t in $(seq 4600 100 5000); do query 4 "$t" 1 be "SELECT $t"; done
} | make_trace restart
replay_start restart --no-reconnect
log_until 3 'SELECT 10$'
# The replay stands still meanwhile: however long the server takes, session 4 finds it there.
replay_child=$(pgrep -P "$replay_pid")
kill -STOP "$replay_child"
server_stop "$cluster" fast
server_start "$cluster" "$SERVER_PORT" || exit 1
kill -CONT "$replay_child"
replay_wait 0
check_equal 'all are recorded' 155 "$(dump restart | wc -l)"
check_equal 'who came later' 5 "$(dump restart | awk -F '\t' '$1 == 4 && $3 == "done"' | wc -l)"
check 'the summary tells' grep -q '4 opened, 0 refused, 3 lost' "$WORK/err"

# A login that fails.
{
    session 1 0 200 - nobody_here
    session 2 0 200
    session 3 0 200 - app no_such_database
    session 4 0 200 login-failed intruder
    session 5 0 200 replication
    for i in 1 2 3 5; do
        query "$i" 10 1 be 'SELECT 1'
        query "$i" 20 1 be 'SELECT 2'
    done
} | make_trace login
replay 0 login -q --no-preflight
check 'a warning' grep -q 'warning: 4 statements were not sent and 0 got no answer, as connections were refused or lost' "$WORK/err"
replay 0 login --no-preflight
check_equal 'no such user' '1 not-sent connect-failed - -1
2 not-sent connect-failed - -1' "$(fates login 1)"
check_equal 'no such database' 'not-sent connect-failed' "$(fates login 3 | cut -d' ' -f2,3 | sort -u)"
check_equal 'replication' 'not-sent replication' "$(fates login 5 | cut -d' ' -f2,3 | sort -u)"
check_equal 'the other' '1 done - 00000 1
2 done - 00000 1' "$(fates login 2)"
check 'the summary tells' grep -q '1 opened, 2 refused, 0 lost' "$WORK/err"
check 'and of production' grep -q '1 login failed in production' "$WORK/err"

# Nobody gets in, or nobody is there.
{
    session 1 0 200 - nobody_here
    query 1 10 1 be 'SELECT 1'
} | make_trace refused
replay 2 refused
check 'no run is left' test ! -e "$WORK/refused.run" -a ! -e "$WORK/refused.run.partial"
check 'the message names the role' grep -q nobody_here "$WORK/err"
check_run 2 "$RH_BIN/pgrehearse-replay" -h 127.0.0.1 -p 1 -o "$WORK/none.run" "$WORK/login.trace"
check 'no server: no run' test ! -e "$WORK/none.run" -a ! -e "$WORK/none.run.partial"
check_end
