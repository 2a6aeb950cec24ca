#!/usr/bin/env bash
# Drivers of other languages captured from the wire and replayed on a clone, whose own traffic is captured too: JDBC
# and Node.js' pg.  What they said is the same, message by message and byte for byte, and the answers are of the same
# kind.  The capture is held against itself mangled, too.  (replay_wire.sh has psql, pgbench, and what no library says.)
set -u
# shellcheck source=tests/integration/wire_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/wire_lib.sh"

jar=${RH_JDBC_JAR:-/usr/share/java/postgresql.jar}
# pg comes from npm's registry, unless NODE_PATH has it.
fetch_pg() {
    node -e 'require("pg-cursor")' 2>/dev/null && return 0
    command -v npm >/dev/null || return 1
    export npm_config_cache=$WORK/npm NODE_PATH=$WORK/node/node_modules
    mkdir -p "$WORK/node" &&
        timeout 60 npm install --prefix "$WORK/node" --silent --no-audit --no-fund --fetch-retries=0 --fetch-timeout=10000 \
            pg@8 pg-cursor@2 >/dev/null 2>&1
}

wire_begin
drivers=()
if command -v javac >/dev/null && [ -r "$jar" ]; then
    drivers+=(jdbc)
else
    echo 'no JDK, or no libpostgresql-jdbc-java: JDBC is not tried'
fi
if command -v node >/dev/null && fetch_pg; then
    drivers+=(node)
else
    echo "no Node.js, or pg cannot be had from npm: it is not tried"
fi
[ ${#drivers[@]} -gt 0 ] || check_skip 'none of the drivers is here'

server_psql "$data" -d bank -c 'CREATE TABLE t (a int PRIMARY KEY, b text, c float8)' \
    -c "INSERT INTO t SELECT g, 'row ' || g, g / 3.0 FROM generate_series(1, 1000) AS g"
server_stop "$data"
wire_clone candidate
server_start "$data" free || exit 1
port=$SERVER_PORT
capture_start "$port" "$WORK/production.pcap"
for driver in "${drivers[@]}"; do
    case $driver in
    jdbc) check_run 0 java -XX:TieredStopAtLevel=1 -cp "$jar" "$here/JdbcClient.java" "$port" ;;
    node) check_run 0 node "$here/node_client.js" "$port" ;;
    esac
done
capture_stop "$port" "$WORK/production.pcap"
server_stop "$data"

wire_read "$port"

# Mangled: reordered, repeated, cut otherwise, with bytes missing.
check_run 0 "$RH_BIN/wire_mangled" "$WORK/production.pcap" "$port"
cat "$WORK/out"

wire_rehearse "$port"
check 'none has no twin' grep -q ' are the same, 0 have no twin' "$WORK/out"

# What makes these drivers worth the trouble is there.
"$RH_BIN/pgrehearse" show "$WORK/t.trace" >"$WORK/records"
has() {
    check "$1" jq -ne "any(inputs; $2)" "$WORK/records" >/dev/null
}
for driver in "${drivers[@]}"; do
    case $driver in
    jdbc)
        has 'a later fetch of 50 rows' '.kind == "fetch" and .row_limit == 50 and .rows == 50'
        has 'named by the driver, binary' '.statement_name == "S_2" and any(.params[]?; type == "object" and has("hex"))'
        has 'a fast-path call' '.kind == "function"'
        has 'a cancel' '.kind == "cancel"'
        has 'a cancelled statement' '.sqlstate == "57014"'
        has 'COPY data' '.kind == "copy-data"'
        ;;
    node)
        has 'a cursor read on' '.kind == "fetch" and .row_limit == 150 and .application == "node-cursors"'
        has 'a named statement' '.statement_name == "one"'
        has 'NULL and bytes' '.application == "node-values" and .params[1] == null and .params[3] == null'
        has 'bytes' '.application == "node-values" and (.params[1]? | type == "object" and has("hex"))'
        has 'a connection dropped' '.kind == "close" and .application == "node-dropped"'
        ;;
    esac
done
check_end
