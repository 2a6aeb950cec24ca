# The shop of the samples: its database and a mixed application workload; to be sourced.
#
#   step TEXT                        a heading
#   shop_build LOG                   install what is missing, build the release preset; sets bin
#   pgrehearse ARG...                run it, and show how to type it
#   shop_load CLUSTER                its database, in a running cluster of tests/lib/server.sh
#   shop_open CLUSTER SECONDS DIR    run it for so long; DIR holds the clients' logs meanwhile
#
# Needs tests/lib/packages.sh and server.sh, and the folder of the project in $top.

step() {
    printf '\n== %s\n' "$*"
}

shop_build() {
    packages_need build server
    # A clone that another user owns makes git refuse the commit's number, nothing worse.
    (cd "$top" && cmake --preset release -DBUILD_TESTING=OFF && cmake --build --preset release) \
        >"$1" 2>&1 || {
        tail -n 40 "$1" >&2
        exit 2
    }
    bin=$top/build/release/bin
}

pgrehearse() {
    printf '$ pgrehearse %s\n' "${*//$SERVER_SOCKETS/SOCKETS}"
    "$bin/pgrehearse" "$@"
}

shop_load() {
    server_psql "$1" -c 'CREATE DATABASE shop'
    server_psql "$1" -d shop -f "$top/samples/shop/schema.sql"
}

# shop_clients NAME CLIENTS RATE PROTOCOL SCRIPT[@WEIGHT]...: a part of the application.
shop_clients() {
    local name=$1 clients=$2 rate=$3 protocol=$4 script scripts=()
    shift 4
    for script in "$@"; do scripts+=(-f "$script"); done
    (cd "$top/samples/shop" && PGAPPNAME=$name exec "$SERVER_BIN/pgbench" -n -h "$SERVER_SOCKETS" \
        -p "$SERVER_PORT" -U postgres -M "$protocol" -c "$clients" -R "$rate" -T "$shop_seconds" \
        --random-seed=7 "${scripts[@]}" shop) >"$shop_logs/$name.log" 2>&1 &
    shop_pids+=("$!")
}

shop_support_desk() {
    local end=$((SECONDS + shop_seconds))
    while [ "$SECONDS" -lt "$end" ]; do
        PGAPPNAME=support server_psql "$1" -v ON_ERROR_STOP=0 -d shop \
            -f "$top/samples/shop/support.sql" >/dev/null 2>&1 || true
        sleep 1
    done
}

shop_open() {
    local shop_seconds=$2 shop_logs=$3 shop_pids=() pid
    shop_clients account 3 30 prepared account.sql@3 profile.sql@1
    shop_clients website 2 30 extended browse.sql@5 price.sql@1
    shop_clients checkout 3 20 simple checkout.sql
    shop_clients export 1 1 simple export.sql
    shop_support_desk "$1"
    for pid in "${shop_pids[@]}"; do
        wait "$pid" || { cat "$shop_logs"/{account,website,checkout,export}.log >&2; exit 2; }
    done
    rm -f "$shop_logs"/{account,website,checkout,export}.log
}
