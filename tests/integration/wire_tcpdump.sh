#!/usr/bin/env bash
# psql and pgbench with tcpdump looking on: the trace that capture wire makes of its file has the statements
# of the server's csvlog of the same run: text, parameters as text, order within each session, SQLSTATE.
# The file cut in pieces, compressed, in other orders gives the same trace.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/integration/wire_workload.sh
source "$here/wire_workload.sh"

command -v tcpdump >/dev/null || { echo 'SKIPPED: no tcpdump'; exit 77; }
server_find 2>/dev/null || { echo 'SKIPPED: no PostgreSQL server'; exit 77; }
server_begin || exit 1
check_begin

data=$SERVER_ROOT/production
wire_production "$data"
server_start "$data" free || exit 1
port=$SERVER_PORT

# -Z root: else it writes as a user of its own, who may not enter the folder.
tcpdump -i lo -s 0 -B 65536 -U $([ "$(id -u)" -ne 0 ] || echo -Z root) -w "$WORK/lo.pcap" "tcp port $port" \
    2>"$WORK/tcpdump.err" &
tcpdump=$!
for _ in {1..100}; do
    grep -qs 'listening on' "$WORK/tcpdump.err" && break
    kill -0 "$tcpdump" 2>/dev/null || { echo "SKIPPED: $(head -n 1 "$WORK/tcpdump.err")"; exit 77; }
    sleep 0.1
done
export PGHOST=127.0.0.1 PGPORT=$port PGUSER=postgres PGDATABASE=bank
wire_workload
# When this is in the file, all that went before it is.
check_run 0 psql -X -q -c "SELECT 'the end'"
for _ in {1..300}; do
    grep -qa 'the end' "$WORK/lo.pcap" && break
    sleep 0.1
done
kill -INT "$tcpdump"
wait "$tcpdump"
check_equal 'tcpdump lost nothing' '0 packets dropped by kernel' "$(grep 'dropped by kernel' "$WORK/tcpdump.err")"
unset PGHOST PGPORT PGUSER PGDATABASE
server_stop "$data"
server_wait_log "$data/log/production.csv"

check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/log.trace" "$data/log/production.csv"
check_run 0 "$RH_BIN/pgrehearse" capture wire --server-port "$port" -o "$WORK/wire.trace" -r "$WORK/lo.pcap"
check 'no answer is odd, nothing is missing' test -z "$(grep -A3 -E '^(missing|left out)' "$WORK/err")"
wire_statements "$WORK/log.trace" >"$WORK/log.statements"
wire_statements "$WORK/wire.trace" >"$WORK/wire.statements"
check 'there are statements' test "$(wc -l <"$WORK/wire.statements")" -gt 1900
check 'the same statements' diff "$WORK/log.statements" "$WORK/wire.statements"
check 'no password' test -z "$(grep hunter2 "$WORK/wire.statements")"
check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/wire.trace"
check_equal 'no gap, and what is known of the server' "[0,\"wire\",\"127.0.0.1:$port\",true]" \
    "$(jq -c '.[0] | [(.gaps | length), .vantage, .server_address, .complete]' "$WORK/out")"
check_equal 'its version' "$("$SERVER_BIN/postgres" --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)" \
    "$(jq -r '.[0].server_version' "$WORK/out")"

# Times in order, rows and outcomes where the server gave them.
check_run 0 "$RH_BIN/pgrehearse" show "$WORK/wire.trace"
check_equal 'every statement has its outcome' 0 \
    "$(jq -s '[.[] | select(.kind == "query" and (.sqlstate == null or .duration_us == null or .duration_us < 0))] | length' "$WORK/out")"
check_equal 'rows of a COPY and of a cursor' '[20000,20000,3,2]' "$(jq -cs '[.[] | select(
    .kind == "query" and ((.sql | test("^COPY +t (FROM|TO)")) or (.sql | test("^FETCH [23] FROM c;"))) and .sqlstate == "00000")
    | .rows]' "$WORK/out")"

# The same packets in other files.
same() {
    local what=$1
    shift
    check_run 0 "$RH_BIN/pgrehearse" capture wire -q --server-port "$port" -o "$WORK/again.trace" "$@"
    check_run 0 "$RH_BIN/pgrehearse" show "$WORK/again.trace"
    check "$what: the same records" cmp -s "$WORK/out" "$WORK/show"
}
cp "$WORK/out" "$WORK/show"
tcpdump -r "$WORK/lo.pcap" -C 1 $([ "$(id -u)" -ne 0 ] || echo -Z root) -w "$WORK/part" 2>/dev/null
check 'tcpdump made several files' test -s "$WORK/part1"
same 'a rotation, in any order' -r "$(printf '%s\n' "$WORK"/part* | tail -n 1)" "$WORK"/part \
    $(printf '%s\n' "$WORK"/part[0-9]* | head -n -1)
gzip -1 -k "$WORK/lo.pcap"
same 'compressed' -r "$WORK/lo.pcap.gz"
check_run 0 bash -c '"$1" capture wire -q --server-port "$2" -o "$3" -r - <"$4"' - "$RH_BIN/pgrehearse" "$port" \
    "$WORK/piped.trace" "$WORK/lo.pcap"
check_run 0 "$RH_BIN/pgrehearse" show "$WORK/piped.trace"
check 'from a pipe: the same records' cmp -s "$WORK/out" "$WORK/show"

# What is wanted of it, by user and text.
check_run 2 "$RH_BIN/pgrehearse" capture wire -q --server-port "$port" --user nobody -o "$WORK/none.trace" -r "$WORK/lo.pcap"
check_run 0 "$RH_BIN/pgrehearse" capture wire -q --server-port "$port" --include 'FROM t\b' -o "$WORK/some.trace" \
    -r "$WORK/lo.pcap"
check_run 0 "$RH_BIN/pgrehearse" show "$WORK/some.trace"
check_equal 'a transaction stays whole' '["BEGIN;","SELECT 1 / (a - 500) FROM t;","ROLLBACK;"]' \
    "$(jq -cs '[.[] | select(.ordinal and .sql)] | map(.sql) | .[0:3]' "$WORK/out")"
check_end
