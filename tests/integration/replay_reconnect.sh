#!/usr/bin/env bash
# A backend that is lost in the replay only is replaced behind the transaction that it was lost in.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
sql 'CREATE TABLE log (session int, n int, path text); GRANT ALL ON log TO PUBLIC; CREATE SCHEMA here' >/dev/null

insert() {
    query "$1" "$2" 1 "$3" "INSERT INTO log VALUES ($1, $4, current_setting('search_path'))"
}

active() {
    echo "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%$1%' AND state = 'active' AND pid <> pg_backend_pid()"
}

kill_active() {
    sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%$1%' AND state = 'active' AND pid <> pg_backend_pid()" >/dev/null
}

rows() {
    sql "SELECT string_agg(n || ' ' || path, ', ' ORDER BY n) FROM log WHERE session = $1"
}

# Session 1 loses its backend in a transaction, which set and prepared something; session 2 between
# two of them, by a timeout of the server; session 3 within a statement of its own; session 4 has
# nothing left to do then, and session 5 ended in production in just this way.  Session 6 loses
# nothing.
server_psql "$cluster" -q -c "ALTER USER other SET idle_session_timeout = '1500ms'"
{
    for i in 1 3 4 5 6; do session "$i" 0 4500; done
    session 2 0 4500 - other
    query 1 10 1 be 'SET search_path TO here, public'
    execute 1 20 1 be has-parse,no-types p1 "INSERT INTO log VALUES (1, \$1, current_setting('search_path'))" 1
    query 1 30 1 be "PREPARE p2 AS INSERT INTO log VALUES (1, 2, current_setting('search_path'))"
    query 1 40 1 bk BEGIN
    insert 1 50 k 10
    query 1 60 900 k 'SELECT pg_sleep(30) /* victim 1 */'
    query 1 1000 1 k "SET search_path TO public"
    query 1 1010 1 k "PREPARE p3 AS INSERT INTO log VALUES (1, 3, current_setting('search_path'))"
    insert 1 1020 k 11
    query 1 1030 1 ke COMMIT
    query 1 1040 1 be 'EXECUTE p2'
    query 1 1050 1 be 'EXECUTE p3'
    execute 1 1060 1 be no-types p1 "INSERT INTO log VALUES (1, \$1, current_setting('search_path'))" 4
    query 2 10 1 be 'SET search_path TO here'
    query 2 4000 1 bk BEGIN
    query 2 4005 1 k 'INSERT INTO public.log VALUES (2, 1, current_setting($$search_path$$))'
    query 2 4010 1 ke COMMIT
    query 3 10 900 be 'SELECT pg_sleep(30) /* victim 3 */'
    insert 3 1000 be 1
    query 4 10 900 be 'SELECT pg_sleep(30) /* victim 4 */'
    query 5 10 900 be 'SELECT pg_sleep(30) /* victim 5 */' sqlstate=57P01
    for i in $(seq 0 100 1500); do query 6 "$i" 1 be "SELECT $i"; done
} | make_trace killed
replay_start killed -v
sql_until 4 "$(active victim)"
kill_active victim
replay_wait 0
check_equal 'in a transaction' '4 done -
5 done -
6 done -
7 not-sent transaction-lost
8 not-sent transaction-lost
9 not-sent transaction-lost
10 not-sent transaction-lost
11 done -
12 done -
13 done -' "$(fates killed 1 | cut -d' ' -f1-3 | tail -n +4)"
check_equal 'with the settings and statements of its place' '1 here, public, 2 public, 3 public, 4 public' "$(rows 1)"
check_equal 'between two' '00000 00000 00000 00000' "$(fates killed 2 | cut -d' ' -f4 | xargs)"
check_equal 'with its settings' '1 here' "$(rows 2)"
check_equal 'a single statement' '57P01 00000' "$(fates killed 3 | cut -d' ' -f4 | xargs)"
check_equal 'nothing left to do' '57P01' "$(fates killed 4 | cut -d' ' -f4 | xargs)"
check_equal 'the end in production too' '57P01' "$(fates killed 5 | cut -d' ' -f4 | xargs)"
check_equal 'the other one' 16 "$(fates killed 6 | grep -c ' done ')"
check 'the summary counts' grep -q '6 opened, 0 refused, 0 lost' "$WORK/err"
check 'what was made again' grep -q ' 3 lost their connection and were connected again, [0-9]* times in all' "$WORK/err"
check 'what that cost' grep -q 'not sent  *4  its transaction lost its connection' "$WORK/err"
check 'a warning' grep -q 'warning: sessions that lost their connection and were connected again: 3, [0-9]* times' "$WORK/err"
"$RH_BIN/pgrehearse" show --kind open "$WORK/killed.run" >"$WORK/opens"
check_equal 'the run tells of it' '1 2 3' \
    "$(sed -n 's/.*"session":\([0-9]*\),.*"how":"the server ended the session (57P0[15])".*/\1/p' "$WORK/opens" | sort -u | xargs)"
check_equal 'and of each opening' '1 2 3 4 5 6' "$(grep -v '"how"' "$WORK/opens" | sed 's/.*"session":\([0-9]*\),.*/\1/' | sort -n | xargs)"
"$RH_BIN/pgrehearse" info "$WORK/killed.run" >"$WORK/info"
check 'so does info' grep -q '[0-9] connected again after a loss' "$WORK/info"
check 'and its JSON' grep -Eq '"reopenings": ?[3-9]' <("$RH_BIN/pgrehearse" info -f json "$WORK/killed.run")

# The diff pairs each statement with its twin, and says which transaction is missing why.
sql 'TRUNCATE log' >/dev/null
check_run 1 "$RH_BIN/pgrehearse-diff" --gate missing=0 "$WORK/killed.trace" "$WORK/killed.run"
check 'the gate fails' grep -q 'missing' "$WORK/out"
check 'the reason' grep -q '4  its transaction lost its connection' "$WORK/out"
check 'all are paired' grep -Eq 'pairs +[0-9]+ statements; only the base ran 4, only the candidate 0' "$WORK/out"

# The same without reconnection.
replay_start killed -v --no-reconnect
sql_until 4 "$(active victim)"
kill_active victim
replay_wait 0
check_equal '--no-reconnect' 'not-sent session-lost' "$(fates killed 1 | tail -1 | cut -d' ' -f2,3)"
check 'counts who had something left' grep -q '6 opened, 0 refused, 3 lost' "$WORK/err"

# The server restarts: all come back, with what they had prepared; who comes meanwhile waits.
{
    for i in 1 2 3 4 5 6 7 8; do
        session "$i" 0 2500
        query "$i" 5 1 be "PREPARE n AS SELECT $i"
        for t in $(seq 10 10 50); do query "$i" "$t" 1 be 'EXECUTE n'; done
        query "$i" 60 500 be 'SELECT pg_sleep(30) /* victim */'
        for t in $(seq 600 10 640); do query "$i" "$t" 1 be 'EXECUTE n'; done
    done
    session 9 1500 2500
    for t in $(seq 1600 10 1650); do query 9 "$t" 1 be "SELECT $t"; done
} | make_trace restart
for speed in 1 max; do
    replay_start restart --speed "$speed"
    sql_until 8 "$(active victim)"
    server_stop "$cluster" immediate
    sleep 1
    server_start "$cluster" "$SERVER_PORT" || exit 1
    replay_wait 0
    check_equal "all are recorded at speed $speed" 102 "$(dump restart | wc -l)"
    check_equal "what was lost at speed $speed" 8 "$(fates restart | grep -v '^9' | grep -Ec ' lost | 57P0[12] ')"
    check_equal "the rest ran at speed $speed" 88 "$(fates restart | grep -v '^9' | grep -c ' done - 00000 ')"
    check_equal "who came later at speed $speed" '' "$(fates restart | grep '^9' | grep -Ev ' done | lost ')"
    check "none is lost for good at speed $speed" grep -q '9 opened, 0 refused, 0 lost' "$WORK/err"
    check "who was connected again at speed $speed" grep -Eq ' [89] lost their connection and were connected again' "$WORK/err"
done

# A server that does not come back is waited for no longer than was said.  Session 9 has to wait for
# a slot, and meets nobody.
replay_start restart --reconnect-timeout 300ms --max-connections 8
sql_until 8 "$(active victim)"
server_stop "$cluster" immediate
replay_wait 0
check_equal 'all are recorded' 102 "$(dump restart | wc -l)"
check_equal 'the rest is not sent' 46 "$(fates restart | grep -Ec ' not-sent (session-lost|connect-failed) ')"
check 'they are lost' grep -q '8 opened, 1 refused, 8 lost' "$WORK/err"
check 'an example' grep -q 'warning: one that was refused, session 9: tried for ' "$WORK/err"
check 'a hint' grep -q 'hint: .*--gate missing=0' "$WORK/err"
server_start "$cluster" "$SERVER_PORT" || exit 1

# One whose user may not come back is not tried again.
{
    session 1 0 500 - app
    session 2 0 500 - other
    for i in 1 2; do
        query "$i" 10 1 be 'SELECT pg_sleep(30) /* victim */'
        query "$i" 400 1 be 'SELECT 2'
    done
} | make_trace gone
replay_start gone
sql_until 2 "$(active victim)"
server_psql "$cluster" -q -c 'ALTER USER other NOLOGIN'
kill_active victim
replay_wait 0
check_equal 'who may' '57P01 00000' "$(fates gone 1 | cut -d' ' -f4 | xargs)"
check_equal 'who may not' '1 done -
2 not-sent session-lost' "$(fates gone 2 | cut -d' ' -f1-3)"
check 'both are counted' grep -q '2 opened, 0 refused, 1 lost' "$WORK/err"
check_end
