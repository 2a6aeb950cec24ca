/* capture/assembler: filters and what is carried over them; redaction */
#include "rh_test.h"

#include "capture_probe.h"
#include "common/alloc.h"
#include "common/clock.h"
#include "log_maker.h"

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

static void add_transaction(struct rh_log_maker *m, const char *second, const char *vxid,
                            const char *table)
{
    char stamp[20], message[100];
    const char *texts[] = {"BEGIN", table, "COMMIT"};
    for (int i = 0; i < 3; i++) {
        snprintf(stamp, sizeof stamp, "00:00:%s.%d00", second, i * 4);
        snprintf(message, sizeof message,
                 i == 1 ? "duration: 1.000 ms  statement: SELECT * FROM %s"
                        : "duration: 1.000 ms  statement: %s",
                 texts[i]);
        LOG(m, .stamp = stamp, .vxid = i < 2 ? vxid : "3/0", .message = message);
    }
}

static void test_filter_by_time_keeps_transactions_whole(void **state)
{
    struct fixture *f = *state;
    add_transaction(&f->log, "01", "3/1", "one");
    add_transaction(&f->log, "02", "3/2", "two");
    add_transaction(&f->log, "03", "3/3", "three");
    /* From within the first to within the second. */
    f->probe.filter.from_ns = AT_MS(1100);
    f->probe.filter.to_ns = AT_MS(2500);
    run(f);
    assert_int_equal(rh_capture_stats_statements(&f->probe.stats), 3);
    assert_int_equal(f->probe.stats.filtered, 6);
    rh_assert_span(rh_probe_statement(&f->probe, 0)->text, "BEGIN");
    rh_assert_span(rh_probe_statement(&f->probe, 1)->text, "SELECT * FROM two");
    rh_assert_span(rh_probe_statement(&f->probe, 2)->text, "COMMIT");
    assert_int_equal(rh_probe_statement(&f->probe, 0)->ordinal, 1);
    assert_int_equal(rh_probe_kind_count(&f->probe, RH_KIND_GAP), 0);
}

static void test_filter_by_pattern_keeps_control(void **state)
{
    struct fixture *f = *state;
    const char *items[] = {"from (one|three)"};
    const char *no_items[] = {"three"};
    struct rh_str_list include = {items, 1, 1}, exclude = {no_items, 1, 1};
    struct rh_error err;
    add_transaction(&f->log, "01", "3/1", "one");
    add_transaction(&f->log, "02", "3/2", "two");
    add_transaction(&f->log, "03", "3/3", "three");
    items[0] = "FROM (one|three)";
    assert_int_equal(rh_capture_filter_add_patterns(&f->probe.filter, &include, &exclude, &err), 0);
    run(f);
    assert_int_equal(rh_capture_stats_statements(&f->probe.stats), 7);
    rh_assert_span(rh_probe_statement(&f->probe, 1)->text, "SELECT * FROM one");
    rh_assert_span(rh_probe_statement(&f->probe, 2)->text, "COMMIT");
    rh_assert_span(rh_probe_statement(&f->probe, 3)->text, "BEGIN");
    rh_assert_span(rh_probe_statement(&f->probe, 4)->text, "COMMIT");
    assert_int_equal(rh_probe_statement(&f->probe, 6)->ordinal, 7);
}

static void test_filter_by_names(void **state)
{
    struct fixture *f = *state;
    const char *users[] = {"alice", "carol"};
    const char *databases[] = {"shop"};
    LOG(&f->log, .line = 5, .user = "alice", .database = "shop", .tag = "idle",
        .message = "statement: SELECT 'alice'");
    LOG(&f->log, .line = 5, .session = "6955b900.fa2", .pid = 4002, .user = "bob",
        .database = "shop", .tag = "idle", .message = "statement: SELECT 'bob'");
    LOG(&f->log, .line = 9, .session = "6955b900.fa2", .pid = 4002, .user = "bob",
        .database = "shop", .tag = "idle", .message = "statement: SELECT 'bob'");
    LOG(&f->log, .line = 5, .session = "6955b900.fa3", .pid = 4003, .user = "carol",
        .database = "books", .tag = "idle", .message = "statement: SELECT 'carol'");
    f->probe.filter.users = (struct rh_str_list){users, 2, 2};
    f->probe.filter.databases = (struct rh_str_list){databases, 1, 1};
    run(f);
    assert_int_equal(f->probe.session_count, 1);
    assert_int_equal(rh_capture_stats_statements(&f->probe.stats), 1);
    rh_assert_span(rh_probe_statement(&f->probe, 0)->text, "SELECT 'alice'");
    /* What is filtered is not missing. */
    assert_int_equal(f->probe.stats.missing_lines, 0);
}

/* The texts of all statements in the order they came, a line each. */
static void check_texts(struct fixture *f, const char *want)
{
    struct rh_buf found;
    rh_buf_init(&found, 64 * 1024);
    const struct rh_record *r;
    for (uint32_t i = 0; (r = rh_probe_statement(&f->probe, i)); i++) {
        assert_int_equal(r->ordinal, i + 1);
        rh_buf_add_span(&found, r->text);
        rh_buf_add_byte(&found, '\n');
    }
    rh_assert_span(rh_buf_span(&found), want);
    rh_buf_release(&found);
}

static void exclude(struct fixture *f, const char *pattern)
{
    const char *items[] = {pattern};
    struct rh_str_list none = {0}, list = {items, 1, 1};
    struct rh_error err;
    assert_int_equal(rh_capture_filter_add_patterns(&f->probe.filter, &none, &list, &err), 0);
}

static void add_statement(struct fixture *f, const char *stamp, const char *application,
                          const char *vxid, const char *text)
{
    char message[200];
    snprintf(message, sizeof message, "duration: 1.000 ms  statement: %s", text);
    LOG(&f->log, .stamp = stamp, .application = application, .vxid = vxid, .message = message);
}

/* Without its END a replayed transaction would hold its locks. */
static void test_exclude_drops_no_end(void **state)
{
    struct fixture *f = *state;
    add_statement(f, "00:00:01.000", "app", "3/1", "BEGIN");
    add_statement(f, "00:00:01.010", "app", "3/1", "UPDATE t SET a = 1");
    add_statement(f, "00:00:01.020", "app", "3/1", "SAVEPOINT the_end");
    add_statement(f, "00:00:01.030", "app", "3/1", "SELECT 'the end'");
    add_statement(f, "00:00:01.040", "app", "3/0", "INSERT INTO t VALUES (1); END");
    add_statement(f, "00:00:01.050", "app", "3/0", "BEGIN; SELECT 'the end'; END");
    exclude(f, "(?i)\\bend\\b|savepoint");
    run(f);
    check_texts(f, "BEGIN\nUPDATE t SET a = 1\nSAVEPOINT the_end\nINSERT INTO t VALUES (1); END\n");
    assert_int_equal(f->probe.stats.filtered, 2);
}

/* The application of its BEGIN decides on a transaction, whatever it is called later. */
static void test_application_keeps_transactions_whole(void **state)
{
    struct fixture *f = *state;
    const char *names[] = {"web"};
    add_statement(f, "00:00:01.000", "pool", "3/0", "SET search_path = shop");
    add_statement(f, "00:00:01.100", "pool", "3/0", "SELECT 'pool'");
    add_statement(f, "00:00:02.000", "web", "3/1", "BEGIN");
    add_statement(f, "00:00:02.100", "job", "3/1", "SELECT 'within'");
    add_statement(f, "00:00:02.200", "job", "3/0", "COMMIT");
    add_statement(f, "00:00:03.000", "job", "3/2", "BEGIN");
    add_statement(f, "00:00:03.100", "web", "3/2", "SELECT 'of job'");
    add_statement(f, "00:00:03.200", "job", "3/2", "SET statement_timeout = 9");
    add_statement(f, "00:00:03.300", "web", "3/0", "COMMIT");
    add_statement(f, "00:00:04.000", "web", "3/0", "SELECT 'last'");
    f->probe.filter.applications = (struct rh_str_list){names, 1, 1};
    run(f);
    check_texts(f, "SET search_path = shop\nBEGIN\nSELECT 'within'\nCOMMIT\n"
                   "SET statement_timeout = 9\nSELECT 'last'\n");
    assert_int_equal(f->probe.stats.carried, 1);
    assert_int_equal(rh_probe_statement(&f->probe, 4)->txn, RH_TXN_BEGINS | RH_TXN_ENDS);
}

/* What the session had set and prepared before --from is in front of what is kept. */
static void test_settings_of_before_are_carried(void **state)
{
    struct fixture *f = *state;
    add_statement(f, "00:00:01.000", "app", "3/0", "SET search_path = one");
    add_statement(f, "00:00:01.100", "app", "3/0", "SET search_path = two; SELECT 1");
    add_statement(f, "00:00:01.200", "app", "3/0", "SET work_mem = '1MB'");
    add_statement(f, "00:00:01.300", "app", "3/0", "RESET work_mem");
    add_statement(f, "00:00:01.400", "app", "3/0", "PREPARE p AS SELECT 2");
    add_statement(f, "00:00:01.500", "app", "3/0", "SET LOCAL lock_timeout = 1");
    LOG(&f->log, .stamp = "00:00:01.600", .severity = "ERROR", .sqlstate = "22023",
        .message = "invalid value", .query = "SET timezone = 'nowhere'");
    LOG(&f->log, .stamp = "00:00:01.700", .message = "duration: 1.000 ms  execute S_1: SELECT 3");
    LOG(&f->log, .stamp = "00:00:05.000", .vxid = "3/6",
        .message = "duration: 1.000 ms  execute S_1: SELECT 3");
    add_statement(f, "00:00:09.000", "app", "3/0", "SET work_mem = 'late'");
    f->probe.filter.from_ns = AT_MS(4000);
    f->probe.filter.to_ns = AT_MS(8000);
    run(f);
    check_texts(f, "SET search_path = two\nPREPARE p AS SELECT 2\nSELECT 3\n");
    const struct rh_record *r = rh_probe_statement(&f->probe, 0);
    assert_int_equal(r->start_ns, AT_MS(4999));
    assert_int_equal(r->outcome.sqlstate, 0);
    assert_int_equal(r->outcome.done_ns, RH_TIME_UNKNOWN);
    assert_true(r->flags & RH_FLAG_START_ESTIMATED);
    assert_int_equal(r->txn, RH_TXN_BEGINS | RH_TXN_ENDS);
    /* The trace has not seen the statement's Parse. */
    assert_true(rh_probe_statement(&f->probe, 2)->flags & RH_FLAG_HAS_PARSE);
    assert_int_equal(f->probe.stats.carried, 2);
    /* The session was there before the window and goes on behind it. */
    assert_int_equal(rh_probe_kind_count(&f->probe, RH_KIND_OPEN), 0);
    assert_int_equal(rh_probe_session(&f->probe, 1)->session.flags,
                     RH_SESSION_JOINED_MIDWAY | RH_SESSION_LEFT_OPEN);
}

static void test_nothing_is_carried_to_nothing(void **state)
{
    struct fixture *f = *state;
    add_statement(f, "00:00:01.000", "app", "3/0", "SET search_path = one");
    f->probe.filter.from_ns = AT_MS(4000);
    run(f);
    assert_int_equal(f->probe.count, 0);
    assert_int_equal(f->probe.session_count, 0);
}

static void test_redacted_statements(void **state)
{
    struct fixture *f = *state;
    f->probe.redact = true;
    f->probe.filter.from_ns = AT_MS(1500);
    add_statement(f, "00:00:01.000", "app", "3/0", "SET app.who = 'hush'");
    add_statement(f, "00:00:02.000", "app", "3/0", "ALTER ROLE r PASSWORD 'hush'");
    LOG(&f->log, .stamp = "00:00:03.000",
        .message = "duration: 1.000 ms  execute S_1: SELECT $1, $2, $3, 'hush'",
        .detail = "Parameters: $1 = 'hush', $2 = '-1.5e3', $3 = NULL");
    LOG(&f->log, .stamp = "00:00:04.000", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero", .query = "SELECT 7/0 -- hush");
    LOG(&f->log, .stamp = "00:00:05.000", .vxid = "3/0",
        .message = "duration: 1.000 ms  statement: EXECUTE p('hush')",
        .detail = "prepare: PREPARE p AS SELECT 'hush', $1");
    run(f);
    check_texts(f, "SET app.who = 'x'\nALTER ROLE r PASSWORD 'x'\nSELECT $1, $2, $3, 'x'\n"
                   "SELECT 0/0 /* */\nEXECUTE p('x')\n");
    const struct rh_record *r = rh_probe_statement(&f->probe, 2);
    assert_int_equal(r->param_count, 3);
    rh_assert_span(rh_span(r->params[0].data, r->params[0].len), "x");
    rh_assert_span(rh_span(r->params[1].data, r->params[1].len), "0");
    assert_null(r->params[2].data);
    rh_assert_span(rh_probe_statement(&f->probe, 4)->prepare_text, "PREPARE p AS SELECT 'x', $1");
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(rh_probe_statement(&f->probe, i)->hold, RH_REASON_REDACTED);
    }
    assert_int_equal(f->probe.stats.held[RH_REASON_REDACTED], 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_filter_by_time_keeps_transactions_whole),
        TEST(test_filter_by_pattern_keeps_control),
        TEST(test_filter_by_names),
        TEST(test_exclude_drops_no_end),
        TEST(test_application_keeps_transactions_whole),
        TEST(test_settings_of_before_are_carried),
        TEST(test_nothing_is_carried_to_nothing),
        TEST(test_redacted_statements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
