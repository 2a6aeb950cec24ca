#!/usr/bin/env bash
# A workload from the wire on a candidate that answers differently, over plain sockets and TLS, at several speeds,
# from the middle, and with a backend that is lost.
set -u
# shellcheck source=tests/integration/wire_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/wire_lib.sh"

wire_begin
server_psql "$data" -d bank -c 'CREATE TABLE gone (a int); CREATE TABLE dropped (a int);
    CREATE TABLE strict (a int);
    CREATE TABLE number (a int); CREATE TABLE large (a int)' \
    -c "CREATE FUNCTION nap() RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_sleep(60)'" \
    -c "CREATE FUNCTION quick() RETURNS int LANGUAGE sql AS 'SELECT 1'" \
    -c 'CREATE TABLE torn (a int)'
server_stop "$data"
wire_clone candidate
server_start "$data" free || exit 1
export PGPORT=$SERVER_PORT

# The candidate has no table gone and dropped, refuses 13 in strict, has the table missing, and takes any text
# as a number.
cat >"$WORK/diverge.script" <<'END'
P -|-|SELECT count(*) FROM gone
B -|-|-|-|-
E -|0
P -|-|SELECT 'skipped there'
B -|-|-|-|-
E -|0
S
P -|-|SELECT 'goes on'
B -|-|-|-|-
E -|0
S
? Z 2
P -|-|SELECT count(*) FROM gone
B -|-|-|-|-
H
? 2 1
E -|0
H
? C 1
S
? Z 1
Q COPY dropped FROM STDIN
? G 1
d 1
c
? Z 1
P -|-|COPY dropped FROM STDIN
B -|-|-|-|-
E -|0
S
? G 1
d 1
d 2
c
S
? Z 1
P -|-|COPY dropped FROM STDIN
B -|-|-|-|-
E -|0
H
? G 1
d 1
d 2
c
S
? Z 1
Q COPY strict FROM STDIN
? G 1
d 12
d 13
d 14
c
? Z 1
P -|-|COPY strict FROM STDIN
B -|-|-|-|-
E -|0
S
? G 1
d 12
d 13
c
S
? Z 1
Q COPY missing FROM STDIN
? Z 1
P -|-|COPY missing FROM STDIN
B -|-|-|-|-
E -|0
S
? Z 1
P -|-|COPY missing FROM STDIN
B -|-|-|-|-
E -|0
H
? E 1
S
? Z 1
Q COPY number FROM STDIN
? G 1
d word
? Z 1
Q BEGIN
? Z 1
Q SELECT count(*) FROM gone
? Z 1
P -|-|SELECT 'in its block'
B -|-|-|-|-
E -|0
S
? Z 1
Q COMMIT
? Z 1
P -|-|SELECT 'before a secret'
B -|-|-|-|-
E -|0
P -|-|ALTER ROLE postgres PASSWORD 'open sesame'
B -|-|-|-|-
E -|0
S
? Z 1
Q SELECT 'the end'
? Z 1
END
# A long value in several messages at once: more than a socket takes.
{
    long=$(head -c 3000000 /dev/zero | tr '\0' 'x')
    for _ in 1 2 3; do
        printf 'P -|25|SELECT 1 / (length($1) = 3000000)::int\nB -|-|-|t%s|-\nE -|0\nS\n' "$long"
    done
    echo '? Z 3'
    echo 'Q COPY large FROM STDIN'
    echo '? G 1'
    seq -f 'd %.0f' 1 20000
    echo c
    echo '? Z 1'
} >"$WORK/large.script"

# A cancel within a series without Sync, with the Sync behind it; one that is not needed there, since the
# candidate's function does not sleep; one in a pipeline.
cat >"$WORK/cancels.script" <<'END'
P -|-|SELECT pg_sleep(60)
B -|-|-|-|-
E -|0
>
pause 200
cancel
? E 1
S
? Z 1
Q SELECT nap()
>
pause 200
cancel
? Z 1
P -|-|SELECT 'first'
B -|-|-|-|-
E -|0
S
P -|-|SELECT pg_sleep(60)
B -|-|-|-|-
E -|0
S
Q SELECT 'third'
>
pause 200
cancel
? Z 3
END

# A cancel that comes when nothing runs in production; in the candidate the statement before it still does.
printf '%s\n' 'Q SELECT quick()' '? Z 1' cancel "Q SELECT 'behind it'" '? Z 1' >"$WORK/idle.script"

# A transaction that is longer than a file of a rotation is kept open.
cat >"$WORK/torn.script" <<'END'
P kept|23|SELECT $1
S
? Z 1
Q PREPARE by_sql AS SELECT 5
? Z 1
Q BEGIN
? Z 1
Q INSERT INTO torn VALUES (1)
? Z 1
Q INSERT INTO torn VALUES (2)
? Z 1
Q INSERT INTO torn VALUES (3)
? Z 1
B -|kept|-|x00000003|-
E -|0
S
? Z 1
Q COMMIT
? Z 1
Q INSERT INTO torn VALUES (4)
? Z 1
B -|kept|-|x00000004|-
E -|0
S
? Z 1
Q EXECUTE by_sql
? Z 1
END

# What a session has prepared, with types that only its Parse tells; the unnamed statement bound again.
cat >"$WORK/typed.script" <<'END'
P s|20|SELECT pg_typeof($1)::text, $1
P closed|-|SELECT 'closed'
S
? Z 1
C S|closed
S
? Z 1
P -|21|SELECT pg_typeof($1)::text, 'unnamed'
B -|-|-|x0001|-
E -|0
S
? Z 1
B -|s|-|x0000000000000001|1
E -|0
S
? Z 1
Q SELECT pg_advisory_lock(7) /* the place */
? Z 1
P -|21|SELECT pg_typeof($1)::text, 'unnamed'
B -|-|-|x0001|-
E -|0
S
? Z 1
B -|s|-|x0000000000000002|1
E -|0
S
? Z 1
P closed|-|SELECT 'again'
B -|closed|-|-|-
E -|0
S
? Z 1
B -|-|-|x0002|-
E -|0
S
? Z 1
END

# A client that goes away without a Sync, and one in the middle of its COPY.
cat >"$WORK/left.script" <<'END'
P -|-|SELECT 'left'
B -|-|-|-|-
E -|0
gone
END
cat >"$WORK/left_copy.script" <<'END'
Q COPY large FROM STDIN
? G 1
d 1
gone
END

# More statements in one series than one batch, or the server's buffer, has answers for.
{
    echo 'P x|23|SELECT $1'
    for _ in {1..3000}; do
        printf 'B -|x|-|x00000001|1\nE -|0\n'
    done
    printf 'S\n? Z 1\n'
} >"$WORK/series.script"

export PGHOST=127.0.0.1 PGUSER=postgres PGDATABASE=bank
capture_start "$PGPORT" "$WORK/production.pcap"
for name in diverge large cancels typed left left_copy series idle; do
    talk "$name"
done
capture_stop "$PGPORT" "$WORK/production.pcap"
capture_start "$PGPORT" "$WORK/torn.pcap"
talk torn
capture_stop "$PGPORT" "$WORK/torn.pcap"
server_stop "$data"
check_run 0 "$RH_BIN/pgrehearse" capture wire -r "$WORK/production.pcap" --server-port "$PGPORT" -o "$WORK/t.trace"
check_run 0 "$RH_BIN/wire_messages" pace 20 "" "$WORK/torn.pcap" "$WORK/stretched.pcap"
check_run 0 "$RH_BIN/pgrehearse" capture wire -r "$WORK/stretched.pcap" --server-port "$PGPORT" --rotate 100s \
    -o "$WORK/part.trace"
port=$PGPORT
unset PGHOST PGPORT PGUSER PGDATABASE PGSSLMODE

candidate=$SERVER_ROOT/candidate
openssl req -new -x509 -days 2 -nodes -subj /CN=localhost -newkey rsa:2048 \
    -keyout "$candidate/server.key" -out "$candidate/server.crt" 2>/dev/null || exit 1
chmod 600 "$candidate/server.key"
[ "$(id -u)" -ne 0 ] || chown "$SERVER_USER" "$candidate/server.key" "$candidate/server.crt"
server_configure "$candidate" <<<'ssl = on'
server_start "$candidate" free || exit 1
server_psql "$candidate" -d bank -c 'DROP TABLE gone, dropped; CREATE TABLE missing (a text);
    ALTER TABLE strict ADD CHECK (a <> 13); ALTER TABLE number ALTER a TYPE text' \
    -c "CREATE OR REPLACE FUNCTION nap() RETURNS int LANGUAGE sql AS 'SELECT 1'" \
    -c "CREATE OR REPLACE FUNCTION quick() RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_sleep(0.3)'"

# replay STATUS NAME SSLMODE OPTION..., of $TRACE if it is set
replay() {
    local status=$1 name=$2 way=$3
    shift 3
    check_run "$status" "$RH_BIN/pgrehearse" replay -d "host=127.0.0.1 port=$SERVER_PORT sslmode=$way" -U postgres \
        -o "$WORK/$name.run" "$@" "${TRACE:-$WORK/t.trace}"
    cp "$WORK/err" "$WORK/$name.err"
}

# "kind fate reason SQLSTATE rows text" of a session's records
fates() {
    "$RH_BIN/pgrehearse" show "$WORK/$1.run" | jq -r --argjson session "$2" 'select(.session == $session and .fate != null)
        | [.kind, .fate, .reason // "-", .sqlstate // "-", .rows // "-", (.sql // "-" | .[0:39])] | join(" ")'
}

for run in "plain disable 1" "tls require 1" "flat disable max"; do
    read -r name way speed <<<"$run"
    replay 0 "$name" "$way" --speed "$speed"
    check_equal "$name: the candidate answers differently" "execute done - 42P01 - SELECT count(*) FROM gone
execute not-sent protocol - - SELECT 'skipped there'
execute done - 00000 1 SELECT 'goes on'
execute done - 42P01 - SELECT count(*) FROM gone
query done - 42P01 - COPY dropped FROM STDIN
execute done - 42P01 - COPY dropped FROM STDIN
execute done - 42P01 - COPY dropped FROM STDIN
query done - 23514 - COPY strict FROM STDIN
execute done - 23514 - COPY strict FROM STDIN
query skipped no-copy-data 57014 - COPY missing FROM STDIN
execute skipped no-copy-data 57014 - COPY missing FROM STDIN
execute skipped no-copy-data 57014 - COPY missing FROM STDIN
query skipped no-copy-data 57014 - COPY number FROM STDIN
query done - 00000 - BEGIN
query done - 42P01 - SELECT count(*) FROM gone
execute done - 25P02 - SELECT 'in its block'
query done - 00000 - COMMIT
execute done - 00000 1 SELECT 'before a secret'
execute skipped secret - - ALTER ROLE postgres PASSWORD '<password
query done - 00000 1 SELECT 'the end'" "$(fates "$name" 1)"
    check_equal "$name: long messages" "execute done - 00000 1 SELECT 1 / (length(\$1) = 3000000)::int
execute done - 00000 1 SELECT 1 / (length(\$1) = 3000000)::int
execute done - 00000 1 SELECT 1 / (length(\$1) = 3000000)::int
query done - 00000 20000 COPY large FROM STDIN" "$(fates "$name" 2)"
    check_equal "$name: cancels" "execute done - 57014 - SELECT pg_sleep(60)
cancel done - - - -
protocol done - 00000 - -
query done - 00000 1 SELECT nap()
cancel skipped cancel-not-needed - - -
execute done - 00000 1 SELECT 'first'
execute done - 57014 - SELECT pg_sleep(60)
query done - 00000 1 SELECT 'third'
cancel done - - - -" "$(fates "$name" 3)"
    check_equal "$name: typed statements" '10 00000' "$(fates "$name" 4 | cut -d' ' -f4 | sort | uniq -c | xargs)"
    check_equal "$name: left without a Sync" "execute done - 00000 1 SELECT 'left'" "$(fates "$name" 5)"
    check_equal "$name: left in COPY" 'query lost - - - COPY large FROM STDIN' "$(fates "$name" 6)"
    check_equal "$name: a long series" '3000 execute done - 00000 1 SELECT $1' \
        "$(fates "$name" 7 | grep -v '^protocol' | sort | uniq -c | xargs)"
    check_equal "$name: a cancel that hit nothing hits nothing" 'query done - 00000 1 SELECT quick()
cancel skipped cancel-not-needed - - -
query done - 00000 1 SELECT '"'behind it'" "$(fates "$name" 8)"
    check_equal "$name: no row of a COPY that failed or was left" '0 0 20000' \
        "$(server_psql "$candidate" -d bank -At -F ' ' -c "SELECT (SELECT count(*) FROM strict), (SELECT count(*) FROM missing), (SELECT count(*) FROM large)")"
    server_psql "$candidate" -d bank -c 'TRUNCATE large'
done

# From the middle: what was prepared before is there, with its types; what was closed is not.
"$RH_BIN/pgrehearse" show "$WORK/t.trace" >"$WORK/t.json"
from=$(jq -r 'select(.session == 4 and .ordinal == 8) | .start' "$WORK/t.json")
to=$(jq -r 'select(.session == 4 and .kind == "close") | .start' "$WORK/t.json")
replay 0 window disable --speed max --from "$from" --to "$to"
check_equal 'from the middle' "execute done - 00000 1 SELECT pg_typeof(\$1)::text, \$1
execute done - 00000 1 SELECT 'again'
execute done - 00000 1 SELECT pg_typeof(\$1)::text, 'unnamed'" "$(fates window 4 | grep -v outside-window)"

# The files of a rotation that tore a transaction (packets were 20 seconds apart), one after the other: what was
# begun in one is not ended, its rest is not sent, and what the session had prepared is there.  (2: nothing of a file can be sent.)
parts=("$WORK/part.trace" "$WORK"/part.0*.trace)
for i in "${!parts[@]}"; do
    TRACE=${parts[$i]} replay '0|2' "part$i" disable --speed max
    fates "part$i" 1 >"$WORK/part$i.fates"
    grep -q ' outside-window ' "$WORK/part$i.fates" &&
        check "part $i says so" grep -Eq '^outside +[1-9].* or when the capture began' "$WORK/part$i.err"
done
cat "$WORK"/part*.fates >"$WORK/all.fates"
begins=$(grep -l ' BEGIN$' "$WORK"/part*.fates) ends=$(grep -l ' COMMIT$' "$WORK"/part*.fates)
check 'the transaction is torn' test "$begins" != "$ends"
check_equal 'each record is in one file' 11 "$(wc -l <"$WORK/all.fates")"
check_equal 'in the file where it began all is done' 0 "$(grep -vc ' done - 00000 ' "$begins")"
check_equal 'its end is not sent' 'query not-sent outside-window - - COMMIT' "$(grep ' COMMIT$' "$WORK/all.fates")"
check_equal 'nothing else is left out' 0 "$(sed '/ COMMIT$/q' "$WORK/all.fates" |
    grep -vcE ' (done - 00000|not-sent outside-window - -) ')"
check_equal 'behind it all is done' 'query done - 00000 1 INSERT INTO torn VALUES (4)
execute done - 00000 1 SELECT $1
query done - 00000 1 EXECUTE by_sql' "$(sed '1,/ COMMIT$/d' "$WORK/all.fates")"
check_equal 'what came of all' 4 "$(server_psql "$candidate" -d bank -At -c 'SELECT a FROM torn')"

# A capture that begins in the middle of that transaction: neither its rest is sent nor what was prepared before.
server_psql "$candidate" -d bank -c 'TRUNCATE torn'
check_run 0 "$RH_BIN/wire_messages" pace 1 'VALUES (2)' "$WORK/torn.pcap" "$WORK/joined.pcap"
check_run 0 "$RH_BIN/pgrehearse" capture wire -r "$WORK/joined.pcap" --server-port "$port" -o "$WORK/joined.trace"
check 'what was prepared before is counted' grep -q ' 3  prepared before the capture began' "$WORK/err"
TRACE=$WORK/joined.trace replay 0 joined 'disable dbname=bank' --speed max
check_equal 'joined within a transaction' "query not-sent outside-window - - INSERT INTO torn VALUES (2)
query not-sent outside-window - - INSERT INTO torn VALUES (3)
execute not-sent outside-window - - -
query not-sent outside-window - - COMMIT
query done - 00000 1 INSERT INTO torn VALUES (4)
execute skipped not-prepared - - -
query skipped not-prepared - - EXECUTE by_sql" "$(fates joined 1)"
check_equal 'what came of it' 4 "$(server_psql "$candidate" -d bank -At -c 'SELECT a FROM torn')"

# A backend that is lost: another one gets what was prepared.  The candidate's session waits for a lock that
# it gets never, where production's had it at once.
(
    echo 'SELECT pg_advisory_lock(7);'
    echo "SELECT 'locked';"
    for _ in {1..1200}; do
        [ -e "$WORK/lost.done" ] && break
        sleep 0.1
    done
) | server_psql "$candidate" -d bank -At >"$WORK/lock.out" &
locker=$!
for _ in {1..600}; do
    grep -q locked "$WORK/lock.out" && break
    sleep 0.1
done
from=$(jq -r 'select(.session == 4 and .kind == "open") | .start' "$WORK/t.json")
timeout "$CHECK_TIMEOUT_S" "$RH_BIN/pgrehearse" replay -d "host=127.0.0.1 port=$SERVER_PORT sslmode=require" -U postgres \
    -o "$WORK/lost.run" --speed max --from "$from" --to "$to" "$WORK/t.trace" >"$WORK/out" 2>"$WORK/lost.err" &
replay_pid=$!
for _ in {1..600}; do
    found=$(server_psql "$candidate" -d bank -At -c "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE query LIKE '%the place%' AND wait_event = 'advisory' AND pid <> pg_backend_pid()")
    [ "$found" = 1 ] && break
    sleep 0.1
done
wait "$replay_pid"
check_equal 'exit status of the replay that lost a backend' 0 $?
: >"$WORK/lost.done"
wait "$locker"
check_equal 'behind the loss' "query done - 57P01 - SELECT pg_advisory_lock(7) /* the place
execute done - 00000 1 SELECT pg_typeof(\$1)::text, 'unnamed'
execute done - 00000 1 SELECT pg_typeof(\$1)::text, \$1
execute done - 00000 1 SELECT 'again'
execute done - 00000 1 SELECT pg_typeof(\$1)::text, 'unnamed'" "$(fates lost 4 | tail -n 5)"
check_end
