#!/usr/bin/env bash
# Connections on a real server: Unix socket, TCP, TLS with SCRAM; refusals, cancels, lost backends.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/server.sh"
. "$here/../lib/check.sh"

[ -x "${RH_BIN:?}/wire_client" ] || { echo 'SKIPPED: wire_client was not built'; exit 77; }
server_find 2>/dev/null || { echo 'SKIPPED: no PostgreSQL server'; exit 77; }
server_begin || exit 1
check_begin
client=$RH_BIN/wire_client

data=$SERVER_ROOT/wire
server_new "$data" || exit 1
openssl req -new -x509 -days 2 -nodes -subj /CN=localhost -newkey rsa:2048 \
    -keyout "$data/server.key" -out "$data/server.crt" 2>/dev/null || exit 1
chmod 600 "$data/server.key"
[ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$data/server.key" "$data/server.crt"
server_configure "$data" <<'END'
ssl = on
password_encryption = 'scram-sha-256'
max_connections = 100
END
cat >"$data/pg_hba.conf" <<'END'
local   all all                   trust
hostssl all secret 127.0.0.1/32   scram-sha-256
hostnossl all plain 127.0.0.1/32  trust
END
server_start "$data" free || exit 1
port=$SERVER_PORT
server_psql "$data" -d postgres -c "create role secret login superuser password 'open sesame'" \
    -c 'create role plain login superuser'

printf '127.0.0.1:%s:*:secret:open sesame\n' "$port" >"$WORK/pgpass"
chmod 600 "$WORK/pgpass"
export PGPASSFILE=$WORK/pgpass PGUSER=nobody PGDATABASE=nowhere PGCLIENTENCODING=LATIN1
local="host=$SERVER_SOCKETS port=$port"
tcp="host=127.0.0.1 port=$port sslmode=disable"
tls="host=127.0.0.1 port=$port sslmode=require"

check_run 0 "$client" connects "$local" postgres 80 plain
check_run 0 "$client" connects "$tcp" plain 40 plain
check_run 0 "$client" connects "$tls" secret 40 tls
check_run 0 "$client" connects "postgresql://127.0.0.1:$port/postgres?sslmode=require" secret 8 tls

for how in "local postgres" "tcp plain" "tls secret"; do
    read -r way user <<<"$how"
    check_run 0 "$client" rows "${!way}" "$user" 400000
    check_run 0 "$client" long-text "${!way}" "$user"
    check_run 0 "$client" duplex "${!way}" "$user"
    check_run 0 "$client" extended "${!way}" "$user"
    check_run 0 "$client" copy "${!way}" "$user"
    check_run 0 "$client" cancel "${!way}" "$user"
    check_run 0 "$client" idle "${!way}" "$user" "$user"
done

# A backend killed in the middle of a result: the server restarts all, so each in turn.
if [ "$(id -u)" -eq 0 ] || [ "$SERVER_USER" = "$(id -un)" ]; then
    for how in "local postgres" "tcp plain" "tls secret"; do
        read -r way user <<<"$how"
        check_run 0 "$client" killed "${!way}" "$user"
        check "$way: says that it was lost" grep -q 'lost: ' "$WORK/out"
        for _ in {1..100}; do
            server_psql "$data" -d postgres -c 'select 1' >/dev/null 2>&1 && break
            sleep 0.1
        done
    done
fi

refused() {
    local wanted=$1
    shift
    check_run 0 "$client" refused "$@"
    check_equal "SQLSTATE of $*" "$wanted" "$(cut -d' ' -f1 "$WORK/out")"
    check_equal "lines of $*" 1 "$(wc -l <"$WORK/out")"
}
refused 3D000 "$local" postgres no_such_database
refused 28000 "$local" no_such_role postgres
refused 28000 "$tcp" postgres postgres
printf '127.0.0.1:%s:*:secret:wrong\n' "$port" >"$WORK/pgpass"
refused 28P01 "$tls" secret postgres
check 'the server is named' grep -q "127.0.0.1" "$WORK/out"
# Two ways are tried, with TLS and without; the reason of the last is given.
refused 28000 "host=127.0.0.1 port=$port sslmode=prefer" postgres postgres
server_stop "$data"
refused ----- "$tcp" plain postgres
check 'the reason is given' grep -q 'Connection refused' "$WORK/out"

check_end
