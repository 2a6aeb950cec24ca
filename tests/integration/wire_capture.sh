#!/usr/bin/env bash
# psql and pgbench through a relay that looks on: the statements of its trace are those of the server's
# csvlog of the same run: text, parameters as text, order within each session, SQLSTATE.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/integration/wire_workload.sh
source "$here/wire_workload.sh"

[ -x "${RH_BIN:?}/wire_relay" ] || { echo 'SKIPPED: wire_relay was not built'; exit 77; }
server_find 2>/dev/null || { echo 'SKIPPED: no PostgreSQL server'; exit 77; }
server_begin || exit 1
check_begin

RELAY_PORT=5999 # only the name of a socket in a folder of our own
data=$SERVER_ROOT/production
wire_production "$data"
server_start "$data" || exit 1

"$RH_BIN/wire_relay" "$SERVER_SOCKETS" "$RELAY_PORT" "$SERVER_PORT" "$WORK/wire.trace" \
    >"$WORK/relay.out" 2>"$WORK/relay.err" &
relay=$!
for _ in {1..100}; do
    [ -S "$SERVER_SOCKETS/.s.PGSQL.$RELAY_PORT" ] && break
    sleep 0.1
done
export PGHOST=$SERVER_SOCKETS PGPORT=$RELAY_PORT PGUSER=postgres PGDATABASE=bank

wire_workload
kill -TERM "$relay"
wait "$relay"
check_equal 'the relay ended' 0 $?
check_equal 'every answer fitted, nothing was lost' '0 anomalies, 0 bytes lost' "$(cat "$WORK/relay.out")"
server_stop "$data"
server_wait_log "$data/log/production.csv"
unset PGHOST PGPORT PGUSER PGDATABASE

check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/log.trace" "$data/log/production.csv"
wire_statements "$WORK/log.trace" >"$WORK/log.statements"
wire_statements "$WORK/wire.trace" >"$WORK/wire.statements"
check 'there are statements' test "$(wc -l <"$WORK/wire.statements")" -gt 1900
check 'the same statements' diff "$WORK/log.statements" "$WORK/wire.statements"
check 'no password' test -z "$(grep hunter2 "$WORK/wire.statements")"
check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/wire.trace"
check_equal 'no gap' 0 "$(jq '.[0].gaps | length' "$WORK/out")"
check_end
