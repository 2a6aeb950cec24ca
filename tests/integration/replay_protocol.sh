#!/usr/bin/env bash
# Statements of every kind, and what the server makes of them.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
sql 'CREATE TABLE item (id int PRIMARY KEY, name text); GRANT ALL ON item TO app' >/dev/null
sql 'CREATE TABLE log (at int, what text); GRANT ALL ON log TO app' >/dev/null

# Extended protocol: values, NULL, names whose text changes, DEALLOCATE ALL behind our back.
{
    session 1 0 1000
    execute 1 10 1 be no-types - 'INSERT INTO item VALUES ($1, $2)' 1 "it's"
    execute 1 20 1 be no-types S_1 'INSERT INTO item VALUES ($1, $2)' 2 '\N'
    execute 1 30 1 be no-types S_1 'INSERT INTO item VALUES ($1, $2)' 3 three
    execute 1 40 1 be no-types S_1 'UPDATE item SET name = $2 WHERE id = $1' 3 drei
    execute 1 50 1 be no-types S_1 'UPDATE item SET name = $2 WHERE id = $1' 1 eins
    query 1 60 1 be 'DEALLOCATE ALL'
    execute 1 70 1 be no-types S_1 'UPDATE item SET name = $2 WHERE id = $1' 2 zwei
    query 1 80 1 be 'DO $$ BEGIN DEALLOCATE "S_1"; END $$'
    execute 1 90 1 be no-types S_1 'UPDATE item SET name = $2 WHERE id = $1' 2 two
    execute 1 95 1 be no-types S_1 'UPDATE item SET name = $2 WHERE id = $1' 2 three
    execute 1 100 1 be 'no-types,has-parse' S_1 'SELECT id FROM item WHERE id < $1' 3
    execute 1 110 1 be no-types - 'SELECT $1 + $2' 1 2
} | make_trace extended
replay 0 extended --speed max
check_equal 'extended' '1 done - 00000 1
2 done - 00000 1
3 done - 00000 1
4 done - 00000 1
5 done - 00000 1
6 done - 00000 -1
7 done - 00000 1
8 done - 00000 -1
9 done - 26000 -1
10 done - 00000 1
11 done - 00000 2
12 done - 42725 -1' "$(fates extended 1)"
check_equal 'rows' '1|eins
2|three
3|drei' "$(sql 'SELECT * FROM item ORDER BY id')"
check 'types unknown are told apart' grep -q '1  42725, perhaps as a log does not tell the types of parameters' "$WORK/err"
check 'as are other failures' grep -q '1  26000' "$WORK/err"

# A pipeline is one implicit transaction: it commits at its end, or not at all.
{
    session 1 0 1000
    execute 1 10 1 b no-types - 'INSERT INTO log VALUES ($1, $$first$$)' 1
    execute 1 20 1 - no-types - 'INSERT INTO log VALUES ($1, $$first$$)' 2
    execute 1 30 1 e no-types - 'INSERT INTO log VALUES ($1, $$first$$)' 3
    execute 1 40 1 b no-types - 'INSERT INTO log VALUES ($1, $$second$$)' 4
    execute 1 50 1 - no-types - 'INSERT INTO item VALUES (1, $1)' duplicate
    execute 1 60 1 - no-types - 'INSERT INTO log VALUES ($1, $$second$$)' 5
    execute 1 70 1 e no-types - 'INSERT INTO log VALUES ($1, $$second$$)' 6
    execute 1 80 1 be no-types - 'INSERT INTO log VALUES ($1, $$third$$)' 7
    execute 1 90 1 b no-types - 'INSERT INTO log VALUES ($1, $$no end$$)' 8
    query 1 100 1 be 'SELECT 1'
    execute 1 110 1 b no-types - 'INSERT INTO log VALUES ($1, $$last$$)' 9
} | make_trace pipeline
replay 0 pipeline --speed max
check_equal 'pipelines' '1 done - 00000 1
2 done - 00000 1
3 done - 00000 1
4 done - 00000 1
5 done - 23505 -1
6 not-sent protocol - -1
7 not-sent protocol - -1
8 done - 00000 1
9 done - 00000 1
10 done - 00000 1
11 done - 00000 1' "$(fates pipeline 1)"
check_equal 'what was committed' '1,2,3,7,8,9' "$(sql "SELECT string_agg(at::text, ',' ORDER BY at) FROM log")"
check_equal 'the pipeline is one transaction' 1 "$(sql "SELECT count(DISTINCT xmin::text) FROM log WHERE what = 'first'")"

# PREPARE that only its EXECUTE's record tells of; again after it is gone.
{
    session 1 0 1000
    query 1 10 1 be 'EXECUTE find(1)' 'prepare=PREPARE find(int) AS SELECT * FROM item WHERE id = $1'
    query 1 20 1 be 'EXECUTE find(2)' 'prepare=PREPARE find(int) AS SELECT * FROM item WHERE id = $1'
    query 1 30 1 be 'DEALLOCATE find'
    query 1 40 1 be 'EXECUTE find(3)' 'prepare=PREPARE find(int) AS SELECT * FROM item WHERE id = $1'
} | make_trace prepare
replay 0 prepare --speed max
check_equal 'EXECUTE' '00000 00000 00000 00000' "$(fates prepare 1 | cut -d' ' -f4 | xargs)"
check 'the PREPARE commands are counted' grep -q '2 PREPARE commands were added' "$WORK/err"

# COPY without data, COPY out, several results, errors, transactions, notices.
{
    session 1 0 1000
    query 1 10 1 be 'COPY item FROM STDIN'
    query 1 20 1 be 'COPY item TO STDOUT'
    query 1 30 1 be 'SELECT 1; SELECT 2; SELECT id FROM item'
    query 1 40 1 be 'SELECT * FROM no_such_table'
    query 1 50 1 be 'SELECT 1; SELECT 1/0; SELECT 2'
    query 1 60 1 bk BEGIN
    query 1 70 1 k 'DO $$ BEGIN RAISE NOTICE $a$heard$a$; END $$'
    query 1 80 1 k 'SELECT nonsense'
    query 1 90 1 k 'SELECT 1'
    query 1 100 1 ke ROLLBACK
    query 1 110 1 be ''
    query 1 120 1 be 'SELECT 1' cut-text
    execute 1 130 1 be - - 'COPY item FROM STDIN'
    execute 1 140 1 b - - 'COPY item FROM STDIN'
    execute 1 150 1 be - - 'SELECT 4'
    query 1 160 1 be 'SELECT 5' 'sqlstate=42P01'
} | make_trace kinds
replay 0 kinds --speed max
check_equal 'kinds' '1 skipped no-copy-data 57014 -1
2 done - 00000 3
3 done - 00000 5
4 done - 42P01 -1
5 done - 22012 1
6 done - 00000 -1
7 done - 00000 -1
8 done - 42703 -1
9 done - 25P02 -1
10 done - 00000 -1
11 done - 00000 -1
12 skipped cut-text - -1
13 skipped no-copy-data 57014 -1
14 skipped no-copy-data 57014 -1
15 done - 00000 1
16 done - 00000 1' "$(fates kinds 1)"
check 'production is told' grep -q '1 failed in production' "$WORK/err"
check 'what was not replayable' grep -q '1  .*the text is cut' "$WORK/err"

# A statement that the user cancelled in production is cancelled here, after its time.
{
    session 1 0 2000
    query 1 10 300 be 'SELECT pg_sleep(60)' 'canceled,sqlstate=57014'
    query 1 400 1 be 'SELECT 1'
} | make_trace cancel
replay 0 cancel
check_equal 'a cancel' '1 done - 57014 -1
2 done - 00000 1' "$(fates cancel 1)"

# Rows of any number pass through without growth.  (The small one lives long enough to be looked at.)
{
    session 1 0 2000
    query 1 10 1 be 'SELECT pg_sleep(1)'
} | make_trace small
{
    session 1 0 2000
    query 1 10 1 be "SELECT n, repeat('x', 1000) FROM generate_series(1, 300000) AS n"
} | make_trace big
peak() {
    /usr/bin/env bash -c '"$@" >/dev/null 2>&1 & p=$!; m=0
        while kill -0 $p 2>/dev/null; do
            r=$(sed -n "s/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p" /proc/$p/status 2>/dev/null)
            [ -n "$r" ] && m=$r; sleep 0.02
        done; echo "$m"' _ "$RH_BIN/pgrehearse-replay" -h "$SERVER_SOCKETS" -p "$SERVER_PORT" \
        --speed max -o "$WORK/$1.run" "$WORK/$1.trace"
}
small_kb=$(peak small)
big_kb=$(peak big)
check_equal 'the big result' '1 done - 00000 300000' "$(fates big 1)"
check "300 MB of rows take no memory ($small_kb kB, $big_kb kB)" test "$big_kb" -lt $((small_kb + 16384))
check_end
