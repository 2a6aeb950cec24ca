#!/usr/bin/env bash
# One session waits for a row whose holder commits after a lot of other work: in the trace the COMMIT
# lies many read-ahead budgets behind the waiting UPDATE.  The replay must end, at any speed.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

STATEMENTS=8000 # between the UPDATE and the holder's COMMIT, each with a literal of 1,000 bytes
# A replay at original speed takes as long as production did, on a busy machine some minutes.
CHECK_TIMEOUT_S=300
READ_AHEAD=1MB   # a budget, an eighth of what lies between

state() {
    server_psql "$1" -At -c 'SELECT id, owner, changes FROM account ORDER BY id'
}

produce() {
    server_log_csv "$production" lock
    server_configure "$production" <<<'log_min_duration_statement = 0'
    server_start "$production" || exit 1
    awk -v n="$STATEMENTS" 'BEGIN {
        seed = 4711
        for (i = 1; i <= n; i++) {
            text = ""
            while (length(text) < 1000) { seed = seed * 16807 % 2147483647; text = text sprintf("%06x", seed % 16777216) }
            printf "SELECT %d, \047%s\047;\n", i, text
        }
    }' >"$WORK/others.sql"

    coproc holder { server_psql "$production" -At; }
    local holder_pid=$!
    echo "BEGIN; UPDATE account SET owner = 'holder', changes = changes + 1 WHERE id = 1; SELECT 'locked';" >&"${holder[1]}"
    local line
    read -r line <&"${holder[0]}"
    check_equal 'the holder has the row' locked "$line"

    # Far enough behind the holder that a replay at original speed keeps the order on a busy machine.
    sleep 1
    server_psql "$production" -c "UPDATE account SET owner = 'waiter', changes = changes + 1 WHERE id = 1" \
        -c 'UPDATE account SET changes = changes + 10 WHERE id = 2' \
        -c 'UPDATE account SET changes = changes * 2 WHERE id = 1' &
    local waiter=$!
    for _ in {1..100}; do
        [ "$(PGOPTIONS='-c log_min_duration_statement=-1' server_psql "$production" -At \
            -c "SELECT count(*) FROM pg_locks WHERE NOT granted")" -gt 0 ] && break
        sleep 0.1
    done
    server_psql "$production" -o /dev/null -f "$WORK/others.sql"
    check 'the waiter still waits' kill -0 "$waiter"
    echo 'UPDATE account SET changes = changes + 100 WHERE id = 2; COMMIT; \q' >&"${holder[1]}"
    wait "$holder_pid"
    wait "$waiter"
    state "$production" >"$WORK/production.state"
    server_stop "$production"
    server_wait_log "$production/log/lock.csv"
}

server_begin || exit 1
check_begin
production=$SERVER_ROOT/production
server_new "$production" && server_start "$production" || exit 1
server_psql "$production" -c 'CREATE TABLE account (id int PRIMARY KEY, owner text, changes int)' \
    -c "INSERT INTO account SELECT n, 'nobody', 0 FROM generate_series(1, 10) AS n"
server_stop "$production"
server_copy "$production" "$SERVER_ROOT/clone_1"
server_copy "$production" "$SERVER_ROOT/clone_max"
produce
check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/lock.trace" "$production/log/lock.csv"
for speed in 1 max; do
    clone=$SERVER_ROOT/clone_$speed
    server_start "$clone" || exit 1
    check_run 0 "$RH_BIN/pgrehearse" replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --speed "$speed" \
        --read-ahead "$READ_AHEAD" -o "$WORK/lock.$speed.run" "$WORK/lock.trace"
    state "$clone" >"$WORK/$speed.state"
    server_stop "$clone"
    check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/lock.$speed.run"
    check_equal "at speed $speed all was sent" "true 0" "$(jq -r '.[0] | "\(.complete) \(.failed)"' "$WORK/out")"
done
# At original speed the order of the two is production's, unless the host was so late that the second
# caught up with the first; flat out either may come first.
check_run 0 "$RH_BIN/pgrehearse" show "$WORK/lock.1.run"
late_us=$(jq -s 'map(.lag_us // 0) | max // 0 | floor' "$WORK/out")
if [ "$late_us" -lt 800000 ]; then
    check 'the same data at speed 1' cmp "$WORK/production.state" "$WORK/1.state"
else
    echo "the host was $late_us us late: the order at speed 1 is not judged"
fi
check_equal 'row 2 at speed 1' '2|nobody|110' "$(sed -n 2p "$WORK/1.state")"
check_equal 'row 2 at speed max' '2|nobody|110' "$(sed -n 2p "$WORK/max.state")"
check_end
