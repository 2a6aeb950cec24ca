/*
 * tests/unit/driver_statements.h
 *
 * What the first session of the corpus' driver script sends, in order: how, the beginning of its
 * text, and the SQLSTATE that the server answers.  Written from the script, not from a log.
 */
#ifndef RH_TESTS_UNIT_DRIVER_STATEMENTS_H
#define RH_TESTS_UNIT_DRIVER_STATEMENTS_H

#include "formats/record.h"

struct rh_driver_statement {
    enum rh_kind kind;
    const char *text; /* how it begins; the whole if it is shorter than 60 bytes */
    const char *sqlstate;
    int params; /* as sent */
};

#define Q RH_KIND_QUERY
#define X RH_KIND_EXECUTE
#define F RH_KIND_FETCH
#define OK "00000"

static const struct rh_driver_statement rh_driver_statements[] = {
    {Q, "SELECT 1", OK, 0},
    {Q, "SELECT 1; SELECT 2", OK, 0},
    {Q, "", OK, 0},
    {Q, "   ;;  ", OK, 0},
    {Q, "SELECT 'multi\nline\n\n\ttabbed\n' AS \"we\"\"ird\",", OK, 0},
    {Q, "SELECT 'trailing newline'\n", OK, 0},
    {Q, "SELECT 'ünïcödé 日本 😀', 'ctrl \x01\x1b[31m\x7f\x0b end'", OK, 0},
    {X, "SELECT $1::int, $2::text, $3::text", OK, 3},
    {X, "SELECT $1::bytea, $2::int[], $3::jsonb, $4::timestamptz, $5:", OK, 6},
    {X, "SELECT $1::bytea, $2::int[], $3::jsonb, $4::timestamptz, $5:", OK, 6},
    {X, "SELECT $1::int4 + $2::int8 AS bin", OK, 2},
    {X, "SELECT 'x'", OK, 0},
    {X, "SELECT g FROM generate_series(1,$1::int) g", OK, 1},
    {F, "SELECT g FROM generate_series(1,$1::int) g", OK, 1},
    {F, "SELECT g FROM generate_series(1,$1::int) g", OK, 1},
    {Q, "PREPARE p1(int,text) AS SELECT $1 + 1, $2", OK, 0},
    {Q, "EXECUTE p1(5,'o''clock')", OK, 0},
    {Q, "EXECUTE p1(6,NULL); EXECUTE p1(7,$$x$$)", OK, 0},
    {Q, "DEALLOCATE p1", OK, 0},
    {Q, "EXECUTE p1(1,2)", "26000", 0},
    {Q, "SELEC 1", "42601", 0},
    {X, "SELECT $1::int; garbage", "42601", 1},
    {Q, "SELECT nocol FROM t", "42703", 0},
    {X, "SELECT 1/$1::int", "22012", 1},
    {X, "SELECT $1::int", "22P02", 1},
    {X, "SELECT 1/$1::int + length($2)", "22012", 2},
    {Q, "INSERT INTO t VALUES (1,'dup')", "23505", 0},
    {X, "INSERT INTO t VALUES ($1,$2)", "23505", 2},
    {X, "SELECT f_err($1)", "22012", 1},
    {Q, "DO $$BEGIN RAISE NOTICE 'n %',1; RAISE WARNING 'w'; RAISE LO", OK, 0},
    {Q, "BEGIN", OK, 0},
    {Q, "INSERT INTO t VALUES (100,'a')", OK, 0},
    {Q, "SAVEPOINT s1", OK, 0},
    {Q, "SELECT 1/0", "22012", 0},
    {Q, "SELECT 2", "25P02", 0},
    {X, "SELECT $1::text", "25P02", 1},
    {Q, "ROLLBACK TO s1", OK, 0},
    {Q, "COMMIT", OK, 0},
    {X, "BEGIN", OK, 0},
    {X, "UPDATE t SET b=$2 WHERE a=$1", OK, 2},
    {X, "ROLLBACK", OK, 0},
    {Q, "BEGIN; SELECT 1; SELECT 1/0; SELECT 3", "22012", 0},
    {Q, "ROLLBACK", OK, 0},
    {Q, "SET application_name='né w \"app\"'", OK, 0},
    {Q, "SELECT 1", OK, 0},
    {Q, "SET search_path TO public, pg_catalog", OK, 0},
    {Q, "DISCARD ALL", OK, 0},
    {Q, "CREATE ROLE lr PASSWORD '<password removed by pgrehearse>'", OK, 0},
    {Q, "DROP ROLE lr", OK, 0},
    {Q, "CREATE TABLE tt(a int); DROP TABLE tt", OK, 0},
    {Q, "COMMENT ON TABLE t IS 'c'", OK, 0},
    {Q, "EXPLAIN ANALYZE SELECT 1", OK, 0},
    {Q, "VACUUM t", OK, 0},
    {Q, "LISTEN ch", OK, 0},
    {Q, "NOTIFY ch,'pl'", OK, 0},
    {Q, "TRUNCATE tr", OK, 0},
    {Q, "DECLARE cc CURSOR WITH HOLD FOR SELECT generate_series(1,10)", OK, 0},
    {Q, "FETCH 3 FROM cc", OK, 0},
    {Q, "FETCH 2 FROM cc", OK, 0},
    {Q, "CLOSE cc", OK, 0},
    {Q, "CALL nosuch()", "42883", 0}, /* 42601 before 11 */
    {Q, "COPY t (a,b) FROM STDIN", OK, 0},
    {Q, "COPY t (a,b) FROM STDIN", "22P02", 0},
    {Q, "COPY (SELECT 1) TO STDOUT", OK, 0},
    {Q, "SELECT length('0123456789abcdef0123456789abcdef0123456789abcd", OK, 0},
    {X, "SELECT length($1)", OK, 1},
    {Q, "SET statement_timeout='50ms'", OK, 0},
    {Q, "SELECT pg_sleep(5)", "57014", 0},
    {X, "SELECT pg_sleep($1)", "57014", 1},
    {Q, "RESET statement_timeout", OK, 0},
    {Q, "SELECT pg_backend_pid() p", OK, 0},
    {Q, "SELECT pg_sleep(10)", "57014", 0},
    {Q, "SET lock_timeout='300ms'", OK, 0},
    {Q, "UPDATE t SET b=b WHERE a=1", "55P03", 0},
    {Q, "RESET lock_timeout", OK, 0},
    {Q, "UPDATE t SET b=b WHERE a=1", OK, 0},
    {Q, "BEGIN", OK, 0},
    {Q, "UPDATE t SET b=b WHERE a=1", OK, 0},
    {Q, "UPDATE t SET b=b WHERE a=2", "40P01", 0},
    {Q, "ROLLBACK", OK, 0},
    {Q, "SET max_parallel_workers_per_gather=2; SET parallel_setup_co", OK, 0},
    {Q, "SELECT count(f_log(a)) FROM big", OK, 0},
    {Q, "SELECT sum(1/(a-5)) FROM big", "22012", 0},
    {Q, "SELECT pid FROM pg_stat_activity WHERE query='SELECT pg_slee", OK, 0},
    {X, "SELECT pg_terminate_backend($1)", OK, 1},
};

#undef Q
#undef X
#undef F
#undef OK

enum {
    RH_DRIVER_STATEMENTS = sizeof rh_driver_statements / sizeof rh_driver_statements[0],
    RH_DRIVER_TEXT_SHOWN = 60,
    /* Of all sessions: these, those of the second client (9), of the raw pipelines (3 + 1 + 1 + 3
     * + 1, beside 2 fetches), of the odd logins (1 + 2 + 2) and of the six concurrent ones (10
     * each). */
    RH_DRIVER_OTHERS = 9 + 9 + 5 + 60,
};

#endif
