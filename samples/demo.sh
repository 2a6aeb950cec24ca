#!/usr/bin/env bash
# A whole rehearsal on this machine: a small shop runs on a throwaway PostgreSQL, its log is captured,
# and the workload is replayed on an unchanged copy and on one that lost an index and renamed a column.
#
#     bash samples/demo.sh [DIR]
#
# leaves shop.csv, shop.trace, base.run, candidate.run, report.json, report.txt and
# production-vs-base.txt in DIR (default: a new folder below the temporary one).  Installs the
# packages that are missing (as root or with sudo) and builds the release preset first.
#
#     PGREHEARSE_DEMO_SECONDS   how long the shop is open (default: 20)
#     PGREHEARSE_BIN            programs that are there already; nothing is installed or built then
set -euo pipefail
shopt -s inherit_errexit

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/lib/packages.sh
source "$top/tests/lib/packages.sh"
# shellcheck source=tests/lib/server.sh
source "$top/tests/lib/server.sh"

seconds=${PGREHEARSE_DEMO_SECONDS:-20}
bin=${PGREHEARSE_BIN:-}

step() {
    printf '\n== %s\n' "$*"
}

build() {
    packages_need build server
    # A clone that another user owns makes git refuse the commit's number, nothing worse.
    (cd "$top" && cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release) \
        >"$dir/build.log" 2>&1 || {
        tail -n 40 "$dir/build.log" >&2
        exit 2
    }
    bin=$top/build/release/bin
}

# Run a command of pgrehearse and show how to type it.
pgrehearse() {
    printf '$ pgrehearse %s\n' "${*//$SERVER_SOCKETS/SOCKETS}"
    "$bin/pgrehearse" "$@"
}

load_shop() {
    server_new "$production"
    server_start "$production"
    server_psql "$production" -c 'CREATE DATABASE shop'
    server_psql "$production" -d shop -f "$top/samples/shop/schema.sql"
    server_stop "$production"
}

log_statements() {
    server_configure "$production" <<-'END'
		logging_collector = on
		log_destination = 'csvlog'
		log_directory = 'log'
		log_filename = 'shop.log'
		log_rotation_age = 0
		log_rotation_size = 0
		log_connections = on
		log_disconnections = on
		log_min_duration_statement = 0
	END
}

# shop_clients NAME CLIENTS RATE PROTOCOL SCRIPT[@WEIGHT]...: a part of the application.
shop_clients() {
    local name=$1 clients=$2 rate=$3 protocol=$4 script scripts=()
    shift 4
    for script in "$@"; do scripts+=(-f "$script"); done
    PGAPPNAME=$name "$SERVER_BIN/pgbench" -n -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres -M "$protocol" \
        -c "$clients" -R "$rate" -T "$seconds" --random-seed=7 "${scripts[@]}" shop >"$dir/$name.log" 2>&1 &
    clients_pid+=("$!")
}

support_desk() {
    local end=$((SECONDS + seconds))
    while [ "$SECONDS" -lt "$end" ]; do
        PGAPPNAME=support server_psql "$production" -v ON_ERROR_STOP=0 -d shop \
            -f "$top/samples/shop/support.sql" >/dev/null 2>&1 || true
        sleep 1
    done
}

run_shop() {
    clients_pid=()
    server_start "$production"
    cd "$top/samples/shop"
    shop_clients account 3 30 prepared account.sql@3 profile.sql@1
    shop_clients website 2 30 extended browse.sql@5 price.sql@1
    shop_clients checkout 3 20 simple checkout.sql
    shop_clients export 1 1 simple export.sql
    cd "$OLDPWD"
    support_desk
    local pid
    for pid in "${clients_pid[@]}"; do
        wait "$pid" || { cat "$dir"/{account,website,checkout,export}.log >&2; exit 2; }
    done
    server_stop "$production"
    rm -f "$dir"/{account,website,checkout,export}.log
    server_wait_log "$production/log/shop.csv"
    cat "$production/log/shop.csv" >"$dir/shop.csv"
}

# replay_on CLUSTER RUN
replay_on() {
    server_start "$1"
    pgrehearse replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -o "$2" "$dir/shop.trace"
    server_stop "$1"
}

dir=${1:-}
if [ -n "$dir" ]; then
    mkdir -p "$dir"
    dir=$(cd "$dir" && pwd)
else
    dir=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-demo.XXXXXXXX")
fi
if [ -z "$bin" ]; then
    step "packages and build (log: $dir/build.log)"
    build
fi
server_begin
production=$SERVER_ROOT/production
base=$SERVER_ROOT/base
candidate=$SERVER_ROOT/candidate

step 'production: a shop of 120,000 orders, and two physical copies of it'
load_shop
server_copy "$production" "$base"
server_copy "$production" "$candidate"
log_statements

step "production works for $seconds s; the server logs every statement with its duration"
run_shop
wc -lc "$dir/shop.csv"

step 'capture the log'
pgrehearse capture log -o "$dir/shop.trace" "$dir/shop.csv"
pgrehearse info "$dir/shop.trace"

step 'replay at original speed on the unchanged copy'
replay_on "$base" "$dir/base.run"

step 'replay on the candidate: an index is gone and a column has another name'
server_start "$candidate"
server_psql "$candidate" -d shop -e -c 'DROP INDEX orders_customer_idx' \
    -c 'ALTER TABLE customers RENAME COLUMN phone TO phone_number'
server_stop "$candidate"
replay_on "$candidate" "$dir/candidate.run"

step 'production against the unchanged copy: is the rehearsal faithful?'
pgrehearse diff -o "$dir/production-vs-base.txt" "$dir/shop.trace" "$dir/base.run"
cat "$dir/production-vs-base.txt"

step 'the unchanged copy against the candidate: what would the change do?'
pgrehearse diff -o "$dir/report.txt" "$dir/base.run" "$dir/candidate.run"
cat "$dir/report.txt"
pgrehearse diff --format json -o "$dir/report.json" "$dir/base.run" "$dir/candidate.run"

step "all files are in $dir"
ls -l "$dir"
