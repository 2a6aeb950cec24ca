#!/usr/bin/env bash
# Does the verdict hold on real servers? A shop and pgbench's TPC-B run on a throwaway server, together with a
# few queries of their own; the workload is replayed on fresh physical copies.
#
#     tests/bench/aa.sh [--short] BIN [SECONDS]
#
# Replays of the two sides alternate, A B A B, and what the repeats of a side differ by is the noise: a machine
# that is slower for the length of one replay is seen to be.  A/A: copies as they were raise no alarm, in 20
# comparisons (--short: 2).  Then one change at a time is made to
# the candidate, and must be found with the right query first: a dropped index, pg_sleep(0.002) in a trigger,
# work_mem cut, a plan that flips for one value only, a dropped function (42883), a lower statement_timeout,
# and a server that is killed midway, of which no regression may be claimed.  (--short: the index, the plan of
# one value, the function, the killed server; and the candidate is replayed once.)
#
# The changes are large, so that a busy machine hardly hides them, and nothing is judged by a time.  What the
# diff itself calls invalid, as the machine was too busy, is "not judged".  A change that was not found is
# looked for once more; the short form gives everything three tries, since it runs among other tests.  SECONDS is how long the shop is open (default: 15; 4).  Prints a table and, last,
# "N passed, N failed".
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=samples/shop/shop.sh
source "$top/samples/shop/shop.sh"

short=
[ "${1:-}" != --short ] || { short=yes && shift; }
bin=$(cd "${1:?the folder of the programs}" && pwd) || exit 2
seconds=${2:-$([ -n "$short" ] && echo 4 || echo 15)}
comparisons=$([ -n "$short" ] && echo 2 || echo 20)
passed=0
failed=0

server_begin || exit 2
work=$SERVER_ROOT/work
original=$SERVER_ROOT/original
mkdir "$work" || exit 2
chmod 755 "$work"
sql() { server_psql "$original" -d shop -q -At "$@"; }

# row RESULT NAME FOUND: a line of the table.
row() {
    printf '%-8s %-24s %s\n' "$1" "$2" "$3"
    case $1 in
    passed) passed=$((passed + 1)) ;;
    FAILED) failed=$((failed + 1)) ;;
    esac
}

load() {
    server_new "$original" || exit 2
    server_configure "$original" <<-'END'
		autovacuum = off
		fsync = off
		synchronous_commit = off
		max_connections = 60
	END
    server_start "$original" || exit 2
    shop_load "$original" >"$work/load.log" 2>&1 || exit 2
    "$SERVER_BIN/pgbench" -i -q -s 2 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres shop >>"$work/load.log" 2>&1 || exit 2
    sql <<-'END' || exit 2
		CREATE TABLE aa_skew (v int, k int, note text);
		INSERT INTO aa_skew SELECT i % 8, i, repeat('x', 100) FROM generate_series(1, 300000) i;
		CREATE INDEX aa_skew_others ON aa_skew (v, k) WHERE v <> 7;
		CREATE INDEX aa_skew_seven ON aa_skew (k) WHERE v = 7;
		CREATE TABLE aa_left (x int);
		CREATE TABLE aa_right (y int NOT NULL);
		INSERT INTO aa_left SELECT generate_series(1, 30);
		INSERT INTO aa_right SELECT generate_series(1000, 10999);
		CREATE TABLE aa_audit (id bigserial PRIMARY KEY, what text);
		CREATE FUNCTION aa_note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER aa_note BEFORE INSERT ON aa_audit FOR EACH ROW EXECUTE FUNCTION aa_note();
		CREATE FUNCTION aa_price(n int) RETURNS int LANGUAGE sql AS 'SELECT n * 2';
	END
    sql -c 'VACUUM ANALYZE' || exit 2
}

scripts() {
    cat >"$work/skew.sql" <<-'END'
		\set v random(4, 7)
		\set k random(1, 290000)
		SELECT count(*) FROM aa_skew WHERE v = :v AND k BETWEEN :k AND :k + 50;
	END
    cat >"$work/hash.sql" <<-'END'
		SELECT count(*) FROM aa_left WHERE x NOT IN (SELECT y FROM aa_right);
	END
    cat >"$work/audit.sql" <<-'END'
		INSERT INTO aa_audit (what) SELECT 'seen' FROM generate_series(1, 10);
	END
    cat >"$work/price.sql" <<-'END'
		SELECT aa_price(5);
	END
    cat >"$work/slow.sql" <<-'END'
		SELECT pg_sleep(0.4);
	END
    printf '\\set aid random(1, 200000)\n\\set delta random(-5000, 5000)\n%s\n' 'BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, :delta, CURRENT_TIMESTAMP);
END;' >"$work/tpcb.sql"
    chmod 644 "$work"/*.sql
}

# The workload, on the original; its log is captured.
produce() {
    local shop_seconds=$seconds shop_logs=$work shop_pids=() pid
    cp -a "$original" "$SERVER_ROOT/production" || exit 2
    server_log_csv "$SERVER_ROOT/production" shop
    server_configure "$SERVER_ROOT/production" <<<'log_min_duration_statement = 0'
    server_start "$SERVER_ROOT/production" || exit 2
    shop_clients probes 3 60 simple "$work/skew.sql@4" "$work/hash.sql@2" "$work/audit.sql@2" "$work/price.sql@1"
    shop_clients slow 1 2 simple "$work/slow.sql"
    shop_clients tpcb 2 20 prepared "$work/tpcb.sql"
    shop_open "$SERVER_ROOT/production" "$seconds" "$work" >/dev/null
    for pid in "${shop_pids[@]}"; do
        wait "$pid" || { cat "$work"/*.log >&2 && exit 2; }
    done
    server_stop "$SERVER_ROOT/production"
    server_wait_log "$SERVER_ROOT/production/log/shop.csv"
    "$bin/pgrehearse" capture log -o "$work/shop.trace" "$SERVER_ROOT/production/log/shop.csv" 2>"$work/capture.log" ||
        { cat "$work/capture.log" >&2 && exit 2; }
    rm -rf "$SERVER_ROOT/production"
}

# replay_on NAME CHANGE [COMMAND...]: into NAME.run, on a fresh copy in which CHANGE, SQL, was made; COMMAND
# is run beside it.  Sets replay_status.
replay_on() {
    local name=$1 change=$2 copy=$SERVER_ROOT/copy pid
    shift 2
    rm -rf "$copy" && cp -a "$original" "$copy" && server_start "$copy" || exit 2
    if [ -n "$change" ]; then
        server_psql "$copy" -d shop -q -c "$change" >/dev/null || exit 2
    fi
    "$bin/pgrehearse" replay -q -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --reconnect-timeout 500ms --allow-source \
        -o "$work/$name.run" "$work/shop.trace" >"$work/$name.log" 2>&1 &
    pid=$!
    [ $# -eq 0 ] || "$@" "$copy"
    replay_status=0
    wait "$pid" || replay_status=$?
    server_stop "$copy" 2>/dev/null
    [ -s "$work/$name.run" ] || { cat "$work/$name.log" >&2 && exit 2; }
}

# Replays without a change, the last of which are kept: either side of A/A is made of them, and the base of a change.
runs=()
replay_same() {
    replay_on "run${#runs[@]}" ''
    runs+=("run${#runs[@]}")
    [ ${#runs[@]} -le 4 ] || rm -f "$work/${runs[-5]}.run"
}

# compare NAME BASE:BASE CANDIDATE[:CANDIDATE] OPTION...: those runs into NAME.json.  Sets diff_status.
compare() {
    local name=$1 run base candidate sides=()
    IFS=: read -ra base <<<"$2"
    IFS=: read -ra candidate <<<"$3"
    for run in "${base[@]}"; do sides+=(--base "$work/$run.run"); done
    for run in "${candidate[@]}"; do sides+=(--candidate "$work/$run.run"); done
    shift 3
    diff_status=0
    "$bin/pgrehearse" diff -q --format json -o "$work/$name.json" "$@" "${sides[@]}" 2>"$work/diff.log" || diff_status=$?
    [ "$diff_status" -le 3 ] || { cat "$work/diff.log" >&2 && exit 2; }
}
figure() { jq -r "$2" "$work/$1.json"; }
fitness() { figure "$1" '"\(.rehearsal.verdict): \([.rehearsal.checks[] | select(.result != "ok" and .result != "unknown") | "\(.name) \(.actual)"] | join(", "))"'; }

# tried NAME CHECK ARG...: CHECK NAME ARG... up to $tries times, until it passes; it sets result and found.  Then a row.
tried() {
    local name=$1 check=$2 limit=$tries try
    shift 2
    for ((try = 1; try <= limit; try++)); do
        "$check" "$name" "$@"
        [ "$result" != passed ] || break
    done
    row "$result" "$name" "$found"
    rm -f "$work/$name".run "$work/$name again.run"
}

same() {
    local alarms
    while [ ${#runs[@]} -lt 3 ]; do replay_same; done
    replay_same
    compare "$1" "${runs[-4]}:${runs[-2]}" "${runs[-3]}:${runs[-1]}" --gate regressed=0 --gate new-errors=0
    alarms=$(figure "$1" '[(.queries[] | select(.verdict == "regressed") |
        "\(.sql[:40]) \(.ratio)x\(if .minor then " (minor)" else "" end)"),
        (.errors[] | select(.class == "new" and (.follows | not)) | "\(.sqlstate) new")] | join("; ")')
    case $diff_status in
    0) result=passed found="$(fitness "$1"); $(figure "$1" .totals.verdicts.improved) improved${alarms:+; told of: $alarms}" ;;
    3) result='not judged' found=$(fitness "$1") ;;
    *) result=FAILED found="alarm: $alarms; $(fitness "$1")" ;;
    esac
}

# slower NAME CHANGE SQL: the query that begins with SQL is the first that regressed.
slower() {
    local again=
    replay_on "$1" "$2"
    if [ -z "$short" ]; then
        again="$1 again"
        replay_same
        replay_on "$again" "$2"
    fi
    compare "$1" "${runs[-2]}:${runs[-1]}" "$1${again:+:$again}" --judge-anyway --gate regressed=0
    found=$(figure "$1" '[.queries[] | select(.verdict == "regressed")][0] |
        if . then "\(.sql[:60]): \(.ratio)x, interval \(.test.mean.interval)" else "none" end')
    case $found in
    "$3"*) result=passed ;;
    *)
        result=FAILED
        found="first is $found; wanted $3, which is $(figure "$1" "[.queries[] | select(.sql | startswith(\"$3\"))][0] | \"\\(.verdict), \\(.reason), \\(.ratio)x\"")"
        ;;
    esac
}

# fails NAME CHANGE SQLSTATE SQL: the first new cause of errors is that one, of the query that begins with SQL.
fails() {
    replay_on "$1" "$2"
    compare "$1" "${runs[-2]}:${runs[-1]}" "$1" --judge-anyway --gate new-errors=0
    found=$(figure "$1" '. as $r | [.errors[] | select((.class == "new" or .class == "types-unknown") and (.follows | not))][0] |
        if . then . as $e | "\(.sqlstate) \([$r.queries[] | select(.fingerprint == $e.fingerprint) | .sql][0][:60]), \(.counts.candidate) times" else "none" end')
    case $found in
    "$3 $4"*) result=passed ;;
    *) result=FAILED found="first is $found; wanted $3 $4" ;;
    esac
}

kill_midway() {
    sleep "$((seconds / 2 + 1))"
    server_stop "$1" immediate
}

killed() {
    replay_on "$1" '' kill_midway
    compare "$1" "${runs[-2]}:${runs[-1]}" "$1" --gate regressed=0
    found="replay $replay_status, diff $diff_status, $(fitness "$1")"
    if [ "$diff_status" -eq 3 ] && [ "$(figure "$1" '"\(.rehearsal.verdict) \([.queries[] | select(.verdict == "regressed")] | length)"')" = 'invalid 0' ]; then
        result=passed
    else
        result=FAILED
    fi
}

load
server_stop "$original"
scripts
produce
"$bin/pgrehearse" info --format json "$work/shop.trace" | jq -r '.[0] | "\(.statements) statements of \(.sessions) sessions in \(.duration_s | floor) s"'
tries=$([ -n "$short" ] && echo 3 || echo 1)
for ((i = 1; i <= comparisons; i++)); do
    tried "same again, $i" same
done
tries=$([ -n "$short" ] && echo 3 || echo 2)
tried 'dropped index' slower 'DROP INDEX orders_customer_idx' 'select id, status, total_cents'
tried 'plan of one value' slower 'DROP INDEX aa_skew_seven' 'select count(*) from aa_skew'
tried 'dropped function' fails 'DROP FUNCTION aa_price(int)' 42883 'select aa_price('
if [ -z "$short" ]; then
    tried 'sleep in a trigger' slower "CREATE OR REPLACE FUNCTION aa_note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW; END'" \
        'insert into aa_audit'
    tried 'work_mem cut' slower "ALTER DATABASE shop SET work_mem = '64kB'" 'select count(*) from aa_left'
    tried 'lower statement_timeout' fails "ALTER DATABASE shop SET statement_timeout = '250ms'" 57014 'select pg_sleep('
fi
tried 'server killed' killed
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
