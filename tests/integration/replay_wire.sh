#!/usr/bin/env bash
# Real clients captured from the wire and replayed on a clone, whose own traffic is captured too: its clients
# said the same, message by message and byte for byte, and the answers were of the same kind.
set -u
# shellcheck source=tests/integration/wire_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/wire_lib.sh"

wire_begin
pgbench -i -q -s 1 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres bank 2>/dev/null || exit 1
server_psql "$data" -d bank -c 'CREATE TABLE t (a int PRIMARY KEY, b text, c float8)' \
    -c "INSERT INTO t SELECT g, 'row ' || g, g / 3.0 FROM generate_series(1, 1000) AS g"
server_stop "$data"
wire_clone candidate
server_start "$data" free || exit 1
port=$SERVER_PORT

export PGHOST=127.0.0.1 PGUSER=postgres PGDATABASE=bank PGPORT=$port
capture_start "$port" "$WORK/production.pcap"

# Large objects by function calls: first, so that they have the same numbers on the clone.
head -c 300000 /dev/zero | tr '\0' 'x' >"$WORK/large"
psql -X -q >"$WORK/psql.out" 2>&1 <<END
\\lo_import $WORK/large
\\lo_export :LASTOID $WORK/large.out
\\lo_unlink :LASTOID
END
check 'the large object came back' cmp "$WORK/large" "$WORK/large.out"

psql -X -q -v ON_ERROR_STOP=0 >"$WORK/psql.out" 2>&1 <<'END'
SELECT 1, ';' AS "semi;colon"; SELECT '' ;
;
BEGIN;
INSERT INTO t SELECT g, 'x' FROM generate_series(2001, 3000) AS g;
SELECT 1 / (a - 500) FROM t;
SELECT 'in a failed transaction';
ROLLBACK;
SELECT 1\; SELECT 1 / 0\; SELECT 2;
\copy t (a, b) FROM PROGRAM 'seq 10001 30000 | sed "s/$/\tabcdefghij/"'
\copy t TO '/dev/null'
\copy t (a) FROM PROGRAM 'echo nonsense'
\copy t (a) FROM PROGRAM 'seq 1 20000'
\copy nowhere FROM PROGRAM 'echo 1'
COPY t (a) FROM STDIN\; COPY t (a) FROM STDIN\; SELECT 3;
40001
\.
40002
\.
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t ORDER BY a;
FETCH 3 FROM c;
MOVE 10 FROM c;
FETCH 2 FROM c;
COMMIT;
PREPARE p(int) AS SELECT $1;
EXECUTE p(3);
DEALLOCATE p;
\set FETCH_COUNT 100
SELECT * FROM t LIMIT 250;
END
for protocol in simple extended prepared; do
    check_run 0 pgbench -n -M "$protocol" -c 4 -t 25
done
cat >"$WORK/pipeline.sql" <<'END'
\set a random(1, 100)
\startpipeline
SELECT abalance FROM pgbench_accounts WHERE aid = :a;
UPDATE pgbench_branches SET bbalance = bbalance + :a;
SELECT :a;
\endpipeline
END
check_run 0 pgbench -n -M extended -c 2 -t 10 -f "$WORK/pipeline.sql"
check_run 0 pgbench -n -M prepared -c 2 -t 10 -f "$WORK/pipeline.sql"

# A notification that comes while the session is idle.
(
    echo 'LISTEN chat;'
    echo "SELECT 'listening';"
    for _ in {1..100}; do
        [ -e "$WORK/said" ] && break
        sleep 0.1
    done
    echo 'SELECT 1;'
) | psql -X -q -At >"$WORK/listener.out" 2>&1 &
listener=$!
for _ in {1..100}; do
    grep -q listening "$WORK/listener.out" && break
    sleep 0.1
done
psql -X -q -c "NOTIFY chat, 'hello'" -c "SELECT pg_notify('chat', 'again')" >/dev/null
: >"$WORK/said"
wait "$listener"
check_equal 'notifications' 2 "$(grep -c 'Asynchronous notification "chat"' "$WORK/listener.out")"

# A cancel that is needed, and one that comes when its statement is over.
psql -X -q -c 'SELECT pg_sleep(100)' >"$WORK/cancelled.out" 2>&1 &
sleeper=$!
for _ in {1..100}; do
    [ "$(psql -X -At -h "$SERVER_SOCKETS" -c "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(100)'")" = 1 ] && break
    sleep 0.1
done
kill -INT "$sleeper"
wait "$sleeper"
check 'it was cancelled' grep -q 'canceling statement due to user request' "$WORK/cancelled.out"

# Prepared once, bound often: types, binary values, formats a column, portals with row limits.
cat >"$WORK/extended.script" <<'END'
P s1|23,0|SELECT $1 + a, b, c FROM t WHERE a <= $2::int ORDER BY a
D S|s1
S
? Z 1
B -|s1|each|x00000001,t5|011
D P|-
E -|0
S
? Z 1
B p1|s1|-|x00000002,x00000009|1
H
? 2 1
D P|p1
H
? T 1
E p1|4
H
? s 1
E p1|4
H
? s 1
E p1|4
H
? C 1
C P|p1
S
? Z 1
P -|-|SELECT $1::text, $2::int8[]
B -|-|one|tone,t{1;2}|-
E -|0
S
? Z 1
B -|-|-|N,t{1}|0
E -|0
S
? Z 1
Q BEGIN
? Z 1
P c|-|SELECT a, b FROM t WHERE a <= 1000 ORDER BY a
B cursor|c|-|-|-
S
? Z 1
E cursor|300
S
? Z 1
Q SELECT 'between'
? Z 1
E cursor|300
S
? Z 1
E cursor|0
S
? Z 1
Q COMMIT
? Z 1
E cursor|1
S
? Z 1
C S|c
C S|s1
S
? Z 1
B -|c|-|-|-
E -|0
S
? Z 1
P -|-|
B -|-|-|-|-
E -|0
S
? Z 1
END
# Pipelines: with a Sync each, several with one, one that fails in it, one that is read late.
cat >"$WORK/pipelines.script" <<'END'
P -|-|SELECT 1
B -|-|-|-|-
D P|-
E -|0
S
P -|-|SELECT 2
B -|-|-|-|-
D P|-
E -|0
S
Q SELECT 3
P -|-|SELECT 4
B -|-|-|-|-
E -|0
S
? Z 4
P -|-|INSERT INTO t VALUES (50001)
B -|-|-|-|-
E -|0
P -|-|SELECT 1 / (a - a) FROM t
B -|-|-|-|-
E -|0
P -|-|SELECT 'skipped'
B -|-|-|-|-
E -|0
>
S
P -|-|SELECT count(*) FROM t
B -|-|-|-|-
E -|0
S
? Z 2
P x|-|SELECT generate_series(1, 5000), repeat('x', 100)
B -|x|-|-|-
E -|0
S
B -|x|-|-|-
E -|10
S
? D 100
B -|x|-|-|-
E -|10
S
? Z 3
P bad|-|SELEC
P bad|-|SELECT 5
S
? Z 1
F 1344|-|t2|0
F 1344|one|x4010000000000000|1
F 1344|each|x4010000000000000|1
? Z 3
F 1|-|-|0
? Z 1
gone
END
# COPY in the extended protocol, with one Sync and with two; what is sent blindly; CopyFail; and data behind
# an error.
cat >"$WORK/copies.script" <<'END'
P -|-|COPY t (a) FROM STDIN
B -|-|-|-|-
E -|0
S
? G 1
d 60001
d 60002
c
S
? Z 1
P -|-|COPY t (a) FROM STDIN
B -|-|-|-|-
E -|0
H
? G 1
d 60003
c
S
? Z 1
Q COPY t (a) FROM STDIN
d 60004
c
? Z 1
Q COPY t (a) FROM STDIN
? G 1
d 60005
f I do not want to
? Z 1
P -|-|COPY t (a) FROM STDIN
B -|-|-|-|-
E -|0
S
? G 1
d bad
? E 1
d 60006
c
S
? Z 1
P -|-|COPY (SELECT a FROM t WHERE a < 2000) TO STDOUT
B -|-|-|-|-
E -|0
S
? Z 1
Q COPY t (a) FROM STDIN
? G 1
d bad
? Z 1
d 60007
c
Q SELECT count(*) FROM t
? Z 1
END
# Clients that leave without a word: while idle, within a transaction, by a reset.  A cancel request of when
# nothing ran, which must not hit anything in the replay.
printf '%s\n' "Q SELECT 'gone'" '? Z 1' gone >"$WORK/gone.script"
printf '%s\n' 'Q BEGIN' '? Z 1' 'Q INSERT INTO t (a) VALUES (70001)' '? Z 1' gone >"$WORK/gone_within.script"
printf '%s\n' "Q SELECT 'reset'" '? Z 1' reset >"$WORK/reset.script"
printf '%s\n' "Q SELECT 'before an idle cancel'" '? Z 1' cancel "Q SELECT 'behind it'" '? Z 1' >"$WORK/idle.script"
for name in extended pipelines copies gone gone_within reset idle; do
    talk "$name"
done
capture_stop "$port" "$WORK/production.pcap"
server_stop "$data"

wire_read "$port"

unset PGPORT PGHOST PGUSER PGDATABASE
wire_rehearse "$port"
check 'they are many' grep -q '^31 connections with 7[0-9]* messages are the same, 0 have no twin; 2 and 1 cancel' "$WORK/out"
check 'they ended as in production' grep -q '^ended: [0-9]* with Terminate, 3 without, 1 by a reset' "$WORK/out"
check_equal 'and the run says so' '3 closed without Terminate, 1 connection reset' \
    "$("$RH_BIN/pgrehearse" show "$WORK/t.run" | jq -r 'select(.kind == "close") | .how // empty' | sort | uniq -c |
        awk '{ $1 = $1; print }' | paste -sd, | sed 's/,/, /g')"
check_equal 'the idle cancel' 'cancel-not-needed' "$("$RH_BIN/pgrehearse" show "$WORK/t.trace" |
    jq -r 'select(.kind == "cancel" and .not_replayable) | .not_replayable')"
check_equal 'is not sent' 'skipped cancel-not-needed' "$("$RH_BIN/pgrehearse" show "$WORK/t.run" |
    jq -r 'select(.kind == "cancel" and .fate == "skipped") | .fate + " " + .reason')"
check 'there are records' test "$(wc -l <"$WORK/production.outcomes")" -gt 2300
check 'all went as in production' grep -q '15 failed (of those sent, 15 failed in production)' "$WORK/replay.err"
check_end
