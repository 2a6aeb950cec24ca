#!/usr/bin/env bash
# What the settings of a capture cost the server that logs: CPU a transaction and bytes of log a statement,
# for pgbench's TPC-B in two protocols, against the same server without them.
#
#     tests/bench/logging_cost.sh [TRANSACTIONS [ROUNDS]]      (default: 20000 in all by 4 clients, 3)
#
# CPU is that of all processes of the server, the log collector among them; rounds take turns and the
# median counts.  fsync is off: with it a transaction costs more and the share of logging is less.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"

transactions=${1:-20000}
rounds=${2:-3}
packages_need server || exit 2
server_begin || exit 2

settings() {
    echo 'off|log_min_duration_statement = -1'
    echo 'min_duration 0|log_min_duration_statement = 0'
    echo 'all, log_duration|log_statement = all|log_duration = on'
    echo 'all|log_statement = all'
    echo 'min_duration 10ms|log_min_duration_statement = 10'
}

# The time of this shell's children that have ended; sets ticks.
read_children_ticks() {
    local stat
    read -r -a stat <"/proc/$BASHPID/stat"
    ticks=$((stat[15] + stat[16]))
}

collector_ticks() {
    local stat pid
    pid=$(pgrep -P "${server_pid[$1]}" -f logger) || { echo 0; return; }
    read -r -a stat <"/proc/$pid/stat"
    # The name has a space: "(postgres: logger)" comes as one field more or less; count from the end.
    local n=${#stat[@]}
    echo $((stat[n - 39] + stat[n - 38]))
}

# round SETTING PROTOCOL: notes CPU microseconds a transaction, transactions a second, bytes of log.
round() {
    local dir=$SERVER_ROOT/round line lines before ticks logger tps
    rm -rf "$dir"
    server_copy "$SERVER_ROOT/loaded" "$dir"
    IFS='|' read -r -a lines <<<"$1"
    for line in "${lines[@]:1}"; do echo "$line"; done | server_configure "$dir"
    server_start "$dir" || exit 2
    tps=$(pgbench -n -M "$2" -c 4 -j 1 -t $((transactions / 4)) -h "$SERVER_SOCKETS" -p "$SERVER_PORT" \
        -U postgres postgres 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p')
    logger=$(collector_ticks "$dir")
    read_children_ticks
    before=$ticks
    server_stop "$dir"
    read_children_ticks
    echo "$2|${1%%|*}|$(((ticks - before + logger) * 1000000 / $(getconf CLK_TCK) / transactions))" \
        "${tps%.*} $(stat -c %s "$dir/log/cost.csv")" >>"$SERVER_ROOT/rounds"
}

server_new "$SERVER_ROOT/loaded" && server_start "$SERVER_ROOT/loaded" || exit 2
pgbench -i -q -s 5 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres 2>/dev/null || exit 2
server_stop "$SERVER_ROOT/loaded"
server_configure "$SERVER_ROOT/loaded" <<'END'
logging_collector = on
log_destination = 'csvlog'
log_directory = 'log'
log_filename = 'cost.log'
log_rotation_age = 0
log_rotation_size = 0
END

for ((k = 0; k < rounds; k++)); do
    for protocol in simple prepared; do
        while read -r setting; do
            round "$setting" "$protocol"
        done < <(settings)
    done
done

printf '%-10s %-20s %12s %8s %8s %16s\n' protocol setting 'CPU us/txn' 'ratio' 'tps' 'log B/statement'
for protocol in simple prepared; do
    while IFS='|' read -r setting _; do
        grep "^$protocol|$setting|" "$SERVER_ROOT/rounds" | cut -d '|' -f 3 | sort -n |
            awk -v name="$setting" -v protocol="$protocol" -v n=$((transactions * 7)) \
                -v base="$(grep "^$protocol|off|" "$SERVER_ROOT/rounds" | cut -d '|' -f 3 | sort -n |
                    awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')" '
                { cpu[NR] = $1; tps[NR] = $2; size = $3 }
                END { m = int((NR + 1) / 2)
                    printf "%-10s %-20s %12d %8.2f %8d %16.0f\n", protocol, name, cpu[m], cpu[m] / base, tps[m], size / n }'
    done < <(settings)
done
