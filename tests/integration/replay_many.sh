#!/usr/bin/env bash
# Hundreds of sessions at once, and no more than were open in production or than are allowed.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
many=${RH_MANY_SESSIONS:-500}
sql 'CREATE TABLE peak (n int); GRANT ALL ON peak TO app; GRANT pg_read_all_stats TO app' >/dev/null
watch="INSERT INTO peak SELECT count(*) FROM pg_stat_activity WHERE application_name = 'maker'"

{
    # They ran when the capture began, so the clock waits until all are connected; and they stay for
    # seconds behind the look at them, which may come late.
    for i in $(seq 1 "$many"); do session "$i" 0 12000 joined; done
    for i in $(seq 1 "$many"); do
        for t in 500 1500 2500; do query "$i" "$t" 1 be "SELECT $i"; done
    done
    query 1 3000 1 be "$watch"
} | make_trace many
replay 0 many --jobs 2 --speed 2
check_equal "$many sessions" $((many * 3 + 1)) "$(count_fate many done)"
check_equal 'at once' "$many" "$(sql 'SELECT max(n) FROM peak')"
check 'the summary counts them' grep -q "$many opened, 0 refused, 0 lost" "$WORK/err"

# At --speed max: sessions that followed each other in production do so here.
sql 'TRUNCATE peak' >/dev/null
{
    for i in $(seq 1 100); do session "$i" "$((i * 10))" "$((i * 10 + 15))"; done
    for i in $(seq 1 100); do query "$i" "$((i * 10 + 5))" 1 be "$watch"; done
} | make_trace chain
replay 0 chain --speed max --jobs 2
check_equal 'a chain of sessions' 100 "$(count_fate chain done)"
# Two overlap in production.  A backend that was told to end is seen until it has: how long that is
# is a matter of the machine, but nobody would see half of them if they followed each other.
check "few are open at once ($(sql 'SELECT max(n) FROM peak'))" test "$(sql 'SELECT max(n) FROM peak')" -le 50

# --max-connections: all have their turn.
sql 'TRUNCATE peak' >/dev/null
{
    for i in $(seq 1 60); do session "$i" 0 -; done
    for i in $(seq 1 60); do
        query "$i" 10 1 be "$watch"
        query "$i" 20 1 be "$watch"
    done
} | make_trace limit
for speed in 1 max; do
    replay 0 limit --max-connections 5 --speed "$speed" --jobs 2
    check_equal "all have their turn at speed $speed" 120 "$(count_fate limit done)"
done
check "few are open at once ($(sql 'SELECT max(n) FROM peak'))" test "$(sql 'SELECT max(n) FROM peak')" -le 30
check_end
