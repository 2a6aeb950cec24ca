#!/usr/bin/env bash
# The rehearsal of a major upgrade, step by step as docs/GUIDE.md tells it: production with an archive of
# its WAL, a base backup, the settings of a capture, a clone that is recovered to the moment the capture
# began, two replays on the old version, one on the new, and the three comparisons.
#
#     bash samples/upgrade.sh NEW_BIN_DIR [DIR]
#
# NEW_BIN_DIR has initdb and postgres of the new version; the old one is the newest that is installed.
# Leaves production's log, the trace, three runs and the reports in DIR (default: a new folder below the
# temporary one), nothing else and nothing running.
#
#     PGREHEARSE_UPGRADE_SECONDS   how long the capture lasts (default: 60)
#     PGREHEARSE_BIN               programs that are there already; nothing is installed or built then
set -euo pipefail
shopt -s inherit_errexit

# shellcheck source=samples/begin.sh
source "$(dirname "${BASH_SOURCE[0]}")/begin.sh"

seconds=${PGREHEARSE_UPGRADE_SECONDS:-60}
new_bin=${1:-}

# with_new COMMAND...: with the programs of the new version.
with_new() {
    local SERVER_BIN=$new_bin
    "$@"
}

start_production() {
    server_new "$production"
    server_configure "$production" <<-END
		archive_mode = on
		archive_command = 'cp %p $archive/%f'
		wal_level = replica
		logging_collector = on
		log_destination = 'csvlog'
		log_filename = 'production.log'
		log_rotation_age = 0
	END
    server_start "$production"
    shop_load "$production"
}

back_up() {
    server_as_user "$SERVER_BIN/pg_basebackup" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres \
        -D "$backup" --checkpoint=fast --no-sync
}

# What a capture needs, without a restart; the moment from which the clone must be comes after it.
begin_capture() {
    server_psql "$production" -c "ALTER SYSTEM SET log_min_duration_statement = 0" \
        -c "ALTER SYSTEM SET log_connections = on" -c "ALTER SYSTEM SET log_disconnections = on" \
        -c "SELECT pg_reload_conf()" >/dev/null
    sleep 1
    capture_begin=$(server_psql "$production" -At -c 'SELECT clock_timestamp()')
    echo "the capture begins at $capture_begin; transactions open then:"
    server_psql "$production" -c "SELECT pid, application_name, xact_start FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND xact_start < '$capture_begin' AND pid <> pg_backend_pid()"
}

end_capture() {
    capture_end=$(server_psql "$production" -At -c 'SELECT clock_timestamp()')
    server_psql "$production" -c "ALTER SYSTEM RESET ALL" -c "SELECT pg_reload_conf()" >/dev/null
    server_psql "$production" -At -c "SELECT pg_switch_wal()" >/dev/null
    server_stop "$production"
    server_wait_log "$production/log/production.csv"
    cat "$production/log/production.csv" >"$dir/production.csv"
}

# The base backup and the archive, up to the moment when the capture began.
recover_clone() {
    cp -a "$backup" "$clone"
    server_configure "$clone" <<-END
		archive_mode = off
		logging_collector = off
		restore_command = 'cp $archive/%f %p'
		recovery_target_time = '$capture_begin'
		recovery_target_action = 'promote'
	END
    server_as_user touch "$clone/recovery.signal"
    server_start "$clone"
    until [ "$(server_psql "$clone" -At -c 'SELECT pg_is_in_recovery()')" = f ]; do sleep 0.2; done
    grep -o 'recovery stopping.*' "$SERVER_ROOT/start.log" || true
    server_psql "$clone" -d shop -At -c "SELECT 'orders in the clone: ' || count(*) FROM orders"
}

# The clone by dump and restore.  pg_upgrade, which is quicker, needs both versions installed.
upgrade_clone() {
    local port=$SERVER_PORT
    server_as_user "$SERVER_BIN/pg_dumpall" -h "$SERVER_SOCKETS" -p "$port" -U postgres >"$SERVER_ROOT/dump.sql"
    with_new server_new "$upgraded"
    with_new server_start "$upgraded"
    # The role that initdb made is in the dump too: that one error is expected.
    server_psql "$upgraded" -v ON_ERROR_STOP=0 -f "$SERVER_ROOT/dump.sql" >/dev/null 2>"$SERVER_ROOT/restore.err"
    grep ERROR "$SERVER_ROOT/restore.err" | grep -v 'role "postgres" already exists' || true
    server_psql "$upgraded" -d shop -c 'VACUUM ANALYZE'
    server_psql "$upgraded" -At -c 'SELECT version()'
    server_stop "$upgraded"
    server_stop "$clone"
}

# rehearse CLUSTER RUN: on a copy of its own, which is thrown away, as a replay changes the data.
rehearse() {
    rm -rf "$copy"
    server_copy "$1" "$copy"
    server_start "$copy"
    pgrehearse replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -o "$dir/$2" "$dir/production.trace"
    server_stop "$copy"
}

# compare REPORT BASE CANDIDATE
compare() {
    pgrehearse diff --limit 2 -o "$dir/$1.txt" "$dir/$2" "$dir/$3"
    cat "$dir/$1.txt"
}

if [ -z "$new_bin" ]; then
    echo "usage: upgrade.sh NEW_BIN_DIR [DIR]; a folder with initdb and postgres of the new version" >&2
    exit 2
fi
for program in initdb postgres; do
    [ -x "$new_bin/$program" ] || { echo "upgrade.sh: no $program in $new_bin" >&2; exit 2; }
done
sample_begin upgrade "${2:-}"
for name in production backup clone upgraded copy; do
    declare "$name=$SERVER_ROOT/$name"
done
archive=$SERVER_ROOT/archive
server_as_user mkdir "$archive" 2>/dev/null || { install -d -m 700 "$archive" && chown "$SERVER_USER" "$archive"; }
[ "$(id -u)" -ne 0 ] || { install -d -m 700 "$backup" && chown "$SERVER_USER" "$backup"; }

step "production: $("$SERVER_BIN/postgres" --version), with an archive of its WAL, and a base backup"
start_production
back_up

step 'some work that is in the archive only; then the capture begins'
shop_open "$production" 3 "$dir"
begin_capture

step "production works for $seconds s and logs it"
shop_open "$production" "$seconds" "$dir"
end_capture

step 'the capture'
pgrehearse capture log --from "$capture_begin" --to "$capture_end" -o "$dir/production.trace" "$dir/production.csv"

step 'the clone, as production was when the capture began'
recover_clone

step "the clone in the new version: $("$new_bin/postgres" --version)"
upgrade_clone

step 'what would go wrong on the new version, before anything is sent'
server_copy "$upgraded" "$copy"
with_new server_start "$copy"
pgrehearse replay --dry-run -h "$SERVER_SOCKETS" -p "$SERVER_PORT" "$dir/production.trace" | tee "$dir/dry-run.txt"
server_stop "$copy"

step 'two replays on the old version'
rehearse "$clone" old-1.run
rehearse "$clone" old-2.run

step 'one replay on the new version'
with_new rehearse "$upgraded" new.run

step 'production against the old version: is the rehearsal faithful?'
compare faithful production.trace old-1.run

step 'the old version against itself: how much is noise?'
compare noise old-1.run old-2.run

step 'the old version against the new one: what would the upgrade do?'
compare upgrade old-2.run new.run

step "all files are in $dir"
ls -l "$dir"
