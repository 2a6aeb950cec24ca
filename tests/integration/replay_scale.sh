#!/usr/bin/env bash
# --read-only leaves out what may write and has the server refuse the rest; --scale plays each session
# several times, and the diff sets each statement against all its copies; too few connection slots are
# told; two runs of different windows are compared where both were.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
diff_json() {
    local status=$1
    shift
    check_run "$status" "$RH_BIN/pgrehearse-diff" --format json "$@"
}

sql 'CREATE TABLE t AS SELECT 1 AS n' >/dev/null
sql 'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ INSERT INTO t VALUES (9) RETURNING n $$' >/dev/null
sql 'GRANT ALL ON t TO app' >/dev/null

# Read-only.
{
    session 1 0 4000
    session 2 0 4000
    query 1 10 1 be 'INSERT INTO t VALUES (2)'
    query 1 20 1 be 'SELECT count(*) FROM t'
    query 1 30 1 bk 'BEGIN READ WRITE'
    query 1 40 1 k 'SELECT 1 FROM t FOR UPDATE'
    query 1 50 1 ke 'COMMIT'
    query 1 60 1 be 'SELECT f()'
    execute 1 70 1 be has-parse - 'WITH a AS (DELETE FROM t RETURNING n) SELECT * FROM a'
    execute 1 80 1 be has-parse s 'SELECT n FROM t'
    query 2 10 1 be 'SET default_transaction_read_only = off'
    query 2 2000 1 be 'SELECT f()'
} | make_trace reads
replay 0 reads --read-only --speed max
check_equal 'fates' '1 skipped read-only - -1
2 done - 00000 1
3 skipped read-only - -1
4 skipped read-only - -1
5 done - 00000 -1
6 done - 25006 -1
7 skipped read-only - -1
8 done - 00000 1' "$(fates reads 1)"
check_equal 'a session that would undo it' '1 skipped read-only - -1
2 done - 25006 -1' "$(fates reads 2)"
check_equal 'nothing was written' 1 "$(sql 'SELECT count(*) FROM t')"
check 'it is counted' grep -q ' 5  writes are not replayed' "$WORK/err"
check_equal 'it is in the run' on "$("$RH_BIN/pgrehearse" info --format json "$WORK/reads.run" | jq -r '.[0].settings.read_only')"
check_equal 'such statements are not missing' 0 "$(diff_json 0 "$WORK/reads.trace" "$WORK/reads.run" && jq '.totals.missing.count' "$WORK/out")"
check_run 0 "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -n --format json --read-only -o "$WORK/x.run" "$WORK/reads.trace"
check_equal 'a dry run counts them' '[{"reason":"read-only","count":5}]' "$(jq -c '.not_replayed' "$WORK/out")"
# The setting that a session had made before --from is not restored.
replay 0 reads --read-only --speed max --from '2026-01-01 00:00:01Z'
check_equal 'behind --from' '2 done - 25006 -1' "$(fates reads 2)"
check_equal 'nothing was written then' 1 "$(sql 'SELECT count(*) FROM t')"

# Three of each session.
{
    session 1 0 3000
    session 2 100 200 - nobody
    for t in 10 20 30 40; do query 1 "$t" 1 be "INSERT INTO t VALUES ($t)"; done
    query 2 150 1 be 'SELECT 1'
} | make_trace many
replay 0 many --scale 3 --speed max --no-preflight
check_equal 'rows' 13 "$(sql 'SELECT count(*) FROM t')"
check_equal 'copies' '0 4
1 4
2 4' "$("$RH_BIN/pgrehearse" show "$WORK/many.run" | jq -r 'select(.session == 1 and .kind == "query") | .copy // 0' | sort | uniq -c | awk '{ print $2, $1 }')"
check_equal 'copies that were refused' 3 "$(count_fate many not-sent connect-failed)"
check_equal 'sessions' 6 "$("$RH_BIN/pgrehearse" info --format json "$WORK/many.run" | jq '.[0].sessions')"
check 'the summary' grep -q '^sessions     3 opened, 3 refused' "$WORK/err"
check_run 2 "$RH_BIN/pgrehearse-replay" --scale 0 "$WORK/many.trace"
check_run 2 "$RH_BIN/pgrehearse-replay" --scale 10001 "$WORK/many.trace"

# Twins of copies are their session's statements; of two scaled runs they are each other's.
{
    session 1 0 3000
    session 2 0 3000
    for t in $(seq 10 10 400); do query 1 "$t" 1 be "SELECT $t"; done
    for t in $(seq 10 10 400); do query 2 "$t" 1 be "SELECT $t, 1"; done
} | make_trace twins
replay 0 twins --scale 3 --speed max
mv "$WORK/twins.run" "$WORK/three.run"
replay 0 twins --speed max
diff_json 0 "$WORK/twins.run" "$WORK/three.run" --judge-anyway
check_equal 'one against three' '240 0 0' "$(jq -r '"\(.totals.pairs) \(.totals.missing.count) \(.totals.candidate_only)"' "$WORK/out")"
diff_json 0 "$WORK/three.run" "$WORK/twins.run" --judge-anyway
check_equal 'three against one' '240 0 0' "$(jq -r '"\(.totals.pairs) \(.totals.missing.count) \(.totals.candidate_only)"' "$WORK/out")"
replay 0 twins --scale 2 --speed max
diff_json 0 "$WORK/three.run" "$WORK/twins.run" --judge-anyway
check_equal 'three against two' '160 0 0' "$(jq -r '"\(.totals.pairs) \(.totals.missing.count) \(.totals.candidate_only)"' "$WORK/out")"
check_run 0 "$RH_BIN/pgrehearse-diff" "$WORK/twins.trace" "$WORK/three.run"
check 'it is said' grep -q '^scale        each statement of the base stands against 3 copies$' "$WORK/out"

# Runs of different windows.
replay 0 twins --speed max --from '2026-01-01 00:00:00.100Z'
mv "$WORK/twins.run" "$WORK/late.run"
replay 0 twins --speed max --to '2026-01-01 00:00:00.300Z'
mv "$WORK/twins.run" "$WORK/early.run"
diff_json 0 "$WORK/early.run" "$WORK/late.run" --judge-anyway
check_equal 'only what both had' '40 0 0 18 22' "$(jq -r '"\(.totals.pairs) \(.totals.missing.count) \(.totals.candidate_only) \(.inputs.base.outside_window) \(.inputs.candidate.outside_window)"' "$WORK/out")"
check_run 0 "$RH_BIN/pgrehearse-diff" "$WORK/early.run" "$WORK/late.run"
check 'it is said' grep -q '^part         the runs were given different parts' "$WORK/out"

# Too few slots: the second session waits for the end of the first one.
{
    session 1 0 1800
    session 2 100 200
    query 1 10 1 be 'SELECT 1'
    query 2 150 1 be 'SELECT 2'
} | make_trace slots
replay 0 slots --max-connections 1 -q
check 'the timing is stretched' grep -q 'warning: the timing is stretched: 1 session waited for a connection slot, .*at most 1 may be open at once, and 2 were in the capture' "$WORK/err"
check_end
