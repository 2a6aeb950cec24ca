#include "rh_test.h"

#include <string.h>

#include "common/sql_effect.h"

static void assert_writes(bool wanted, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rh_sql_may_write(rh_span_cstr(texts[i])) != wanted) {
            fail_msg("%s: %s", wanted ? "writes" : "reads", texts[i]);
        }
    }
}

#define ASSERT_WRITES(wanted, ...)                                                                 \
    assert_writes(wanted, (const char *const[]){__VA_ARGS__},                                      \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void test_reads(void **state)
{
    (void) state;
    ASSERT_WRITES(false, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
    ASSERT_WRITES(false, "", ";", "SELECT 1", "select update from t", "SELECT t.insert FROM t",
                  "SELECT 'INSERT INTO t', \"into\" -- DELETE FROM t\nFROM t", "VALUES (1)",
                  "TABLE t", "(SELECT 1) UNION SELECT 2", "WITH a AS (SELECT 1) SELECT * FROM a",
                  "SELECT substring(x FOR 3) FROM t", "SELECT nextval FROM t", "SELECT now(), f(1)",
                  "SHOW ALL", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ",
                  "START TRANSACTION READ ONLY", "COMMIT", "END", "ROLLBACK", "SAVEPOINT a",
                  "RELEASE a", "ROLLBACK TO a", "SET work_mem = '1MB'", "SET LOCAL work_mem = 1",
                  "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "RESET ALL", "DISCARD ALL",
                  "SET CONSTRAINTS ALL DEFERRED", "PREPARE p AS SELECT $1",
                  "PREPARE p (int) AS VALUES ($1)", "EXECUTE p(1)", "DEALLOCATE p",
                  "DECLARE c CURSOR FOR SELECT 1", "FETCH 5 FROM c", "MOVE c", "CLOSE c",
                  "LISTEN a", "COPY t TO STDOUT", "COPY (SELECT * FROM t) TO STDOUT",
                  "EXPLAIN SELECT 1", "EXPLAIN DELETE FROM t",
                  "EXPLAIN (COSTS OFF, VERBOSE) INSERT INTO t VALUES (1)",
                  "EXPLAIN ANALYZE SELECT 1", "EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM t",
                  "SELECT 1; SELECT 2", "/* a */ SELECT 1", "SELECT pg_advisory_lock(1)");
}

static void test_writes(void **state)
{
    (void) state;
    ASSERT_WRITES(true, "MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE");
    ASSERT_WRITES(
        true, "INSERT INTO t VALUES (1)", "update t set a = 1", "DELETE FROM t", "TRUNCATE t",
        "CREATE TABLE t ()", "DROP TABLE t", "ALTER TABLE t ADD a int", "VACUUM", "ANALYZE t",
        "DO $$ $$", "CALL p()", "LOCK t", "NOTIFY a", "GRANT SELECT ON t TO u", "CHECKPOINT",
        "REINDEX TABLE t", "SELECT * INTO u FROM t", "SELECT 1 FROM t FOR UPDATE",
        "SELECT 1 FROM t FOR NO KEY UPDATE", "SELECT 1 FROM t FOR SHARE",
        "SELECT 1 FROM t FOR KEY SHARE",
        "WITH a AS (INSERT INTO t VALUES (1) RETURNING 1) SELECT * FROM a",
        "WITH a AS (DELETE FROM t RETURNING 1) SELECT * FROM a",
        "WITH a AS (SELECT 1) UPDATE t SET a = 1", "SELECT nextval('s')",
        "SELECT pg_catalog.setval ('s', 1)", "SELECT \"nextval\"('s')",
        "SELECT pg_terminate_backend(1)", "SELECT set_config('transaction_read_only', 'off', true)",
        "SELECT lo_create(0)", "SELECT dblink_exec('', 'DROP TABLE t')", "BEGIN READ WRITE",
        "START TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE", "SET TRANSACTION READ WRITE",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "SET transaction_read_only = off",
        "SET SESSION default_transaction_read_only TO off",
        "SET \"default_transaction_read_only\" = off", "SET LOCAL Transaction_Read_Only = 0",
        "PREPARE TRANSACTION 'x'", "COMMIT PREPARED 'x'", "PREPARE p AS DELETE FROM t",
        "PREPARE p (int) AS INSERT INTO t VALUES ($1)", "COPY t FROM STDIN", "COPY t FROM '/f'",
        "COPY t TO '/f'", "COPY t TO PROGRAM 'sh'", "COPY (DELETE FROM t RETURNING 1) TO STDOUT",
        "EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN (ANALYZE, COSTS OFF) UPDATE t SET a = 1",
        "EXPLAIN ANALYZE VERBOSE INSERT INTO t VALUES (1)",
        "DECLARE c CURSOR FOR SELECT 1 FROM t FOR UPDATE", "SELECT 1; DELETE FROM t",
        "SELECT 1; SELECT 2; DROP TABLE t; SELECT 3", "nonsense", "IMPORT FOREIGN SCHEMA a");
}

/* No text makes it deep or endless. */
static void test_strange(void **state)
{
    (void) state;
    enum { N = 20000 };
    static char text[N * 16 + 1];
    for (int i = 0; i < N; i++) {
        memcpy(text + (size_t) i * 16, "explain analyze ", 16);
    }
    assert_true(rh_sql_may_write(rh_span(text, sizeof text - 1)));
    memset(text, '(', sizeof text - 1);
    rh_sql_may_write(rh_span(text, sizeof text - 1));
    assert_null(rh_sql_reach(rh_span(text, sizeof text - 1), false));
    assert_true(rh_sql_may_write(RH_SPAN_LITERAL("EXPLAIN ANALYZE")));
    assert_true(rh_sql_may_write(RH_SPAN_LITERAL("PREPARE p")));
    assert_false(rh_sql_may_write(RH_SPAN_LITERAL("SELECT '")));
}

static void assert_reach(const char *wanted, const char *text)
{
    const char *found = rh_sql_reach(rh_span_cstr(text), false);
    if (!wanted || !found) {
        if (wanted != found) {
            fail_msg("%s: %s", text, found ? found : "nothing");
        }
        return;
    }
    assert_string_equal(found, wanted);
}

static void test_reach(void **state)
{
    (void) state;
    assert_reach("ALTER SYSTEM", "alter system set work_mem = 1");
    assert_reach("CREATE DATABASE", "CREATE DATABASE d");
    assert_reach("DROP ROLE", "/* x */ DROP ROLE IF EXISTS r");
    assert_reach("CREATE USER", "CREATE USER u");
    assert_reach(NULL, "CREATE USER MAPPING FOR u SERVER s");
    assert_reach("ALTER SUBSCRIPTION", "ALTER SUBSCRIPTION s ENABLE");
    assert_reach("CHECKPOINT", "checkpoint");
    assert_reach("pg_switch_wal()", "SELECT pg_catalog.pg_switch_wal()");
    assert_reach("pg_terminate_backend()",
                 "SELECT pid, \"pg_terminate_backend\"(pid) FROM pg_stat_activity");
    assert_reach("pg_reload_conf()", "SELECT 1; SELECT PG_RELOAD_CONF ( )");
    assert_reach("COPY with a file or program of the server", "COPY t TO PROGRAM 'cat'");
    assert_reach(NULL, "COPY t TO STDOUT");
    assert_reach(NULL, "SELECT pg_switch_wal FROM t");
    assert_reach(NULL, "SELECT 'ALTER SYSTEM', 'pg_switch_wal()'");
    assert_reach(NULL, "CREATE TABLE system ()");
    assert_reach(NULL, "");
    /* A template: its literals are slots. */
    assert_string_equal(rh_sql_reach(RH_SPAN_LITERAL("SELECT pg_terminate_backend(\x01)"), true),
                        "pg_terminate_backend()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_strange),
        cmocka_unit_test(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
