#!/usr/bin/env bash
# CPU of a live capture against tcpdump -w, both looking at the same packets of the loopback while
# pgbench -S runs at full speed, and what each of them lost.
#
#     sudo tests/bench/wire_vs_tcpdump.sh BIN
#
# ROUNDS (3) of SECONDS_EACH (5) in each of pgbench's MODES ("simple prepared"), CLIENTS (8); the two are
# started by turns in either order, with rings of 64 MiB.  CPU is user and system time; ratios are of one
# round, the last line of a mode has their median.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/bench_lib.sh
source "$here/bench_lib.sh"

bin=$(cd "${1:?the folder of the programs, of the release preset}" && pwd) || exit 2
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-5}
clients=${CLIENTS:-8}
read -ra modes <<<"${MODES:-simple prepared}"
timers=()

# begin NAME READY COMMAND...: in the background, measured; returns when its messages have READY.
begin() {
    local name=$1 ready=$2
    shift 2
    rm -f "$SERVER_ROOT/$name.pid"
    : >"$SERVER_ROOT/$name.err"
    # GNU time knows hundredths of a second only.
    # shellcheck disable=SC2016
    {
        TIMEFORMAT='%3U %3S'
        time bash -c 'echo $$ >"$0"; exec "$@"' "$SERVER_ROOT/$name.pid" "$@" 2>"$SERVER_ROOT/$name.err"
    } 2>"$SERVER_ROOT/$name.cpu" &
    timers+=($!)
    for _ in {1..100}; do
        ! grep -q "$ready" "$SERVER_ROOT/$name.err" || return 0
        sleep 0.1
    done
    cat "$SERVER_ROOT/$name.err" >&2
    return 1
}

begin_tcpdump() {
    begin tcpdump 'listening on' tcpdump -i lo -B 65536 -Z root -w "$SERVER_ROOT/pcap" "tcp port $SERVER_PORT"
}

begin_capture() {
    begin capture 'capturing on' "$bin/pgrehearse-capture" wire -i lo --run-as root --server-port "$SERVER_PORT" \
        -o "$SERVER_ROOT/wire.trace"
}

finish() {
    local pid
    sleep 1.5 # tcpdump sees a block of packets when it is full, or after a second
    for name in tcpdump capture; do
        pid=$(cat "$SERVER_ROOT/$name.pid") && kill -INT "$pid"
    done
    wait "${timers[@]}"
    timers=()
}

# The milliseconds of CPU that time wrote of NAME, and as "user+system".
cpu_ms_of() {
    awk '{ print ($1 + $2) * 1000 }' "$SERVER_ROOT/$1.cpu"
}

cpu_split_of() {
    awk '{ printf "%d+%d", $1 * 1000, $2 * 1000 }' "$SERVER_ROOT/$1.cpu"
}

round() {
    local mode=$1 n=$2 tps packets dropped lost tcpdump_ms capture_ms statements
    if [ $((n % 2)) -eq 0 ]; then
        begin_tcpdump && begin_capture || return 1
    else
        begin_capture && begin_tcpdump || return 1
    fi
    tps=$(pgbench -n -S -M "$mode" -c "$clients" -j 2 -T "$seconds" -h 127.0.0.1 -p "$SERVER_PORT" -U postgres postgres 2>/dev/null |
        awk '/^tps/ { printf "%d", $3 }')
    finish
    packets=$(awk '/packets captured/ { print $1 }' "$SERVER_ROOT/tcpdump.err")
    dropped=$(awk '/dropped by kernel/ { print $1 }' "$SERVER_ROOT/tcpdump.err")
    lost=$("$bin/pgrehearse" info --format json "$SERVER_ROOT/wire.trace" | jq '[.[0].gaps[].count] | add // 0')
    statements=$("$bin/pgrehearse" info --format json "$SERVER_ROOT/wire.trace" | jq '.[0].statements')
    tcpdump_ms=$(cpu_ms_of tcpdump)
    capture_ms=$(cpu_ms_of capture)
    awk -v m="$mode" -v tps="$tps" -v p="$packets" -v s="$statements" -v t="$tcpdump_ms" -v c="$capture_ms" -v d="$dropped" -v l="$lost" \
        -v tsplit="$(cpu_split_of tcpdump)" -v csplit="$(cpu_split_of capture)" \
        'BEGIN { printf "%-10s %7d %9d %10d %11s %8.2f %11s %8.2f %8.2f %6d %6d\n", m, tps, p, s, tsplit, t * 1000 / p, csplit, c * 1000 / p, c / t, d, l }'
    awk -v t="$tcpdump_ms" -v c="$capture_ms" 'BEGIN { printf "%.3f\n", c / t }' >>"$SERVER_ROOT/$mode.ratio"
    rm -f "$SERVER_ROOT/pcap" "$SERVER_ROOT/wire.trace"
}

packages_need server bench || exit 2
[ "$(id -u)" -eq 0 ] || server_fail 'a live capture needs root' || exit 2
server_begin || exit 2
server_new "$SERVER_ROOT/cluster" && server_start "$SERVER_ROOT/cluster" free || exit 2
pgbench -i -q -s 10 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres >/dev/null 2>&1 || exit 2

echo 'CPU: user+system in ms, us a packet of both together; lost by tcpdump (t) and by the capture (c)'
printf '%-10s %7s %9s %10s %11s %8s %11s %8s %8s %6s %6s\n' mode tps packets statements tcpdump 'us each' \
    capture 'us each' ratio 'lost t' 'lost c'
for mode in "${modes[@]}"; do
    for ((n = 0; n < rounds; n++)); do
        round "$mode" "$n" || exit 1
    done
    printf '%-10s median of the ratios %s\n' "$mode" "$(median "$SERVER_ROOT/$mode.ratio")"
done
