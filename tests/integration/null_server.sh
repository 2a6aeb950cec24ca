#!/usr/bin/env bash
# The null server against PostgreSQL's own clients: psql, pgbench in its three modes, \copy, cancels.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/integration/null_lib.sh
source "$here/null_lib.sh"

server_find || check_skip 'no psql and pgbench found'
PATH=$SERVER_BIN:$PATH
for name in ${!PG*}; do
    case $name in PGREHEARSE_*) ;; *) unset "$name" ;; esac
done
check_begin

null_start -h 127.0.0.1 --server-version 16.3
export PGUSER=somebody PGDATABASE=shop PGCONNECT_TIMEOUT=30
ask() { timeout 60 psql -X -At -h "$WORK" -p "$NULL_PORT" "$@" 2>&1; }

check_equal 'both addresses are told' \
    "ready host=$WORK port=$NULL_PORT
ready host=127.0.0.1 port=$NULL_PORT" "$(cat "$WORK/null.out")"
check_equal 'a query' 1 "$(ask -c 'SELECT 1')"
check_equal 'over TCP' 1 "$(ask -h 127.0.0.1 -c 'SELECT 1')"
check_equal 'without TLS, as it is offered none' 1 \
    "$(ask "host=127.0.0.1 port=$NULL_PORT sslmode=prefer" -c 'SELECT 1')"
check 'TLS is refused' grep -q 'server does not support SSL' \
    <<<"$(ask "host=127.0.0.1 port=$NULL_PORT sslmode=require" -c 'SELECT 1')"
check_equal 'its version' 16.3 "$(ask -c 'SHOW server_version')"
check_equal 'several commands' 'BEGIN
1
UPDATE 1
COMMIT' "$(ask -c 'BEGIN; SELECT 1; UPDATE t SET a = 1; COMMIT')"
check_equal 'a failed transaction' 'BEGIN
ERROR:  40001
ERROR:  25P02
ROLLBACK' "$(ask -v VERBOSITY=sqlstate -c BEGIN -c 'SELECT /* null: error 40001 */ 1' -c 'SELECT 1' -c COMMIT)"
check_equal 'rows as wanted' 3xxx "$(ask -c 'SELECT /* null: rows 3, width 4 */ 1' | sed 's/1xxx/xxx/' | uniq -c | tr -d ' ')"
check_equal 'a million rows' 1000000 "$(ask -c 'SELECT /* null: rows 1000000, width 10 */ 1' | wc -l)"
check_equal 'a cursor' 1 "$(ask -v FETCH_COUNT=10 -c 'SELECT 1')"
check 'no table is there' grep -q 'Did not find any relation' <<<"$(ask -c '\d t')"

seq 1 5000 >"$WORK/lines"
check_equal 'copy in' 'COPY 5000' "$(ask -c "\\copy t FROM '$WORK/lines'")"
check_equal 'copy out' 'COPY 1' "$(ask -c "\\copy t TO '$WORK/copied'")"
check_equal 'what was copied' 1 "$(cat "$WORK/copied")"

for mode in simple extended prepared; do
    check_run 0 pgbench -n -M "$mode" -c 8 -j 2 -t 20 -h "$WORK" -p "$NULL_PORT"
    check "pgbench -M $mode" grep -q 'actually processed: 160/160' "$WORK/out"
done
check_run 0 pgbench -n -S -M prepared -c 4 -t 50 -h 127.0.0.1 -p "$NULL_PORT"
check 'pgbench -S over TCP' grep -q 'actually processed: 200/200' "$WORK/out"
printf '%s\n' '\startpipeline' 'SELECT 1;' 'UPDATE t SET a = 1;' 'SELECT 2;' '\endpipeline' >"$WORK/pipeline.sql"
check_run 0 pgbench -n -M extended -f "$WORK/pipeline.sql" -c 4 -t 20 -h "$WORK" -p "$NULL_PORT"
check 'pipelines' grep -q 'actually processed: 80/80' "$WORK/out"

# A cancel ends an answer that waits for an hour, and no other session's.
PGAPPNAME=waits timeout 60 psql -X -At -h "$WORK" -p "$NULL_PORT" -v VERBOSITY=sqlstate \
    -c 'SELECT /* null: delay 1h */ 1' -c 'SELECT 2' >"$WORK/cancelled" 2>&1 &
waiting=$!
# One that comes before it has asked does nothing; then the next one does it.
for _ in {1..100}; do
    sleep 0.3
    psql_pid=$(cat "/proc/$waiting/task/$waiting/children" 2>/dev/null)
    [ -n "$psql_pid" ] || break
    kill -INT "${psql_pid% }" 2>/dev/null
done
wait "$waiting"
check 'a cancelled answer' grep -q 'ERROR:  57014' "$WORK/cancelled"

# Bytes that are no protocol end their own connection only.
for bytes in 'GET / HTTP/1.0\r\n\r\n' '\0\0\0\010\0\0\0\0' '\0\0\0\0' '\377\377\377\377\377'; do
    (exec 3<>"/dev/tcp/127.0.0.1/$NULL_PORT" && printf "$bytes" >&3 && timeout 20 cat <&3 >/dev/null)
    check_equal "the end of $bytes" 0 $?
done
check_equal 'and it goes on' 1 "$(ask -c 'SELECT 1')"
check 'a lost connection' grep -q 'server closed the connection' <<<"$(ask -c 'SELECT /* null: close */ 1')"
check 'a fatal error' grep -q 'FATAL:  57P01' \
    <<<"$(ask -v VERBOSITY=sqlstate -c 'SELECT /* null: fatal 57P01 */ 1')"

# At its end clients hear of it, and it counts what it did.
timeout 60 psql -X -h "$WORK" -p "$NULL_PORT" -c 'SELECT /* null: delay 1h */ 1' >"$WORK/ended" 2>&1 &
waiting=$!
for _ in {1..200}; do
    [ "$(grep -c "$WORK/.s.PGSQL" /proc/net/unix)" -ge 2 ] && break
    sleep 0.05
done
check 'SIGTERM ends it well' null_stop
wait "$waiting"
check 'its clients are told' grep -Eq 'administrator command|closed the connection' "$WORK/ended"
check 'it counts' grep -Eq '^served +[0-9]+ connections, at most [0-9]+ at once; [0-9]+ statements' "$WORK/null.err"
check 'its socket is gone' test ! -e "$WORK/.s.PGSQL.$NULL_PORT"

# A limit of connections, errors for a part of the statements, a socket that a killed server left.
null_start --max-connections 1 --errors 0.5 --error-state 40P01 -p 6543
check_equal 'the port is the one asked for' 6543 "$NULL_PORT"
check_equal 'every second statement fails' 'ERROR:  40P01
2' "$(ask -v VERBOSITY=sqlstate -c 'SELECT 1' -c 'SELECT 2' -c 'SELECT 3' -c 'SELECT 4' | sort | uniq -c |
    sed -n 's/^ *2 \(ERROR.*\)/\1\n2/p')"
kill -KILL "$null_pid"
wait "$null_pid" 2>/dev/null
check 'a killed server leaves its socket' test -S "$WORK/.s.PGSQL.6543"
null_start -p 6543
check_equal 'which another replaces' 1 "$(ask -c 'SELECT 1')"
check_run 2 "$RH_BIN/pgrehearse-nullserver" -h "$WORK" -p 6543
check 'but not one that is in use' grep -q 'Address already in use' "$WORK/err"
check 'the end' null_stop
check_end
