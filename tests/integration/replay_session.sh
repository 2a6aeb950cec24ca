#!/usr/bin/env bash
# What a session keeps in order: pipelines with records of all kinds, restored statements, large ones.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

protocol() {
    printf 'record\t%s\tprotocol\t%s\t%s\t%s\t%s\t%s\t-\t%s\n' "$1" "$2" "$3" "$4" "$5" "$6" "$7"
}

replay_begin
sql 'CREATE TABLE hit (a int); GRANT ALL ON hit TO app' >/dev/null

# A Parse in the middle of a pipeline does not end its transaction.
{
    session 1 0 200
    execute 1 10 1 b no-types - 'INSERT INTO hit VALUES (10)'
    protocol 1 14 1 - has-parse p1 'SELECT 5'
    protocol 1 16 1 - - p1 'SELECT 5'
    execute 1 20 1 e no-types - 'INSERT INTO no_such VALUES (11)'
    execute 1 30 1 b no-types - 'INSERT INTO hit VALUES (12)'
    protocol 1 34 1 - has-parse p2 'SELECT 6'
    execute 1 36 1 - no-types p2 'SELECT 6'
    execute 1 40 1 e no-types - 'INSERT INTO hit VALUES (13)'
    execute 1 50 1 b no-types - 'INSERT INTO hit VALUES (14)'
    protocol 1 54 1 - has-parse p3 'SELECT no_such_column'
    execute 1 56 1 e no-types - 'INSERT INTO hit VALUES (15)'
    protocol 1 60 1 be has-parse p4 'SELECT 7'
    execute 1 70 1 be no-types p4 'SELECT 7'
    protocol 1 80 1 b has-parse p5 'SELECT 8'
    execute 1 84 1 e no-types p5 'SELECT 8'
} | make_trace pipeline
for speed in 1 max; do
    sql 'TRUNCATE hit' >/dev/null
    replay 0 pipeline --speed "$speed"
    check_equal "at speed $speed" '1 done - 00000 1
2 done - 00000 -1
3 done - 00000 -1
4 done - 42P01 -1
5 done - 00000 1
6 done - 00000 -1
7 done - 00000 1
8 done - 00000 1
9 done - 00000 1
10 done - 42703 -1
11 not-sent protocol - -1
12 done - 00000 -1
13 done - 00000 1
14 done - 00000 -1
15 done - 00000 1' "$(fates pipeline 1)"
    check_equal "what was committed at speed $speed" '12 13' "$(sql 'SELECT a FROM hit ORDER BY a' | xargs)"
    check_equal 'in one transaction' 1 "$(sql 'SELECT count(DISTINCT xmin::text) FROM hit')"
done

# A PREPARE that fails when it is restored is not taken to be there.
{
    session 1 0 3000
    query 1 10 1 be 'PREPARE later AS SELECT * FROM made_later'
    query 1 20 1 be 'PREPARE now AS SELECT 1'
    query 1 1010 1 be 'CREATE TABLE made_later AS SELECT 1'
    query 1 1020 1 be 'EXECUTE later' 'prepare=PREPARE later AS SELECT * FROM made_later'
    query 1 1030 1 be 'EXECUTE now' 'prepare=PREPARE now AS SELECT 1'
    execute 1 1040 1 be no-types later 'SELECT * FROM made_later'
} | make_trace restore
server_psql "$cluster" -q -d shop -c 'GRANT CREATE ON SCHEMA public TO app'
replay 0 restore --from '2026-01-01 00:00:01Z' --speed max
check_equal 'after --from' '00000 00000 00000 00000' "$(dump restore | awk -F '\t' '$3 == "done" { print $5 }' | xargs)"
check 'one PREPARE was added' grep -q '1 PREPARE command was added' "$WORK/err"

# A statement of 70 MB, and what it needed is given back.
{
    session 1 0 1000
    query 1 10 1 be 'SELECT 1'
    printf 'record\t1\tquery\t20\t1\tbe\t-\t-\t-\tSELECT length($$'
    head -c $((70 * 1024 * 1024)) /dev/zero | tr '\0' x
    printf '$$)\n'
    execute 1 30 1 be no-types - 'SELECT 2'
} | make_trace large
replay 0 large --speed max
check_equal 'a statement of 70 MB' '1 done - 00000 1
2 done - 00000 1
3 done - 00000 1' "$(fates large 1)"
check_end
