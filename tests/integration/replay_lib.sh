# What the tests of the replay share; to be sourced by replay_*.sh.
#
#   replay_begin [PORT]       a server with the database "shop" and the users app and other;
#                             PORT as in server_start
#   session NUMBER OPENED CLOSED [FLAGS [USER [DATABASE]]]     lines of replay_trace
#   query SESSION START DURATION MARKS TEXT [FLAGS]
#   execute SESSION START DURATION MARKS FLAGS NAME TEXT [PARAMETER]...
#   make_trace NAME           $WORK/NAME.trace from those lines on standard input
#   replay STATUS NAME OPTION...   run it into $WORK/NAME.run; the exit status must be STATUS
#   fates NAME [SESSION]      "ordinal fate reason sqlstate rows" of the run's records
#   sql TEXT                  ask the server (as superuser, in shop)
#   sql_until, log_until      wait for an answer, for statements in the server's log

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

replay_begin() {
    server_begin || exit 1
    check_begin
    cluster=$SERVER_ROOT/cluster
    server_new "$cluster" || exit 1
    server_configure "$cluster" <<-'END'
		max_connections = 700
		shared_buffers = 16MB
		log_statement = all
		log_line_prefix = '%p %u %d %a '
		autovacuum = off
	END
    server_start "$cluster" "${1:-}" || exit 1
    server_psql "$cluster" -q -c 'CREATE USER app; CREATE USER other' -c 'CREATE DATABASE shop OWNER app'
}

session() {
    printf 'session\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "${5:-app}" "${6:-shop}" "$2" "$3" "${4:--}"
}

query() {
    printf 'record\t%s\tquery\t%s\t%s\t%s\t%s\t-\t-\t%s\n' "$1" "$2" "$3" "$4" "${6:--}" "$5"
}

execute() {
    printf 'record\t%s\texecute\t%s\t%s\t%s\t%s\t%s\t-\t%s' "$1" "$2" "$3" "$4" "$5" "$6" "$7"
    shift 7
    [ $# -eq 0 ] || printf '\t%s' "$@"
    printf '\n'
}

make_trace() {
    "$RH_BIN/replay_trace" make "$WORK/$1.trace" || exit 1
}

replay() {
    local status=$1 name=$2
    shift 2
    check_run "$status" "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" \
        -o "$WORK/$name.run" "$@" "$WORK/$name.trace"
}

# As replay, in the background; its pid is in $replay_pid.
replay_start() {
    local name=$1
    shift
    timeout -k 5 "$CHECK_TIMEOUT_S" "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" \
        -p "$SERVER_PORT" -o "$WORK/$name.run" "$@" "$WORK/$name.trace" \
        >"$WORK/out" 2>"$WORK/err" </dev/null &
    replay_pid=$!
}

replay_wait() {
    local wanted=$1 status=0
    wait "$replay_pid" || status=$?
    check_equal 'exit status of the replay' "$wanted" "$status" || cat "$WORK/err"
    [ "$wanted" = "$status" ] || sed 's/^/    /' "$WORK/err"
}

dump() {
    "$RH_BIN/replay_trace" dump "$WORK/$1.run" 2>"$WORK/dump.err"
}

fates() {
    dump "$1" | awk -F '\t' -v session="${2:-}" \
        'session == "" { print $1, $2, $3, $4, $5, $6 } session == $1 { print $2, $3, $4, $5, $6 }'
}

# How many records have this fate and reason.
count_fate() {
    dump "$1" | awk -F '\t' -v fate="$2" -v reason="${3:--}" '$3 == fate && $4 == reason' | wc -l
}

sql() {
    server_psql "$cluster" -d shop -At -c "$1"
}

# log_until COUNT PATTERN: wait until the server has logged so many statements, at less cost than sql_until
log_until() {
    local try
    for try in {1..1200}; do
        [ "$(grep -cE "statement: $2" "$SERVER_ROOT/start.log")" -ge "$1" ] && return 0
        sleep 0.05
    done
    check_fail "$1 statements like '$2' were not logged in $try tries"
}

# Wait until the query gives the wanted answer.
sql_until() {
    local try
    for try in {1..200}; do
        [ "$(sql "$2")" = "$1" ] && return 0
        sleep 0.05
    done
    check_fail "$2 does not become '$1' in $try tries"
}
