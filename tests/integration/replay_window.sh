#!/usr/bin/env bash
# What of the trace is replayed, when, and as whom.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin free
sql 'CREATE TABLE log (session int, n int, setting text); GRANT ALL ON log TO PUBLIC' >/dev/null

# --from and --to.  Session 1 is in a transaction at --from, 2 between statements with a setting and
# prepared statements, 3 begins later, 4 has a transaction open at --to, 5 had closed before.
insert() {
    query "$1" "$2" 1 "$3" "INSERT INTO log VALUES ($1, $4, current_setting('search_path'))"
}
{
    session 1 0 9000
    session 2 0 9000
    session 3 3000 9000
    session 4 3000 9000
    session 5 0 500
    insert 5 100 be 1
    query 1 1000 1 bk BEGIN
    insert 1 1100 k 1
    insert 1 2100 k 2
    query 1 2200 1 ke COMMIT
    insert 1 2300 be 3
    insert 1 8000 be 4
    query 2 1000 1 be 'SET search_path TO public, pg_temp'
    query 2 1010 1 be 'PREPARE put(int) AS INSERT INTO log VALUES (2, $1, current_setting($$search_path$$))'
    execute 2 1020 1 be no-types S_1 'INSERT INTO log VALUES (2, $1, $$by name$$)' 90
    query 2 2100 1 be 'EXECUTE put(1)'
    execute 2 2200 1 be no-types S_1 'INSERT INTO log VALUES (2, $1, $$by name$$)' 2
    insert 3 3100 be 1
    insert 4 3100 be 1
    query 4 3200 1 bk BEGIN
    insert 4 3300 k 2
    insert 4 8000 k 3
    query 4 8100 1 ke COMMIT
} | make_trace window
replay 0 window --from '2026-01-01 00:00:02Z' --to '2026-01-01 00:00:05Z' --speed 4
check_equal 'only the window, and its statements' '1 3 not-sent outside-window
1 4 not-sent outside-window
1 5 done -
2 4 done -
2 5 done -
3 1 done -
4 1 done -
4 2 not-sent outside-window
4 3 not-sent outside-window' "$(fates window | cut -d' ' -f1-4 | sort)"
check_equal 'the rows' '1|3|"$user", public
2|1|public, pg_temp
2|2|by name
3|1|"$user", public
4|1|"$user", public' "$(sql 'SELECT * FROM log ORDER BY 1, 2')"
check_equal 'nothing failed' '' "$(dump window | awk -F '\t' '$3 == "done" && $5 != "00000"')"
check 'what it leaves out is said' grep -Eq '^outside +4  in transactions that were open at --from or --to' "$WORK/err"
lacks() { ! grep -q "$1" "$2"; }
check 'and is not unsent' lacks '^not sent' "$WORK/err"
check_run 0 "$RH_BIN/pgrehearse-diff" --gate missing=0 "$WORK/window.trace" "$WORK/window.run"
replay 2 window --from '2026-01-02 00:00:00Z'
check 'an empty window is said' grep -q 'no session to replay between' "$WORK/err"
replay 2 window --from '2026-01-01 00:00:05Z' --to '2026-01-01 00:00:02Z'

# Original timing, twice as fast, and with pauses cut.
{
    session 1 0 121000
    query 1 0 1 be 'SELECT 0'
    query 1 600 1 be 'SELECT 1'
    query 1 120600 1 be 'SELECT 2'
    query 1 120800 1 be 'SELECT 3'
} | make_trace pauses
replay 0 pauses --skip-idle=200ms
check_equal 'planned times with pauses cut' '0 201 402 602' "$(dump pauses | cut -f8 | xargs)"
check 'the cut is told' grep -q 'were cut in' "$WORK/err"
replay 0 pauses --skip-idle=200ms --speed 2
check_equal 'and twice as fast' '0 100 201 301' "$(dump pauses | cut -f8 | xargs)"

# A statement that comes due while the one before it runs is behind, and the replay does not lag.
{
    session 1 0 200
    query 1 10 1 be 'SELECT pg_sleep(0.3)'
    query 1 20 1 be 'SELECT 2'
} | make_trace slow
replay 0 slow
check 'behind is said' grep -Eq '^behind +1 waited past their time for the answer before them: p50 ' "$WORK/err"
check_equal 'in the run' 1 "$("$RH_BIN/pgrehearse" info -f json "$WORK/slow.run" | jq -r '.[0].settings.behind_count')"
check_equal 'in the diff' 1 "$("$RH_BIN/pgrehearse-diff" -f json "$WORK/slow.run" "$WORK/slow.run" | jq '.inputs.base.behind_us.count')"

# Other users and databases.
server_psql "$cluster" -q -c 'CREATE DATABASE shop2' -c 'CREATE USER helper'
{
    session 1 0 100
    session 2 0 100 - other
    query 1 10 1 be "CREATE TEMP TABLE a AS SELECT 1 / (current_user = 'helper' AND current_database() = 'shop2')::int"
    query 2 10 1 be "CREATE TEMP TABLE a AS SELECT 1 / (current_user = 'other' AND current_database() = 'shop2')::int"
} | make_trace map
replay 0 map --map-user app=helper --map-database shop=shop2
check_equal 'mapped' '1 1 done - 00000 1
2 1 done - 00000 1' "$(fates map | sort)"
replay 0 map -U helper -d shop2
check_equal 'all as one user' '1 1 done - 00000 1
2 1 done - 22012 -1' "$(fates map | sort)"
# Who they were is in the run, whichever way the target says it.
identity() {
    "$RH_BIN/pgrehearse" show "$WORK/map.run" 2>/dev/null | jq -r '"\(.user) \(.database)"' | sort -u
}
for target in 'user=helper dbname=shop2' 'postgresql://helper@/shop2'; do
    replay 0 map -d "$target"
    check_equal "as $target" '1 1 done - 00000 1
2 1 done - 22012 -1' "$(fates map | sort)"
    check_equal "the run says so of $target" 'helper shop2' "$(identity)"
done
replay 0 map -U app -d 'user=helper dbname=shop2'
check_equal 'the string wins' 'helper shop2' "$(identity)"
replay 2 map -d user=helper --map-user app=helper
check 'a map without use' grep -q -- '--map-user and a user for all' "$WORK/err"
replay 2 map -d shop2 --map-database shop=shop2
replay 2 map -d 'host=a =b'
replay 2 map --map-user app
replay 2 map --map-user app=a --map-user app=b
replay 0 map --map-user app=helper --map-user nobody=helper --map-database shop=shop2 --map-database shoppe=shop2 -q
check_equal 'a map of nothing is said' '--map-user=nobody=helper --map-database=shoppe=shop2' \
    "$(sed -n 's/.*warning: \(.*\) changes nothing: no session to replay .*/\1/p' "$WORK/err" | xargs)"

# The source, and a server that others use.
{
    echo "server${T:-	}127.0.0.1:$SERVER_PORT"
    session 1 0 100
    query 1 10 1 be 'SELECT 1'
} | make_trace source
check_run 2 "$RH_BIN/pgrehearse-replay" -h 127.0.0.1 -p "$SERVER_PORT" -o "$WORK/source.run" "$WORK/source.trace"
check 'the source is refused' grep -q 'is the server that was captured' "$WORK/err"
replay 2 source
check 'by its socket too' grep -q 'is the server that was captured' "$WORK/err"
check 'no run is made' test ! -e "$WORK/source.run"
replay 0 source --allow-source
# A list of hosts whose second one it is: nothing reaches it.
check_run 2 "$RH_BIN/pgrehearse-replay" -d "host=/nowhere,127.0.0.1 port=$SERVER_PORT" \
    -o "$WORK/list.run" "$WORK/source.trace"
check 'the source in a list is refused' grep -q 'is the server that was captured' "$WORK/err"
{
    printf 'server\tno-such-host.invalid:%s\n' "$SERVER_PORT"
    session 1 0 100
    query 1 10 1 be 'SELECT 1'
} | make_trace unresolved
replay 0 unresolved -q
check 'a name that cannot be looked up is said' \
    grep -q 'warning: whether .* is the server that was captured (no-such-host.invalid:.*) cannot be told' "$WORK/err"
{
    session 1 0 100
    query 1 10 1 be 'SELECT 1'
} | make_trace unknown
replay 0 unknown
check 'an unknown source is said' grep -q 'does not tell which server' "$WORK/err"
check 'and what to do' grep -q 'capture log --server HOST:PORT notes it' "$WORK/err"
replay 0 unknown -d "host=/nowhere,$SERVER_SOCKETS"
check 'a list is said' grep -q 'only .*/.s.PGSQL.* is probed' "$WORK/err"

# A run without a name of its own replaces none.
cp "$WORK/unknown.trace" "$WORK/twice.trace"
default_run() {
    check_run "$1" "$RH_BIN/pgrehearse-replay" -h "${2:-$SERVER_SOCKETS}" -p "$SERVER_PORT" "$WORK/twice.trace"
}
default_run 0
cp "$WORK/twice.run" "$WORK/first.run"
default_run 2 /nowhere
check 'before it connects' grep -q "twice.run is there already; -o FILE names another run" "$WORK/err"
check 'the first run is as it was' cmp -s "$WORK/twice.run" "$WORK/first.run"
replay 0 twice
check 'replaced by its name' test -s "$WORK/twice.run" -a "$(cmp -s "$WORK/twice.run" "$WORK/first.run" || echo other)" = other
ln -s twice.trace "$WORK/link.trace"
check_run 2 "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -o "$WORK/link.trace" "$WORK/twice.trace"
check 'the trace is not replaced' grep -q 'would replace the trace' "$WORK/err"
coproc other { server_psql "$cluster" -d shop -At; }
other_pid=$!
echo 'BEGIN; SELECT 1;' >&"${other[1]}"
read -r _ <&"${other[0]}"
server_psql "$cluster" -q -c 'GRANT pg_read_all_stats TO app'
replay 2 unknown
check 'a busy server is refused' grep -q 'other clients have transactions open' "$WORK/err"
replay 0 unknown --allow-source
echo 'COMMIT; \q' >&"${other[1]}"
wait "$other_pid"
replay 0 unknown

# Halfway the first host of two no longer listens, and libpq turns to the second, the source: the
# session that comes there is told nothing, and the replay ends.
{
    printf 'server\t%s/.s.PGSQL.%s\n' "$SERVER_SOCKETS" "$SERVER_PORT"
    session 1 0 9000
    query 1 10 1 be 'SELECT $$astray$$'
    session 2 5000 9000
    query 2 5010 1 be 'SELECT 2'
    session 3 8000 9000
    query 3 8010 1 be 'SELECT 3'
} | make_trace astray
replay_start astray -h "127.0.0.1,$SERVER_SOCKETS"
log_until 1 '.*astray'
# The replay stands still meanwhile: however long the server takes, session 2 finds it there.
replay_child=$(pgrep -P "$replay_pid")
kill -STOP "$replay_child"
server_stop "$cluster" fast
server_launch "$cluster" '' || exit 1
kill -CONT "$replay_child"
replay_wait 3
check 'the list was said' grep -q 'is a list of hosts' "$WORK/err"
check 'why it ended' grep -q 'error: .* is the server that was captured' "$WORK/err"
check_equal 'what came of it' '1 1 done
2 1 not-sent
3 1 not-sent' "$(fates astray | cut -d' ' -f1-3)"
check_end
