#!/usr/bin/env bash
# Plans of two servers, of which one has lost an index: by the command, and in the reports of the diff.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
server_psql "$cluster" -d shop -q -c 'SET ROLE app' -c 'CREATE TABLE orders (id int PRIMARY KEY, customer int, note text)' \
    -c "INSERT INTO orders SELECT i, i % 5000, repeat('x', 50) FROM generate_series(1, 20000) i" \
    -c 'CREATE INDEX orders_customer ON orders (customer)'
server_psql "$cluster" -d shop -q -c 'SET ROLE app' -c 'CREATE TABLE parcels (id int PRIMARY KEY, state text)' \
    -c "INSERT INTO parcels SELECT i, CASE WHEN i % 1000 = 0 THEN 'open' ELSE 'done' END FROM generate_series(1, 20000) i" \
    -c "CREATE INDEX parcels_open ON parcels (id) WHERE state = 'open'"
server_psql "$cluster" -d shop -q -c 'ANALYZE' -c 'CREATE TABLE only_base (a int)'
server_stop "$cluster"
server_copy "$cluster" "$SERVER_ROOT/candidate" || exit 1
server_start "$cluster" || exit 1
base_port=$SERVER_PORT
server_start "$SERVER_ROOT/candidate" || exit 1
candidate_port=$SERVER_PORT
server_psql "$SERVER_ROOT/candidate" -d shop -q -c 'DROP INDEX orders_customer' -c 'DROP TABLE only_base' \
    -c 'DROP INDEX parcels_open'

{
    session 1 0 1000
    query 1 100 1 be 'SELECT id FROM orders WHERE customer = 7'
    query 1 200 1 be "UPDATE orders SET note = 'new' WHERE customer = 8"
    query 1 300 1 be 'SELECT a FROM only_base WHERE a IN (1, 2, 3)'
    query 1 400 1 be 'VACUUM only_base'
    query 1 500 1 be "SELECT count(*) FROM orders"
    # An index that serves one value only: a plan for any value never has it.
    query 1 510 1 be "SELECT id FROM parcels WHERE state = 'done'"
    query 1 520 1 be "SELECT id FROM parcels WHERE state = 'open'"
    execute 1 530 1 be T s1 'SELECT min(id) FROM parcels WHERE state = $1' done
    execute 1 540 1 be T s1 'SELECT min(id) FROM parcels WHERE state = $1' open
    query 1 550 1 be "SELECT state FROM parcels WHERE id = '77secret'"
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
check 'the summary' grep -q '6 of 8 queries explained on both sides; of these the plans of 2 differ' err
check_equal 'an index on the base alone' 'true Seq Scan true' \
    "$(of 'select id from orders' "\"\\(.base.text | test(\"orders_customer\")) \\(.candidate$node) \\(.differ)\"")"
check_equal 'an UPDATE too' 'ModifyTable ModifyTable true' \
    "$(of 'update orders' "\"\\(.base$node) \\(.candidate$node) \\(.differ)\"")"
check_equal 'one plan' 'false' "$(of 'select count' .differ)"
check_equal 'plans for any value, and where there is none to choose' 'generic plain' \
    "$(of 'select id from orders' .base.method) $(of 'select count' .base.method)"
check_equal 'a table that is not there' 'null 42P01: relation "only_base" does not exist' \
    "$(of 'select a from' '"\(.candidate.json) \(.candidate.error)"')"
check 'which databases were asked' grep -q 'warning: 1 refusal is for want of a table or a schema; asked were the databases "shop" (base) and "shop" (candidate)$' err
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

# What became slower for one value only: by the values of that call. Which call was slowest must not hang on times either.
slowest() {
    jq --arg begin "$1" --argjson ordinal "$2" '.queries |= map(if .sql | startswith($begin)
        then .slowed_most = {part: 0, session: 1, copy: 0, ordinal: $ordinal, base_us: 1, candidate_us: 9} else . end)'
}
jq '.queries |= map(.slowed_most = null)' report.json | slowest 'select id from parcels' 7 |
    slowest 'select min(id) from parcels' 9 | slowest 'select state from parcels' 10 | slowest 'select id from orders' 99 |
    slowest 'update orders' 3 >flip.json
explain 0 -b "$base" -c "$candidate" --rate 100 -t explain.trace -o plans.json flip.json
check 'the summary of the calls' grep -q '2 of them by the values of their slowest calls too; of these the plans of 2 differ' err
check 'which call' grep -q 'call 7 of session 1: the plans DIFFER' err
scans='[.. | objects | select(has("Index Name")) | ."Index Name"] | join(" ")'
check_equal 'for any value the plans are one' 'false false' \
    "$(of 'select id from parcels' .differ) $(of 'select min(id)' .differ)"
check_equal 'a literal that the base has an index for' 'true custom 7 1 parcels_open ' \
    "$(of 'select id from parcels' ".call | \"\\(.differ) \\(.base.method) \\(.ordinal) \\(.session) \\(.base | $scans) \\(.candidate | $scans)\"")"
check_equal 'and a parameter' 'true parcels_open parcels_pkey' \
    "$(of 'select min(id)' ".call | \"\\(.differ) \\(.base | $scans) \\(.candidate | $scans)\"")"
check_equal 'an error that may quote a value' '22P02: (the message may hold values: --with-examples)' \
    "$(of 'select state from parcels' .call.base.error)"
check_equal 'another query in the trace, and no such call' 'it is another query in this trace it is not in this trace' \
    "$(of 'update orders' .call.base.error) $(of 'select id from orders' .call.candidate.error)"
check_equal 'no value in the plans' 0 "$(jq '.queries' plans.json | grep -cE "'open'|77secret")"
check 'but where it was' grep -q "(state = ?::text)" plans.json
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    check 'the report with the plans of calls holds to the schema' \
        /usr/bin/python3 "$here/../report/validate.py" "$here/../../docs/report.schema.json" plans.json
fi
for format in text markdown html; do
    diff --format "$format" --plans plans.json -o "report.$format" base.run candidate.run
    check "$format names the call" grep -qi 'for the call 7 of session 1, by its own values (each shown as ?)\|"call 7 of session 1, by its own values (each shown as ?)"' "report.$format"
    check "$format has its index" grep -q 'parcels_open' "report.$format"
done
check_equal 'no line is too long with calls' '' "$(awk 'length > 110' report.text)"

# With the values where that is asked of both commands, and of a run as well as of the trace.
explain 0 -b "$base" -c "$candidate" --rate 100 -t base.run --with-examples -o shown.json flip.json
check_equal 'values that were asked for' 'true true' \
    "$(jq '[.queries[].plans.call // empty | .values_shown] | index(true) != null' shown.json) $(grep -q "'done'\|'open'" shown.json && echo true)"
check 'and the error' grep -q 'invalid input syntax for type integer' shown.json
diff --plans shown.json -o masked.text base.run candidate.run
check_equal 'diff shows them only on request' 0 "$(grep -cE "'open'|77secret" masked.text)"
diff --plans shown.json --with-examples -o shown.text base.run candidate.run
check 'and then it does' grep -q "state = 'open'::text" shown.text
check_run 2 "$RH_BIN/pgrehearse-diff" --with-examples base.run candidate.run
check 'values of nothing' grep -q 'is for --format html and --plans' err
explain 2 -b "$base" -c "$candidate" --with-examples -o none.json flip.json
check 'values without a trace' grep -q 'only --trace has them' err
{
    session 1 0 1000
    query 1 100 1 be 'SELECT 1'
} | make_trace other
explain 2 -b "$base" -c "$candidate" -t other.trace -o none.json flip.json
check 'the trace of something else' grep -q "is not the trace of this report's base" err
explain 2 -b "$base" -c "$candidate" -t missing.trace -o none.json flip.json
jq '.queries |= map(if .slowed_most then .slowed_most.part = 3 else . end)' flip.json >part.json
explain 0 -b "$base" -c "$candidate" --rate 100 -t explain.trace -o plans.json part.json
check_equal 'a part without a trace' 'no --trace is given for its part of the base' "$(of 'select id from parcels' .call.base.error)"
check_equal 'still nothing was executed' 4 "$(server_psql "$cluster" -d shop -Atc "SELECT count(*) FROM orders WHERE note = 'new'")"

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
