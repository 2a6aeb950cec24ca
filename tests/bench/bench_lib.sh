# What benches share; to be sourced after lib/server.sh.
#
#   cpu_of COMMAND...     run it; sets cpu_ms (user and system time), wall_ms and peak_kb; its output and
#                         messages are in $SERVER_ROOT/out and $SERVER_ROOT/err
#   median FILE           of the numbers in it
#   nullserver_start BIN [OPTION]...    pgrehearse-nullserver in $SERVER_SOCKETS; sets NULLSERVER_PORT; it ends
#                         with this shell
#   servers_for_bench     in $SERVER_ROOT three stopped clusters of pgbench's tables, scale 10: production,
#                         which writes log/bench.csv, candidate and other, which log nothing

cpu_of() {
    local TIMEFORMAT='%3U %3S %3R' rc
    { time command time -o "$SERVER_ROOT/peak" -f '%M' "$@" >"$SERVER_ROOT/out" 2>"$SERVER_ROOT/err"; } 2>"$SERVER_ROOT/time"
    rc=$?
    read -r cpu_ms wall_ms < <(tr , . <"$SERVER_ROOT/time" | awk '{ print ($1 + $2) * 1000, $3 * 1000 }')
    peak_kb=$(tail -n 1 "$SERVER_ROOT/peak")
    return $rc
}

median() {
    sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

servers_for_bench() {
    local root=$SERVER_ROOT
    server_new "$root/candidate" && server_configure "$root/candidate" <<-'END' || return 1
		max_connections = 200
	END
    server_start "$root/candidate" || return 1
    pgbench -i -q -s 10 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres >/dev/null 2>&1 || return 1
    server_stop "$root/candidate"
    server_copy "$root/candidate" "$root/other" && server_copy "$root/candidate" "$root/production" || return 1
    server_log_csv "$root/production" bench
}

nullserver_start() {
    local bin=$1
    shift
    NULLSERVER_PORT=$(server_free_port) || return 1
    setpriv --pdeathsig TERM -- "$bin/pgrehearse-nullserver" -q -h "$SERVER_SOCKETS" -p "$NULLSERVER_PORT" "$@" \
        >"$SERVER_ROOT/nullserver" &
    for _ in {1..100}; do
        ! grep -q '^ready' "$SERVER_ROOT/nullserver" || return 0
        sleep 0.1
    done
    server_fail 'the null server does not start'
}
