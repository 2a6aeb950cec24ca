# Throwaway PostgreSQL servers; to be sourced.
#
#   server_begin              find the programs and an unprivileged user, make $SERVER_ROOT
#   server_new DIR            a fresh cluster in DIR (below $SERVER_ROOT): a copy of $PGREHEARSE_CLUSTER, if set
#   server_template DIR       make one to be copied so, by all tests of a run
#   server_configure DIR      append standard input to its postgresql.conf
#   server_log_csv DIR NAME   have it write log/NAME.csv below DIR, with connections, never rotated
#   server_start DIR [PORT]   start it and wait until it answers; sets SERVER_PORT
#   server_stop DIR [fast|immediate]
#   server_wait_log FILE      after a stop: wait until the log collector has written all
#   server_copy FROM TO       a physical copy of a stopped cluster
#   server_psql DIR ARG...    psql as superuser, stopping at the first error
#   server_end                stop all and remove $SERVER_ROOT (also done on exit and signals)
#
# A server listens on the socket directory $SERVER_SOCKETS, which only its user can enter, so that
# "trust" gives nobody else a superuser and no port of the machine is taken.  With PORT it listens
# on 127.0.0.1 as well; "free" looks for one.
#
# Nothing is left behind: traps cover exit and signals, and each postmaster asks the kernel for a
# SIGINT (fast shutdown) when this shell dies without a trap.  So call these from the main shell.

SERVER_ROOT=
SERVER_PORT=
SERVER_SOCKETS=
SERVER_BIN=
SERVER_USER=
declare -A server_pid=()

server_fail() {
    echo "server.sh: $*" >&2
    return 1
}

# The newest server installed: Debian keeps each version in a folder of its own, off the PATH.
server_find() {
    local dir best='' best_major=0 major
    for dir in "${PGREHEARSE_PG_BIN:-}" "$(pg_config --bindir 2>/dev/null)" \
        /usr/lib/postgresql/*/bin /usr/pgsql-*/bin; do
        if ! [ -x "$dir/postgres" ] || ! [ -x "$dir/initdb" ] || ! [ -x "$dir/pgbench" ]; then
            continue
        fi
        if [ "$dir" = "${PGREHEARSE_PG_BIN:-}" ]; then
            best=$dir
            break
        fi
        major=$("$dir/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
        if [ "$major" -gt "$best_major" ]; then
            best=$dir best_major=$major
        fi
    done
    [ -n "$best" ] || server_fail 'no PostgreSQL server found (package postgresql)' || return 1
    SERVER_BIN=$best
}

# The server refuses to run as root: then it runs as postgres, which Debian's package made, or nobody.
server_find_user() {
    SERVER_USER=$(id -un)
    [ "$(id -u)" -eq 0 ] || return 0
    for SERVER_USER in postgres nobody; do
        if getent passwd "$SERVER_USER" >/dev/null; then
            return 0
        fi
    done
    server_fail 'root cannot run a server and there is no user postgres or nobody'
}

server_as_user() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && exec setpriv --reuid "$SERVER_USER" --regid "$(id -g "$SERVER_USER")" \
            --init-groups --reset-env -- "$@")
    else
        "$@"
    fi
}

server_begin() {
    server_find && server_find_user || return 1
    # Not below TMPDIR: the path of a socket has at most 107 bytes, and its user must get there.
    SERVER_ROOT=$(mktemp -d /tmp/pgrehearse.XXXXXXXX) || return 1
    trap 'server_end' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    # Others may pass through, not look: the clusters inside are 0700.
    chmod 711 "$SERVER_ROOT"
    SERVER_SOCKETS=$SERVER_ROOT/s
    install -d -m 700 "$SERVER_SOCKETS"
    [ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$SERVER_SOCKETS"
    # The caller's own PG* variables would lead its psql and pgbench elsewhere.
    local name
    for name in ${!PG*}; do
        case $name in PGREHEARSE_*) ;; *) unset "$name" ;; esac
    done
    PATH=$SERVER_BIN:$PATH
}

# A cluster for PGREHEARSE_CLUSTER: initdb takes more processor time than many a test needs besides.
server_template() {
    local dir=$1
    install -d -m 700 "$dir" || return 1
    [ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$dir"
    server_initdb "$dir"
}

server_initdb() {
    local dir=$1
    server_as_user "$SERVER_BIN/initdb" --pgdata="$dir" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$SERVER_ROOT/initdb.log" 2>&1 || {
        cat "$SERVER_ROOT/initdb.log" >&2
        return 1
    }
}

server_new() {
    local dir=$1
    install -d -m 700 "$dir" || return 1
    [ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$dir"
    if [ -n "${PGREHEARSE_CLUSTER:-}" ]; then
        cp -a "$PGREHEARSE_CLUSTER/." "$dir" || return 1
    else
        server_initdb "$dir" || return 1
    fi
    # It lives for minutes: no fsync, and no background work that would come at random times.
    server_configure "$dir" <<-'END'
		fsync = off
		full_page_writes = off
		max_wal_size = 2GB
		checkpoint_timeout = 1h
		shared_buffers = 128MB
		max_connections = 60
		timezone = 'UTC'
		log_timezone = 'UTC'
		lc_messages = 'C'
	END
}

server_configure() {
    cat >>"$1/postgresql.conf"
}

server_log_csv() {
    server_configure "$1" <<-END
		logging_collector = on
		log_destination = 'csvlog'
		log_directory = 'log'
		log_filename = '$2.log'
		log_rotation_age = 0
		log_rotation_size = 0
		log_connections = on
		log_disconnections = on
	END
}

# Chosen below the range the kernel gives to clients; the start itself tells whether it is free.
server_free_port() {
    local port try
    for try in {1..50}; do
        port=$((20000 + RANDOM % 12000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return 0
        fi
    done
    server_fail "no free port found in $try tries"
}

server_start() {
    local dir=$1 port=${2:-} try
    for try in 1 2 3 4 5; do
        if [ "$port" = free ]; then
            SERVER_PORT=$(server_free_port) || return 1
        else
            SERVER_PORT=${port:-$(server_socket_port)}
        fi
        server_launch "$dir" "${port:+127.0.0.1}" && return 0
        [ "$port" = free ] || break
    done
    echo "server.sh: $dir did not start (try $try):" >&2
    tail -n 20 "$SERVER_ROOT/start.log" >&2
    return 1
}

# Without TCP the port is only the socket's name: any that no server of ours has.
server_socket_port() {
    local port=6001
    while [ -e "$SERVER_SOCKETS/.s.PGSQL.$port" ]; do port=$((port + 1)); done
    echo "$port"
}

server_launch() {
    local dir=$1 listen=$2 pid
    local command=("$SERVER_BIN/postgres" -D "$dir" -p "$SERVER_PORT"
        -c "listen_addresses=$listen" -c "unix_socket_directories=$SERVER_SOCKETS")
    if [ "$(id -u)" -eq 0 ]; then
        command=(setpriv --reuid "$SERVER_USER" --regid "$(id -g "$SERVER_USER")" --init-groups
            --reset-env --pdeathsig INT -- "${command[@]}")
    else
        command=(setpriv --pdeathsig INT -- "${command[@]}")
    fi
    (cd / && exec "${command[@]}") </dev/null >"$SERVER_ROOT/start.log" 2>&1 &
    pid=$!
    server_pid[$dir]=$pid
    for _ in {1..600}; do
        if server_is_ready "$dir" "$pid"; then
            return 0
        fi
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    server_stop "$dir" immediate
    return 1
}

# Told by the lock file, as pg_ctl does it: a login just to ask would be a session in the log.
server_is_ready() {
    local lines
    mapfile -t lines 2>/dev/null <"$1/postmaster.pid" || return 1
    [ "${lines[0]:-}" = "$2" ] && [[ ${lines[7]:-} == ready* ]]
}

server_stop() {
    local dir=$1 signal=INT pid
    [ "${2:-fast}" = fast ] || signal=QUIT
    pid=${server_pid[$dir]:-}
    [ -n "$pid" ] || return 0
    unset "server_pid[$dir]"
    # It may have ended by itself: ^C on a terminal reaches it too.
    kill -s "$signal" "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

# The log collector ends after the postmaster: wait until it has written the last message.
server_wait_log() {
    local file=$1
    for _ in {1..100}; do
        grep -q 'database system is shut down' "$file" 2>/dev/null && return 0
        sleep 0.1
    done
    server_fail "$file does not end with the shutdown"
}

server_copy() {
    [ -z "${server_pid[$1]:-}" ] || server_fail "$1 is running" || return 1
    cp -a "$1" "$2"
}

server_psql() {
    # The directory only says which server is meant; its port is that of its socket lock file.
    local dir=$1
    shift
    "$SERVER_BIN/psql" -X -q -v ON_ERROR_STOP=1 -h "$SERVER_SOCKETS" -p "$(server_port_of "$dir")" \
        -U postgres "$@"
}

server_port_of() {
    sed -n 4p "$1/postmaster.pid"
}

server_end() {
    local dir
    trap '' HUP INT TERM
    for dir in "${!server_pid[@]}"; do server_stop "$dir" immediate; done
    case $SERVER_ROOT in
    /tmp/pgrehearse.*) rm -rf "$SERVER_ROOT" ;;
    esac
    SERVER_ROOT=
}
