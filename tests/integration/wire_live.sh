#!/usr/bin/env bash
# Captures on the loopback: what is sent is in the trace, however the capture ends; who captures, and what
# it may do then; mistakes.
set -u
# shellcheck source=tests/integration/wire_live_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/wire_live_lib.sh"
live_begin

# psql and pgbench in its three modes; ^C.
live_start run
status=/proc/$live_pid/status
nobody=$(id -u nobody)
check_equal 'root becomes nobody' "$nobody $nobody $nobody $nobody" "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "$status")"
check_equal 'with no groups of root' "$(id -G nobody | tr ' ' '\n' | sort -n | xargs)" \
    "$(awk '/^Groups:/ { $1 = ""; print }' "$status" | xargs -n1 | sort -n | xargs)"
check_equal 'and no capability, now or later' \
    'CapInh 0 CapPrm 0 CapEff 0 CapBnd 0 CapAmb 0 NoNewPrivs 1' \
    "$(sed -nE 's/^(Cap[A-Za-z]+|NoNewPrivs):[ \t]*0*([0-9a-f])$/\1 \2/p' "$status" | xargs)"
check 'it says so' grep -Eq '^pgrehearse-capture: capturing on "lo", .* as the user "nobody"' "$LIVE/run.err"
live_psql bank >/dev/null <<-'END'
	SELECT 'first';
	BEGIN;
	INSERT INTO pgbench_history (tid, bid, aid) VALUES (1, 1, 4711);
	ROLLBACK;
	SELECT 1 / 0;
END
for mode in simple extended prepared; do
    live_bench -M "$mode" -c 2 -t 20 bank
done
live_psql -c "SELECT 'last'" bank >/dev/null
live_stop run INT 0
trace=$LIVE/run.trace
check_equal 'complete' true "$(info "$trace" .complete)"
check_equal 'updates of accounts' 120 "$(statements "$trace" '^UPDATE pgbench_accounts')"
check_equal 'commits' 120 "$(statements "$trace" '^END;?$')"
check_equal 'the first and the last one' 2 "$(statements "$trace" "^SELECT '(first|last)'")"
check_equal 'failed' 1 "$(info "$trace" .failed)"
check_equal 'nothing is missing' '[]' "$(info "$trace" '.gaps | tostring')"
check_equal 'the server' "127.0.0.1:$PORT" "$(info "$trace" .server_address)"
check_equal 'the file is its owner'"'"'s alone' "nobody 600" "$(stat -c '%U %a' "$trace")"
check 'the summary counts drops' grep -q '^read .* packets' "$LIVE/run.err"
lacks() { ! grep -q "$1" "$2"; }
check 'no line of progress in a pipe' lacks $'\r' "$LIVE/run.err"

# SIGTERM while a session is in a transaction.
live_start term
coproc PSQL { live_psql bank; }
psql_pid=$PSQL_PID
echo "BEGIN; SELECT 'open';" >&"${PSQL[1]}"
read -r answer <&"${PSQL[0]}"
check_equal 'the answer' open "$answer"
live_stop term TERM 0
check_equal 'statements of an open session' 2 "$(statements "$LIVE/term.trace")"
check_equal 'complete' true "$(info "$LIVE/term.trace" .complete)"

# A session that was there before the capture; SIGKILL once its statements are on the disk.
live_start kill
for i in {1..20}; do
    echo "SELECT 'kill $i';" >&"${PSQL[1]}"
    read -r answer <&"${PSQL[0]}"
done
wait_kept "$LIVE/kill.trace.partial" "^SELECT 'kill" 20
live_stop kill KILL 137
check_equal 'statements after a kill' 20 "$(statements "$LIVE/kill.trace.partial" "^SELECT 'kill")"
check_equal 'not complete' false "$(info "$LIVE/kill.trace.partial" .complete)"
echo 'ROLLBACK;' >&"${PSQL[1]}"
eval "exec ${PSQL[1]}>&-"
wait "$psql_pid" 2>/dev/null

# It ends by itself.
live_start limit --stop-after 1s
while kill -0 "$live_pid" 2>/dev/null; do
    live_psql -c "SELECT 'limited'" bank >/dev/null
done
live_wait limit 0
check 'what came before the limit is there' test "$(statements "$LIVE/limit.trace" "^SELECT 'limited'")" -gt 0

# On a terminal: a line of what was captured, which changes, and is gone at the end.
script -qefc "exec '$CAPTURE' wire -i lo --server-port $PORT --stop-after 300s -o '$LIVE/tty.trace'" "$LIVE/tty.out" \
    >/dev/null </dev/null &
script_pid=$!
until grep -q 'capturing on' "$LIVE/tty.out" 2>/dev/null || ! kill -0 "$script_pid" 2>/dev/null; do sleep 0.05; done
shown() { tr '\r' '\n' <"$LIVE/tty.out" | grep -oE '^[0-9]+ packets, [0-9]+ sessions?, [0-9]+ statements?, [0-9]+ dropped' | sort -u; }
for n in 1 2; do
    for try in {1..100}; do
        live_psql -c "SELECT 'tty $n'" bank >/dev/null
        sleep 0.1
        [ "$(shown | grep -vc ' 0 statements')" -lt "$n" ] || break
    done
done
check 'the line changes' test "$(shown | grep -vc ' 0 statements')" -ge 2
check 'and counts' grep -Eq '^[1-9][0-9]* packets, [1-9][0-9]* sessions, [1-9][0-9]* statements, 0 dropped$' <<<"$(shown | tail -n 1)"
kill -INT "$(pgrep -P "$script_pid")"
status=0
wait "$script_pid" || status=$?
check_equal 'exit status on a terminal' 0 "$status"
# The summary begins a line of its own: what stood there was overwritten by blanks.
check 'the line is taken back' grep -Eq $'\r +\r+read +[0-9]' "$LIVE/tty.out"
check_equal 'no line of progress is left' 0 "$(sed '1,/[0-9] dropped/d' "$LIVE/tty.out" | grep -c ' dropped')"

# It ends by itself at a size.
live_start size --stop-after 1kB
while kill -0 "$live_pid" 2>/dev/null; do
    printf "SELECT length('%s');\n" "$(head -c 3000 /dev/urandom | base64 -w 0)" | live_psql bank >/dev/null
done
live_wait size 0
check 'at least that size' test "$(stat -c %s "$LIVE/size.trace")" -ge 1000
check_equal 'and complete' true "$(info "$LIVE/size.trace" .complete)"

# A ring that is full: what the kernel dropped is told, and the capture goes on behind it.
live_start drops --buffer 1MB
kill -STOP "$live_pid"
live_psql -c "SELECT repeat('x', 1000) FROM generate_series(1, 20000)" bank >/dev/null
kill -CONT "$live_pid"
live_psql -c "SELECT 'behind'" bank >/dev/null
live_stop drops INT 0
dropped=$(info "$LIVE/drops.trace" '[.gaps[] | select(.reason == "packets dropped by the kernel") | .count] | add // 0')
check 'dropped packets are in the trace' test "$dropped" -gt 0
check_equal 'as many as in the summary' "$dropped" "$(awk '/packets dropped by the kernel/ { print $(NF - 5) }' "$LIVE/drops.err")"
check_equal 'the capture went on' 1 "$(statements "$LIVE/drops.trace" "^SELECT 'behind'")"

# All interfaces; a filter that narrows; several ports.
"$CAPTURE" wire -i any --server-port "$PORT" --server-port 1 --filter 'host 127.0.0.1' \
    -o "$LIVE/any.trace" 2>"$LIVE/any.err" </dev/null &
live_pid=$!
until grep -q 'capturing on' "$LIVE/any.err" || ! kill -0 "$live_pid" 2>/dev/null; do sleep 0.05; done
live_psql -c "SELECT 'any'" bank >/dev/null
live_stop any INT 0
check_equal 'on all interfaces, once' 1 "$(statements "$LIVE/any.trace" "^SELECT 'any'")"
live_start none --filter 'host 192.0.2.1'
live_psql -c 'SELECT 1' bank >/dev/null
live_stop none INT 2
check 'nothing was captured, and it says so' grep -q 'there is no packet' "$LIVE/none.err"
check 'no file is left' test ! -e "$LIVE/none.trace" -a ! -e "$LIVE/none.trace.partial"

# CAP_NET_RAW alone, as another user; and not even that.
as_nobody=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)
"${as_nobody[@]}" --inh-caps -all,+net_raw --ambient-caps -all,+net_raw --bounding-set -all,+net_raw -- \
    "$CAPTURE" wire -i lo --server-port "$PORT" -o "$LIVE/raw.trace" 2>"$LIVE/raw.err" </dev/null &
live_pid=$!
until grep -q 'capturing on' "$LIVE/raw.err" || ! kill -0 "$live_pid" 2>/dev/null; do sleep 0.05; done
check_equal 'gives up CAP_NET_RAW too' 0000000000000000 "$(awk '/^CapEff:/ { print $2 }' "/proc/$live_pid/status")"
live_psql -c "SELECT 'raw'" bank >/dev/null
live_stop raw INT 0
check_equal 'with CAP_NET_RAW alone' 1 "$(statements "$LIVE/raw.trace" "^SELECT 'raw'")"
check_run 2 "${as_nobody[@]}" -- "$CAPTURE" wire -i lo -o "$LIVE/x.trace"
check 'what to do without it' grep -q 'no permission to capture on "lo".*setcap cap_net_raw=ep' "$WORK/err"

# Whom root becomes.
SUDO_UID=$(id -u "$SERVER_USER") SUDO_GID=$(id -g "$SERVER_USER") SUDO_USER=$SERVER_USER live_start sudo
live_psql -c 'SELECT 1' bank >/dev/null
live_stop sudo INT 0
check_equal "sudo's caller" "$SERVER_USER" "$(stat -c %U "$LIVE/sudo.trace")"
live_start root --run-as root
check_equal 'root without capabilities' 0000000000000000 "$(awk '/^CapEff:/ { print $2 }' "/proc/$live_pid/status")"
live_psql -c 'SELECT 1' bank >/dev/null
live_stop root INT 0
check_equal '--run-as root' root "$(stat -c %U "$LIVE/root.trace")"
install -d -m 700 "$WORK/locked"
check_run 2 "$CAPTURE" wire -i lo -o "$WORK/locked/x.trace"
check 'a folder that nobody can write' grep -q 'cannot create.*Permission denied' "$WORK/err"
check 'and what to do' grep -q 'hint: .*"nobody".*--run-as' "$WORK/err"

# Mistakes.
check_run 2 "$CAPTURE" wire -i nosuch0 -o "$LIVE/x.trace"
check 'an interface that is not there' grep -Eq 'there is no interface "nosuch0"; there are: .*\blo\b' "$WORK/err"
check_run 2 "$CAPTURE" wire -i lo --filter 'host' -o "$LIVE/x.trace"
check 'a filter that is none' grep -q 'the filter "host" cannot be used' "$WORK/err"
check_run 2 "$CAPTURE" wire -i lo --run-as no-such-user -o "$LIVE/x.trace"
check 'a user that is not there' grep -q 'there is no user "no-such-user"' "$WORK/err"
check_run 2 "$CAPTURE" wire -i lo --rotate 1s -o -
check_run 2 "$CAPTURE" wire -i lo -r "$WORK/none.pcap" -o "$LIVE/x.trace"
check_run 2 "$CAPTURE" wire -i lo --stop-after 10 -o "$LIVE/x.trace"
check 'a limit of unknown kind' grep -q 'a size (10GB) or a time (2h)' "$WORK/err"

# A disk that is full: what is there is kept.
if mkdir "$WORK/small" && mount -t tmpfs -o size=200k,mode=1777 none "$WORK/small" 2>/dev/null; then
    "$CAPTURE" wire -i lo --server-port "$PORT" -o "$WORK/small/full.trace" 2>"$LIVE/full.err" </dev/null &
    live_pid=$!
    until grep -q 'capturing on' "$LIVE/full.err" || ! kill -0 "$live_pid" 2>/dev/null; do sleep 0.05; done
    live_psql -c "SELECT 'small'" bank >/dev/null
    wait_kept "$WORK/small/full.trace.partial" "^SELECT 'small'" 1
    while kill -0 "$live_pid" 2>/dev/null; do
        printf "SELECT length('%s');\n" "$(head -c 30000 /dev/urandom | base64 -w 0)" | live_psql bank >/dev/null
    done
    live_wait full 3
    check 'a full disk is told' grep -q 'No space left on device' "$LIVE/full.err"
    check_equal 'what was captured before is kept' 1 "$(statements "$WORK/small/full.trace" "^SELECT 'small'")"
    check_equal 'and is not complete' false "$(info "$WORK/small/full.trace" .complete)"
    umount "$WORK/small"
else
    echo 'no tmpfs can be mounted here: the full disk is not tried'
fi
check_end
