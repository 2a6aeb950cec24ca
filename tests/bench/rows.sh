#!/usr/bin/env bash
# A result of many rows: CPU time and peak memory of the client that reads it.
#
#     tests/bench/rows.sh BIN
#
# ROWS (10000000) of two columns go to pgrehearse replay, to psql with its output to /dev/null (which
# holds the whole result) and to psql with FETCH_COUNT, by turns; ROUNDS (3), medians.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/bench_lib.sh
source "$here/bench_lib.sh"

bin=$(cd "${1:?the folder of the programs, of the release preset}" && pwd) || exit 2
rows=${ROWS:-10000000}
rounds=${ROUNDS:-3}

# trace_make ROWS TRACE: one statement that gives so many rows.
trace_make() {
    local head='"postgres","postgres",5001,"[local]",69a40e60.1389'
    local tail=',,,,,,,,,"rows","client backend",,0'
    {
        echo "2026-03-01 10:00:00.000 UTC,$head,1,\"authentication\",2026-03-01 10:00:00 UTC,3/1,0,LOG,00000,\"connection authorized: user=postgres database=postgres\"$tail"
        echo "2026-03-01 10:00:01.000 UTC,$head,2,\"idle\",2026-03-01 10:00:00 UTC,3/2,0,LOG,00000,\"statement: $(query "$1")\"$tail"
        echo "2026-03-01 10:00:02.000 UTC,$head,3,\"idle\",2026-03-01 10:00:00 UTC,3/3,0,LOG,00000,\"disconnection: session time: 0:00:02.000 user=postgres database=postgres host=[local]\"$tail"
    } >"$SERVER_ROOT/rows.csv"
    "$bin/pgrehearse-capture" log -o "$2" "$SERVER_ROOT/rows.csv" 2>/dev/null
}

query() {
    echo "SELECT n, 'row ' || n FROM generate_series(1, $1) n"
}

replay() {
    rm -f "$SERVER_ROOT/rows.run"
    cpu_of "$bin/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --speed max --allow-source \
        -o "$SERVER_ROOT/rows.run" "$1" || return 1
    [ "$("$bin/pgrehearse" show "$SERVER_ROOT/rows.run" | jq 'select(.kind == "query").rows')" = "$2" ] ||
        server_fail "the replay did not read $2 rows"
}

with_psql() {
    cpu_of psql -X -q -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres -o /dev/null "$@" -c "$(query "$rows")" postgres
}

note() {
    echo "$cpu_ms" >>"$SERVER_ROOT/$1.cpu"
    echo "$peak_kb" >>"$SERVER_ROOT/$1.peak"
}

row() {
    awk -v name="$2" -v cpu="$(median "$SERVER_ROOT/$1.cpu")" -v psql="$(median "$SERVER_ROOT/psql.cpu")" \
        -v peak="$(median "$SERVER_ROOT/$1.peak")" -v rows="$rows" \
        'BEGIN { printf "%-26s %9.2f %12.0f %14.3f %10.1f\n", name, cpu / 1000, cpu * 1e6 / rows, cpu / psql, peak / 1000 }'
}

packages_need server bench || exit 2
server_begin && server_new "$SERVER_ROOT/s" && server_start "$SERVER_ROOT/s" || exit 2
trace_make "$rows" "$SERVER_ROOT/rows.trace" && trace_make 1000 "$SERVER_ROOT/few.trace" || exit 2
for ((round = 1; round <= rounds; round++)); do
    replay "$SERVER_ROOT/rows.trace" "$rows" && note replay || exit 2
    replay "$SERVER_ROOT/few.trace" 1000 && note few || exit 2
    with_psql && note psql || exit 2
    with_psql -v FETCH_COUNT=1000 && note fetch || exit 2
done
printf '%-26s %9s %12s %14s %10s\n' "$rows rows" 'CPU s' 'ns a row' "CPU to psql's" 'peak MB'
row replay 'pgrehearse replay'
row psql 'psql -o /dev/null'
row fetch 'psql, FETCH_COUNT 1000'
printf '%-26s %49.1f\n' 'pgrehearse, 1,000 rows' "$(awk -v k="$(median "$SERVER_ROOT/few.peak")" 'BEGIN { print k / 1000 }')"
