#!/usr/bin/env bash
# SIGINT ends a replay cleanly, with all it had and all it had not; SIGKILL leaves a usable file.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
{
    session 1 0 3600000
    session 2 0 3600000
    session 3 3000000 3600000
    for t in $(seq 0 50 60000); do query 1 "$t" 1 be "SELECT $t"; done
    query 2 100 3000000 be 'SELECT pg_sleep(3000) /* long */'
    query 2 3500000 1 be 'SELECT 2'
    query 3 3100000 1 be 'SELECT 3'
} | make_trace stop

replay_start stop
sql_until 1 "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%long */' AND state = 'active' AND pid <> pg_backend_pid()"
log_until 16 'SELECT [0-9]+$'
pkill -INT -P "$replay_pid"
replay_wait 3
check_equal 'every statement is recorded' 1204 "$(dump stop | wc -l)"
check 'the run says that it was stopped' grep -q incomplete "$WORK/dump.err"
check_equal 'what ran was cancelled' '1 done - 57014 -1' "$(fates stop 2 | sed -n 1p)"
check_equal 'what was not sent' '2 not-sent stopped - -1' "$(fates stop 2 | sed -n 2p)"
check_equal 'a session that was not opened' '1 not-sent stopped - -1' "$(fates stop 3)"
done_count=$(fates stop 1 | grep -c done)
check "some of session 1 were sent ($done_count)" test "$done_count" -ge 15 -a "$done_count" -lt 1200
check_equal 'the rest of it was not' $((1201 - done_count)) "$(fates stop 1 | grep -c 'not-sent stopped')"
check 'the message tells' grep -q 'stopped early' "$WORK/err"
check_equal 'no session of ours is left' 0 "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'maker'")"

# Again at once: it ends without waiting.
replay_start stop
sql_until 1 "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%long */' AND state = 'active' AND pid <> pg_backend_pid()"
pkill -INT -P "$replay_pid"
sleep 0.2
pkill -INT -P "$replay_pid"
status=0
wait "$replay_pid" || status=$?
check "a second signal ends it ($status)" test "$status" -ne 0

sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'maker'" >/dev/null

# SIGKILL: what is older than the recorder's two seconds is there.
rm -f "$WORK"/stop.run*
replay_start stop
for _ in {1..300}; do
    "$RH_BIN/replay_trace" dump "$WORK/stop.run.partial" 2>/dev/null | grep -c done >"$WORK/kept"
    [ "$(cat "$WORK/kept")" -ge 10 ] && break
    sleep 0.2
done
pkill -KILL -P "$replay_pid"
wait "$replay_pid"
check 'the partial run is there' test -s "$WORK/stop.run.partial"
mv "$WORK/stop.run.partial" "$WORK/stop.run"
check "it holds what was there before ($(dump stop | wc -l))" \
    test "$(cat "$WORK/kept")" -ge 10 -a "$(dump stop | wc -l)" -ge "$(cat "$WORK/kept")"
check 'and says that it is incomplete' grep -q incomplete "$WORK/dump.err"
check_end
