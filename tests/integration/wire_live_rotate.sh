#!/usr/bin/env bash
# A live capture in several files: all together hold every statement once, and each replays alone on a
# copy of the server, with the prepared statements and settings that its sessions had brought along.
set -u
# shellcheck source=tests/integration/wire_live_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/wire_live_lib.sh"
live_begin
server_stop "$cluster"
server_copy "$cluster" "$SERVER_ROOT/candidate" || exit 1
server_start "$cluster" "$PORT" || exit 1

live_start parts --rotate 1s --server-port "$PORT"
# A session that only says what it needs at its beginning, and one that is always within a transaction.
coproc PSQL { live_psql -v ON_ERROR_STOP=1 bank 2>&1; }
psql_pid=$PSQL_PID
say() {
    echo "$1" >&"${PSQL[1]}"
    read -r answer <&"${PSQL[0]}"
}
say "SET search_path = pg_catalog, public; SET application_name = 'keeps its settings'; PREPARE p (int) AS SELECT 'prepared ' || \$1 || current_setting('search_path'); EXECUTE p (0);"
check_equal 'prepared' 'prepared 0pg_catalog, public' "$answer"
{ for n in {1..400}; do echo "BEGIN; SELECT 'long $n'; SELECT pg_sleep(0.02); SELECT 'end $n'; COMMIT;"; done; } |
    live_psql bank >/dev/null 2>&1 &
long=$!
live_bench -M prepared -c 2 -R 200 -T 30 bank &
bench=$!
n=0
# Until three files have been begun, and the session has said something in each.
while [ ! -e "$LIVE/parts.0003.trace" ] && [ ! -e "$LIVE/parts.0003.trace.partial" ] && [ $n -lt 2000 ]; do
    n=$((n + 1))
    say "EXECUTE p ($n);"
    sleep 0.02
done
say "SELECT 'the end';"
eval "exec ${PSQL[1]}>&-"
kill "$bench" "$long"
wait "$bench" "$long" "$psql_pid" 2>/dev/null
live_stop parts INT 0

parts=("$LIVE/parts.trace" "$LIVE"/parts.[0-9]*.trace)
check 'several files' test "${#parts[@]}" -ge 4
check 'all have their final names' test -z "$(compgen -G "$LIVE/parts*.partial")"
check 'and the summary names them' grep -Eq "^wrote .*parts.trace and $((${#parts[@]} - 1)) more" "$LIVE/parts.err"

show() { "$RH_BIN/pgrehearse" show "$@" | jq -r 'select(.ordinal) | select(.kind != "copy-data") | [.session, .ordinal, .kind, .sql] | @tsv'; }
for part in "${parts[@]}"; do show "$part"; done >"$WORK/all"
check_equal 'each record is in one file' '' "$(cut -f 1,2 "$WORK/all" | sort | uniq -d)"
check_equal 'and none is missing' '' "$(sort -n -k 1,1 -k 2,2 "$WORK/all" |
    awk -F '\t' '{ if ($2 != ++last[$1]) print $1, $2 }')"
check_equal 'what the session said' "$((n + 1))" "$(grep -c 'EXECUTE p (' "$WORK/all")"
transactions=0
for part in "${parts[@]}"; do
    check_equal "${part##*/} is complete" true "$(info "$part" .complete)"
    check_equal "${part##*/}: nothing is missing" '[]' "$(info "$part" '.gaps | tostring')"
    # No transaction is torn: each file has as many ends as beginnings, but for those that the clients' end cut.
    show "$part" | awk -F '\t' -v part="${part##*/}" '
        $3 == "protocol" { next }
        $4 ~ /^BEGIN/ { if (in_txn[$1]) print part, $1, $2 " begins twice"; in_txn[$1] = 1 }
        $4 ~ /^(COMMIT|END)/ { if (!in_txn[$1]) print part, $1, $2 " ends what did not begin here"; in_txn[$1] = 0 }'
done >"$WORK/torn"
check_equal 'no transaction is torn' '' "$(cat "$WORK/torn")"
for i in "${!parts[@]}"; do
    [ "$i" -eq 0 ] || check_equal "part $i says which it is" "$i" \
        "$("$RH_BIN/pgrehearse" info --format json "${parts[$i]}" | jq -r '.[0].settings.part // empty')"
done

# Each alone, and not the first: on the candidate, where nothing of before was done.
server_start "$SERVER_ROOT/candidate" || exit 1
for part in "${parts[1]}" "${parts[2]}"; do
    check_run 0 "$RH_BIN/pgrehearse-replay" -q -h "$SERVER_SOCKETS" -p "$SERVER_PORT" --speed max \
        -o "$WORK/part.run" "$part"
    check_equal "${part##*/} replayed: failed" 0 "$(info "$WORK/part.run" .failed)"
    check_equal "${part##*/} replayed: statements" "$(info "$part" .statements)" "$(info "$WORK/part.run" .statements)"
    check_run 0 "$RH_BIN/pgrehearse-diff" --gate missing=0 --gate new-errors=0 "$part" "$WORK/part.run"
done
check_end
