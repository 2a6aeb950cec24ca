#!/usr/bin/env bash
# Cut logs, cut traces, killed commands and full disks: what was whole is kept and used, and the exit
# status and a message say what is missing.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/lib/csvlog.sh
source "$here/../lib/csvlog.sh"

# Statements as "session ordinal start duration sql", in the order of the log.
statements_of() {
    "$RH_BIN/pgrehearse" show "$1" 2>/dev/null |
        jq -r 'select(.sql != null) | "\(.session) \(.ordinal) \(.start) \(.duration_us) \(.sql)"'
}

info_of() {
    jq -r ".[0] | $1" "$WORK/out"
}

cut_logs() {
    local size cut whole found
    csvlog_make 4 600 60 >"$WORK/small.csv"
    size=$(stat -c %s "$WORK/small.csv")
    check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/small.trace" "$WORK/small.csv"
    statements_of "$WORK/small.trace" >"$WORK/small.statements"
    check_equal 'statements of the whole log' 600 "$(wc -l <"$WORK/small.statements")"

    for cut in 1 2 3 $(seq 5 211 3900) 4000; do
        head -c $((size - cut)) "$WORK/small.csv" >"$WORK/cut.csv"
        check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/cut.trace" "$WORK/cut.csv"
        statements_of "$WORK/cut.trace" >"$WORK/cut.statements"
        whole=$(grep -c '.*statement: .*,0$' "$WORK/cut.csv")
        found=$(wc -l <"$WORK/cut.statements")
        # The record that was hit may still be readable: then it counts as it reads now.
        check "log cut by $cut bytes: $whole whole statements, $found captured" \
            test "$found" -ge "$whole" -a "$found" -le $((whole + 1))
        check "log cut by $cut bytes: the whole ones are unchanged" \
            cmp <(head -n "$whole" "$WORK/small.statements") <(head -n "$whole" "$WORK/cut.statements")
    done
}

cut_traces() {
    local size cut statements last=0 header
    csvlog_make 8 8000 500 >"$WORK/large.csv"
    check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/large.trace" "$WORK/large.csv"
    check_run 0 "$RH_BIN/pgrehearse" info --format json "$WORK/large.trace"
    check_equal 'the trace is whole' '8000 true' "$(info_of '"\(.statements) \(.complete)"')"
    statements_of "$WORK/large.trace" >"$WORK/large.statements"
    size=$(stat -c %s "$WORK/large.trace")
    header=4096

    for cut in $(seq "$header" $(((size - header) / 16)) $((size - 2000))) 1500 700 300 100 50 20 10 1; do
        # The small ones count from the end.
        [ "$cut" -ge "$header" ] || cut=$((size - cut))
        head -c "$cut" "$WORK/large.trace" >"$WORK/cut.trace"
        check_run 3 "$RH_BIN/pgrehearse" info --format json "$WORK/cut.trace" || continue
        check "trace cut to $cut bytes: the message names the file" grep -q 'cut\.trace' "$WORK/err"
        check_equal "trace cut to $cut bytes: complete" false "$(info_of .complete)"
        statements=$(info_of .statements)
        check "trace cut to $cut bytes: no less than when it was cut shorter" test "$statements" -ge "$last"
        last=$statements
    done
    check_equal 'a trace that lost only its end has all statements' 8000 "$last"

    head -c 10 "$WORK/large.trace" >"$WORK/stub.trace"
    check_run 2 "$RH_BIN/pgrehearse" info "$WORK/stub.trace"
}

cut_replays() {
    local size share statements
    size=$(stat -c %s "$WORK/large.trace")
    for share in 25 60 99; do
        head -c $((size * share / 100)) "$WORK/large.trace" >"$WORK/cut.trace"
        check_run 3 "$RH_BIN/pgrehearse" info --format json "$WORK/cut.trace"
        statements=$(info_of .statements)
        check "trace cut to $share %: something is left" test "$statements" -gt 0
        check_run 3 "$RH_BIN/pgrehearse" replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --speed max \
            -o "$WORK/cut.run" "$WORK/cut.trace"
        check "replay of a trace cut to $share %: it says so" grep -q 'cut' "$WORK/err"
        check_run '0|3' "$RH_BIN/pgrehearse" info --format json "$WORK/cut.run"
        check_equal "replay of a trace cut to $share %: outcomes" "$statements 0" \
            "$(info_of '"\(.statements) \(.failed)"')"
    done
}

# A log that grows in a pipe, and a SIGKILL when blocks were written.
killed_capture() {
    local pid
    mkfifo "$WORK/pipe"
    { csvlog_make 8 60000 1000; sleep 60; } >"$WORK/pipe" &
    local writer=$!
    "$RH_BIN/pgrehearse" capture log -o "$WORK/killed.trace" "$WORK/pipe" 2>"$WORK/err" &
    pid=$!
    for _ in {1..600}; do
        [ "$(stat -c %s "$WORK/killed.trace.partial" 2>/dev/null || echo 0)" -gt 3000000 ] && break
        sleep 0.1
    done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    kill "$writer" 2>/dev/null
    wait "$writer" 2>/dev/null
    check 'a killed capture leaves no finished file' test ! -e "$WORK/killed.trace"
    check_run 3 "$RH_BIN/pgrehearse" info --format json "$WORK/killed.trace.partial"
    check 'a killed capture leaves its blocks' test "$(info_of .statements)" -gt 1000
    rm -f "$WORK/killed.trace.partial"
}

killed_replay() {
    local pid known
    # A minute of work: it is killed as soon as outcomes are in the file.
    csvlog_make 4 60000 20 >"$WORK/slow.csv"
    check_run 0 "$RH_BIN/pgrehearse" capture log -o "$WORK/slow.trace" "$WORK/slow.csv"
    "$RH_BIN/pgrehearse" replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -o "$WORK/slow.run" \
        "$WORK/slow.trace" 2>"$WORK/err" &
    pid=$!
    for _ in {1..500}; do
        known=$("$RH_BIN/pgrehearse" info --format json "$WORK/slow.run.partial" 2>/dev/null | jq '.[0].statements')
        [ "${known:-0}" -gt 100 ] && break
        sleep 0.1
    done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    check 'a killed replay leaves no finished file' test ! -e "$WORK/slow.run"
    check_run 3 "$RH_BIN/pgrehearse" info --format json "$WORK/slow.run.partial"
    check "a killed replay leaves its outcomes" test "$(info_of .statements)" -gt 100
    check_run 3 "$RH_BIN/pgrehearse" diff "$WORK/slow.run.partial" "$WORK/slow.run.partial"
}

# A file may have at most 1.2 MB: a write then fails as on a full disk (EFBIG for ENOSPC).
# check_run needs a program, and ulimit is a word of the shell.
limited=(bash -c 'trap "" XFSZ; ulimit -f 1200; exec "$@"' limited)

# full_disk WHERE COMMAND_PREFIX...
full_disk() {
    local where=$1
    shift
    check_run 3 "$@" "$RH_BIN/pgrehearse" capture log -o "$where/full.trace" "$WORK/large.csv"
    check "capture without room says so" grep -q 'full\.trace' "$WORK/err"
    check_run 3 "$RH_BIN/pgrehearse" info --format json "$where/full.trace"
    check "capture without room keeps what it made" test "$(info_of .statements)" -gt 100
    check "capture without room made no whole trace" test "$(info_of .statements)" -lt 8000
    rm -f "$where/full.trace"
    check_run 3 "$@" "$RH_BIN/pgrehearse" replay -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --speed max \
        -o "$where/full.run" "$WORK/large.trace"
    check "replay without room says so" grep -q 'full\.run' "$WORK/err"
    check_run 3 "$RH_BIN/pgrehearse" info --format json "$where/full.run"
    rm -f "$where/full.run"
}

full_disks() {
    full_disk "$WORK" "${limited[@]}"
    mkdir "$WORK/small-disk"
    if mount -t tmpfs -o size=1200k none "$WORK/small-disk" 2>/dev/null; then
        full_disk "$WORK/small-disk"
        umount "$WORK/small-disk"
    else
        echo 'not tried: a small file system, which only root may mount (a file size limit was)'
    fi
}

server_begin || exit 1
check_begin
server_new "$SERVER_ROOT/a" && server_start "$SERVER_ROOT/a" || exit 1
cut_logs
cut_traces
cut_replays
killed_capture
killed_replay
full_disks
check_end
