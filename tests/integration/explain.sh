#!/usr/bin/env bash
# Plans of two servers, of which one has lost an index: by the command, and in the reports of the diff.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
server_psql "$cluster" -d shop -q -c 'SET ROLE app' -c 'CREATE TABLE orders (id int PRIMARY KEY, customer int, note text)' \
    -c "INSERT INTO orders SELECT i, i % 5000, repeat('x', 50) FROM generate_series(1, 20000) i" \
    -c 'CREATE INDEX orders_customer ON orders (customer)'
server_psql "$cluster" -d shop -q -c 'ANALYZE' -c 'CREATE TABLE only_base (a int)'
server_stop "$cluster"
server_copy "$cluster" "$SERVER_ROOT/candidate" || exit 1
server_start "$cluster" || exit 1
base_port=$SERVER_PORT
server_start "$SERVER_ROOT/candidate" || exit 1
candidate_port=$SERVER_PORT
server_psql "$SERVER_ROOT/candidate" -d shop -q -c 'DROP INDEX orders_customer' -c 'DROP TABLE only_base'

{
    session 1 0 1000
    query 1 100 1 be 'SELECT id FROM orders WHERE customer = 7'
    query 1 200 1 be "UPDATE orders SET note = 'new' WHERE customer = 8"
    query 1 300 1 be 'SELECT a FROM only_base WHERE a IN (1, 2, 3)'
    query 1 400 1 be 'VACUUM only_base'
    query 1 500 1 be "SELECT count(*) FROM orders"
} | make_trace explain
for side in base candidate; do
    SERVER_PORT=${side}_port
    SERVER_PORT=${!SERVER_PORT}
    replay 0 explain --speed max
    mv "$WORK/explain.run" "$WORK/$side.run"
done
cd "$WORK" || exit 2
diff() { command "$RH_BIN/pgrehearse-diff" -q "$@"; }
diff --format json -o plain.json base.run candidate.run
# So few calls prove nothing; what is explained must not hang on times.
jq '.queries |= map(.verdict = "regressed")' plain.json >report.json
base="host=$SERVER_SOCKETS port=$base_port dbname=shop user=postgres"
candidate="host=$SERVER_SOCKETS port=$candidate_port dbname=shop user=postgres"
explain() {
    local status=$1
    shift
    check_run "$status" "$RH_BIN/pgrehearse-explain" "$@"
}
# of QUERY FILTER: a figure of the query whose text begins so.
of() {
    jq -r --arg begin "$1" ".queries[] | select(.sql | startswith(\$begin)) | .plans | $2" plans.json
}
node='.json[0].Plan."Node Type"'

explain 0 -b "$base" -c "$candidate" --rate 100 -o plans.json report.json
check 'the summary' grep -q '3 of 5 queries explained on both sides; of these the plans of 2 differ' err
check_equal 'an index on the base alone' 'true Seq Scan true' \
    "$(of 'select id from orders' "\"\\(.base.text | test(\"orders_customer\")) \\(.candidate$node) \\(.differ)\"")"
check_equal 'an UPDATE too' 'ModifyTable ModifyTable true' \
    "$(of 'update orders' "\"\\(.base$node) \\(.candidate$node) \\(.differ)\"")"
check_equal 'one plan' 'false' "$(of 'select count' .differ)"
check_equal 'plans for any value, and where there is none to choose' 'generic plain' \
    "$(of 'select id from orders' .base.method) $(of 'select count' .base.method)"
check_equal 'a table that is not there' 'null 42P01: relation "only_base" does not exist' \
    "$(of 'select a from' '"\(.candidate.json) \(.candidate.error)"')"
check_equal 'and the plan of the other side' 'Seq Scan' "$(of 'select a from' ".base$node")"
check_equal 'what has no plan' 'null null no statement of a kind that has a plan' \
    "$(of 'vacuum' '"\(.base.json) \(.base.text) \(.base.error)"')"
check_equal 'all else of the report is as it was' "$(jq -S . report.json | sha256sum)" \
    "$(jq -S 'del(.queries[].plans)' plans.json | sha256sum)"
check_equal 'nothing was executed' '4 0' \
    "$(server_psql "$cluster" -d shop -Atc "SELECT count(*) FROM orders WHERE note = 'new'") $(
        server_psql "$cluster" -d shop -Atc 'SELECT count(*) FROM pg_prepared_statements')"

# The reports show them.
for format in text markdown html; do
    diff --format "$format" --plans plans.json -o "report.$format" base.run candidate.run
    check "$format has the plans" grep -q 'Seq Scan on orders' "report.$format"
    check "$format has the error" grep -q '42P01: relation' "report.$format"
done
check 'the text has both side by side' grep -qE '(Index|Bitmap).* Scan .*orders .* Seq Scan on orders' report.text
check_equal 'no line is too long' '' "$(awk 'length > 110' report.text)"
diff -o none.text base.run candidate.run
check_equal 'no plans without' 0 "$(grep -c 'PLANS' none.text)"
check_run 2 "$RH_BIN/pgrehearse-diff" --plans report.json base.run candidate.run
check 'a report without plans' grep -q 'has no plans: pgrehearse explain puts them' err
check_run 2 "$RH_BIN/pgrehearse-diff" --plans base.run base.run candidate.run
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    check 'the report with plans holds to the schema' \
        /usr/bin/python3 "$here/../report/validate.py" "$here/../../docs/report.schema.json" plans.json
fi

# What is chosen.
explain 0 -b "$base" -c "$candidate" --limit 2 --rate 100 -o plans.json report.json
check_equal 'so many' 2 "$(jq '[.queries[] | select(has("plans"))] | length' plans.json)"
explain 0 -b "$base" -c "$candidate" -o plans.json plain.json
check 'nothing regressed' grep -q 'no query of the report regressed' err
explain 0 -b "$base" -c "$candidate" -o plans.json --fingerprint "$(jq -r '.queries[] | select(.sql | startswith("update")) | .fingerprint' report.json)" plain.json
check_equal 'one by its fingerprint' true "$(of update .differ)"
explain 2 -b "$base" -c "$candidate" -o none.json --fingerprint 0000000000000000 plain.json

# A query that waits for a lock is given up, and the others are explained.
server_psql "$SERVER_ROOT/candidate" -d shop -q -c 'BEGIN' -c 'LOCK orders' -c 'SELECT pg_sleep(60)' >/dev/null 2>&1 &
locker=$!
SERVER_PORT=$candidate_port
for _ in {1..200}; do
    [ "$(server_psql "$SERVER_ROOT/candidate" -d shop -Atc "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = 'orders'::regclass")" = 1 ] && break
    sleep 0.05
done
explain 0 -b "$base" -c "$candidate" --limit 5 --rate 100 -o plans.json report.json
check_equal 'a lock is not waited for' '55P03: canceling statement due to lock timeout' \
    "$(of 'select id from orders' .candidate.error)"
server_psql "$SERVER_ROOT/candidate" -d shop -Atc "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()" >/dev/null
wait "$locker" 2>/dev/null

# Bad input, and servers that are not there.
head -c 300 report.json >cut.json
explain 2 -b "$base" -c "$candidate" -o none.json cut.json
check 'a damaged report' grep -q 'is no JSON: line' err
echo '{"queries": []}' >other.json
explain 2 -b "$base" -c "$candidate" -o none.json other.json
check 'another JSON' grep -q 'is no report of pgrehearse diff' err
jq '.queries |= map(.sql = 1)' report.json >odd.json
explain 0 -b "$base" -c "$candidate" -o plans.json odd.json
explain 2 -b "$base" -c "$candidate" -o none.json missing.json
explain 2 -b "$base" -c "host=$SERVER_ROOT/nowhere" -o none.json report.json
check 'a server that is not there' grep -q 'the candidate server cannot be asked' err
explain 2 report.json
explain 2 -b "$base" -c "$candidate"
check 'nothing was made of these' test ! -e none.json
check_end
