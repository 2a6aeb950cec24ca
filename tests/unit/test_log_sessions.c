/* capture/assembler: sessions and transactions */
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

static const struct rh_record *record_of_kind(const struct fixture *f, enum rh_kind kind,
                                              uint32_t session)
{
    for (uint32_t i = 0; i < f->probe.count; i++) {
        if (f->probe.records[i].kind == kind && f->probe.records[i].session == session) {
            return &f->probe.records[i];
        }
    }
    return NULL;
}

static void test_open_and_close(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    LOG(m, .line = 1, .stamp = "00:00:00.500", .user = "", .database = "",
        .client = "192.0.2.7:40312", .vxid = "", .tag = "", .application = "",
        .backend_type = "not initialized", .message = "connection received: host=192.0.2.7 port=1");
    LOG(m, .stamp = "00:00:00.510", .client = "192.0.2.7:40312", .vxid = "3/1", .application = "",
        .tag = "authentication",
        .message = "connection authorized: user=u database=d SSL enabled (protocol=TLSv1.3)");
    LOG(m, .stamp = "00:00:01.000", .client = "192.0.2.7:40312", .tag = "idle",
        .application = "web", .message = "statement: SELECT 1");
    LOG(m, .stamp = "00:00:02.000", .client = "192.0.2.7:40312", .vxid = "", .tag = "idle",
        .application = "web",
        .message = "disconnection: session time: 0:00:01.500 user=u database=d host=192.0.2.7");
    run(f);
    assert_int_equal(f->probe.session_count, 1);
    const struct rh_probe_session *s = rh_probe_session(&f->probe, 1);
    assert_true(s->ended);
    rh_assert_span(s->session.user, "u");
    rh_assert_span(s->session.database, "d");
    rh_assert_span(s->session.application, "web");
    rh_assert_span(s->session.client, "192.0.2.7:40312");
    assert_int_equal(s->session.opened_ns, AT_MS(500));
    assert_int_equal(s->session.closed_ns, AT_MS(2000));
    assert_int_equal(s->session.backend_pid, 4001);
    assert_int_equal(s->session.flags, 0);
    assert_int_equal(record_of_kind(f, RH_KIND_OPEN, 1)->start_ns, AT_MS(500));
    rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, 1)->detail, "disconnected");
    assert_int_equal(rh_probe_statement(&f->probe, 0)->outcome.sqlstate, 0);
}

/* A session's OPEN is its first record, and its CLOSE its last: a duration reaches back behind the
 * opening (threads of other clocks, whole seconds), and ends are later than the last stamp. */
static void check_order(const struct fixture *f, uint32_t session)
{
    int64_t open_ns = rh_probe_session(&f->probe, session)->session.opened_ns;
    int64_t close_ns = rh_probe_session(&f->probe, session)->session.closed_ns;
    for (uint32_t i = 0; i < f->probe.count; i++) {
        const struct rh_record *r = &f->probe.records[i];
        if (r->session != session) {
            continue;
        }
        assert_true(r->start_ns >= open_ns);
        assert_true(close_ns == RH_TIME_UNKNOWN || r->start_ns <= close_ns);
        assert_true(close_ns == RH_TIME_UNKNOWN || r->outcome.done_ns <= close_ns);
    }
}

static void test_no_statement_outside_its_session(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    LOG(m, .line = 1, .stamp = "00:00:00.700", .user = "", .database = "", .vxid = "", .tag = "",
        .application = "", .backend_type = "not initialized",
        .message = "connection received: host=[local]");
    LOG(m, .stamp = "00:00:00.701", .tag = "authentication",
        .message = "connection authorized: user=u database=d");
    LOG(m, .stamp = "00:00:00.701", .vxid = "3/0",
        .message = "duration: 1.100 ms  statement: SELECT 1");
    LOG(m, .stamp = "00:00:00.701", .vxid = "", .tag = "idle",
        .message = "disconnection: session time: 0:00:00.001 user=u database=d host=[local]");
    /* Known to the second. */
    LOG(m, .line = 1, .session = "6955b901.fa2", .pid = 4002, .start = "00:00:01",
        .stamp = "00:00:01.000", .vxid = "3/0",
        .message = "duration: 0.100 ms  statement: SELECT 2");
    /* In disorder: the connection comes after the first statement. */
    LOG(m, .line = 1, .session = "6955b901.fa2", .pid = 4002, .start = "00:00:01", .user = "",
        .database = "", .vxid = "", .tag = "", .stamp = "00:00:03.000",
        .message = "connection received: host=[local]");
    LOG(m, .line = 2, .session = "6955b901.fa2", .pid = 4002, .start = "00:00:01",
        .stamp = "00:00:03.000", .vxid = "3/0",
        .message = "duration: 0.100 ms  statement: SELECT 3");
    run(f);
    check_order(f, 1);
    check_order(f, 2);
    const struct rh_record *r = rh_probe_statement(&f->probe, 0);
    assert_int_equal(r->start_ns, AT_MS(700));
    assert_int_equal(r->outcome.done_ns - r->start_ns, 1100000);
    assert_int_equal(record_of_kind(f, RH_KIND_OPEN, 1)->start_ns, AT_MS(700));
    assert_int_equal(record_of_kind(f, RH_KIND_CLOSE, 1)->start_ns, AT_MS(701) + 100000);
    assert_int_equal(record_of_kind(f, RH_KIND_OPEN, 2)->start_ns, AT_MS(1000) - 100000);
}

static void test_sessions_without_end_or_beginning(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    /* In the middle of its life, left open. */
    LOG(m, .line = 100, .tag = "idle", .message = "statement: SELECT 'a'");
    /* The process id is used by a newer session. */
    LOG(m, .line = 200, .session = "6955b900.fa2", .pid = 4002, .tag = "idle",
        .message = "statement: SELECT 'b'");
    LOG(m, .line = 1, .stamp = "00:00:09.000", .session = "6955b908.fa2", .start = "00:00:08",
        .pid = 4002, .tag = "idle", .message = "statement: SELECT 'c'");
    /* Killed by the administrator while it worked, and while it did not. */
    LOG(m, .line = 5, .session = "6955b900.fa3", .pid = 4003, .tag = "idle",
        .message = "statement: SELECT 'd'");
    LOG(m, .line = 6, .session = "6955b900.fa3", .pid = 4003, .severity = "FATAL",
        .sqlstate = "57P01", .message = "terminating connection", .query = "SELECT 'd'");
    LOG(m, .line = 5, .session = "6955b900.fa4", .pid = 4004, .tag = "idle",
        .message = "statement: SELECT 'e'");
    LOG(m, .line = 6, .session = "6955b900.fa4", .pid = 4004, .severity = "FATAL", .tag = "idle",
        .sqlstate = "57P05", .message = "terminating connection due to idle-session timeout");
    /* The client vanished within a transaction. */
    LOG(m, .line = 5, .session = "6955b900.fa5", .pid = 4005, .tag = "idle",
        .message = "statement: BEGIN");
    LOG(m, .line = 6, .session = "6955b900.fa5", .pid = 4005, .tag = "idle in transaction",
        .sqlstate = "08006",
        .message = "unexpected EOF on client connection with an open transaction");
    LOG(m, .line = 7, .session = "6955b900.fa5", .pid = 4005, .tag = "idle in transaction",
        .vxid = "", .message = "disconnection: session time: 0:00:01.500 user=u");
    run(f);
    assert_int_equal(f->probe.session_count, 6);
    uint32_t wanted[] = {RH_SESSION_JOINED_MIDWAY | RH_SESSION_LEFT_OPEN,
                         RH_SESSION_JOINED_MIDWAY,
                         RH_SESSION_LEFT_OPEN,
                         RH_SESSION_JOINED_MIDWAY,
                         RH_SESSION_JOINED_MIDWAY,
                         RH_SESSION_JOINED_MIDWAY};
    for (uint32_t n = 1; n <= 6; n++) {
        assert_int_equal(rh_probe_session(&f->probe, n)->session.flags, wanted[n - 1]);
        assert_true(rh_probe_session(&f->probe, n)->ended);
    }
    rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, 2)->detail, "end not logged");
    assert_null(record_of_kind(f, RH_KIND_CLOSE, 1));
    assert_null(record_of_kind(f, RH_KIND_OPEN, 1));
    /* The session id tells when it began, to the second. */
    assert_int_equal(rh_probe_session(&f->probe, 3)->session.opened_ns, AT_MS(8000));
    rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, 4)->detail, "terminated by the server");
    rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, 6)->detail, "connection lost");
    const struct rh_record *d = record_of_kind(f, RH_KIND_QUERY, 4);
    assert_int_equal(d->outcome.sqlstate, rh_sqlstate_pack(RH_SPAN_LITERAL("57P01")));
    assert_int_equal(record_of_kind(f, RH_KIND_QUERY, 5)->outcome.sqlstate, 0);
    assert_int_equal(record_of_kind(f, RH_KIND_QUERY, 6)->outcome.sqlstate, 0);
}

static void test_logins_that_fail(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    LOG(m, .line = 2, .tag = "authentication",
        .message = "connection authorized: user=u database=x");
    LOG(m, .line = 3, .tag = "startup", .severity = "FATAL", .sqlstate = "3D000",
        .message = "database \"x\" does not exist");
    LOG(m, .line = 1, .session = "6955b900.fa2", .pid = 4002, .user = "", .database = "", .tag = "",
        .vxid = "", .message = "connection received: host=[local]");
    LOG(m, .line = 2, .session = "6955b900.fa2", .pid = 4002, .tag = "authentication",
        .severity = "FATAL", .sqlstate = "28P01", .message = "password authentication failed");
    /* A probe of a load balancer. */
    LOG(m, .line = 1, .session = "6955b900.fa3", .pid = 4003, .user = "", .database = "", .tag = "",
        .vxid = "", .message = "connection received: host=[local]");
    LOG(m, .line = 2, .session = "6955b900.fa3", .pid = 4003, .user = "", .database = "", .tag = "",
        .vxid = "", .sqlstate = "08P01", .message = "invalid length of startup packet");
    run(f);
    assert_int_equal(f->probe.session_count, 2);
    assert_int_equal(f->probe.stats.logins_failed, 2);
    assert_int_equal(f->probe.stats.probes, 1);
    assert_int_equal(rh_probe_session(&f->probe, 1)->session.flags, RH_SESSION_LOGIN_FAILED);
    rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, 1)->detail, "terminated by the server (3D000)");
}

static void test_replication(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .line = 2, .tag = "authentication", .backend_type = "walsender",
        .message = "replication connection authorized: user=u application_name=standby");
    LOG(&f->log, .tag = "idle", .backend_type = "walsender",
        .message = "received replication command: IDENTIFY_SYSTEM");
    LOG(&f->log, .tag = "idle", .backend_type = "walsender", .message = "statement: SELECT 1");
    run(f);
    assert_true(rh_probe_session(&f->probe, 1)->session.flags & RH_SESSION_REPLICATION);
    assert_int_equal(rh_probe_statement(&f->probe, 0)->hold, RH_REASON_REPLICATION);
}

static void test_a_restart_ends_all_sessions(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .line = 9, .tag = "idle", .message = "statement: SELECT 1");
    LOG(&f->log, .line = 1, .session = "6955b909.1", .pid = 1, .user = "", .database = "",
        .client = "", .vxid = "", .tag = "", .backend_type = "postmaster",
        .message = "starting PostgreSQL 15.18 on x86_64");
    LOG(&f->log, .line = 2, .session = "6955b909.fa9", .pid = 4009, .stamp = "00:00:10.000",
        .tag = "idle", .message = "statement: SELECT 2");
    run(f);
    rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, 1)->detail,
                   "end not logged, the server stopped");
    assert_int_equal(rh_probe_session(&f->probe, 1)->session.flags & RH_SESSION_LEFT_OPEN, 0);
}

/* Newer servers tell by the process's type, whatever the language; a session of the server that
 * runs stays, and a promotion is no start. */
static void test_a_restart_in_any_language(void **state)
{
    struct fixture *f = *state;
    struct rh_log_maker *m = &f->log;
    LOG(m, .line = 9, .tag = "idle", .message = "statement: SELECT 'before the crash'");
    LOG(m, .line = 1, .session = "6955b902.20", .pid = 32, .user = "", .database = "", .client = "",
        .vxid = "", .tag = "", .stamp = "00:00:02.000", .backend_type = "startup",
        .message = "Datenbanksystem wurde unterbrochen");
    LOG(m, .line = 1, .session = "6955b903.fa2", .pid = 4002, .stamp = "00:00:04.000",
        .start = "00:00:03", .tag = "idle", .message = "statement: SELECT 'of the old server'");
    LOG(m, .line = 1, .session = "6955b906.fa3", .pid = 4003, .stamp = "00:00:07.000",
        .start = "00:00:06", .tag = "idle", .message = "statement: SELECT 'of the new one'");
    for (int i = 0; i < 2; i++) {
        LOG(m, .line = 5 + (uint32_t) i, .session = "6955b905.10", .pid = 16, .user = "",
            .database = "", .client = "", .vxid = "", .tag = "", .stamp = "00:00:08.000",
            .backend_type = "postmaster", .message = "Datenbanksystem ist bereit");
    }
    run(f);
    for (uint32_t n = 1; n <= 2; n++) {
        rh_assert_span(record_of_kind(f, RH_KIND_CLOSE, n)->detail,
                       "end not logged, the server stopped");
    }
    assert_null(record_of_kind(f, RH_KIND_CLOSE, 3));
    assert_true(rh_probe_session(&f->probe, 3)->session.flags & RH_SESSION_LEFT_OPEN);
}

/* Sessions whose ends are not logged are given up, idle ones first; busy ones stay. */
static void test_sessions_are_bounded(void **state)
{
    struct fixture *f = *state;
    f->probe.sessions_max = 8;
    LOG(&f->log, .line = 1, .session = "6955b900.1", .pid = 1, .vxid = "9/1", .tag = "BEGIN",
        .message = "duration: 0.100 ms  statement: BEGIN");
    for (uint32_t i = 2; i <= 40; i++) {
        char session[32], stamp[20];
        snprintf(session, sizeof session, "6955b900.%x", i);
        snprintf(stamp, sizeof stamp, "00:00:%02u.000", i);
        LOG(&f->log, .line = 1, .session = session, .pid = i, .stamp = stamp, .vxid = "3/0",
            .message = "duration: 0.100 ms  statement: SELECT 1");
    }
    LOG(&f->log, .line = 2, .session = "6955b900.1", .pid = 1, .stamp = "00:00:50.000",
        .vxid = "9/0", .tag = "COMMIT", .message = "duration: 0.100 ms  statement: COMMIT");
    LOG(&f->log, .line = 2, .session = "6955b900.2", .pid = 2, .stamp = "00:00:51.000",
        .vxid = "3/0", .message = "duration: 0.100 ms  statement: SELECT 2");
    run(f);
    assert_int_equal(f->probe.stats.retired, 33);
    assert_int_equal(f->probe.stats.resumed, 1);
    assert_int_equal(f->probe.session_count, 41);
    assert_int_equal(rh_probe_session(&f->probe, 2)->session.flags, RH_SESSION_LEFT_OPEN);
    const struct rh_probe_session *again = rh_probe_session(&f->probe, 41);
    assert_int_equal(again->session.flags, RH_SESSION_JOINED_MIDWAY | RH_SESSION_LEFT_OPEN);
    assert_int_equal(again->session.backend_pid, 2);
    uint32_t in_block = 0;
    for (uint32_t i = 0; i < f->probe.count; i++) {
        in_block += f->probe.records[i].session == 1 && (f->probe.records[i].txn & RH_TXN_BLOCK);
    }
    assert_int_equal(in_block, 2);
    assert_int_equal(rh_probe_kind_count(&f->probe, RH_KIND_GAP), 33);
}

struct txn_row {
    const char *text;
    const char *vxid; /* of its end */
    const char *tag;
    uint8_t want;
};

enum { B = RH_TXN_BEGINS, E = RH_TXN_ENDS, K = RH_TXN_BLOCK };

static void check_marks(struct fixture *f, const uint8_t *want, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_record *r = rh_probe_statement(&f->probe, i);
        assert_non_null(r);
        if (r->txn != want[i]) {
            fail_msg("%.*s is marked %d, not %d", (int) r->text.len, r->text.data, r->txn, want[i]);
        }
    }
}

static void test_transactions_by_what_ends(void **state)
{
    struct fixture *f = *state;
    static const struct txn_row rows[] = {
        {"SELECT 1", "3/0", "SELECT", B | E},
        {"BEGIN", "3/7", "BEGIN", B | K},
        {"SELECT 2", "3/7", "SELECT", K},
        {"COMMIT", "3/0", "COMMIT", E | K},
        {"SELECT 3", "3/0", "SELECT", B | E},
        {"BEGIN; SELECT 4; COMMIT", "3/0", "COMMIT", B | E | K},
        /* Its COMMIT was not sampled: the next statement shows that the block is over. */
        {"BEGIN", "3/9", "BEGIN", B | K},
        {"SELECT 5", "3/0", "SELECT", B | E},
        {"COMMIT AND CHAIN", "3/12", "COMMIT", B | E | K},
        {"SELECT 6", "3/12", "SELECT", B | K},
        {"ROLLBACK", "3/0", "ROLLBACK", E | K},
    };
    size_t count = sizeof rows / sizeof rows[0];
    uint8_t want[16];
    for (size_t i = 0; i < count; i++) {
        char message[100];
        snprintf(message, sizeof message, "duration: 1.000 ms  statement: %s", rows[i].text);
        LOG(&f->log, .vxid = rows[i].vxid, .tag = rows[i].tag, .message = message);
        want[i] = rows[i].want;
    }
    run(f);
    check_marks(f, want, count);
}

static void test_transactions_by_what_begins(void **state)
{
    struct fixture *f = *state;
    static const struct txn_row rows[] = {
        {"SELECT 1", "3/5", "idle", B | E},
        {"BEGIN", "3/6", "idle", B | K},
        {"UPDATE t SET a = 1", "3/6", "idle in transaction", K},
        {"SELECT 1/0", "3/6", "idle in transaction", K},
        {"SELECT 2", "3/0", "idle in transaction (aborted)", K},
        {"ROLLBACK", "3/0", "idle in transaction (aborted)", E | K},
        /* log_statement = mod: BEGIN and COMMIT are not logged, the same id holds it together. */
        {"INSERT INTO t VALUES (1)", "3/8", "idle in transaction", B | K},
        {"INSERT INTO t VALUES (2)", "3/8", "idle in transaction", E | K},
        {"INSERT INTO t VALUES (3)", "3/9", "idle", B | E},
        {"INSERT INTO t VALUES (4)", "3/10", "idle", B | E},
    };
    size_t count = sizeof rows / sizeof rows[0];
    uint8_t want[16];
    for (size_t i = 0; i < count; i++) {
        char message[100];
        snprintf(message, sizeof message, "statement: %s", rows[i].text);
        LOG(&f->log, .vxid = rows[i].vxid, .tag = rows[i].tag, .message = message);
        want[i] = rows[i].want;
        if (strcmp(rows[i].text, "SELECT 1/0") == 0) {
            LOG(&f->log, .vxid = "3/6", .severity = "ERROR", .sqlstate = "22012",
                .message = "division by zero", .query = "SELECT 1/0");
        }
    }
    run(f);
    check_marks(f, want, count);
}

static void test_transactions_of_the_extended_protocol(void **state)
{
    struct fixture *f = *state;
    static const struct txn_row rows[] = {
        /* A pipeline up to one Sync is one implicit transaction. */
        {"SELECT 1", "3/5", "SELECT", B},   {"SELECT 2", "3/5", "SELECT", 0},
        {"SELECT 3", "3/5", "SELECT", E},   {"SELECT 4", "3/6", "SELECT", B | E},
        {"BEGIN", "3/7", "BEGIN", B | K},   {"SELECT 5", "3/7", "SELECT", K},
        {"COMMIT", "3/7", "COMMIT", E | K}, {"SELECT 6", "3/8", "SELECT", B | E},
    };
    size_t count = sizeof rows / sizeof rows[0];
    uint8_t want[16];
    for (size_t i = 0; i < count; i++) {
        char message[100];
        snprintf(message, sizeof message, "duration: 1.000 ms  execute <unnamed>: %s",
                 rows[i].text);
        LOG(&f->log, .vxid = rows[i].vxid, .tag = rows[i].tag, .message = message);
        want[i] = rows[i].want;
    }
    run(f);
    check_marks(f, want, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_record *r = rh_probe_statement(&f->probe, i);
        assert_int_equal(!(r->txn & RH_TXN_BLOCK), (r->flags & RH_FLAG_COMMIT_NOT_TIMED) != 0);
    }
}

/* What waits for the next record of its session must not wait for ever. */
static void test_an_idle_session_does_not_hold_its_statement(void **state)
{
    struct fixture *f = *state;
    LOG(&f->log, .line = 5, .stamp = "00:00:01.000", .vxid = "3/0",
        .message = "duration: 1.000 ms  statement: SELECT 'idle afterwards'");
    for (int i = 0; i < 50; i++) {
        char stamp[20];
        snprintf(stamp, sizeof stamp, "00:00:%02d.000", 2 + i);
        LOG(&f->log, .line = 5 + (uint32_t) i, .session = "6955b900.fa2", .pid = 4002,
            .stamp = stamp, .vxid = "4/0", .message = "duration: 1.000 ms  statement: SELECT 1");
    }
    run(f);
    rh_assert_span(f->probe.records[0].text, "SELECT 'idle afterwards'");
    assert_int_equal(f->probe.records[0].txn, B | E);
}

/* Too much waits for its outcome: records go out without it, and it follows. */
static void test_outcomes_that_come_later(void **state)
{
    struct fixture *f = *state;
    f->probe.waiting_bytes_max = 1;
    LOG(&f->log, .stamp = "00:00:01.000", .tag = "idle", .message = "statement: SELECT 'timed'");
    LOG(&f->log, .stamp = "00:00:01.500", .vxid = "3/0", .message = "duration: 500.250 ms");
    LOG(&f->log, .stamp = "00:00:02.000", .message = "execute <unnamed>: SELECT 'failed'");
    LOG(&f->log, .stamp = "00:00:03.000", .severity = "ERROR", .sqlstate = "22012",
        .message = "division by zero", .query = "SELECT 'failed'");
    LOG(&f->log, .stamp = "00:00:04.000", .tag = "idle", .message = "statement: SELECT 'well'");
    LOG(&f->log, .stamp = "00:00:05.000", .tag = "idle", .severity = "ERROR", .sqlstate = "42601",
        .message = "syntax error", .query = "SELEC 1");
    run(f);
    static const struct {
        uint64_t ordinal;
        const char *sqlstate;
        int64_t done_ns;
    } want[] = {{1, "00000", AT_MS(1500) + 250000},
                {2, "22012", AT_MS(3000)},
                {3, "00000", RH_TIME_UNKNOWN}};
    size_t found = 0;
    for (uint32_t i = 0; i < f->probe.count; i++) {
        const struct rh_record *r = &f->probe.records[i];
        char text[6];
        if (r->kind == RH_KIND_OUTCOME) {
            assert_true(found < 3);
            assert_int_equal(r->ordinal, want[found].ordinal);
            assert_string_equal(rh_sqlstate_unpack(r->outcome.sqlstate, text),
                                want[found].sqlstate);
            assert_int_equal(r->outcome.done_ns, want[found].done_ns);
            found++;
        }
    }
    assert_int_equal(found, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(rh_probe_statement(&f->probe, i)->outcome.sqlstate, RH_SQLSTATE_UNKNOWN);
    }
    rh_assert_span(rh_probe_statement(&f->probe, 3)->text, "SELEC 1");
    assert_int_equal(f->probe.stats.outcome_unknown, 0);
    assert_int_equal(f->probe.stats.succeeded, 2);
    assert_int_equal(f->probe.stats.failed, 2);
    assert_null(rh_probe_statement(&f->probe, 4));
}

static void add_session(struct rh_log_maker *m, uint32_t from, uint32_t to)
{
    for (uint32_t line = from; line <= to; line++) {
        char stamp[20];
        snprintf(stamp, sizeof stamp, "00:00:%02u.000", line);
        LOG(m, .line = line, .stamp = stamp, .tag = "idle",
            .message = line == 6 ? "disconnection: session time: 0:00:06.000 user=u database=d"
                                 : "statement: SELECT 1");
    }
}

static void check_left_out(struct fixture *f, uint32_t statements, uint64_t repeated,
                           uint64_t disordered)
{
    run(f);
    assert_int_equal(rh_capture_stats_statements(&f->probe.stats), statements);
    assert_int_equal(f->probe.stats.repeated, repeated);
    assert_int_equal(f->probe.stats.disordered, disordered);
    assert_int_equal(f->probe.session_count, 1);
}

static void test_a_log_given_twice(void **state)
{
    struct fixture *f = *state;
    add_session(&f->log, 1, 6);
    add_session(&f->log, 1, 6);
    check_left_out(f, 5, 6, 0);
    assert_int_equal(f->probe.stats.repeated_at.line, 7);
}

static void test_the_end_before_the_beginning(void **state)
{
    struct fixture *f = *state;
    add_session(&f->log, 4, 6);
    add_session(&f->log, 1, 4);
    add_session(&f->log, 2, 3); /* by now they were seen */
    check_left_out(f, 2, 3, 3);
    assert_int_equal(f->probe.stats.disordered_at.line, 4);
    assert_int_equal(f->probe.stats.repeated_at.line, 7);
}

static void test_records_out_of_order_in_an_open_session(void **state)
{
    struct fixture *f = *state;
    add_session(&f->log, 1, 2);
    add_session(&f->log, 5, 5);
    add_session(&f->log, 3, 4);
    add_session(&f->log, 1, 1);
    add_session(&f->log, 6, 6);
    check_left_out(f, 3, 1, 2);
    assert_int_equal(f->probe.stats.missing_lines, 2);
}

static void test_the_earliest_and_the_latest_stamp(void **state)
{
    struct fixture *f = *state;
    add_session(&f->log, 3, 4);
    LOG(&f->log, .session = "6955b900.fa2", .pid = 4002, .line = 1, .stamp = "00:00:02.000",
        .tag = "idle", .message = "statement: SELECT 2");
    run(f);
    assert_int_equal(f->probe.stats.first_ns, AT_MS(2000));
    assert_int_equal(f->probe.stats.last_ns, AT_MS(4000));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_open_and_close),
        TEST(test_no_statement_outside_its_session),
        TEST(test_sessions_without_end_or_beginning),
        TEST(test_logins_that_fail),
        TEST(test_replication),
        TEST(test_a_restart_ends_all_sessions),
        TEST(test_a_restart_in_any_language),
        TEST(test_sessions_are_bounded),
        TEST(test_a_log_given_twice),
        TEST(test_the_earliest_and_the_latest_stamp),
        TEST(test_the_end_before_the_beginning),
        TEST(test_records_out_of_order_in_an_open_session),
        TEST(test_transactions_by_what_ends),
        TEST(test_transactions_by_what_begins),
        TEST(test_transactions_of_the_extended_protocol),
        TEST(test_an_idle_session_does_not_hold_its_statement),
        TEST(test_outcomes_that_come_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
