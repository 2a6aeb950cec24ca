# What the tests of the wire share; to be sourced.
#
#   wire_begin                a server "production" with the database bank, stopped; $WORK; skips without
#                             what the tests need
#   wire_clone NAME           its files as $SERVER_ROOT/NAME
#   capture_start PORT FILE.pcap    tcpdump of that port; returns once packets are taken
#   capture_stop PORT FILE.pcap     ends it when all packets are in the file; none may be missing
#   wire_read PORT            $WORK/production.pcap into $WORK/t.trace, without a gap
#   wire_rehearse PORT        that trace replayed on the clone "candidate": $WORK/t.run, its messages in
#                             $WORK/replay.err, what the comparison of both sides' packets says in $WORK/out
#   talk NAME                 wire_talker says $WORK/NAME.script to $PGPORT
#   wire_outcomes FILE        of each record of a trace or run its SQLSTATE, tag, rows, results, bytes, transaction
#                             status, as sorted lines

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

wire_begin() {
    [ -x "${RH_BIN:?}/wire_messages" ] || { echo 'SKIPPED: wire_messages was not built'; exit 77; }
    server_find 2>/dev/null || { echo 'SKIPPED: no PostgreSQL server'; exit 77; }
    command -v tcpdump >/dev/null || { echo 'SKIPPED: no tcpdump'; exit 77; }
    server_begin || exit 1
    check_begin
    data=$SERVER_ROOT/production
    server_new "$data" || exit 1
    server_configure "$data" <<<'autovacuum = off'
    server_start "$data" || exit 1
    server_psql "$data" -c 'CREATE DATABASE bank'
    export PGSSLMODE=disable PGGSSENCMODE=disable
}

wire_clone() {
    server_copy "$data" "$SERVER_ROOT/$1" || exit 1
}

tcpdump_pid=
capture_start() {
    tcpdump -i lo -B 65536 -s 0 -U -w "$2" "tcp port $1" 2>"$WORK/tcpdump.err" &
    tcpdump_pid=$!
    for _ in {1..100}; do
        grep -q 'listening on' "$WORK/tcpdump.err" && return 0
        kill -0 "$tcpdump_pid" 2>/dev/null || break
        sleep 0.1
    done
    check_skip "tcpdump cannot capture here: $(tail -n 1 "$WORK/tcpdump.err")"
}

# The packets of a last connection are behind all others: once they are in the file, all are.
capture_stop() {
    local before
    before=$(stat -c %s "$2")
    for _ in {1..100}; do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
        sleep 0.1
        [ "$(stat -c %s "$2")" -gt "$before" ] && break
    done
    kill -INT "$tcpdump_pid"
    wait "$tcpdump_pid"
    check_equal "packets of $2 dropped" 0 \
        "$(sed -n 's/^\([0-9]*\) packets dropped by kernel$/\1/p' "$WORK/tcpdump.err")"
}

wire_read() {
    check_run 0 "$RH_BIN/pgrehearse" capture wire -r "$WORK/production.pcap" --server-port "$1" -o "$WORK/t.trace"
    check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/t.trace"
    check_equal 'no gap' 0 "$(jq '.[0].gaps | length' "$WORK/out")"
}

wire_rehearse() {
    local candidate
    server_start "$SERVER_ROOT/candidate" free || exit 1
    candidate=$SERVER_PORT
    capture_start "$candidate" "$WORK/candidate.pcap"
    check_run 0 "$RH_BIN/pgrehearse" replay --speed 1 -h 127.0.0.1 -p "$candidate" -o "$WORK/t.run" "$WORK/t.trace"
    cp "$WORK/err" "$WORK/replay.err"
    capture_stop "$candidate" "$WORK/candidate.pcap"
    server_stop "$SERVER_ROOT/candidate"

    check_run 0 "$RH_BIN/wire_messages" compare "$1" "$WORK/production.pcap" "$candidate" "$WORK/candidate.pcap"
    cat "$WORK/out"
    wire_outcomes "$WORK/t.trace" >"$WORK/production.outcomes"
    wire_outcomes "$WORK/t.run" >"$WORK/candidate.outcomes"
    check 'the same outcomes' diff "$WORK/production.outcomes" "$WORK/candidate.outcomes"
}

talk() {
    check_run 0 "$RH_BIN/wire_talker" "$PGPORT" postgres bank "$1" "$WORK/$1.script"
}

# What the server skipped after an error has neither bytes nor status in a run.
wire_outcomes() {
    "$RH_BIN/pgrehearse" show "$1" | jq -c 'select(.ordinal != null and (.kind | IN("open", "close", "copy-data") | not))
        | [.session, .ordinal, .kind, .sql, .sqlstate, .tag, .rows, .results]
            + if .sqlstate == null then [] else [.bytes, .tx_status] end' | sort
}
