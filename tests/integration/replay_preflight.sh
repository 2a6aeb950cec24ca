#!/usr/bin/env bash
# The preflight: each finding is provoked on a real server, and its line looked for; a clean server has
# none.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
admin() { server_psql "$cluster" -d shop -q "$@"; }

dry_run() {
    local status=$1 name=$2
    shift 2
    check_run "$status" "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --dry-run \
        -o "$WORK/$name.run" "$@" "$WORK/$name.trace"
}

# finding GRADE NAME: one of this name and grade is in the JSON of the last dry run.
finding() {
    check "finding $1 $2" jq -e --arg grade "$1" --arg name "$2" \
        '.findings | any(.grade == $grade and .name == $name)' "$WORK/out" >/dev/null
}
text_of() {
    jq -r --arg name "$1" '.findings[] | select(.name == $name) | .text' "$WORK/out"
}
no_finding() {
    check_equal "no finding $1" '' "$(text_of "$1")"
}

{
    session 1 0 4000
    session 2 500 1500
    session 3 100 4000 - other
    for t in 600 700 800 900; do query 2 "$t" 1 be "SELECT $t"; done
    query 1 1000 1 be 'SELECT 1'
    query 3 1100 1 be 'COPY t FROM STDIN' cut-text
} | make_trace clean

# Nothing is wrong: what would be replayed is told, and no run is made.
dry_run 0 clean --speed 2
check 'sessions' grep -qx 'sessions     3, at most 3 at once' "$WORK/out"
check 'statements' grep -qx 'statements   5 would be sent' "$WORK/out"
check 'what cannot be replayed' grep -q '^not replayed         1  the text is cut$' "$WORK/out"
check 'how long' grep -qx 'takes        2.0 s at speed 2' "$WORK/out"
check 'the result' grep -q '^result       0 stops, 0 warnings, .* a replay would begin$' "$WORK/out"
check 'no run' test ! -e "$WORK/clean.run"
dry_run 0 clean --format json --speed max
check_equal 'JSON' '3 3 5 null 0 [{"reason":"cut-text","count":1}]' \
    "$(jq -r '"\(.sessions) \(.sessions_at_once) \(.statements) \(.planned_s) \(.stops) \(.not_replayed)"' "$WORK/out")"
finding note source-unknown
finding note same-machine
check_equal 'nothing else' 'same-machine source-unknown' \
    "$(jq -r '[.findings[].name] | sort | join(" ")' "$WORK/out")"
replay 0 clean --speed max
check 'the summary counts' grep -qx 'preflight    0 warnings, 2 notes' "$WORK/err"
check_run 2 "$RH_BIN/pgrehearse-replay" --format json "$WORK/clean.trace"
check_run 2 "$RH_BIN/pgrehearse-replay" --dry-run --format xml "$WORK/clean.trace"
check_run 2 "$RH_BIN/pgrehearse-replay" --dry-run --no-preflight "$WORK/clean.trace"
check_run 2 "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -n --format json -o "$WORK/clean.trace" "$WORK/clean.trace"
finding stop run-file

# Two databases that -d makes one: said before, and at the end that nearly all failed.
{
    session 1 0 4000
    session 2 0 4000 - app vault
    query 1 10 1 be 'SELECT 1'
    for t in $(seq 100 111); do query 2 "$t" 1 be 'SELECT n FROM only_in_vault'; done
} | make_trace merged
dry_run 0 merged --format json -d shop
finding warning databases-merged
check_equal 'databases that become one' '2 databases of the trace become one, "shop": "shop", "vault"' "$(text_of databases-merged)"
replay 0 merged --speed max -d shop
check 'the failures' grep -q 'warning: 12 of the 13 statements sent failed, in production 0; most often with 42P01 (12 times)$' "$WORK/err"
check 'and what to do' grep -q "hint: pgrehearse show --sqlstate 42P01 $WORK/merged.run tells which" "$WORK/err"
replay 0 clean --speed max -o "$WORK/again.run"
check_equal 'none of a good replay' 0 "$(grep -c 'statements sent failed' "$WORK/err")"

# Logins: one finding a reason, with its cost.
admin -c "CREATE ROLE locked; CREATE ROLE guest LOGIN; CREATE ROLE secret LOGIN PASSWORD 'x'; CREATE ROLE full LOGIN CONNECTION LIMIT 0; CREATE ROLE barred LOGIN" \
    -c 'CREATE DATABASE vault' -c 'REVOKE CONNECT ON DATABASE vault FROM public'
{
    echo 'local all secret scram-sha-256'
    echo 'local all barred reject'
    cat "$cluster/pg_hba.conf"
} >"$WORK/hba" && cat "$WORK/hba" >"$cluster/pg_hba.conf"
admin -c 'SELECT pg_reload_conf()' >/dev/null
logins() {
    session 1 0 4000
    session 2 0 4000 - nobody_here
    session 3 0 4000 - nobody_here vault
    session 4 0 4000 - somebody
    session 5 0 4000 - app no_such_database
    session 6 0 4000 - locked
    session 7 0 4000 - guest vault
    session 8 0 4000 - secret
    session 9 0 4000 - full
    session 10 0 4000 - barred
    for i in $(seq 2 10); do query "$i" 10 1 be 'SELECT 1'; done
    query 3 20 1 be 'SELECT 2'
}
{
    logins
    query 1 10 1 be 'SELECT 1'
} | make_trace logins
dry_run 2 logins --format json
finding stop role-missing
check_equal 'roles and cost' 'roles that the server does not have: "nobody_here", "somebody"; 3 sessions with 4 statements would be lost' \
    "$(text_of role-missing)"
check_equal 'cost in JSON' '3 4' \
    "$(jq -r '.findings[] | select(.name == "role-missing") | "\(.sessions) \(.statements)"' "$WORK/out")"
for name in role-without-login database-missing password-missing access-refused connect-forbidden too-many-connections; do
    finding stop "$name"
done
check_equal 'the pair' 'no permission to connect has: "guest" in "vault"; 1 session with 1 statement would be lost' \
    "$(text_of connect-forbidden)"
PGPASSWORD=wrong dry_run 2 logins --format json
finding stop password-wrong
replay 2 logins
check 'an error each' grep -q 'error: databases that the server does not have: "no_such_database"' "$WORK/err"
check 'the way out' grep -q 'hint: .*--no-preflight replays without looking' "$WORK/err"
check 'nothing was made' test ! -e "$WORK/logins.run" -a ! -e "$WORK/logins.run.partial"
replay 0 logins --no-preflight --speed max
check 'it is said' grep -qx 'preflight    left out' "$WORK/err"
check_equal 'the rest is replayed' 1 "$(count_fate logins done)"

# Whoever sees most is asked, in whatever order they log in, and it is said who that was.
asked_as() {
    jq -r '[.asked_as[] | "\(.database) \(.user) \(.sees)"] | join(", ")' "$WORK/out"
}
{
    for i in 1 2 3; do session "$i" 0 4000; done
    session 4 0 4000 - other
    session 5 0 4000 - guest postgres
    query 4 10 1 be 'SELECT 1'
} | make_trace askers
dry_run 0 askers --format json
check_equal 'the most frequent' 'null app own, shop app own, postgres guest own' "$(asked_as)"
admin -c 'GRANT pg_read_all_stats TO other'
for i in 1 2 3; do
    dry_run 0 askers --format json
    check_equal "one that sees statistics, time $i" 'null other statistics, shop other statistics, postgres guest own' "$(asked_as)"
done
admin -c 'REVOKE pg_read_all_stats FROM other' -c 'ALTER ROLE guest SUPERUSER'
dry_run 0 askers
check 'a superuser' grep -qx 'asked as     "guest" (superuser)' "$WORK/out"
check 'another one in shop' grep -qx '             "app" (sees its own) in database "shop"' "$WORK/out"
admin -c 'ALTER ROLE guest NOSUPERUSER'

# Less than one statement in a hundred: a warning.
{
    logins
    for t in $(seq 1 1200); do query 1 "$t" 1 be 'SELECT 1'; done
} | make_trace little
dry_run 0 little --format json
finding warning role-missing

# Nobody gets in.
{
    session 1 0 10 - nobody_here
    query 1 5 1 be 'SELECT 1'
} | make_trace nobody
dry_run 2 nobody
check 'why' grep -q '^stop .*roles that the server does not have: "nobody_here"' "$WORK/out"
check_equal 'nobody was asked' 0 "$(grep -c '^asked as' "$WORK/out")"
check_run 2 "$RH_BIN/pgrehearse-replay" -h "$WORK" -n "$WORK/nobody.trace"
check 'no server' grep -q '^stop .*No such file or directory' "$WORK/out"
check_run 2 "$RH_BIN/pgrehearse-replay" -h "$WORK" -n --format json "$WORK/nobody.trace"
finding stop not-connected
check_equal 'JSON without a server' 'null 0 1' "$(jq -r '"\(.target) \(.asked_as | length) \(.sessions)"' "$WORK/out")"

# Limits of connections and of files.
admin -c 'ALTER ROLE app CONNECTION LIMIT 1' -c 'ALTER DATABASE shop CONNECTION LIMIT 2'
dry_run 2 clean --format json
check_equal 'limits of role and database' 'up to 2 sessions of role "app" will be open at once, and its connection limit is 1
up to 3 sessions of database "shop" will be open at once, and its connection limit is 2' "$(text_of connection-limit)"
dry_run 0 clean --format json --max-connections 1
no_finding connection-limit
admin -c 'ALTER ROLE app CONNECTION LIMIT -1' -c 'ALTER DATABASE shop CONNECTION LIMIT -1'
{
    for i in $(seq 1 698); do session "$i" 0 10; done
    query 1 5 1 be 'SELECT 1'
} | make_trace wide
dry_run 2 wide --format json
check_equal 'room' 'up to 698 sessions will be open at once, and the server has room for 697 (max_connections 700, reserved 3, in use 0)' \
    "$(text_of max-connections)"
check_run 0 bash -c "ulimit -n 200; exec '$RH_BIN/pgrehearse-replay' -h '$SERVER_SOCKETS' -p '$SERVER_PORT' -n --format json --max-connections 690 '$WORK/wide.trace'"
finding warning open-files

# What is in the catalogues.
admin <<-'END'
	SET synchronous_commit = off;
	CREATE TABLE plain AS SELECT generate_series(1, 20000) AS n;
	CREATE TABLE indexed AS SELECT * FROM plain;
	CREATE INDEX ON indexed (n);
	CREATE TABLE analyzed AS SELECT * FROM plain;
	ANALYZE analyzed;
	CREATE TABLE small AS SELECT 1 AS n;
	GRANT SELECT ON indexed TO app, other;
	CREATE SCHEMA cron;
	CREATE TABLE cron.job (active boolean);
	INSERT INTO cron.job VALUES (true), (true), (false);
	CREATE FOREIGN DATA WRAPPER far_away;
	CREATE SERVER billing FOREIGN DATA WRAPPER far_away OPTIONS (host 'billing.example', password 'pw');
	CREATE FUNCTION fire() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
	CREATE EVENT TRIGGER on_ddl ON ddl_command_end EXECUTE FUNCTION fire();
	CREATE EVENT TRIGGER off_ddl ON ddl_command_end EXECUTE FUNCTION fire();
	ALTER EVENT TRIGGER off_ddl DISABLE;
	ALTER ROLE app SET work_mem = '7MB';
	ALTER ROLE app IN DATABASE shop SET search_path = public;
	ALTER ROLE postgres SET work_mem = '7MB';
	ALTER ROLE other SET default_transaction_read_only = on;
END
dry_run 0 clean --format json
finding warning never-analyzed
check_equal 'how many tables' '2 tables of database "shop" have no statistics' "$(text_of never-analyzed | cut -d : -f 1)"
check_equal 'which tables' 'public.indexed public.plain' \
    "$(text_of never-analyzed | grep -Eo 'public\.[a-z]+ \([0-9]+ kB\)' | cut -d ' ' -f 1 | sort | xargs)"
check_equal 'jobs that cannot be read' 'the jobs of pg_cron could not be looked at as user "app": 42501: permission denied for schema cron' \
    "$(text_of not-looked-at)"
check_equal 'foreign servers' 'database "shop" reaches foreign servers, and so will the replay: billing (host=billing.example)' \
    "$(text_of foreign-servers)"
check_equal 'event triggers' 'event triggers of database "shop" fire in the replay too: on_ddl' "$(text_of event-triggers)"
check_equal 'read only' 'transactions of user "other" in database "shop" are read only: writes will fail' "$(text_of read-only)"
no_finding settings-lost
dry_run 0 clean --format json -U postgres
check_equal 'lost settings' 'settings of user "app" in database "shop" do not hold for "postgres" in "shop": search_path
settings of user "other" in database "shop" do not hold for "postgres" in "shop": default_transaction_read_only' \
    "$(text_of settings-lost)"
check_equal 'superusers' 'sessions of "app", "other" connect as superuser "postgres": permissions and row security do not hold for them' \
    "$(text_of superuser)"
check_equal 'jobs' '2 jobs of pg_cron are active in database "shop" and run during the replay' "$(text_of cron-jobs)"
no_finding not-looked-at

# What keeps, sends or takes WAL, what holds locks, and others at work.
server_configure "$cluster" <<-'END'
	archive_mode = on
	archive_command = '/bin/true to-production'
	max_prepared_transactions = 5
	wal_level = logical
END
server_stop "$cluster" fast
server_start "$cluster" || exit 1
admin -c "SELECT pg_create_physical_replication_slot('left_over')" >/dev/null
admin -c "CREATE SUBSCRIPTION feed CONNECTION 'host=/nowhere' PUBLICATION p WITH (connect = false)" 2>/dev/null
admin -c 'ALTER SUBSCRIPTION feed ENABLE' -c 'BEGIN; LOCK small; PREPARE TRANSACTION $$two-phase$$' 2>/dev/null ||
    admin -c 'BEGIN' -c 'LOCK small' -c "PREPARE TRANSACTION 'two-phase'"
dry_run 2 clean --format json
check_equal 'archiving' 'the server archives its WAL by "/bin/true to-production": a clone may do it where production does' \
    "$(text_of archiving)"
check_equal 'slots' 'nobody reads the replication slots "left_over": WAL is kept for them until the disk is full' \
    "$(text_of replication-slots)"
check_equal 'prepared transactions' 'prepared transactions hold their locks: "two-phase"' "$(text_of prepared-transactions)"
finding stop subscriptions
check 'which' grep -q '"feed" in database "shop"' <(text_of subscriptions)
admin -c 'ALTER SUBSCRIPTION feed DISABLE' -c 'ALTER SUBSCRIPTION feed SET (slot_name = NONE)' -c 'DROP SUBSCRIPTION feed'
admin -c "ROLLBACK PREPARED 'two-phase'"
admin -c "ALTER SYSTEM SET synchronous_standby_names = 'mirror'" -c 'SELECT pg_reload_conf()' >/dev/null
dry_run 2 clean --format json
finding stop no-standby
admin -c 'SET synchronous_commit = off' -c 'ALTER SYSTEM RESET synchronous_standby_names' -c 'SELECT pg_reload_conf()' >/dev/null
no_finding subscriptions

coproc busy { server_psql "$cluster" -d shop -At; }
busy_pid=$!
echo 'BEGIN; SELECT 1;' >&"${busy[1]}"
read -r _ <&"${busy[0]}"
# A user without rights sees that others are there, and no more; -q does not hide it.
replay 0 clean --speed max -q
check 'it cannot see' grep -q 'warning: other clients are connected to .* cannot see whether' "$WORK/err"
admin -c 'GRANT pg_read_all_stats TO app, other'
dry_run 2 clean --format json
finding stop others-at-work
replay 2 clean --no-preflight
check 'no way around' grep -q 'error: other clients have transactions open' "$WORK/err"
replay 0 clean --allow-source --speed max
echo 'COMMIT; \q' >&"${busy[1]}"
wait "$busy_pid"

# Statements that act beyond their database.
{
    session 1 0 100
    query 1 10 1 be 'ALTER SYSTEM SET work_mem = 1'
    query 1 20 1 be 'SELECT pg_switch_wal()'
    query 1 30 1 be 'SELECT pg_terminate_backend(1)'
    query 1 40 1 be 'SELECT pg_terminate_backend(2)'
    query 1 50 1 be "SELECT 'DROP DATABASE shop'"
} | make_trace beyond
dry_run 0 beyond --format json
check_equal 'beyond the database' '4 statements act on the whole server, other sessions, files or other servers: pg_terminate_backend() 2 times (session 1, statement 3), ALTER SYSTEM 1 time (session 1, statement 1), pg_switch_wal() 1 time (session 1, statement 2)' \
    "$(text_of beyond-database)"

# A question that takes too long is a note.
admin -c 'DROP TABLE cron.job' -c 'CREATE VIEW cron.job AS SELECT pg_sleep(60) IS NULL AS active' \
    -c 'GRANT USAGE ON SCHEMA cron TO app, other' -c 'GRANT SELECT ON cron.job TO app, other'
PGOPTIONS='-c statement_timeout=300' dry_run 0 clean --format json
check 'slow' grep -q 'the jobs of pg_cron could not be looked at as user ".*": 57014: ' <(text_of not-looked-at)
admin -c 'DROP SCHEMA cron CASCADE'

# Another encoding than the texts are in.
admin -c "CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"
{
    session 1 0 100
    session 2 0 100 - app latin
    query 1 10 1 be "SELECT 'caf"$'\xe9'"'"
    query 1 20 1 be "SELECT 'café'"
    query 2 10 1 be "SELECT 'café'"
    query 2 20 1 be "SELECT 'caf"$'\xe9'"'"
} | make_trace texts
dry_run 0 texts --format json
check_equal 'encodings' '1 statement of database "shop" holds bytes that are not UTF-8, but its encoding is UTF8 there
1 statement of database "latin" holds UTF-8, but its encoding is LATIN1 there' "$(text_of encoding)"

# What answers is no PostgreSQL: nothing is judged, and nothing is taken for absent.
"$RH_BIN/pgrehearse-nullserver" -h "$WORK" -p 6543 >"$WORK/null.out" 2>&1 &
null_pid=$!
for _ in {1..200}; do
    [ -S "$WORK/.s.PGSQL.6543" ] && break
    sleep 0.05
done
check_run 0 "$RH_BIN/pgrehearse-replay" -h "$WORK" -p 6543 -n --format json -o "$WORK/x.run" "$WORK/clean.trace"
finding note not-judged
for what in 'other clients at work' "the server's state" 'the roles' 'the subscriptions' 'tables without statistics'; do
    check "not judged: $what" grep -q "could not be judged: .*$what" <(text_of not-judged)
done
kill "$null_pid"
wait "$null_pid" 2>/dev/null

# A standby takes no writes.
server_stop "$cluster" fast
touch "$cluster/standby.signal"
chown --reference="$cluster/pg_hba.conf" "$cluster/standby.signal"
server_start "$cluster" || exit 1
dry_run 2 clean --format json
finding stop in-recovery
check_end
