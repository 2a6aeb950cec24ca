#!/usr/bin/env bash
# psql and pgbench through a relay that looks on: the statements of its trace are those of the server's
# csvlog of the same run: text, parameters as text, order within each session, SQLSTATE.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

[ -x "${RH_BIN:?}/wire_relay" ] || { echo 'SKIPPED: wire_relay was not built'; exit 77; }
server_find 2>/dev/null || { echo 'SKIPPED: no PostgreSQL server'; exit 77; }
server_begin || exit 1
check_begin

RELAY_PORT=5999 # only the name of a socket in a folder of our own
data=$SERVER_ROOT/production
server_new "$data" || exit 1
server_start "$data" || exit 1
server_psql "$data" -c 'CREATE DATABASE bank'
pgbench -i -q -s 1 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres bank 2>/dev/null || exit 1
server_stop "$data"
server_configure "$data" <<-'END'
	logging_collector = on
	log_destination = 'csvlog'
	log_directory = 'log'
	log_filename = 'production.log'
	log_min_duration_statement = 0
	log_connections = on
	log_disconnections = on
END
server_start "$data" || exit 1

"$RH_BIN/wire_relay" "$SERVER_SOCKETS" "$RELAY_PORT" "$SERVER_PORT" "$WORK/wire.trace" \
    >"$WORK/relay.out" 2>"$WORK/relay.err" &
relay=$!
for _ in {1..100}; do
    [ -S "$SERVER_SOCKETS/.s.PGSQL.$RELAY_PORT" ] && break
    sleep 0.1
done
export PGHOST=$SERVER_SOCKETS PGPORT=$RELAY_PORT PGUSER=postgres PGDATABASE=bank

psql -X -q -v ON_ERROR_STOP=0 >"$WORK/psql.out" 2>&1 <<-'END'
	SELECT 1, ';' AS "semi;colon"; SELECT '' ;
	;
	CREATE TABLE t (a int PRIMARY KEY, b text);
	BEGIN;
	INSERT INTO t SELECT g, 'x' FROM generate_series(1, 1000) AS g;
	SELECT 1 / (a - 500) FROM t;
	ROLLBACK;
	\copy t FROM PROGRAM 'seq 1 20000 | sed "s/$/\tabcdefghij/"'
	\copy t TO '/dev/null'
	\copy t FROM PROGRAM 'echo nonsense'
	\copy nowhere FROM PROGRAM 'echo 1'
	BEGIN;
	DECLARE c CURSOR FOR SELECT * FROM t ORDER BY a;
	FETCH 3 FROM c;
	FETCH 2 FROM c;
	COMMIT;
	LISTEN a;
	NOTIFY a, 'b';
	SELECT pg_notify('a', 'c')\; SELECT 2;
	SELECT $1::int + $2 \bind 1 2 \g
	PREPARE p(int) AS SELECT $1;
	EXECUTE p(3);
	DEALLOCATE p;
	CREATE ROLE somebody PASSWORD 'hunter2';
	DROP ROLE somebody;
	SELECT lo_create(4711);
	\set FETCH_COUNT 100
	SELECT * FROM t LIMIT 250;
END
for protocol in simple extended prepared; do
    check_run 0 pgbench -n -M "$protocol" -c 4 -t 25 bank
done
# Each client's statements in one pipeline, and one that fails in it.
cat >"$WORK/pipeline.sql" <<'END'
\set a random(1, 100)
\startpipeline
SELECT abalance FROM pgbench_accounts WHERE aid = :a;
UPDATE pgbench_branches SET bbalance = bbalance + :a;
SELECT :a;
\endpipeline
END
check_run 0 pgbench -n -M extended -c 2 -t 10 -f "$WORK/pipeline.sql" bank
check_run 0 pgbench -n -M prepared -c 2 -t 10 -f "$WORK/pipeline.sql" bank
kill -TERM "$relay"
wait "$relay"
check_equal 'the relay ended' 0 $?
check_equal 'every answer fitted, nothing was lost' '0 anomalies, 0 bytes lost' "$(cat "$WORK/relay.out")"
server_stop "$data"
server_wait_log "$data/log/production.csv"
unset PGHOST PGPORT PGUSER PGDATABASE

check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/log.trace" "$data/log/production.csv"
# One line a statement.  The two number sessions differently: each session is one item, its statements in
# their order, and the items are sorted.
statements() {
    check_run 0 "$RH_BIN/pgrehearse" show "$1"
    jq -cs '[.[] | select(.kind == "query" or .kind == "execute")]
        | group_by(.session) | map(sort_by(.ordinal)
        | map([.kind, .sql, [.params[]? | if type == "object" then .value else . end], .sqlstate]))
        | sort | .[] | .[]' "$WORK/out"
}
statements "$WORK/log.trace" >"$WORK/log.statements"
statements "$WORK/wire.trace" >"$WORK/wire.statements"
check 'there are statements' test "$(wc -l <"$WORK/wire.statements")" -gt 1900
check 'the same statements' diff "$WORK/log.statements" "$WORK/wire.statements"
check 'no password' test -z "$(grep hunter2 "$WORK/wire.statements")"
check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/wire.trace"
check_equal 'no gap' 0 "$(jq '.[0].gaps | length' "$WORK/out")"
check_end
