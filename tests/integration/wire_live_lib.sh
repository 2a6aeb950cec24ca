# What the tests of live captures share; to be sourced by wire_live*.sh.
#
#   live_begin           a server on a TCP port of 127.0.0.1 with pgbench's tables, and a folder $LIVE that
#                        the capture may write as whatever user it becomes; skips where nothing can be captured
#   live_start NAME OPTION...   capture on lo into $LIVE/NAME.trace, in the background; its pid is in
#                        $live_pid, its messages in $LIVE/NAME.err; returns when it captures
#   live_stop NAME SIGNAL STATUS   end it so, it must end with that status
#   live_psql ARG...     psql over TCP
#   live_bench ARG...    pgbench over TCP, quiet
#   wait_kept FILE PATTERN COUNT   until so many are on the disk
#   statements FILE [PATTERN]   how many statements' texts the trace has that match

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

# A process that changed its user cannot be looked at by the leak check's tracer.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

live_begin() {
    [ "$(uname)" = Linux ] || check_skip 'a live capture needs Linux'
    [ "$(id -u)" -eq 0 ] && grep -q '^CapEff:.*[2367abef]...$' /proc/self/status ||
        check_skip 'no CAP_NET_RAW: nothing can be captured here'
    server_find 2>/dev/null || check_skip 'no PostgreSQL server'
    server_begin || exit 1
    check_begin
    chmod 711 "$WORK"
    LIVE=$WORK/live
    install -d -m 1777 "$LIVE"
    # The build may lie where only its owner can look.
    CAPTURE=$WORK/pgrehearse-capture
    cp "$RH_BIN/pgrehearse-capture" "$CAPTURE"
    cluster=$SERVER_ROOT/cluster
    server_new "$cluster" || exit 1
    server_start "$cluster" free || exit 1
    PORT=$SERVER_PORT
    live_psql -c 'CREATE DATABASE bank' postgres
    live_bench -i -s 1 bank
}

live_start() {
    local name=$1 try
    shift
    "$CAPTURE" wire -i lo --server-port "$PORT" -o "$LIVE/$name.trace" "$@" \
        >"$LIVE/$name.out" 2>"$LIVE/$name.err" </dev/null &
    live_pid=$!
    for try in {1..600}; do
        grep -q '^pgrehearse-capture: capturing on' "$LIVE/$name.err" && return 0
        kill -0 "$live_pid" 2>/dev/null || break
        sleep 0.05
    done
    check_fail "the capture $name did not begin in $try tries"
    sed 's/^/    /' "$LIVE/$name.err"
    return 1
}

live_wait() {
    local status=0
    wait "$live_pid" || status=$?
    check_equal "exit status of the capture $1" "$2" "$status"
    [ "$2" = "$status" ] || sed 's/^/    /' "$LIVE/$1.err"
}

live_stop() {
    kill -s "$2" "$live_pid"
    live_wait "$1" "$3" 2>/dev/null
}

live_psql() {
    "$SERVER_BIN/psql" -X -q -At -h 127.0.0.1 -p "$PORT" -U postgres "$@"
}

live_bench() {
    pgbench -n -h 127.0.0.1 -p "$PORT" -U postgres "$@" >/dev/null 2>&1
}

# wait_kept FILE PATTERN COUNT: until so many are on the disk
wait_kept() {
    local try
    for try in {1..120}; do
        [ "$(statements "$1" "$2")" -lt "$3" ] || return 0
        sleep 0.5
    done
    check_fail "$3 statements like '$2' did not come to the disk in $try tries"
}

statements() {
    "$RH_BIN/pgrehearse" show "$1" 2>/dev/null |
        jq -r 'select(.kind == "query" or .kind == "execute") | .sql' | grep -cE "${2:-.}"
}

info() {
    "$RH_BIN/pgrehearse" info --format json "$1" | jq -r ".[0] | $2"
}
