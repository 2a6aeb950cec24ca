#!/usr/bin/env bash
# pgbench's TPC-B with 8 clients, in each protocol and with each of four ways to log: the captured
# statements are exactly those that pgbench ran, and a replay on a physical copy ends by itself, at
# original speed and flat out, and leaves the same data as production.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

CLIENTS=8
TRANSACTIONS=${TPCB_TRANSACTIONS:-60} # of each client
STATEMENTS_PER_TRANSACTION=7
PAIRS=${TPCB_PAIRS:-all} # of a way to log and a protocol; some: each once

declare -A log_options=(
    [statement]='-c log_statement=all'
    [statement_duration]='-c log_statement=all -c log_duration=on'
    [min_duration]='-c log_min_duration_statement=0'
    [statement_min_duration]='-c log_statement=all -c log_min_duration_statement=0'
)
logs=(statement statement_duration min_duration statement_min_duration)
protocols=(simple extended prepared)

# LOG PROTOCOL, a line each
pairs() {
    local l p
    for l in "${!logs[@]}"; do
        for p in "${!protocols[@]}"; do
            [ "$PAIRS" = all ] || [ $((l % ${#protocols[@]})) -eq "$p" ] || continue
            echo "${logs[l]} ${protocols[p]}"
        done
    done
}

make_servers() {
    local log protocol
    production=$SERVER_ROOT/production
    server_new "$production" || exit 1
    server_start "$production" || exit 1
    server_psql "$production" -c 'CREATE DATABASE bank'
    pgbench -i -q -s 1 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres bank 2>/dev/null || exit 1
    while read -r log protocol; do
        server_psql "$production" -c "CREATE DATABASE ${log}_$protocol TEMPLATE bank" </dev/null || exit 1
    done < <(pairs)
    server_stop "$production"
    server_copy "$production" "$SERVER_ROOT/clone_1"
    server_copy "$production" "$SERVER_ROOT/clone_max"
    server_configure "$production" <<-'END'
		logging_collector = on
		log_destination = 'csvlog'
		log_directory = 'log'
		log_rotation_age = 0
		log_rotation_size = 0
		log_connections = on
		log_disconnections = on
	END
    server_start "$production" && production_port=$SERVER_PORT || exit 1
    server_start "$SERVER_ROOT/clone_1" && clone_port_1=$SERVER_PORT || exit 1
    server_start "$SERVER_ROOT/clone_max" && clone_port_max=$SERVER_PORT || exit 1
}

# The log collector is not in step with the clients.
# wait_for_count FILE TEXT COUNT
wait_for_count() {
    for _ in {1..100}; do
        [ "$(grep -c -- "$2" "$1" 2>/dev/null || true)" -ge "$3" ] && return 0
        sleep 0.1
    done
    return 1
}

# Run pgbench with a log file of its own; sets `processed`.
produce() {
    local name=$1 log=$2 protocol=$3
    server_psql "$production" -c "ALTER SYSTEM SET log_filename = '$name.log'" \
        -c 'SELECT pg_reload_conf()' >/dev/null
    for _ in {1..100}; do
        [ -e "$production/log/$name.csv" ] && break
        sleep 0.1
    done
    check_run 0 env PGOPTIONS="${log_options[$log]}" pgbench -n -M "$protocol" -c "$CLIENTS" \
        -t "$TRANSACTIONS" -h "$SERVER_SOCKETS" -p "$production_port" -U postgres "$name"
    processed=$(sed -n 's|^number of transactions actually processed: \([0-9]*\)/.*|\1|p' "$WORK/out")
    check_equal "$name: transactions" $((CLIENTS * TRANSACTIONS)) "$processed"
    # One connection a client, and one in which pgbench looks at its tables first.
    check "$name: the log tells of every session's end" \
        wait_for_count "$production/log/$name.csv" ',"disconnection: ' $((CLIENTS + 1))
    cp "$production/log/$name.csv" "$WORK/$name.csv"
}

state_of() {
    psql -XqAt -h "$SERVER_SOCKETS" -p "$1" -U postgres -d "$2" \
        -c 'SELECT tid, bid, aid, delta FROM pgbench_history ORDER BY 1, 2, 3, 4' \
        -c 'SELECT aid, abalance FROM pgbench_accounts WHERE abalance <> 0 ORDER BY 1' \
        -c 'SELECT tid, tbalance FROM pgbench_tellers ORDER BY 1' \
        -c 'SELECT bid, bbalance FROM pgbench_branches ORDER BY 1'
}

check_capture() {
    local name=$1
    check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/$name.trace" "$WORK/$name.csv"
    check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/$name.trace"
    # pgbench itself asks two things before the first transaction: how many branches there are, and
    # whether the accounts are partitioned.
    check_equal "$name: statements captured" $((processed * STATEMENTS_PER_TRANSACTION + 2)) \
        "$(jq '.[0].statements' "$WORK/out")"
    check_equal "$name: complete, without gaps and failures" 'true 0 0' \
        "$(jq -r '.[0] | "\(.complete) \(.gaps | length) \(.failed)"' "$WORK/out")"
    check_run 0 "$RH_BIN/pgrehearse" show "$WORK/$name.trace"
    check_equal "$name: statements by verb" \
        "$((processed)) BEGIN;$((processed)) END;$((processed)) INSERT;$((processed + 2)) SELECT;$((processed * 3)) UPDATE;" \
        "$(jq -r 'select(.sql != null and (.kind == "query" or .kind == "execute")) | .sql | split(" ")[0]
                  | ascii_upcase | rtrimstr(";")' "$WORK/out" | sort | uniq -c | awk '{printf "%s %s;", $1, $2}')"
}

check_replay() {
    local name=$1 speed=$2 port=$3
    check_run 0 "$RH_BIN/pgrehearse" replay -h "$SERVER_SOCKETS" -p "$port" --speed "$speed" \
        -o "$WORK/$name.$speed.run" "$WORK/$name.trace"
    check "$name at $speed: nothing was cancelled" test -z "$(grep 'cancel request' "$WORK/err")"
    check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/$name.$speed.run"
    check_equal "$name at $speed: statements and failures of the run" \
        "$((processed * STATEMENTS_PER_TRANSACTION + 2)) 0 true" \
        "$(jq -r '.[0] | "\(.statements) \(.failed) \(.complete)"' "$WORK/out")"
    state_of "$port" "$name" >"$WORK/$name.$speed.state"
    check "$name at $speed: the same data" cmp "$WORK/$name.state" "$WORK/$name.$speed.state"
}

server_begin || exit 1
check_begin
make_servers
while read -r log protocol <&9; do
    name=${log}_$protocol
    produce "$name" "$log" "$protocol"
    state_of "$production_port" "$name" >"$WORK/$name.state"
    check_equal "$name: rows of history" "$processed" "$(grep -c '|.*|.*|' "$WORK/$name.state")"
    check_capture "$name"
    check_replay "$name" 1 "$clone_port_1"
    check_replay "$name" max "$clone_port_max"
done 9< <(pairs)
check_end
