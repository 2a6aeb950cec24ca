#!/usr/bin/env bash
# How late statements leave the client: by the time stamps of a packet capture on the loopback, of one
# plan sent by pgrehearse replay, by pgreplay and by a bare timerfd loop (bench_timer_loop.c), by turns.
#
#     tests/bench/schedule_error.sh BIN
#
# The plan: RATES ("1000 2000") statements a second for SECONDS_EACH (5) on 8 sessions, each at a whole
# millisecond, to the null server.  The error of a statement is its time minus its place in the plan,
# the earliest one of a round being 0.  ROUNDS (3); the table has the medians of the rounds.
# tcpdump needs root, and the capture takes its share of the machine from all three.
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
sessions=8
read -ra rates <<<"${RATES:-1000 2000}"

# plan_make RATE: plan.txt for the loop, plan.csv (log_statement = all) for the two others.
plan_make() {
    awk -v rate="$1" -v seconds="$seconds" -v sessions="$sessions" -v plan="$SERVER_ROOT/plan.txt" '
    function record(ms, session, tag, text,    s) {
        s = 36000 + int(ms / 1000)
        printf "2026-03-01 %02d:%02d:%02d.%03d UTC,\"postgres\",\"postgres\",%d,\"127.0.0.1:%d\",69a40e60.%x,%d,\"%s\",2026-03-01 10:00:00 UTC,%d/%d,0,LOG,00000,\"%s\",,,,,,,,,\"plan\",\"client backend\",,0\n",
            int(s / 3600), int(s / 60) % 60, s % 60, ms % 1000, 5000 + session, 40000 + session, 5000 + session,
            ++line[session], tag, session, line[session], text
    }
    BEGIN {
        for (i = 0; i < sessions; i++)
            record(i, i, "authentication", "connection authorized: user=postgres database=postgres")
        for (n = 0; n < rate * seconds; n++) {
            ms = 1000 + int(n * 1000 / rate)
            printf "%d %d SELECT %d AS n\n", (ms - 1000) * 1000, n % sessions, n > plan
            record(ms, n % sessions, "idle", "statement: SELECT " n " AS n")
        }
        for (i = 0; i < sessions; i++)
            record(ms + 100 + i, i, "idle", "disconnection: session time: 0:00:09.000 user=postgres database=postgres host=127.0.0.1 port=" 40000 + i)
    }' >"$SERVER_ROOT/plan.csv"
    "$bin/pgrehearse-capture" log -o "$SERVER_ROOT/plan.trace" "$SERVER_ROOT/plan.csv" 2>/dev/null
}

play_pgrehearse() {
    "$bin/pgrehearse-replay" -q -h 127.0.0.1 -p "$NULLSERVER_PORT" --allow-source -o "$SERVER_ROOT/plan.run" "$SERVER_ROOT/plan.trace"
}

play_pgreplay() {
    pgreplay -c -h 127.0.0.1 -p "$NULLSERVER_PORT" "$SERVER_ROOT/plan.csv"
}

play_loop() {
    "$bin/bench_timer_loop" 127.0.0.1 "$NULLSERVER_PORT" <"$SERVER_ROOT/plan.txt"
}

# sent NAME RATE: "SENT-US PLACE-US" of each statement in the capture.
sent() {
    tcpdump -nn -tt --time-stamp-precision=micro -A -r "$SERVER_ROOT/pcap" 2>/dev/null |
        awk -v rate="$2" '/^[0-9]+\.[0-9]+ IP/ { stamp = $1; next }
        {
            for (line = $0; match(line, /SELECT [0-9]+ AS n/); line = substr(line, RSTART + RLENGTH)) {
                n = substr(line, RSTART + 7, RLENGTH - 12)
                if (!(n in seen)) printf "%s %d\n", stamp, int(n * 1000 / rate) * 1000
                seen[n] = 1
            }
        }' | awk '{ split($1, t, "."); printf "%.0f %d\n", (t[1] % 100000) * 1000000 + t[2], $2 }'
}

# errors: the four percentiles of lines "SENT-US PLACE-US".
errors() {
    awk '{ printf "%.0f\n", $1 - $2 }' | sort -n | awk '{ v[NR] = $1 }
        END { printf "%d %d %d %d %d\n", v[int(NR * .5)] - v[1], v[int(NR * .95)] - v[1], v[int(NR * .99)] - v[1], v[NR] - v[1], NR }'
}

# play NAME RATE: one round, its percentiles into NAME.p50 and so on.
play() {
    local pid got
    tcpdump -i lo -B 16384 -s 128 -w "$SERVER_ROOT/pcap" "dst port $NULLSERVER_PORT" 2>"$SERVER_ROOT/tcpdump" &
    pid=$!
    for _ in {1..100}; do
        ! grep -q 'listening on' "$SERVER_ROOT/tcpdump" || break
        sleep 0.1
    done
    "play_$1" >"$SERVER_ROOT/out" 2>"$SERVER_ROOT/err" || {
        echo "$1 failed:" >&2
        tail -n 5 "$SERVER_ROOT/err" >&2
        kill -INT "$pid"
        return 1
    }
    sleep 1.5 # tcpdump sees a block of packets when it is full, or after a second
    kill -INT "$pid"
    wait "$pid"
    read -ra got < <(sent "$1" "$2" | errors)
    [ "${got[4]}" -eq $(($2 * seconds)) ] || echo "$1: ${got[4]} of $(($2 * seconds)) statements in the capture; $(grep dropped "$SERVER_ROOT/tcpdump")" >&2
    for i in 0 1 2 3; do echo "${got[i]}" >>"$SERVER_ROOT/$1.$i"; done
}

row() {
    printf '%-14s' "$1"
    for i in 0 1 2 3; do printf ' %9s' "$(median "$SERVER_ROOT/$1.$i")"; done
    printf ' %14s %14s\n' "$(ratio "$1" loop 2)" "$(ratio "$1" pgreplay 1)"
}

ratio() {
    awk -v a="$(median "$SERVER_ROOT/$1.$3")" -v b="$(median "$SERVER_ROOT/$2.$3")" 'BEGIN { printf "%.2f", a / b }'
}

packages_need server bench || exit 2
[ "$(id -u)" -eq 0 ] || server_fail 'tcpdump needs root' || exit 2
server_begin || exit 2
nullserver_start "$bin" -h 127.0.0.1 || exit 2
for rate in "${rates[@]}"; do
    plan_make "$rate" || exit 2
    rm -f "$SERVER_ROOT"/*.[0-3]
    for ((round = 1; round <= rounds; round++)); do
        for name in pgrehearse pgreplay loop; do play "$name" "$rate" || exit 1; done
    done
    printf '\n%-14s %9s %9s %9s %9s %14s %14s\n' "$rate a second" 'p50 us' 'p95 us' 'p99 us' 'max us' 'p99 to loop' 'p95 to pgreplay'
    for name in pgrehearse pgreplay loop; do row "$name"; done
done
