# What the tests of capture wire share; to be sourced, with PGHOST, PGPORT, PGUSER and PGDATABASE set.
#
#   wire_production DIR       a server with pgbench's tables in the database bank that is to log all; stopped
#   wire_workload             psql and pgbench: all protocols, errors, COPY, cursors, pipelines
#   wire_statements TRACE     one line a statement: kind, text, parameters as text, SQLSTATE

wire_production() {
    server_new "$1" || exit 1
    server_start "$1" || exit 1
    server_psql "$1" -c 'CREATE DATABASE bank'
    pgbench -i -q -s 1 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres bank 2>/dev/null || exit 1
    server_stop "$1"
    server_configure "$1" <<-'END'
		logging_collector = on
		log_destination = 'csvlog'
		log_directory = 'log'
		log_filename = 'production.log'
		log_min_duration_statement = 0
		log_connections = on
		log_disconnections = on
	END
}

wire_workload() {
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
        check_run 0 pgbench -n -M "$protocol" -c 4 -t 25 "$PGDATABASE"
    done
    # Each client's statements in one pipeline.
    cat >"$WORK/pipeline.sql" <<-'END'
		\set a random(1, 100)
		\startpipeline
		SELECT abalance FROM pgbench_accounts WHERE aid = :a;
		UPDATE pgbench_branches SET bbalance = bbalance + :a;
		SELECT :a;
		\endpipeline
	END
    check_run 0 pgbench -n -M extended -c 2 -t 10 -f "$WORK/pipeline.sql" "$PGDATABASE"
    check_run 0 pgbench -n -M prepared -c 2 -t 10 -f "$WORK/pipeline.sql" "$PGDATABASE"
}

# Two traces number sessions differently: each session is one item, its statements in their order, and the
# items are sorted.  The session that said "the end" is not part of it.
wire_statements() {
    check_run 0 "$RH_BIN/pgrehearse" show "$1"
    jq -cs '[.[] | select(.kind == "query" or .kind == "execute")]
        | group_by(.session) | map(sort_by(.ordinal)
        | map([.kind, .sql, [.params[]? | if type == "object" then .value else . end], .sqlstate]))
        | map(select(all(.[1] != "SELECT '"'the end'"'")))
        | sort | .[] | .[]' "$WORK/out"
}
