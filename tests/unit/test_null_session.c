#include "rh_test.h"

#include <string.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "formats/pg_message.h"
#include "formats/pg_scan.h"
#include "formats/pg_write.h"
#include "replay/null_session.h"

/* A session, what is written to it, and what it answered. */
struct bench {
    struct rh_null_options options;
    struct rh_null_counts counts;
    struct rh_null_session session;
    struct rh_buf in;
    struct rh_buf out;
    struct rh_buf all; /* everything that was answered since the last look */
    struct rh_buf shown;
    struct rh_pg_scan scan;
    int waits;
    enum rh_null_turn turn;
    struct rh_error err;
};

static void set_up(struct bench *b)
{
    memset(b, 0, sizeof *b);
    rh_null_options_init(&b->options);
    b->options.max_connections = 100;
    assert_int_equal(rh_null_options_check(&b->options, &b->err), 0);
    rh_null_session_init(&b->session, &b->options, &b->counts, 7, 1);
    rh_buf_init(&b->in, 16 << 20);
    rh_buf_init(&b->out, RH_NULL_OUT_MAX);
    rh_buf_init(&b->all, 64 << 20);
    rh_buf_init(&b->shown, 1 << 20);
    rh_pg_scan_init(&b->scan, RH_PG_BACKEND, RH_PG_BODY_MAX);
}

static void tear_down(struct bench *b)
{
    rh_null_session_release(&b->session);
    rh_buf_release(&b->in);
    rh_buf_release(&b->out);
    rh_buf_release(&b->all);
    rh_buf_release(&b->shown);
    rh_pg_scan_release(&b->scan);
}

static void take_out(struct bench *b)
{
    rh_buf_add_span(&b->all, rh_buf_span(&b->out));
    rh_buf_clear(&b->out);
}

/* Give it what is in b->in, in pieces; go on as the server would, without waiting. */
static void feed(struct bench *b, size_t piece)
{
    size_t at = 0;
    b->turn = RH_NULL_READS;
    while (b->turn != RH_NULL_ENDS && b->turn != RH_NULL_CANCELS) {
        if (b->turn == RH_NULL_READS) {
            size_t left = b->in.len - at, used, n = piece && piece < left ? piece : left;
            if (left == 0) {
                break;
            }
            /* A copy of its own: the input is gone when the call returns. */
            char *copy = rh_memdup(b->in.data + at, n);
            b->turn = rh_null_session_take(&b->session, copy, n, &used, &b->out);
            rh_free(copy);
            assert_true(used <= n && (used == n || b->turn != RH_NULL_READS));
            at += used;
        } else {
            b->waits += b->turn == RH_NULL_WAITS;
            b->turn = rh_null_session_resume(&b->session, &b->out);
        }
        take_out(b);
    }
    rh_buf_clear(&b->in);
}

static void show_event(struct bench *b, const struct rh_pg_event *ev)
{
    struct rh_pg_tag tag;
    struct rh_pg_report report;
    char type = ev->type;
    if (ev->rows) {
        rh_buf_addf(&b->shown, "D*%d ", (int) ev->rows);
    }
    if (ev->copies) {
        rh_buf_addf(&b->shown, "d*%d ", (int) ev->copies);
    }
    if (type == 'C') {
        assert_int_equal(rh_pg_tag_decode(ev->body, &tag), 0);
        rh_buf_addf(&b->shown, "C(%s) ", ev->body.data);
    } else if (type == 'E') {
        assert_int_equal(rh_pg_report_decode(ev->body, false, &report), 0);
        rh_buf_addf(&b->shown, "%s(%.5s) ", rh_pg_report_is_fatal(&report) ? "FATAL" : "E",
                    report.sqlstate.data);
    } else if (type == 'Z') {
        rh_buf_addf(&b->shown, "Z(%c) ", rh_pg_ready_decode(ev->body));
    } else if (type != 0) {
        rh_buf_addf(&b->shown, "%c ", type);
    }
}

/* The answers since the last look: types, tags, SQLSTATEs. */
static const char *shown(struct bench *b)
{
    struct rh_pg_event ev;
    rh_buf_clear(&b->shown);
    for (size_t at = 0; at < b->all.len;) {
        ptrdiff_t used = rh_pg_scan_next(&b->scan, b->all.data + at, b->all.len - at, &ev, &b->err);
        assert_true(used > 0);
        show_event(b, &ev);
        at += (size_t) used;
    }
    rh_buf_clear(&b->all);
    if (b->shown.len > 0) {
        b->shown.len--;
    }
    return rh_buf_cstr(&b->shown);
}

static void start(struct bench *b, uint32_t version, const char *parameters, size_t n)
{
    rh_buf_add_be32(&b->in, (uint32_t) (8 + n));
    rh_buf_add_be32(&b->in, version);
    rh_buf_add(&b->in, parameters, n);
}

#define START(b, version, parameters) start(b, version, parameters, sizeof(parameters))

static void log_in(struct bench *b)
{
    START(b, 3 << 16, "user\0somebody\0");
    feed(b, 0);
    assert_string_equal(shown(b), "R S S S S S S S S S S S S S S K Z(I)");
}

static const char *ask(struct bench *b, const char *sql)
{
    assert_int_equal(rh_pg_write_query(&b->in, rh_span_cstr(sql), &b->err), 0);
    feed(b, 0);
    return shown(b);
}

static void parse(struct bench *b, const char *name, const char *sql)
{
    rh_pg_write_parse(&b->in, rh_span_cstr(name), rh_span_cstr(sql), NULL, 0, &b->err);
}

static void bind(struct bench *b, const char *portal, const char *name)
{
    const struct rh_pg_bind bind = {.portal = rh_span_cstr(portal),
                                    .statement = rh_span_cstr(name)};
    rh_pg_write_bind(&b->in, &bind, &b->err);
}

static void execute(struct bench *b, const char *portal, int32_t limit)
{
    rh_pg_write_execute(&b->in, rh_span_cstr(portal), limit, &b->err);
}

static const char *sync_and_look(struct bench *b)
{
    rh_pg_write_sync(&b->in, &b->err);
    feed(b, 0);
    return shown(b);
}

static void test_startup(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    /* TLS and GSS are refused, then the login begins again; all of it byte by byte. */
    START(&b, 80877103, "");
    b.in.len = 8;
    b.in.data[3] = 8;
    feed(&b, 1);
    assert_int_equal(b.all.len, 1);
    assert_int_equal(b.all.data[0], 'N');
    rh_buf_clear(&b.all);
    START(&b, 3 << 16 | 2, "user\0somebody\0database\0shop\0");
    feed(&b, 1);
    assert_string_equal(shown(&b), "R S S S S S S S S S S S S S S K Z(I)");
    tear_down(&b);

    set_up(&b);
    START(&b, 3 << 16 | 9999, "user\0somebody\0_pq_.wish\0x\0");
    feed(&b, 0);
    const char newest[] = "v\0\0\0\x16\0\3\0\2\0\0\0\1_pq_.wish";
    assert_memory_equal(b.all.data, newest, sizeof newest);
    tear_down(&b);
}

static void test_refused_startups(void **state)
{
    (void) state;
    static const struct {
        uint32_t version;
        const char *parameters;
        size_t n;
        const char *wanted;
    } cases[] = {
        {2 << 16, "user\0x\0", 8, "FATAL(0A000)"},
        {3 << 16, "database\0x\0", 12, "FATAL(28000)"},
        {3 << 16, "user\0x", 6, "FATAL(08P01)"},
        {3 << 16, "user\0x\0replication\0true\0", 25, "FATAL(0A000)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench b;
        set_up(&b);
        start(&b, cases[i].version, cases[i].parameters, cases[i].n);
        feed(&b, 0);
        assert_string_equal(shown(&b), cases[i].wanted);
        assert_int_equal(b.turn, RH_NULL_ENDS);
        tear_down(&b);
    }
    struct bench b;
    set_up(&b);
    b.session.is_refused = true;
    START(&b, 3 << 16, "user\0x\0");
    feed(&b, 0);
    assert_string_equal(shown(&b), "FATAL(53300)");
    tear_down(&b);
}

static void test_cancel_request(void **state)
{
    (void) state;
    struct bench b, other;
    struct rh_pg_event ev;
    struct rh_span key;
    uint32_t pid;
    set_up(&b);
    START(&b, 3 << 16 | 2, "user\0somebody\0");
    feed(&b, 0);
    const char *at = memmem(b.all.data, b.all.len, "K\0\0\0\x28", 5);
    assert_non_null(at);
    assert_true(rh_pg_scan_next(&b.scan, at, 41, &ev, &b.err) == 41);
    assert_int_equal(rh_pg_key_decode(ev.body, &pid, &key), 0);
    assert_int_equal(pid, 7);
    assert_true(rh_null_session_has_key(&b.session, key));
    assert_false(rh_null_session_has_key(&b.session, rh_span(key.data, 31)));
    assert_false(rh_null_session_has_key(&b.session, rh_span("abcd", 4)));

    set_up(&other);
    assert_int_equal(rh_pg_write_cancel(&other.in, pid, key, &b.err), 0);
    feed(&other, 3);
    assert_int_equal(other.turn, RH_NULL_CANCELS);
    assert_int_equal(other.session.cancel_pid, 7);
    assert_true(rh_null_session_has_key(
        &b.session, rh_span(other.session.cancel_key, other.session.cancel_key_len)));
    tear_down(&other);
    tear_down(&b);
}

static void test_simple_queries(void **state)
{
    (void) state;
    static const char *const cases[][2] = {
        {"", "I Z(I)"},
        {" ; -- nothing", "I Z(I)"},
        {"SELECT 1", "T D*1 C(SELECT 1) Z(I)"},
        {"(SELECT 1) UNION SELECT 2", "T D*1 C(SELECT 1) Z(I)"},
        {"INSERT INTO t VALUES (1)", "C(INSERT 0 1) Z(I)"},
        {"update t SET a = 1", "C(UPDATE 1) Z(I)"},
        {"DELETE FROM t RETURNING a", "T D*1 C(DELETE 1) Z(I)"},
        {"DELETE FROM t WHERE returning_id = 1", "C(DELETE 1) Z(I)"},
        {"SELECT 1; UPDATE t SET a = ';'; VACUUM;", "T D*1 C(SELECT 1) C(UPDATE 1) C(VACUUM) Z(I)"},
        {"CREATE UNIQUE INDEX i ON t (a)", "C(CREATE INDEX) Z(I)"},
        {"create or replace temp view v as select 1", "C(CREATE VIEW) Z(I)"},
        {"DROP MATERIALIZED VIEW v", "C(DROP MATERIALIZED VIEW) Z(I)"},
        {"SHOW server_version", "T D*1 C(SHOW) Z(I)"},
        {"SELEC 1", "E(42601) Z(I)"},
        {"SELECT 1; SELEC 1; SELECT 1", "T D*1 C(SELECT 1) E(42601) Z(I)"},
        {"SELECT /* null: rows 3, width 5 */ 1", "T D*3 C(SELECT 3) Z(I)"},
        {"SELECT /* null: rows 0 */ 1", "T C(SELECT 0) Z(I)"},
        {"UPDATE t SET a = 1 /* null: error 40001 */", "E(40001) Z(I)"},
        {"SELECT /* null: nonsense */ 1", "E(42601) Z(I)"},
        {"SELECT /* null: rows */ 1", "E(42601) Z(I)"},
        {"SELECT /* null: error 400 */ 1", "E(42601) Z(I)"},
        {"COPY t TO STDOUT", "H d*1 c C(COPY 1) Z(I)"},
        {"SELECT relname FROM pg_catalog.pg_class", "T C(SELECT 0) Z(I)"},
        {"SELECT 1 FROM pg_catalog.generate_series(1, "
         "pg_catalog.current_setting('max_connections')::int)",
         "T D*100 C(SELECT 100) Z(I)"},
        {"PREPARE TRANSACTION 'x'", "C(PREPARE TRANSACTION) Z(I)"},
    };
    struct bench b;
    set_up(&b);
    log_in(&b);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(ask(&b, cases[i][0]), cases[i][1]);
    }
    tear_down(&b);
}

static void test_transactions(void **state)
{
    (void) state;
    static const char *const script[][2] = {
        {"BEGIN", "C(BEGIN) Z(T)"},
        {"SELECT 1", "T D*1 C(SELECT 1) Z(T)"},
        {"COMMIT AND CHAIN", "C(COMMIT) Z(T)"},
        {"SAVEPOINT s", "C(SAVEPOINT) Z(T)"},
        {"SELEC 1", "E(42601) Z(E)"},
        {"SELECT 1", "E(25P02) Z(E)"},
        {"", "I Z(E)"},
        {"RELEASE s", "E(25P02) Z(E)"},
        {"ROLLBACK TO s", "C(ROLLBACK) Z(T)"},
        {"SELEC 1", "E(42601) Z(E)"},
        {"END", "C(ROLLBACK) Z(I)"},
        {"START TRANSACTION; SELECT /* null: error 22012 */ 1; SELECT 2",
         "C(START TRANSACTION) E(22012) Z(E)"},
        {"ABORT", "C(ROLLBACK) Z(I)"},
        {"SET x = 1; RESET x; SET LOCAL y = 2", "C(SET) C(RESET) C(SET) Z(I)"},
    };
    struct bench b;
    set_up(&b);
    log_in(&b);
    for (size_t i = 0; i < sizeof script / sizeof script[0]; i++) {
        assert_string_equal(ask(&b, script[i][0]), script[i][1]);
    }
    tear_down(&b);
}

static void test_extended(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    log_in(&b);
    parse(&b, "", "SELECT $1");
    bind(&b, "", "");
    rh_pg_write_describe(&b.in, RH_PG_PORTAL, RH_SPAN_LITERAL(""), &b.err);
    execute(&b, "", 0);
    assert_string_equal(sync_and_look(&b), "1 2 T D*1 C(SELECT 1) Z(I)");

    parse(&b, "S_1", "UPDATE t SET a = $2 WHERE b = $1");
    rh_pg_write_describe(&b.in, RH_PG_STATEMENT, RH_SPAN_LITERAL("S_1"), &b.err);
    assert_string_equal(sync_and_look(&b), "1 t n Z(I)");
    bind(&b, "", "S_1");
    execute(&b, "", 0);
    bind(&b, "", "S_1");
    execute(&b, "", 0);
    assert_string_equal(sync_and_look(&b), "2 C(UPDATE 1) 2 C(UPDATE 1) Z(I)");

    parse(&b, "S_1", "SELECT 1");
    assert_string_equal(sync_and_look(&b), "E(42P05) Z(I)");
    rh_pg_write_close(&b.in, RH_PG_STATEMENT, RH_SPAN_LITERAL("S_1"), &b.err);
    bind(&b, "", "S_1");
    execute(&b, "", 0);
    rh_pg_write_query(&b.in, RH_SPAN_LITERAL("SELECT 1"), &b.err); /* skipped too */
    assert_string_equal(sync_and_look(&b), "3 E(26000) Z(I)");

    parse(&b, "s", "SELECT 1");
    assert_string_equal(sync_and_look(&b), "1 Z(I)");
    assert_string_equal(ask(&b, "DEALLOCATE \"s\""), "C(DEALLOCATE) Z(I)");
    bind(&b, "", "s");
    assert_string_equal(sync_and_look(&b), "E(26000) Z(I)");

    parse(&b, "", "SELECT 1; SELECT 2");
    assert_string_equal(sync_and_look(&b), "E(42601) Z(I)");
    parse(&b, "", "");
    bind(&b, "", "");
    execute(&b, "", 0);
    assert_string_equal(sync_and_look(&b), "1 2 I Z(I)");
    tear_down(&b);
}

static void test_portals(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    log_in(&b);
    assert_string_equal(ask(&b, "BEGIN"), "C(BEGIN) Z(T)");
    parse(&b, "", "SELECT /* null: rows 5 */ 1");
    bind(&b, "C_1", "");
    execute(&b, "C_1", 2);
    assert_string_equal(sync_and_look(&b), "1 2 D*2 s Z(T)");
    execute(&b, "C_1", 3); /* that it was the last row is known only later */
    assert_string_equal(sync_and_look(&b), "D*3 s Z(T)");
    execute(&b, "C_1", 3);
    assert_string_equal(sync_and_look(&b), "C(SELECT 0) Z(T)");
    assert_string_equal(ask(&b, "COMMIT"), "C(COMMIT) Z(I)");
    execute(&b, "C_1", 3); /* gone with its transaction */
    assert_string_equal(sync_and_look(&b), "E(34000) Z(I)");

    parse(&b, "", "INSERT INTO t VALUES (1)");
    bind(&b, "", "");
    execute(&b, "", 0);
    execute(&b, "", 0);
    assert_string_equal(sync_and_look(&b), "1 2 C(INSERT 0 1) E(55000) Z(I)");
    tear_down(&b);
}

static void copy_data(struct bench *b, const char *data)
{
    rh_pg_write_copy_data(&b->in, rh_span_cstr(data), &b->err);
}

/* However the stream is cut. */
static void test_copy_in(void **state)
{
    (void) state;
    for (size_t piece = 0; piece < 7; piece++) {
        struct bench b;
        set_up(&b);
        log_in(&b);
        rh_pg_write_query(&b.in, RH_SPAN_LITERAL("COPY t FROM STDIN; SELECT 1"), &b.err);
        copy_data(&b, "1\n2\n3");
        copy_data(&b, "\n");
        copy_data(&b, "");
        rh_pg_write_sync(&b.in, &b.err); /* ignored within */
        rh_pg_write_copy_done(&b.in, &b.err);
        rh_pg_write_query(&b.in, RH_SPAN_LITERAL("SELECT 2"), &b.err);
        feed(&b, piece);
        assert_string_equal(shown(&b), "G C(COPY 3) T D*1 C(SELECT 1) Z(I) T D*1 C(SELECT 1) Z(I)");

        rh_pg_write_query(&b.in, RH_SPAN_LITERAL("COPY t FROM STDIN; SELECT 1"), &b.err);
        copy_data(&b, "1\n");
        rh_pg_write_copy_fail(&b.in, RH_SPAN_LITERAL("no more"), &b.err);
        feed(&b, piece);
        assert_string_equal(shown(&b), "G E(57014) Z(I)");

        parse(&b, "", "COPY t FROM STDIN");
        bind(&b, "", "");
        execute(&b, "", 0);
        copy_data(&b, "1\n");
        rh_pg_write_copy_done(&b.in, &b.err);
        rh_pg_write_sync(&b.in, &b.err);
        feed(&b, piece);
        assert_string_equal(shown(&b), "1 2 G C(COPY 1) Z(I)");

        rh_pg_write_query(&b.in, RH_SPAN_LITERAL("COPY t FROM STDIN"), &b.err);
        rh_pg_write_query(&b.in, RH_SPAN_LITERAL("SELECT 1"), &b.err);
        feed(&b, piece);
        assert_string_equal(shown(&b), "G FATAL(08P01)");
        tear_down(&b);
    }
}

static void test_large_results(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    b.options.columns = 3;
    log_in(&b);
    assert_string_equal(ask(&b, "SELECT /* null: rows 100000, width 20 */ 1; SELECT 2"),
                        "T D*100000 C(SELECT 100000) T D*1 C(SELECT 1) Z(I)");
    assert_string_equal(ask(&b, "SELECT /* null: rows 3, width 1000000 */ 1"),
                        "T D*3 C(SELECT 3) Z(I)");
    assert_string_equal(ask(&b, "COPY t TO STDOUT /* null: rows 100000, width 20 */"),
                        "H d*100000 c C(COPY 100000) Z(I)");
    /* It stops when there is enough, and a cancel takes the rest. */
    size_t used;
    rh_pg_write_query(&b.in, RH_SPAN_LITERAL("SELECT /* null: rows 1000000000 */ 1"), &b.err);
    assert_int_equal(rh_null_session_take(&b.session, b.in.data, b.in.len, &used, &b.out),
                     RH_NULL_WRITES);
    assert_true(b.out.len < 2 * RH_NULL_OUT_HIGH);
    assert_true(rh_null_session_cancel(&b.session));
    rh_buf_clear(&b.in);
    rh_buf_clear(&b.out);
    assert_int_equal(rh_null_session_resume(&b.session, &b.out), RH_NULL_READS);
    take_out(&b);
    assert_string_equal(shown(&b), "E(57014) Z(I)");
    assert_false(rh_null_session_cancel(&b.session));
    tear_down(&b);
}

static void test_delays(void **state)
{
    (void) state;
    struct bench b;
    size_t used;
    set_up(&b);
    log_in(&b);
    rh_pg_write_query(&b.in, RH_SPAN_LITERAL("SELECT 1; SELECT /* null: delay 5ms */ 2; SELECT 3"),
                      &b.err);
    feed(&b, 0);
    assert_int_equal(b.waits, 1);
    assert_int_equal(b.session.delay_ns, 5000000);
    assert_string_equal(shown(&b), "T D*1 C(SELECT 1) T D*1 C(SELECT 1) T D*1 C(SELECT 1) Z(I)");

    /* Only the first fetch of a portal waits; a cancel while it does is an error of the protocol's
     * kind: the rest up to Sync is skipped. */
    parse(&b, "", "SELECT /* null: delay 1h, rows 2 */ 2");
    bind(&b, "", "");
    execute(&b, "", 1);
    rh_pg_write_sync(&b.in, &b.err);
    assert_int_equal(rh_null_session_take(&b.session, b.in.data, b.in.len, &used, &b.out),
                     RH_NULL_WAITS);
    assert_true(rh_null_session_cancel(&b.session));
    assert_int_equal(rh_null_session_resume(&b.session, &b.out), RH_NULL_READS);
    assert_int_equal(
        rh_null_session_take(&b.session, b.in.data + used, b.in.len - used, &used, &b.out),
        RH_NULL_READS);
    rh_buf_clear(&b.in);
    take_out(&b);
    assert_string_equal(shown(&b), "1 2 E(57014) Z(I)");
    tear_down(&b);
}

static void test_errors_by_fraction(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    b.options.error_fraction = 0.25;
    log_in(&b);
    int failed = 0;
    for (int i = 0; i < 100; i++) {
        assert_string_equal(ask(&b, "BEGIN"), "C(BEGIN) Z(T)"); /* control never fails */
        failed += strcmp(ask(&b, "SELECT 1"), "E(XX000) Z(E)") == 0;
        ask(&b, "ROLLBACK");
    }
    assert_int_equal(failed, 25);
    assert_int_equal(b.counts.errors, 25);
    assert_int_equal(b.counts.statements, 300);
    tear_down(&b);
}

static void test_ends(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    log_in(&b);
    assert_string_equal(ask(&b, "SELECT 1; SELECT /* null: fatal 57P01 */ 1; SELECT 2"),
                        "T D*1 C(SELECT 1) FATAL(57P01)");
    assert_int_equal(b.turn, RH_NULL_ENDS);
    tear_down(&b);

    set_up(&b);
    log_in(&b);
    assert_string_equal(ask(&b, "SELECT /* null: close */ 1"), "");
    assert_int_equal(b.turn, RH_NULL_ENDS);
    tear_down(&b);

    set_up(&b);
    log_in(&b);
    rh_pg_write_terminate(&b.in, &b.err);
    feed(&b, 0);
    assert_int_equal(b.turn, RH_NULL_ENDS);
    tear_down(&b);
}

static void test_bad_bytes(void **state)
{
    (void) state;
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {
        {"\0\0\0\0\0", 5},               /* no type */
        {"Q\0\0\0\1", 5},                /* a length that cannot be */
        {"Q\0\0\0\7abc", 8},             /* a text without an end */
        {"Y\0\0\0\4", 5},                /* a type that nobody sends */
        {"B\0\0\0\5\0", 6},              /* a Bind that ends too soon */
        {"E\0\0\0\5\0", 6},              /* an Execute without a limit */
        {"S\0\0\0\5x", 6},               /* a Sync with a body */
        {"P\0\0\0\x0e\0SELECT 1\0", 15}, /* a Parse without a number of types */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench b;
        set_up(&b);
        log_in(&b);
        rh_buf_add(&b.in, cases[i].bytes, cases[i].n);
        feed(&b, i % 2);
        assert_non_null(strstr(shown(&b), "FATAL(08P01)"));
        assert_int_equal(b.turn, RH_NULL_ENDS);
        tear_down(&b);
    }
}

static void test_function_calls(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    log_in(&b);
    rh_pg_write_function_call(&b.in, &(struct rh_pg_function_call){.function_oid = 1}, &b.err);
    feed(&b, 0);
    assert_string_equal(shown(&b), "V Z(I)");
    ask(&b, "BEGIN; SELEC");
    rh_pg_write_function_call(&b.in, &(struct rh_pg_function_call){.function_oid = 1}, &b.err);
    feed(&b, 0);
    assert_string_equal(shown(&b), "E(25P02) Z(E)");
    tear_down(&b);
}

static void test_long_queries(void **state)
{
    (void) state;
    struct bench b;
    struct rh_buf text;
    set_up(&b);
    log_in(&b);
    rh_buf_init(&text, 8 << 20);
    rh_buf_add_cstr(&text, "INSERT INTO t VALUES ('");
    while (text.len < 3 << 20) {
        rh_buf_add_cstr(&text, "xxxxxxxxxxxxxxxx");
    }
    rh_buf_add_cstr(&text, "')");
    assert_string_equal(ask(&b, rh_buf_cstr(&text)), "C(INSERT 0 1) Z(I)");
    /* More answers than one buffer takes. */
    rh_buf_clear(&text);
    for (int i = 0; i < 50000; i++) {
        rh_buf_add_cstr(&text, "DO ''; ");
    }
    rh_pg_write_query(&b.in, rh_buf_span(&text), &b.err);
    feed(&b, 0);
    assert_int_equal(b.all.len, 50000 * 8 + 6);
    rh_buf_release(&text);
    tear_down(&b);
}

static void test_versions(void **state)
{
    (void) state;
    assert_int_equal(rh_null_version_number("17.2"), 170002);
    assert_int_equal(rh_null_version_number("15"), 150000);
    assert_int_equal(rh_null_version_number("9.6.24"), 90624);
    assert_int_equal(rh_null_version_number("18beta1"), 180000);
    assert_int_equal(rh_null_version_number("latest"), 0);
    assert_int_equal(rh_null_version_number(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_startup),
        cmocka_unit_test(test_refused_startups),
        cmocka_unit_test(test_cancel_request),
        cmocka_unit_test(test_simple_queries),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_extended),
        cmocka_unit_test(test_portals),
        cmocka_unit_test(test_copy_in),
        cmocka_unit_test(test_large_results),
        cmocka_unit_test(test_delays),
        cmocka_unit_test(test_errors_by_fraction),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_function_calls),
        cmocka_unit_test(test_long_queries),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
