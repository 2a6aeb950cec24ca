/*
 * tests/integration/wire_client.c
 *
 * Connections against a real server: wire_client CASE CONNINFO [ARGUMENT]..., driven by wire.sh.
 * Says what failed and ends with 1; some cases print what they found.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/loop.h"
#include "formats/pg_message.h"
#include "formats/pg_scan.h"
#include "formats/pg_write.h"
#include "replay/cancel.h"
#include "replay/connector.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "wire_client: line %d: %s\n", __LINE__, #condition);                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static struct rh_loop *loop;
static struct rh_connector *connector;
static struct rh_buf out;

struct client {
    struct rh_connect_request request;
    struct rh_conn *conn;
    struct rh_watch watch;
    struct rh_pg_scan scan;
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t reads;
    int readies;
    int errors;
    int notifications;
    char sqlstate[6];
    bool lost;
    struct rh_error how;
    /* Stop the loop at this many ReadyForQuery, or at a notification, or at the loss. */
    int stop_at_readies;
    uint64_t stop_at_rows;
};

static void client_event(struct client *c, const struct rh_pg_event *ev)
{
    struct rh_pg_report report;
    c->rows += ev->rows;
    c->row_bytes += ev->row_bytes;
    if (ev->type == 'Z') {
        CHECK(rh_pg_ready_decode(ev->body) != 0);
        c->readies++;
    } else if (ev->type == 'E') {
        CHECK(rh_pg_report_decode(ev->body, ev->body_cut, &report) == 0);
        CHECK(report.sqlstate.len == 5);
        memcpy(c->sqlstate, report.sqlstate.data, 5);
        c->errors++;
    } else if (ev->type == 'A') {
        struct rh_pg_notification n;
        CHECK(rh_pg_notification_decode(ev->body, &n) == 0);
        CHECK(rh_span_is(n.channel, "chat") && rh_span_is(n.payload, "hello"));
        c->notifications++;
    }
}

static void client_lost(struct client *c, const struct rh_error *err)
{
    c->lost = true;
    c->how = *err;
    rh_loop_unwatch(loop, &c->watch);
    rh_loop_stop(loop);
}

static void client_read(struct client *c)
{
    static char data[64 * 1024];
    bool again = true;
    while (again && !c->lost) {
        struct rh_error err;
        ssize_t got = rh_conn_read(c->conn, data, sizeof data, &again, &err);
        if (got < 0) {
            client_lost(c, &err);
            return;
        }
        c->reads++;
        for (size_t at = 0; at < (size_t) got;) {
            struct rh_pg_event ev;
            ptrdiff_t used = rh_pg_scan_next(&c->scan, data + at, (size_t) got - at, &ev, &err);
            if (used < 0) {
                fprintf(stderr, "wire_client: %s\n", err.text);
                exit(1);
            }
            client_event(c, &ev);
            at += (size_t) used;
        }
    }
}

static void on_ready(struct rh_watch *watch, uint32_t events)
{
    struct client *c = watch->ctx;
    (void) events;
    CHECK(rh_conn_flush(c->conn, NULL) == 0);
    client_read(c);
    if (c->lost) {
        return;
    }
    CHECK(rh_loop_watch_change(loop, watch, rh_conn_interest(c->conn), NULL) == 0);
    if ((c->stop_at_readies && c->readies >= c->stop_at_readies) || c->notifications ||
        (c->stop_at_rows && c->rows >= c->stop_at_rows)) {
        rh_loop_stop(loop);
    }
}

static void client_attach(struct client *c, struct rh_conn *conn)
{
    c->conn = conn;
    c->watch = (struct rh_watch){.ready = on_ready, .ctx = c};
    rh_pg_scan_init(&c->scan, RH_PG_BACKEND, RH_PG_BODY_MAX);
    CHECK(rh_loop_watch(loop, &c->watch, rh_conn_fd(conn), rh_conn_interest(conn), NULL) == 0);
}

static struct client *client_open(const char *user, const char *database)
{
    struct client *c = rh_calloc(1, sizeof *c);
    c->request.user = rh_span_cstr(user);
    c->request.database = rh_span_cstr(database);
    c->request.application = rh_span_cstr("wire client");
    if (rh_connector_connect(connector, &c->request)) {
        fprintf(stderr, "wire_client: %s\n", c->request.error.text);
        exit(1);
    }
    client_attach(c, c->request.conn);
    return c;
}

static void client_close(struct client *c)
{
    rh_loop_unwatch(loop, &c->watch);
    rh_conn_close(c->conn);
    rh_pg_scan_release(&c->scan);
    rh_free(c);
}

static void client_send(struct client *c)
{
    CHECK(rh_conn_send(c->conn, rh_buf_span(&out), NULL) == 0);
    rh_buf_clear(&out);
    if (c->watch.added) {
        CHECK(rh_loop_watch_change(loop, &c->watch, rh_conn_interest(c->conn), NULL) == 0);
    }
}

static void client_query(struct client *c, const char *sql)
{
    rh_buf_clear(&out);
    CHECK(rh_pg_write_query(&out, rh_span_cstr(sql), NULL) == 0);
    client_send(c);
}

static void client_wait(struct client *c, int readies)
{
    c->stop_at_readies = c->readies + readies;
    CHECK(rh_loop_run(loop, NULL) == 0);
}

/* A query that must do without an error. */
static void client_do(struct client *c, const char *sql)
{
    int errors = c->errors;
    client_query(c, sql);
    client_wait(c, 1);
    if (c->lost || c->errors > errors) {
        fprintf(stderr, "wire_client: %s: SQLSTATE %s %s\n", sql, c->sqlstate, c->how.text);
        exit(1);
    }
}

static int done_count;
static void on_done(struct rh_connect_request *request)
{
    if (!request->conn) {
        fprintf(stderr, "wire_client: %s\n", request->error.text);
        exit(1);
    }
    if (--done_count == 0) {
        rh_loop_stop(loop);
    }
}

/* Many connects by the helper threads, a statement on each, all open at once. */
static void case_connects(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *user = argv[0];
    const int count = (int) strtol(argv[1], NULL, 10);
    CHECK(count > 0 && count <= 1000);
    const bool tls = !strcmp(argv[2], "tls");
    struct client *clients = rh_calloc((size_t) count, sizeof *clients);
    done_count = count;
    for (int i = 0; i < count; i++) {
        struct rh_connect_request *r = &clients[i].request;
        r->user = rh_span_cstr(user);
        r->database = rh_span_cstr("postgres");
        r->application = rh_span_cstr("wire client");
        r->loop = loop;
        r->done = on_done;
        rh_connector_put(connector, r);
    }
    CHECK(rh_loop_run(loop, NULL) == 0);
    char sql[300];
    snprintf(sql, sizeof sql,
             "select 1/(current_user = '%s' and current_setting('application_name') = "
             "'wire client' and current_setting('client_encoding') = 'UTF8')::int",
             user);
    for (int i = 0; i < count; i++) {
        CHECK(rh_conn_is_tls(clients[i].request.conn) == tls);
        CHECK(!strcmp(rh_conn_parameter(clients[i].request.conn, "server_encoding"), "UTF8"));
        client_attach(&clients[i], clients[i].request.conn);
        client_do(&clients[i], sql);
        CHECK(clients[i].rows == 1);
    }
    for (int i = 0; i < count; i++) {
        rh_loop_unwatch(loop, &clients[i].watch);
        rh_conn_close(clients[i].conn);
        rh_pg_scan_release(&clients[i].scan);
    }
    rh_free(clients);
}

static long peak_kb(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    long kb = -1;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "VmHWM: %ld", &kb) == 1) {
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    return kb;
}

/* A big result: every row counted, memory flat. */
static void case_rows(int argc, char **argv)
{
    CHECK(argc == 2);
    const uint64_t rows = strtoull(argv[1], NULL, 10);
    char sql[200];
    snprintf(sql, sizeof sql, "select generate_series(1, %" PRIu64 "), repeat('x', 30)", rows);
    struct client *c = client_open(argv[0], "postgres");
    client_do(c, "select generate_series(1, 20000), repeat('x', 30)");
    long before_kb = peak_kb();
    client_do(c, sql);
    CHECK(c->rows == rows + 20000);
    CHECK(c->row_bytes > c->rows * (5 + 2 + 4 + 1 + 4 + 30));
    long grown_kb = peak_kb() - before_kb;
    CHECK(grown_kb < 1024);
    printf("rows %" PRIu64 " bytes %" PRIu64 " reads %" PRIu64 "\n", c->rows, c->row_bytes,
           c->reads);
    client_close(c);
}

/*
 * A long text out: partial writes, and over TLS the repeated ones.  The server compares all of it.
 * The pattern's length is a prime, so a piece that is lost or doubled shows.
 */
static void case_long_text(int argc, char **argv)
{
    enum { PATTERN = 8191, TIMES = 1024 };
    CHECK(argc == 1);
    struct client *c = client_open(argv[0], "postgres");
    char pattern[PATTERN + 1] = "";
    for (int i = 0; i < PATTERN; i++) {
        pattern[i] = (char) ('a' + (i * 7 + i / 100) % 26);
    }
    struct rh_buf sql;
    rh_buf_init(&sql, (PATTERN + 1) * (TIMES + 2));
    rh_buf_add_cstr(&sql, "select 1/('");
    for (int i = 0; i < TIMES; i++) {
        rh_buf_add(&sql, pattern, PATTERN);
    }
    rh_buf_addf(&sql, "' = repeat('%s', %d))::int", pattern, TIMES);
    CHECK(!sql.over);
    client_do(c, rh_buf_cstr(&sql));
    rh_buf_release(&sql);
    client_close(c);
}

/* Both directions full at once: many statements sent before any answer is read. */
static void case_duplex(int argc, char **argv)
{
    enum { STATEMENTS = 2000 };
    CHECK(argc == 1);
    struct client *c = client_open(argv[0], "postgres");
    rh_buf_clear(&out);
    for (int i = 0; i < STATEMENTS; i++) {
        CHECK(rh_pg_write_query(&out,
                                rh_span_cstr("select repeat('y', 5000) /* a comment that makes "
                                             "the statement some longer ................... */"),
                                NULL) == 0);
        if (i % 10 == 9) {
            client_send(c);
        }
    }
    client_wait(c, STATEMENTS);
    CHECK(c->rows == STATEMENTS && c->errors == 0 && rh_conn_pending(c->conn) == 0);
    client_close(c);
}

/* What libpq cannot do: named portal, mixed formats, row limit, Flush. */
static void case_extended(int argc, char **argv)
{
    CHECK(argc == 1);
    struct client *c = client_open(argv[0], "postgres");
    const struct rh_param params[] = {{.data = "\0\0\0\x05", .len = 4, .format = 1},
                                      {.data = "x", .len = 1, .format = 0}};
    const uint32_t types[] = {23, 25};
    const uint16_t formats[] = {0, 1};
    struct rh_pg_bind bind = {.portal = rh_span_cstr("p"),
                              .statement = rh_span_cstr("s"),
                              .params = params,
                              .param_count = 2,
                              .result_formats = formats,
                              .result_format_count = 2};
    rh_buf_clear(&out);
    CHECK(!rh_pg_write_parse(&out, rh_span_cstr("s"),
                             rh_span_cstr("select i, $2 from generate_series(1, $1) i"), types, 2,
                             NULL));
    CHECK(!rh_pg_write_describe(&out, RH_PG_STATEMENT, rh_span_cstr("s"), NULL));
    CHECK(!rh_pg_write_bind(&out, &bind, NULL));
    CHECK(!rh_pg_write_execute(&out, rh_span_cstr("p"), 2, NULL));
    CHECK(!rh_pg_write_flush(&out, NULL));
    client_send(c);
    c->stop_at_rows = 2;
    CHECK(rh_loop_run(loop, NULL) == 0);
    CHECK(c->rows == 2 && c->readies == 0);
    c->stop_at_rows = 0;
    CHECK(!rh_pg_write_execute(&out, rh_span_cstr("p"), 0, NULL));
    CHECK(!rh_pg_write_close(&out, RH_PG_PORTAL, rh_span_cstr("p"), NULL));
    CHECK(!rh_pg_write_sync(&out, NULL));
    client_send(c);
    client_wait(c, 1);
    CHECK(c->rows == 5 && c->errors == 0);

    client_close(c);
}

/* COPY with its data behind the statement at once, one that the client gives up, a function call.
 */
static void case_copy(int argc, char **argv)
{
    CHECK(argc == 1);
    struct client *c = client_open(argv[0], "postgres");
    client_do(c, "create temp table t (a int, b text)");
    rh_buf_clear(&out);
    CHECK(!rh_pg_write_query(&out, rh_span_cstr("copy t from stdin"), NULL));
    CHECK(!rh_pg_write_copy_data(&out, rh_span_cstr("1\tone\n2\tt"), NULL));
    CHECK(!rh_pg_write_copy_data(&out, rh_span_cstr("wo\n"), NULL));
    CHECK(!rh_pg_write_copy_done(&out, NULL));
    client_send(c);
    client_wait(c, 1);
    client_do(c, "select 1/(count(*) = 2 and min(b) = 'one')::int from t");
    rh_buf_clear(&out);
    CHECK(!rh_pg_write_query(&out, rh_span_cstr("copy t from stdin"), NULL));
    CHECK(!rh_pg_write_copy_fail(&out, rh_span_cstr("not captured"), NULL));
    client_send(c);
    client_wait(c, 1);
    CHECK(c->errors == 1 && !strcmp(c->sqlstate, "57014"));
    const struct rh_param arg = {.data = "4", .len = 1};
    CHECK(!rh_pg_write_function_call(
        &out,
        &(struct rh_pg_function_call){
            .function_oid = 1344 /* sqrt(float8) */, .params = &arg, .param_count = 1},
        NULL));
    client_send(c);
    client_wait(c, 1);
    CHECK(c->errors == 1);
    client_close(c);
}

static void on_cancel_done(struct rh_cancel *cancel, enum rh_cancel_end end)
{
    *(bool *) cancel->ctx = end == RH_CANCEL_TAKEN;
    rh_loop_stop(loop);
}

static void case_cancel(int argc, char **argv)
{
    CHECK(argc == 1);
    struct client *c = client_open(argv[0], "postgres");
    client_do(c, "select 1");
    client_query(c, "select pg_sleep(100)");
    usleep(50000); /* a cancel that comes before the statement would be lost */
    bool taken = false;
    struct rh_cancel cancel = {0};
    rh_cancel_start(&cancel, loop, c->conn, 10 * RH_NS_PER_SEC, on_cancel_done, &taken);
    c->stop_at_readies = c->readies + 1;
    while (cancel.is_active || c->readies < c->stop_at_readies) {
        CHECK(rh_loop_run(loop, NULL) == 0);
    }
    CHECK(taken && !c->lost && !strcmp(c->sqlstate, "57014"));
    client_do(c, "select 1");
    client_close(c);
}

/* Messages to an idle connection: a notification, then the backend's end. */
static void case_idle(int argc, char **argv)
{
    CHECK(argc == 2);
    struct client *listener = client_open(argv[0], "postgres");
    struct client *other = client_open(argv[1], "postgres");
    client_do(listener, "listen chat");
    other->stop_at_readies = 1;
    client_query(other, "notify chat, 'hello'");
    while (!listener->notifications || other->readies < 1) {
        CHECK(rh_loop_run(loop, NULL) == 0);
    }
    listener->notifications = 0;
    char sql[100];
    snprintf(sql, sizeof sql, "select pg_terminate_backend(%u)",
             rh_conn_backend_pid(listener->conn));
    client_query(other, sql);
    while (!listener->lost) {
        CHECK(rh_loop_run(loop, NULL) == 0);
    }
    CHECK(!strcmp(listener->sqlstate, "57P01"));
    CHECK(strstr(listener->how.text, "the server closed it"));
    client_close(listener);
    client_close(other);
}

/* A backend dies in the middle of a result. */
static void case_killed(int argc, char **argv)
{
    CHECK(argc == 1);
    struct client *c = client_open(argv[0], "postgres");
    client_query(c, "select generate_series(1, 100000000), repeat('x', 100)");
    c->stop_at_rows = 100000;
    CHECK(rh_loop_run(loop, NULL) == 0);
    CHECK(c->rows >= 100000 && !c->lost);
    c->stop_at_rows = 0;
    CHECK(kill((pid_t) rh_conn_backend_pid(c->conn), SIGKILL) == 0);
    CHECK(rh_loop_run(loop, NULL) == 0);
    CHECK(c->lost && c->readies == 0);
    printf("%s\n", c->how.text);
    client_close(c);
}

/* Prints "SQLSTATE message" of a login that fails. */
static void case_refused(int argc, char **argv)
{
    CHECK(argc == 2);
    struct rh_connect_request request = {.user = rh_span_cstr(argv[0]),
                                         .database = rh_span_cstr(argv[1])};
    CHECK(rh_connector_connect(connector, &request) == -1);
    CHECK(!request.conn && request.error.code == RH_ERR_NET);
    printf("%s %s\n", request.sqlstate[0] ? request.sqlstate : "-----", request.error.text);
}

/* How late timers are, for people: microseconds at 50, 99 % and the most. */
struct lateness {
    struct rh_timer timer;
    int64_t late_ns[1000];
    int count;
};

static void on_late(struct rh_timer *timer, int64_t now_ns)
{
    struct lateness *l = timer->ctx;
    l->late_ns[l->count++] = now_ns - timer->deadline_ns;
    if (l->count == 1000) {
        rh_loop_stop(loop);
    } else {
        rh_timer_arm(loop, timer, now_ns + 500 * RH_NS_PER_US);
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a;
    int64_t y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static void case_lateness(int argc, char **argv)
{
    (void) argc;
    (void) argv;
    static struct lateness l;
    l.timer = (struct rh_timer){.fire = on_late, .ctx = &l};
    rh_timer_arm(loop, &l.timer, rh_clock_mono_ns() + RH_NS_PER_MS);
    CHECK(rh_loop_run(loop, NULL) == 0);
    qsort(l.late_ns, 1000, sizeof l.late_ns[0], by_value);
    CHECK(l.late_ns[0] >= 0);
    printf("lateness us: p50 %.1f p99 %.1f max %.1f\n", (double) l.late_ns[500] / 1e3,
           (double) l.late_ns[990] / 1e3, (double) l.late_ns[999] / 1e3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int argc, char **argv);
    } cases[] = {
        {"connects", case_connects}, {"rows", case_rows},         {"long-text", case_long_text},
        {"duplex", case_duplex},     {"extended", case_extended}, {"cancel", case_cancel},
        {"idle", case_idle},         {"killed", case_killed},     {"refused", case_refused},
        {"copy", case_copy},         {"lateness", case_lateness},
    };
    CHECK(argc >= 3);
    struct rh_error err;
    CHECK(rh_loop_new(&loop, &err) == 0);
    struct rh_connector_options options = {.dbname = argv[2], .timeout_ns = 30 * RH_NS_PER_SEC};
    CHECK(rh_connector_new(&connector, &options, &err) == 0);
    rh_buf_init(&out, 64 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!strcmp(cases[i].name, argv[1])) {
            cases[i].run(argc - 3, argv + 3);
            rh_buf_release(&out);
            rh_connector_free(connector);
            rh_loop_free(loop);
            return 0;
        }
    }
    fprintf(stderr, "wire_client: no case %s\n", argv[1]);
    return 2;
}
