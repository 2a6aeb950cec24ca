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

# shellcheck source=samples/begin.sh
source "$(dirname "${BASH_SOURCE[0]}")/begin.sh"

seconds=${PGREHEARSE_DEMO_SECONDS:-20}

load_shop() {
    server_new "$production"
    server_start "$production"
    shop_load "$production"
    server_stop "$production"
}

log_statements() {
    server_log_csv "$production" shop
    server_configure "$production" <<<'log_min_duration_statement = 0'
}

run_shop() {
    server_start "$production"
    shop_open "$production" "$seconds" "$dir"
    server_stop "$production"
    server_wait_log "$production/log/shop.csv"
    cat "$production/log/shop.csv" >"$dir/shop.csv"
}

# replay_on CLUSTER RUN
replay_on() {
    server_start "$1"
    pgrehearse replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -o "$2" "$dir/shop.trace"
    server_stop "$1"
}

sample_begin demo "${1:-}"
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
# Status 3: this machine was too busy to judge; the report says so.
pgrehearse diff -o "$dir/report.txt" "$dir/base.run" "$dir/candidate.run" || [ $? -eq 3 ]
cat "$dir/report.txt"
pgrehearse diff --format json -o "$dir/report.json" "$dir/base.run" "$dir/candidate.run" || [ $? -eq 3 ]

step "all files are in $dir"
ls -l "$dir"
