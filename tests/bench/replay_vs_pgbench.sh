#!/usr/bin/env bash
# CPU time of the client a statement: pgrehearse replay --speed max against the pgbench that made the
# workload, each on a server of its own, by turns; medians.  pgreplay once, for the simple protocol's
# SELECTs: on transactions that wait for each other it hangs.
#
#     tests/bench/replay_vs_pgbench.sh BIN [null]
#
# With "null" the replay and pgbench talk to pgrehearse-nullserver, which answers at once.
# The environment may set ROUNDS (3), STATEMENTS of a workload (80000), CLIENTS ("8 64"), MODES ("simple
# extended prepared"), WORKLOADS ("select tpcb") and PGBENCH_JOBS (2).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/bench_lib.sh
source "$here/bench_lib.sh"

bin=$(cd "${1:?the folder of the programs, of the release preset}" && pwd) || exit 2
target=${2:-server}
rounds=${ROUNDS:-3}
statements=${STATEMENTS:-80000}
read -ra clients <<<"${CLIENTS:-8 64}"
read -ra modes <<<"${MODES:-simple extended prepared}"
read -ra workloads <<<"${WORKLOADS:-select tpcb}"
jobs=${PGBENCH_JOBS:-2}
pgreplay_limit_s=60

# arguments WORKLOAD CLIENTS MODE: pgbench's, for about $statements statements in all.
arguments() {
    local per_transaction=7 script=()
    if [ "$1" = select ]; then
        per_transaction=1
        script=(-S)
    fi
    echo "${script[@]}" -n -M "$3" -c "$2" -j "$jobs" -t $((statements / per_transaction / $2))
}

# production WORKLOAD CLIENTS MODE: the workload's log and trace; sets sent to its statements.
production() {
    local log=$SERVER_ROOT/production/log/bench.csv
    server_start "$SERVER_ROOT/production" || return 1
    # shellcheck disable=SC2046  # arguments, one word each
    PGOPTIONS='-c log_statement=all -c log_duration=on' pgbench $(arguments "$@") \
        -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres >/dev/null 2>&1 || return 1
    server_stop "$SERVER_ROOT/production"
    server_wait_log "$log" || return 1
    grep -E '"(client backend|not initialized)"' "$log" >"$SERVER_ROOT/day.csv"
    rm -f "$log"
    "$bin/pgrehearse-capture" log -o "$SERVER_ROOT/day.trace" "$SERVER_ROOT/day.csv" 2>/dev/null || return 1
    sent=$("$bin/pgrehearse" info --format json "$SERVER_ROOT/day.trace" | jq '.[0].statements')
}

# Each takes HOST and PORT; cpu_of() tells what it took.
run_pgrehearse() {
    rm -f "$SERVER_ROOT/day.run"
    cpu_of "$bin/pgrehearse-replay" -h "$1" -p "$2" --speed max --allow-source -o "$SERVER_ROOT/day.run" \
        "$SERVER_ROOT/day.trace" || return 1
    # The null server knows no pg_partitioned_table, which each pgbench asks for once.
    "$bin/pgrehearse" info --format json "$SERVER_ROOT/day.run" |
        jq -e --argjson sent "$sent" '.[0] | .fates.done == $sent and .failed <= 1' >/dev/null ||
        server_fail "not all of $sent statements were done"
}

run_pgbench() {
    # shellcheck disable=SC2046
    cpu_of pgbench $(arguments "$workload" "$client_count" "$mode") -h "$1" -p "$2" -U postgres postgres
}

# A rate that it cannot reach: what is due is sent as soon as it can be.
run_pgreplay() {
    cpu_of timeout "$pgreplay_limit_s" pgreplay -c -s 100000 -h "$1" -p "$2" "$SERVER_ROOT/day.csv"
}

# play NAME FUNCTION PORT: one round; CPU in us a statement to NAME.cpu, statements a second to NAME.rate
play() {
    "$2" "$SERVER_SOCKETS" "$3" || {
        echo "$1 failed or took too long:" >&2
        tail -n 5 "$SERVER_ROOT/err" >&2
        return 1
    }
    awk -v c="$cpu_ms" -v n="$sent" 'BEGIN { print c * 1000 / n }' >>"$SERVER_ROOT/$1.cpu"
    awk -v w="$wall_ms" -v n="$sent" 'BEGIN { print n / w * 1000 }' >>"$SERVER_ROOT/$1.rate"
}

targets_start() {
    server_start "$SERVER_ROOT/candidate" || return 1
    replay_port=$SERVER_PORT
    server_start "$SERVER_ROOT/other" || return 1
    pgbench_port=$SERVER_PORT
}

measure() {
    local round with_pgreplay=no ours theirs peer=-
    rm -f "$SERVER_ROOT"/*.cpu "$SERVER_ROOT"/*.rate
    production "$workload" "$client_count" "$mode" || return 1
    if [ "$target-$workload-$mode" = server-select-simple ]; then
        with_pgreplay=yes
        play pgreplay run_pgreplay "$replay_port" || with_pgreplay=no
    fi
    for ((round = 1; round <= rounds; round++)); do
        play pgrehearse run_pgrehearse "$replay_port" || return 1
        play pgbench run_pgbench "$pgbench_port" || return 1
    done
    ours=$(median "$SERVER_ROOT/pgrehearse.cpu")
    theirs=$(median "$SERVER_ROOT/pgbench.cpu")
    [ "$with_pgreplay" = no ] || peer=$(median "$SERVER_ROOT/pgreplay.cpu")
    awk -v w="$workload" -v m="$mode" -v c="$client_count" -v ours="$ours" -v theirs="$theirs" -v peer="$peer" \
        -v rate="$(median "$SERVER_ROOT/pgrehearse.rate")" -v their_rate="$(median "$SERVER_ROOT/pgbench.rate")" 'BEGIN {
        printf "%-8s %-9s %7d %11.2f %9.2f %7.2f %9s %9s %10.0f %9.0f\n", w, m, c, ours, theirs, ours / theirs,
            peer == "-" ? "-" : sprintf("%.2f", peer), peer == "-" ? "-" : sprintf("%.2f", ours / peer), rate, their_rate
    }'
}

packages_need server bench || exit 2
server_begin || exit 2
servers_for_bench || exit 2
if [ "$target" = null ]; then
    nullserver_start "$bin" || exit 2
    replay_port=$NULLSERVER_PORT pgbench_port=$NULLSERVER_PORT
else
    targets_start || exit 2
fi
printf '%-27s %11s %9s %7s %9s %9s %10s %9s\n' '' 'CPU us a statement:' '' '' '' '' 'statements/s:' ''
printf '%-8s %-9s %7s %11s %9s %7s %9s %9s %10s %9s\n' workload protocol clients pgrehearse pgbench ratio \
    pgreplay ratio pgrehearse pgbench
for workload in "${workloads[@]}"; do
    for mode in "${modes[@]}"; do
        for client_count in "${clients[@]}"; do
            measure || exit 1
        done
    done
done
