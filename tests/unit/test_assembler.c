/* capture/assembler: one statement of one to four records, in every setting */
#include "rh_test.h"

#include "capture_probe.h"
#include "common/clock.h"
#include "log_maker.h"

/* 2026-01-01 00:00:00 UTC. */
#define DAY_NS (INT64_C(1767225600) * RH_NS_PER_SEC)
#define AT_MS(ms) (DAY_NS + (ms) *RH_NS_PER_MS)

struct fixture {
    struct rh_log_maker log;
    struct rh_probe probe;
};

static int set_up(void **state)
{
    static struct fixture f;
    rh_log_maker_init(&f.log);
    rh_probe_init(&f.probe);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rh_log_maker_release(&f->log);
    rh_probe_release(&f->probe);
    return 0;
}

static void run(struct fixture *f)
{
    rh_probe_run_bytes(&f->probe, f->log.out.data, f->log.out.len, 0);
    assert_int_equal(rh_log_reader_bad(&f->probe.counts), 0);
}

/* The statement number i: its kind, text and SQLSTATE ("" for unknown). */
static const struct rh_record *check(struct fixture *f, uint32_t i, enum rh_kind kind,
                                     const char *text, const char *sqlstate)
{
    const struct rh_record *r = rh_probe_statement(&f->probe, i);
    char state[6];
    assert_non_null(r);
    assert_int_equal(r->kind, kind);
    rh_assert_span(r->text, text);
    assert_string_equal(rh_sqlstate_unpack(r->outcome.sqlstate, state), sqlstate);
    return r;
}

static void check_count(struct fixture *f, uint32_t count)
{
    assert_null(rh_probe_statement(&f->probe, count));
    if (count > 0) {
        assert_non_null(rh_probe_statement(&f->probe, count - 1));
    }
}

static void test_simple_by_start_and_by_end(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .stamp = "00:00:01.000", .tag = "idle", .message = "statement: SELECT 'one'");
    LOG(&f->log, .stamp = "00:00:01.250", .vxid = "3/0", .message = "duration: 250.125 ms");
    LOG(&f->log, .stamp = "00:00:02.000", .vxid = "3/0",
        .message = "duration: 0.500 ms  statement: SELECT 'two'");
    LOG(&f->log, .stamp = "00:00:03.000", .tag = "idle", .message = "statement: SELECT 'three'");
    LOG(&f->log, .stamp = "00:00:04.000", .tag = "idle", .message = "statement: SELECT 'four'");
    run(f);
    check_count(f, 4);
    const struct rh_record *r = check(f, 0, RH_KIND_QUERY, "SELECT 'one'", "00000");
    assert_int_equal(r->start_ns, AT_MS(1000));
    assert_int_equal(r->outcome.done_ns, AT_MS(1250) + 125000);
    r = check(f, 1, RH_KIND_QUERY, "SELECT 'two'", "00000");
    assert_int_equal(r->start_ns, AT_MS(2000) - 500000);
    assert_int_equal(r->outcome.done_ns, AT_MS(2000));
    /* A later record of the session says that it went well, not how long it took. */
    r = check(f, 2, RH_KIND_QUERY, "SELECT 'three'", "00000");
    assert_int_equal(r->outcome.done_ns, RH_TIME_UNKNOWN);
    /* Nothing says what became of the last. */
    r = check(f, 3, RH_KIND_QUERY, "SELECT 'four'", "");
    assert_int_equal(r->ordinal, 4);
    assert_int_equal(f->probe.stats.timed, 2);
    assert_int_equal(f->probe.stats.outcome_unknown, 1);
}

static void test_durations_belong_to_their_own_statement(void **state)
{
    struct fixture *f = *state;
    /* Two sessions, interleaved; and a statement whose duration was not logged. */
    LOG(&f->log, .line = 5, .stamp = "00:00:01.000", .tag = "idle",
        .message = "statement: SELECT 'slow'");
    LOG(&f->log, .line = 5, .session = "6955b900.fa2", .pid = 4002, .stamp = "00:00:01.001",
        .tag = "idle", .message = "statement: SELECT 1");
    LOG(&f->log, .line = 6, .session = "6955b900.fa2", .pid = 4002, .stamp = "00:00:01.002",
        .vxid = "4/0", .message = "duration: 0.900 ms");
    LOG(&f->log, .line = 6, .stamp = "00:00:01.489", .vxid = "3/0",
        .message = "duration: 489.100 ms");
    LOG(&f->log, .line = 7, .stamp = "00:00:02.000", .tag = "idle", .vxid = "3/6",
        .message = "statement: DISCARD ALL;");
    LOG(&f->log, .line = 8, .stamp = "00:00:02.001", .vxid = "3/0",
        .message = "duration: 0.095 ms");
    run(f);
    assert_int_equal(rh_probe_kind_count(&f->probe, RH_KIND_QUERY), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct rh_record *r = rh_probe_statement(&f->probe, i);
        int64_t want = rh_span_is(r->text, "SELECT 'slow'") ? 489100
                       : rh_span_is(r->text, "SELECT 1")    ? 900
                                                            : 95;
        assert_int_equal((r->outcome.done_ns - r->start_ns) / 1000, want);
    }
}

/* One execution of SELECT $1 by each combination of settings. */
static void test_extended_in_every_setting(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    /* log_min_duration_statement = 0 */
    LOG(m, .stamp = "00:00:01.002", .vxid = "3/1", .tag = "PARSE",
        .message = "duration: 1.000 ms  parse <unnamed>: SELECT $1::int");
    LOG(m, .stamp = "00:00:01.002", .vxid = "3/1", .tag = "BIND",
        .message = "duration: 0.200 ms  bind <unnamed>: SELECT $1::int",
        .detail = "parameters: $1 = 'a'");
    LOG(m, .stamp = "00:00:01.003", .vxid = "3/1",
        .message = "duration: 0.030 ms  execute <unnamed>: SELECT $1::int",
        .detail = "parameters: $1 = 'a'");
    /* log_statement = all, both, 17's capital letter */
    LOG(m, .stamp = "00:00:02.002", .vxid = "3/2", .tag = "PARSE",
        .message = "duration: 1.000 ms  parse <unnamed>: SELECT $1::int");
    LOG(m, .stamp = "00:00:02.002", .vxid = "3/2", .tag = "BIND",
        .message = "duration: 0.200 ms  bind <unnamed>: SELECT $1::int",
        .detail = "Parameters: $1 = 'a'");
    LOG(m, .stamp = "00:00:02.002", .vxid = "3/2", .message = "execute <unnamed>: SELECT $1::int",
        .detail = "Parameters: $1 = 'a'");
    LOG(m, .stamp = "00:00:02.003", .vxid = "3/2", .message = "duration: 0.030 ms");
    /* log_statement = all and log_duration */
    LOG(m, .stamp = "00:00:03.002", .vxid = "3/3", .tag = "PARSE", .message = "duration: 1.000 ms");
    LOG(m, .stamp = "00:00:03.002", .vxid = "3/3", .tag = "BIND", .message = "duration: 0.200 ms");
    LOG(m, .stamp = "00:00:03.002", .vxid = "3/3", .message = "execute <unnamed>: SELECT $1::int",
        .detail = "parameters: $1 = 'a'");
    LOG(m, .stamp = "00:00:03.003", .vxid = "3/3", .message = "duration: 0.030 ms");
    /* log_statement = all */
    LOG(m, .stamp = "00:00:04.000", .vxid = "3/4", .message = "execute <unnamed>: SELECT $1::int",
        .detail = "parameters: $1 = 'a'");
    LOG(m, .stamp = "00:00:05.000", .vxid = "", .tag = "idle",
        .message = "disconnection: session time: 0:00:05 user=u database=d host=[local]");
    run(f);
    check_count(f, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct rh_record *r = check(f, i, RH_KIND_EXECUTE, "SELECT $1::int", "00000");
        assert_int_equal(r->param_count, 1);
        rh_assert_span(rh_span(r->params[0].data, r->params[0].len), "a");
        assert_true(r->flags & RH_FLAG_NO_TYPES);
        assert_int_equal(r->statement_name.len, 0);
        assert_int_equal(r->row_limit, -1);
        assert_int_equal(r->hold, 0);
        assert_int_equal(r->txn, RH_TXN_BEGINS | RH_TXN_ENDS);
        if (i < 3) {
            assert_int_equal(r->outcome.parse_ns, 1000000);
            assert_int_equal(r->outcome.bind_ns, 200000);
            assert_int_equal(r->outcome.execute_ns, 30000);
            assert_int_equal(r->start_ns, AT_MS(1003 + 1000 * (int64_t) i) - 1230000);
            assert_int_equal(r->outcome.done_ns, AT_MS(1003 + 1000 * (int64_t) i));
            assert_true(r->flags & RH_FLAG_COMMIT_NOT_TIMED);
            assert_true(r->flags & RH_FLAG_HAS_PARSE);
        } else {
            assert_int_equal(r->outcome.execute_ns, -1);
            assert_int_equal(r->start_ns, AT_MS(4000));
        }
    }
}

static void test_durations_alone_tell_no_statement(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .line = 1, .tag = "authentication", .vxid = "3/1", .application = "",
        .message = "connection authorized: user=u database=d");
    LOG(&f->log, .vxid = "3/0", .message = "duration: 1.250 ms");
    LOG(&f->log, .vxid = "3/6", .tag = "PARSE", .message = "duration: 1.000 ms");
    LOG(&f->log, .vxid = "3/6", .tag = "BIND", .message = "duration: 1.000 ms");
    LOG(&f->log, .vxid = "3/6", .message = "duration: 1.000 ms");
    LOG(&f->log, .vxid = "3/7", .tag = "PARSE", .message = "duration: 1.000 ms");
    LOG(&f->log, .vxid = "3/7", .tag = "BIND", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero", .query = "SELECT 1/$1::int");
    run(f);
    check_count(f, 1);
    const struct rh_record *r = check(f, 0, RH_KIND_EXECUTE, "SELECT 1/$1::int", "22012");
    assert_int_equal(r->hold, RH_REASON_NO_PARAMETERS);
    assert_int_equal(r->outcome.parse_ns, 1000000);
    assert_true(r->flags & RH_FLAG_ERROR_ONLY);
    assert_int_equal(f->probe.stats.textless, 2);
    assert_int_equal(rh_probe_kind_count(&f->probe, RH_KIND_GAP), 1);
}

static void test_parse_and_bind_without_execution(void **state)
{
    struct fixture *f = *state;
    /* A named statement is prepared in a round trip of its own (another transaction id) ... */
    LOG(&f->log, .vxid = "3/1", .tag = "PARSE",
        .message = "duration: 1.000 ms  parse S_1: SELECT 1 FROM t");
    LOG(&f->log, .vxid = "3/2", .tag = "BIND",
        .message = "duration: 0.200 ms  bind S_1: SELECT 1 FROM t");
    LOG(&f->log, .vxid = "3/2", .message = "duration: 0.030 ms  execute S_1: SELECT 1 FROM t");
    /* ... and of an unnamed one only the bind was sampled. */
    LOG(&f->log, .vxid = "3/3", .tag = "BIND",
        .message = "duration: 0.019 ms  bind <unnamed>: SELECT 'x'");
    LOG(&f->log, .vxid = "3/4", .tag = "PARSE",
        .message = "duration: 0.019 ms  parse <unnamed>: SELECT 'y'");
    run(f);
    check_count(f, 4);
    const struct rh_record *r = check(f, 0, RH_KIND_PROTOCOL, "SELECT 1 FROM t", "00000");
    rh_assert_span(r->statement_name, "S_1");
    assert_true(r->flags & RH_FLAG_HAS_PARSE);
    assert_int_equal(r->hold, 0);
    r = check(f, 1, RH_KIND_EXECUTE, "SELECT 1 FROM t", "00000");
    assert_false(r->flags & RH_FLAG_HAS_PARSE);
    assert_int_equal(r->outcome.parse_ns, -1);
    assert_int_equal(r->outcome.bind_ns, 200000);
    assert_int_equal(check(f, 2, RH_KIND_PROTOCOL, "SELECT 'x'", "00000")->hold,
                     RH_REASON_NO_EXECUTION);
    assert_int_equal(check(f, 3, RH_KIND_PROTOCOL, "SELECT 'y'", "00000")->hold,
                     RH_REASON_NO_EXECUTION);
    assert_int_equal(rh_capture_stats_statements(&f->probe.stats), 1);
}

static void test_a_parse_long_before_is_apart(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .stamp = "00:00:01.000", .vxid = "3/1", .tag = "PARSE",
        .message = "duration: 1.000 ms  parse a: UPDATE t SET x = 1");
    LOG(&f->log, .stamp = "00:00:06.000", .vxid = "3/1", .tag = "BIND",
        .message = "duration: 0.200 ms  bind a: UPDATE t SET x = 1");
    LOG(&f->log, .stamp = "00:00:06.000", .vxid = "3/1", .tag = "UPDATE",
        .message = "duration: 0.030 ms  execute a: UPDATE t SET x = 1");
    /* Not so if it has no name: a busy machine may take its time. */
    LOG(&f->log, .stamp = "00:00:07.000", .vxid = "3/1", .tag = "PARSE",
        .message = "duration: 1.000 ms  parse <unnamed>: SELECT 1");
    LOG(&f->log, .stamp = "00:00:07.900", .vxid = "3/1", .tag = "BIND",
        .message = "duration: 0.200 ms  bind <unnamed>: SELECT 1");
    LOG(&f->log, .stamp = "00:00:07.900", .vxid = "3/1", .tag = "SELECT",
        .message = "duration: 0.030 ms  execute <unnamed>: SELECT 1");
    run(f);
    check_count(f, 3);
    check(f, 0, RH_KIND_PROTOCOL, "UPDATE t SET x = 1", "00000");
    const struct rh_record *r = check(f, 1, RH_KIND_EXECUTE, "UPDATE t SET x = 1", "00000");
    assert_int_equal(r->start_ns, AT_MS(6000) - 230000);
    r = check(f, 2, RH_KIND_EXECUTE, "SELECT 1", "00000");
    assert_int_equal(r->outcome.parse_ns, 1000000);
}

static void test_names(void **state)
{
    struct fixture *f = *state;
    char name[401], message[600];
    memset(name, 'n', 400);
    name[400] = '\0';
    LOG(&f->log, .vxid = "3/1", .message = "execute a:b: SELECT 1");
    LOG(&f->log, .vxid = "3/2", .message = "execute a:b/c: d: SELECT 1");
    LOG(&f->log, .vxid = "3/3", .message = "execute S_1: SELECT 1");
    LOG(&f->log, .vxid = "3/4", .message = "execute S_1: SELECT 2");
    LOG(&f->log, .vxid = "3/5", .message = "execute S_1: SELECT 2");
    LOG(&f->log, .vxid = "3/6", .tag = "idle", .message = "statement: DISCARD ALL");
    LOG(&f->log, .vxid = "3/7", .message = "execute S_1: SELECT 2");
    LOG(&f->log, .vxid = "3/8", .message = "execute <unnamed>/C_3: SELECT 3");
    snprintf(message, sizeof message, "execute %s: SELECT 4", name);
    LOG(&f->log, .vxid = "3/9", .message = message);
    LOG(&f->log, .vxid = "3/10", .message = "execute einf\"ug: SELECT 5");
    run(f);
    check_count(f, 10);
    const struct rh_record *r = check(f, 0, RH_KIND_EXECUTE, "SELECT 1", "00000");
    rh_assert_span(r->statement_name, "a:b");
    assert_true(r->flags & RH_FLAG_HAS_PARSE);
    r = check(f, 1, RH_KIND_EXECUTE, "SELECT 1", "00000");
    rh_assert_span(r->statement_name, "a:b");
    rh_assert_span(r->portal_name, "c: d");
    assert_false(r->flags & RH_FLAG_HAS_PARSE);
    /* The name stands for another text: it was prepared again, and again after DISCARD ALL. */
    assert_true(check(f, 2, RH_KIND_EXECUTE, "SELECT 1", "00000")->flags & RH_FLAG_HAS_PARSE);
    assert_true(check(f, 3, RH_KIND_EXECUTE, "SELECT 2", "00000")->flags & RH_FLAG_HAS_PARSE);
    assert_false(check(f, 4, RH_KIND_EXECUTE, "SELECT 2", "00000")->flags & RH_FLAG_HAS_PARSE);
    assert_true(check(f, 6, RH_KIND_EXECUTE, "SELECT 2", "00000")->flags & RH_FLAG_HAS_PARSE);
    r = check(f, 7, RH_KIND_EXECUTE, "SELECT 3", "00000");
    assert_int_equal(r->statement_name.len, 0);
    rh_assert_span(r->portal_name, "C_3");
    rh_assert_span(check(f, 8, RH_KIND_EXECUTE, "SELECT 4", "00000")->statement_name, name);
    rh_assert_span(check(f, 9, RH_KIND_EXECUTE, "SELECT 5", "")->statement_name, "einf\"ug");
}

static void test_fetches_are_no_executions(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .vxid = "3/1", .message = "execute S_1/C_1: SELECT * FROM big");
    LOG(&f->log, .vxid = "3/1", .message = "duration: 5.000 ms");
    LOG(&f->log, .vxid = "3/1", .message = "execute fetch from S_1/C_1: SELECT * FROM big");
    LOG(&f->log, .vxid = "3/1", .message = "duration: 2.000 ms");
    LOG(&f->log, .vxid = "3/1",
        .message = "duration: 3.000 ms  execute fetch from S_1/C_1: SELECT * FROM big");
    run(f);
    check_count(f, 3);
    check(f, 0, RH_KIND_EXECUTE, "SELECT * FROM big", "00000");
    const struct rh_record *r = check(f, 1, RH_KIND_FETCH, "SELECT * FROM big", "00000");
    assert_int_equal(r->hold, RH_REASON_NO_ROW_LIMIT);
    assert_int_equal(r->outcome.execute_ns, 2000000);
    rh_assert_span(r->portal_name, "C_1");
    check(f, 2, RH_KIND_FETCH, "SELECT * FROM big", "00000");
    assert_int_equal(rh_capture_stats_statements(&f->probe.stats), 1);
}

static void test_a_detail_belongs_to_its_own_record(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .vxid = "3/1", .message = "execute <unnamed>: SELECT $1",
        .detail = "parameters: $1 = 'a'");
    LOG(&f->log, .vxid = "3/1", .message = "duration: 0.100 ms");
    LOG(&f->log, .vxid = "3/2", .tag = "BIND",
        .message = "duration: 0.200 ms  bind <unnamed>: SELECT $1",
        .detail = "parameters: $1 = 'b'");
    run(f);
    const struct rh_record *r = check(f, 0, RH_KIND_EXECUTE, "SELECT $1", "00000");
    rh_assert_span(rh_span(r->params[0].data, r->params[0].len), "a");
    check(f, 1, RH_KIND_PROTOCOL, "SELECT $1", "00000");
}

static void test_prepare_by_sql(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .tag = "idle", .message = "statement: EXECUTE foo(1)",
        .detail = "prepare: PREPARE foo(int) AS SELECT $1");
    LOG(&f->log, .tag = "idle", .message = "statement: EXECUTE bar(1)");
    run(f);
    const struct rh_record *r = check(f, 0, RH_KIND_QUERY, "EXECUTE foo(1)", "00000");
    assert_true(r->flags & RH_FLAG_SQL_EXECUTE);
    rh_assert_span(r->prepare_text, "PREPARE foo(int) AS SELECT $1");
    r = check(f, 1, RH_KIND_QUERY, "EXECUTE bar(1)", "");
    assert_false(r->flags & RH_FLAG_SQL_EXECUTE);
    assert_null(r->prepare_text.data);
}

static void test_errors(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    /* Logged at its start, then failed. */
    LOG(m, .stamp = "00:00:01.000", .vxid = "3/1", .tag = "idle",
        .message = "statement: SELECT 1/0");
    LOG(m, .stamp = "00:00:01.040", .vxid = "3/1", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero", .query = "SELECT 1/0");
    /* Known from its error alone: a simple one, and one of the extended protocol. */
    LOG(m, .stamp = "00:00:02.000", .vxid = "3/2", .tag = "idle", .severity = "ERROR",
        .sqlstate = "42601", .message = "syntax error", .query = "SELEC 1");
    LOG(m, .stamp = "00:00:03.000", .vxid = "3/3", .tag = "PARSE", .severity = "ERROR",
        .sqlstate = "42703", .message = "no column", .query = "SELECT nocol FROM t");
    /* Failed in its execution; parameters from the bind. */
    LOG(m, .stamp = "00:00:04.000", .vxid = "3/4", .tag = "PARSE",
        .message = "duration: 1.000 ms  parse q: INSERT INTO t VALUES ($1)");
    LOG(m, .stamp = "00:00:04.001", .vxid = "3/4", .tag = "BIND",
        .message = "duration: 0.100 ms  bind q: INSERT INTO t VALUES ($1)",
        .detail = "parameters: $1 = '7'");
    LOG(m, .stamp = "00:00:04.009", .vxid = "3/4", .tag = "INSERT", .severity = "ERROR",
        .sqlstate = "23505", .message = "duplicate key", .detail = "Key (a)=(7) already exists.",
        .query = "INSERT INTO t VALUES ($1)");
    /* Parameters from the context. */
    LOG(m, .stamp = "00:00:05.000", .vxid = "3/5", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero",
        .context =
            "PL/pgSQL function f(integer) line 1 at PERFORM\nunnamed portal with parameters: "
            "$1 = '3', $2 = NULL",
        .query = "SELECT f($1, $2)");
    /* No parameters anywhere. */
    LOG(m, .stamp = "00:00:06.000", .vxid = "3/6", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero", .query = "SELECT 1 / $1");
    run(f);
    check_count(f, 6);
    const struct rh_record *r = check(f, 0, RH_KIND_QUERY, "SELECT 1/0", "22012");
    assert_int_equal(r->outcome.done_ns - r->start_ns, 40 * RH_NS_PER_MS);
    assert_false(r->flags & RH_FLAG_ERROR_ONLY);
    r = check(f, 1, RH_KIND_QUERY, "SELEC 1", "42601");
    assert_int_equal(r->flags, RH_FLAG_ERROR_ONLY | RH_FLAG_START_ESTIMATED);
    check(f, 2, RH_KIND_EXECUTE, "SELECT nocol FROM t", "42703");
    r = check(f, 3, RH_KIND_EXECUTE, "INSERT INTO t VALUES ($1)", "23505");
    rh_assert_span(r->statement_name, "q");
    assert_int_equal(r->param_count, 1);
    assert_int_equal(r->start_ns, AT_MS(3999));
    assert_int_equal(r->hold, 0);
    r = check(f, 4, RH_KIND_EXECUTE, "SELECT f($1, $2)", "22012");
    assert_int_equal(r->param_count, 2);
    assert_null(r->params[1].data);
    r = check(f, 5, RH_KIND_EXECUTE, "SELECT 1 / $1", "22012");
    assert_int_equal(r->hold, RH_REASON_NO_PARAMETERS);
    assert_int_equal(f->probe.stats.failed, 6);
    assert_int_equal(f->probe.stats.error_only, 5);
}

static void test_cancels_and_timeouts(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *message;
        uint32_t flag;
    } rows[] = {
        {"canceling statement due to user request", RH_FLAG_CANCELED},
        {"canceling statement due to statement timeout", RH_FLAG_STATEMENT_TIMEOUT},
        {"storniere Anfrage wegen Benutzeraufforderung", RH_FLAG_CANCELED},
        {"ステートメントのタイムアウトのためステートメントをキャンセルしています",
         RH_FLAG_STATEMENT_TIMEOUT},
        {"canceling statement due to conflict with recovery", 0},
    };
    for (size_t i = 0; i < 5; i++) {
        LOG(&f->log, .tag = "idle", .message = "statement: SELECT pg_sleep(5)");
        LOG(&f->log, .severity = "ERROR", .sqlstate = "57014", .message = rows[i].message,
            .query = "SELECT pg_sleep(5)");
    }
    run(f);
    check_count(f, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct rh_record *r = check(f, i, RH_KIND_QUERY, "SELECT pg_sleep(5)", "57014");
        assert_int_equal(r->flags, rows[i].flag);
    }
}

static void test_a_commit_that_fails_at_sync(void **state)
{
    struct fixture *f = *state;
    /* A deferred constraint: the statement has its duration, then its commit fails, without a text.
     */
    LOG(&f->log, .vxid = "3/1", .tag = "INSERT",
        .message = "duration: 0.030 ms  execute <unnamed>: INSERT INTO t VALUES (1)");
    LOG(&f->log, .vxid = "3/1", .tag = "INSERT", .severity = "ERROR", .sqlstate = "23503",
        .message = "insert or update violates foreign key constraint");
    /* And an error that belongs to nothing known. */
    LOG(&f->log, .vxid = "3/2", .severity = "ERROR", .sqlstate = "XX000", .message = "oops");
    LOG(&f->log, .vxid = "3/3", .tag = "idle", .message = "statement: SELECT 1");
    run(f);
    check_count(f, 2);
    check(f, 0, RH_KIND_EXECUTE, "INSERT INTO t VALUES (1)", "23503");
    check(f, 1, RH_KIND_QUERY, "SELECT 1", "");
    assert_int_equal(f->probe.stats.errors_without_text, 1);
}

/* Records that look like statements, or carry one, but are no executions. */
static void test_what_is_no_execution(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    LOG(m, .tag = "idle", .message = "statement: SELECT f()");
    LOG(m, .message = "temporary file: path \"base/pgsql_tmp1\", size 1", .query = "SELECT f()");
    LOG(m, .message = "statement: DROP TABLE x", .context = "PL/pgSQL function f() line 1 at RAISE",
        .query = "SELECT f()");
    LOG(m,
        .message = "duration: 52.114 ms  plan:\nQuery Text: select * from t where a=32;\nGather");
    LOG(m, .message = "AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT f()\",<none>");
    LOG(m, .severity = "WARNING", .sqlstate = "01000", .message = "statement: SELECT 2");
    LOG(m, .session = "6955b900.fff", .pid = 4095, .user = "", .database = "", .client = "",
        .backend_type = "parallel worker", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero", .query = "SELECT f()");
    LOG(m, .line = 7, .severity = "ERROR", .sqlstate = "40P01", .message = "deadlock detected",
        .detail = "Process 1: SELECT f()\nProcess 2: UPDATE t SET b=b", .query = "SELECT f()");
    run(f);
    check_count(f, 1);
    check(f, 0, RH_KIND_QUERY, "SELECT f()", "40P01");
    assert_int_equal(f->probe.stats.plans, 1);
    assert_int_equal(f->probe.stats.audits, 1);
    assert_int_equal(f->probe.stats.background, 1);
}

static void test_held_statements(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text;
        enum rh_reason want;
    } rows[] = {
        {"COPY t FROM STDIN", RH_REASON_NO_COPY_DATA},
        {"copy t to stdout; SELECT 1", RH_REASON_NONE},
        {"SELECT 1; COPY t (a) FROM stdin WITH (FORMAT csv)", RH_REASON_NO_COPY_DATA},
        {"SET NAMES 'LATIN1'", RH_REASON_ENCODING},
        {"SET SESSION client_encoding = 'LATIN1'", RH_REASON_ENCODING},
        {"SELECT 'SET client_encoding', 'COPY t FROM STDIN'", RH_REASON_NONE},
        {"SELECT $1, $2", RH_REASON_NONE}, /* an error of the application, but complete */
        {"SELECT 'a long text that the server has cu...", RH_REASON_CUT_TEXT},
        {"SELECT 1, 2, ...", RH_REASON_CUT_TEXT},
        {"SELECT 1 /* ... and so o...", RH_REASON_CUT_TEXT},
        {"SELECT 1 -- and so on...", RH_REASON_NONE},
        {"SELECT 'aaa [Your log message was truncated]", RH_REASON_CUT_TEXT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char message[200];
        snprintf(message, sizeof message, "statement: %s", rows[i].text);
        LOG(&f->log, .tag = "idle", .message = message);
    }
    LOG(&f->log, .tag = "idle", .message = "statement: ALTER ROLE r PASSWORD 'secret'");
    LOG(&f->log, .message = "fastpath function call: \"lo_open\" (OID 952)");
    LOG(&f->log, .message = "execute <unnamed>: COPY t FROM STDIN");
    run(f);
    uint32_t count = sizeof rows / sizeof rows[0];
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_record *r = rh_probe_statement(&f->probe, i);
        rh_assert_span(r->text, rows[i].text);
        if (r->hold != rows[i].want) {
            fail_msg("%s: held as %d", rows[i].text, r->hold);
        }
    }
    const struct rh_record *r = rh_probe_statement(&f->probe, count);
    assert_int_equal(r->hold, RH_REASON_SECRET);
    assert_null(memmem(r->text.data, r->text.len, "secret", 6));
    r = rh_probe_statement(&f->probe, count + 1);
    assert_int_equal(r->kind, RH_KIND_FUNCTION);
    assert_int_equal(r->hold, RH_REASON_NO_ARGUMENTS);
    assert_int_equal(rh_probe_statement(&f->probe, count + 2)->hold, RH_REASON_NO_COPY_DATA);
}

static void test_gaps_and_repeats(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .line = 7, .stamp = "00:00:01.000", .tag = "idle",
        .message = "statement: SELECT 1");
    LOG(&f->log, .line = 10, .stamp = "00:00:02.000", .tag = "idle",
        .message = "statement: SELECT 2");
    /* The same record again, and an older one: a file was given twice. */
    LOG(&f->log, .line = 10, .stamp = "00:00:02.000", .tag = "idle",
        .message = "statement: SELECT 2");
    LOG(&f->log, .line = 7, .stamp = "00:00:01.000", .tag = "idle",
        .message = "statement: SELECT 1");
    LOG(&f->log, .line = 11, .stamp = "00:00:03.000", .tag = "idle",
        .message = "statement: SELECT 3");
    run(f);
    check_count(f, 3);
    /* Its error may be in the lines that are missing. */
    check(f, 0, RH_KIND_QUERY, "SELECT 1", "");
    check(f, 1, RH_KIND_QUERY, "SELECT 2", "00000");
    assert_int_equal(f->probe.stats.missing_lines, 2);
    assert_int_equal(f->probe.stats.repeated, 2);
    assert_int_equal(rh_probe_kind_count(&f->probe, RH_KIND_GAP), 1);
    for (uint32_t i = 0; i < f->probe.count; i++) {
        const struct rh_record *r = &f->probe.records[i];
        if (r->kind == RH_KIND_GAP) {
            assert_int_equal(r->count, 2);
            rh_assert_span(r->detail, "log lines missing");
        }
    }
    assert_true(rh_probe_session(&f->probe, 1)->session.flags & RH_SESSION_JOINED_MIDWAY);
}

static void test_starts_never_go_back(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .stamp = "00:00:05.000", .vxid = "3/0",
        .message = "duration: 1.000 ms  statement: SELECT 1");
    LOG(&f->log, .stamp = "00:00:02.000", .vxid = "3/0",
        .message = "duration: 1.000 ms  statement: SELECT 2");
    LOG(&f->log, .stamp = "00:00:05.001", .vxid = "3/0",
        .message = "duration: 4.000 ms  statement: SELECT 3");
    run(f);
    int64_t last = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const struct rh_record *r = rh_probe_statement(&f->probe, i);
        assert_true(r->start_ns >= last);
        assert_int_equal(r->outcome.done_ns - r->start_ns, i < 2 ? 1000000 : 4000000);
        last = r->start_ns;
    }
}

static void test_columns_of_every_release(void **state)
{
    struct fixture *f = *state;
    static const int columns[] = {22, 23, 24, 26, 27};
    for (size_t i = 0; i < 5; i++) {
        LOG(&f->log, .columns = columns[i], .tag = "idle", .message = "statement: SELECT 1");
    }
    run(f);
    check_count(f, 5);
    assert_int_equal(f->probe.counts.unknown_columns, 1);
}

static void test_application_changes(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .line = 1, .tag = "authentication", .vxid = "3/1", .application = "",
        .message = "connection authorized: user=u database=d application_name=first app");
    LOG(&f->log, .tag = "idle", .application = "first app",
        .message = "statement: SET application_name = 'second'");
    LOG(&f->log, .tag = "idle", .application = "second", .message = "statement: SELECT 1");
    LOG(&f->log, .tag = "idle", .application = "first app", .message = "statement: SELECT 2");
    run(f);
    rh_assert_span(rh_probe_session(&f->probe, 1)->session.application, "first app");
    assert_null(rh_probe_statement(&f->probe, 0)->application.data);
    rh_assert_span(rh_probe_statement(&f->probe, 1)->application, "second");
    assert_null(rh_probe_statement(&f->probe, 2)->application.data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_simple_by_start_and_by_end),
        TEST(test_durations_belong_to_their_own_statement),
        TEST(test_extended_in_every_setting),
        TEST(test_durations_alone_tell_no_statement),
        TEST(test_parse_and_bind_without_execution),
        TEST(test_a_parse_long_before_is_apart),
        TEST(test_names),
        TEST(test_fetches_are_no_executions),
        TEST(test_a_detail_belongs_to_its_own_record),
        TEST(test_prepare_by_sql),
        TEST(test_errors),
        TEST(test_cancels_and_timeouts),
        TEST(test_a_commit_that_fails_at_sync),
        TEST(test_what_is_no_execution),
        TEST(test_held_statements),
        TEST(test_gaps_and_repeats),
        TEST(test_starts_never_go_back),
        TEST(test_columns_of_every_release),
        TEST(test_application_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
