/* replay/connector, replay/conn, against a server that misbehaves on demand */
#include "rh_test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "fake_server.h"
#include "replay/connector.h"

struct scene {
    struct fake_server *server;
    struct rh_connector *connector;
    struct rh_loop *loop;
    int waiting;
    int order[64]; /* numbers of requests as they came back */
    int order_count;
};

struct request {
    struct rh_connect_request base;
    struct scene *scene;
    int number;
};

static void scene_open(struct scene *s, struct fake_server *server, uint32_t threads,
                       int64_t timeout_ns)
{
    memset(s, 0, sizeof *s);
    struct rh_error err;
    s->server = server;
    struct rh_connector_options options = {
        .host = server->folder, .port = "5432", .threads = threads, .timeout_ns = timeout_ns};
    assert_int_equal(rh_loop_new(&s->loop, &err), 0);
    assert_int_equal(rh_connector_new(&s->connector, &options, &err), 0);
}

static void scene_close(struct scene *s)
{
    rh_connector_free(s->connector);
    rh_loop_free(s->loop);
}

static void on_done(struct rh_connect_request *base)
{
    struct request *r = base->ctx;
    struct scene *s = r->scene;
    s->order[s->order_count++] = r->number;
    assert_true(base->ended_ns >= base->began_ns);
    if (--s->waiting == 0) {
        rh_loop_stop(s->loop);
    }
}

static void request_put(struct scene *s, struct request *r, int number)
{
    *r = (struct request){.scene = s, .number = number};
    r->base.user = rh_span_cstr("clerk");
    r->base.database = rh_span_cstr("shop");
    r->base.loop = s->loop;
    r->base.done = on_done;
    r->base.ctx = r;
    s->waiting++;
    rh_connector_put(s->connector, &r->base);
}

static struct rh_conn *connect_one(struct scene *s)
{
    struct rh_connect_request request = {.user = rh_span_cstr("clerk"),
                                         .database = rh_span_cstr("shop")};
    if (rh_connector_connect(s->connector, &request)) {
        print_error("%s\n", request.error.text);
    }
    assert_non_null(request.conn);
    return request.conn;
}

static void test_many_connects_by_four_threads(void **state)
{
    (void) state;
    enum { N = 40 };
    setenv("PGUSER", "wrong", 1);
    setenv("PGDATABASE", "wrong", 1);
    setenv("PGCLIENTENCODING", "LATIN2", 1);
    struct fake_server server = {.manner = FAKE_WELCOME};
    struct scene s;
    static struct request requests[N];
    fake_server_start(&server);
    scene_open(&s, &server, 0, 0);
    for (int i = 0; i < N; i++) {
        request_put(&s, &requests[i], i);
    }
    assert_int_equal(rh_loop_run(s.loop, NULL), 0);
    assert_int_equal(s.order_count, N);
    for (int i = 0; i < N; i++) {
        struct rh_conn *conn = requests[i].base.conn;
        assert_non_null(conn);
        assert_int_equal(rh_conn_backend_pid(conn), 1234);
        assert_string_equal(rh_conn_parameter(conn, "server_version"), "15.0");
        assert_null(rh_conn_parameter(conn, "no_such"));
        assert_string_equal(rh_conn_early_sqlstate(conn), "");
        assert_false(rh_conn_is_tls(conn));
        assert_int_equal(rh_conn_interest(conn), RH_LOOP_READ);
        rh_conn_close(conn);
    }
    fake_server_stop(&server);
    assert_int_equal(server.client_count, N);
    for (int i = 0; i < N; i++) {
        const struct fake_client *c = &server.clients[i];
        assert_string_equal(fake_client_parameter(c, "user"), "clerk");
        assert_string_equal(fake_client_parameter(c, "database"), "shop");
        assert_string_equal(fake_client_parameter(c, "application_name"), "pgrehearse");
        assert_null(fake_client_parameter(c, "client_encoding"));
        assert_int_equal(c->received, 5); /* Terminate */
        assert_int_equal(c->checksum, fake_checksum(0, "X\0\0\0\x04", 5));
    }
    scene_close(&s);
}

static void test_one_thread_takes_them_in_order(void **state)
{
    (void) state;
    enum { N = 20 };
    struct fake_server server = {.manner = FAKE_WELCOME};
    struct scene s;
    static struct request requests[N];
    fake_server_start(&server);
    scene_open(&s, &server, 1, 0);
    for (int i = 0; i < N; i++) {
        request_put(&s, &requests[i], i);
    }
    rh_loop_run(s.loop, NULL);
    for (int i = 0; i < N; i++) {
        assert_int_equal(s.order[i], i);
        rh_conn_abort(requests[i].base.conn);
    }
    fake_server_stop(&server);
    assert_int_equal(server.clients[0].received, 0);
    scene_close(&s);
}

static void test_a_refusal_has_its_sqlstate(void **state)
{
    (void) state;
    static const char refusal[] = "E\0\0\0\x4dSSCHWER\0VFATAL\0C28P01\0"
                                  "Mno password for \"clerk\"\0Fauth.c\0L12\0Rauth_failed\0\0";
    struct fake_server server = {
        .manner = FAKE_REFUSE, .refusal = refusal, .refusal_len = sizeof refusal - 1};
    struct scene s;
    struct request r;
    assert_int_equal(refusal[4], (int) sizeof refusal - 2);
    fake_server_start(&server);
    scene_open(&s, &server, 2, 0);
    request_put(&s, &r, 0);
    rh_loop_run(s.loop, NULL);
    assert_null(r.base.conn);
    assert_string_equal(r.base.sqlstate, "28P01");
    assert_int_equal(r.base.error.code, RH_ERR_NET);
    assert_non_null(strstr(r.base.error.text, "no password for \"clerk\""));
    assert_null(strstr(r.base.error.text, "auth.c"));
    assert_null(strchr(r.base.error.text, '\n'));
    fake_server_stop(&server);
    scene_close(&s);
}

static void test_no_server_and_one_that_hangs_up(void **state)
{
    (void) state;
    struct fake_server server = {.manner = FAKE_HANG_UP};
    struct scene s;
    struct request r;
    fake_server_start(&server);
    scene_open(&s, &server, 2, 0);
    request_put(&s, &r, 0);
    rh_loop_run(s.loop, NULL);
    assert_null(r.base.conn);
    assert_int_equal(r.base.error.code, RH_ERR_NET);
    assert_string_equal(r.base.sqlstate, "");
    fake_server_stop(&server);
    request_put(&s, &r, 0);
    rh_loop_run(s.loop, NULL);
    assert_null(r.base.conn);
    assert_non_null(strstr(r.base.error.text, "No such file"));
    scene_close(&s);
}

static void test_a_silent_server_ends_with_the_timeout(void **state)
{
    (void) state;
    struct fake_server server = {.manner = FAKE_SILENT};
    struct scene s;
    struct request r;
    fake_server_start(&server);
    scene_open(&s, &server, 1, 50 * RH_NS_PER_MS);
    request_put(&s, &r, 0);
    rh_loop_run(s.loop, NULL);
    assert_null(r.base.conn);
    assert_int_equal(r.base.error.code, RH_ERR_NET);
    assert_non_null(strstr(r.base.error.text, "no answer within 0.05 s"));
    assert_true(r.base.ended_ns - r.base.began_ns >= 50 * RH_NS_PER_MS);
    fake_server_stop(&server);
    scene_close(&s);
}

static void test_stop_ends_those_that_run_and_those_that_wait(void **state)
{
    (void) state;
    enum { N = 6 };
    struct fake_server server = {.manner = FAKE_SILENT};
    struct scene s;
    static struct request requests[N + 1];
    fake_server_start(&server);
    scene_open(&s, &server, 2, 3600 * RH_NS_PER_SEC);
    for (int i = 0; i < N; i++) {
        request_put(&s, &requests[i], i);
    }
    usleep(20000); /* so that two most likely run */
    rh_connector_stop(s.connector);
    request_put(&s, &requests[N], N);
    rh_loop_run(s.loop, NULL);
    assert_int_equal(s.order_count, N + 1);
    for (int i = 0; i <= N; i++) {
        assert_null(requests[i].base.conn);
        assert_int_equal(requests[i].base.error.code, RH_ERR_STOPPED);
    }
    scene_close(&s);
    fake_server_stop(&server);
}

static void test_bad_options(void **state)
{
    (void) state;
    struct rh_connector *connector;
    struct rh_error err;
    struct rh_connector_options options = {.dbname = "nonsense=1"};
    assert_int_equal(rh_connector_new(&connector, &options, &err), -1);
    assert_null(connector);
    assert_int_equal(err.code, RH_ERR_USAGE);
    rh_connector_free(NULL);
}

/* Read until the connection is lost; the bytes that came before. */
static size_t read_to_the_end(struct rh_conn *conn, char *data, size_t size, struct rh_error *err)
{
    size_t total = 0;
    for (;;) {
        bool again;
        ssize_t got = rh_conn_read(conn, data + total, size - total, &again, err);
        if (got < 0) {
            return total;
        }
        total += (size_t) got;
        if (got == 0) {
            struct pollfd p = {.fd = rh_conn_fd(conn), .events = POLLIN};
            assert_int_equal(poll(&p, 1, 10000), 1);
        }
    }
}

/* Messages in one piece with the login's ReadyForQuery have been read by libpq. */
static void test_what_comes_with_the_welcome_is_not_lost(void **state)
{
    (void) state;
    static const char extra[] = "N\0\0\0\x11VNOTICE\0Mhi\0\0"
                                "A\0\0\0\x0d\0\0\0\x01jo\0b\0"
                                "E\0\0\0\x1dVFATAL\0C57P01\0Mshutdown\0\0";
    struct fake_server server = {.manner = FAKE_WELCOME,
                                 .extra = extra,
                                 .extra_len = sizeof extra - 1,
                                 .close_after_welcome = true};
    struct scene s;
    struct rh_error err;
    char data[64];
    fake_server_start(&server);
    scene_open(&s, &server, 1, 0);
    struct rh_conn *conn = connect_one(&s);
    assert_string_equal(rh_conn_early_sqlstate(conn), "57P01");
    assert_int_equal(read_to_the_end(conn, data, sizeof data, &err), 0);
    assert_int_equal(err.code, RH_ERR_NET);
    assert_non_null(strstr(err.text, "backend 1234 lost: the server closed it"));
    rh_conn_close(conn);
    fake_server_stop(&server);
    scene_close(&s);
}

static void test_output_waits_and_is_not_mixed_up(void **state)
{
    (void) state;
    enum { PIECE = 100003, PIECES = 100 };
    struct fake_server server = {.manner = FAKE_WELCOME, .wait_before_reading = true};
    struct scene s;
    struct rh_error err;
    fake_server_start(&server);
    scene_open(&s, &server, 1, 0);
    struct rh_conn *conn = connect_one(&s);
    char *piece = malloc(PIECE);
    uint64_t sum = 0;
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < PIECE; k++) {
            piece[k] = (char) (i * 31 + k * 7);
        }
        sum = fake_checksum(sum, piece, PIECE);
        assert_int_equal(rh_conn_send(conn, rh_span(piece, PIECE), &err), 0);
        if (i == PIECES / 2) {
            assert_true(rh_conn_pending(conn) > 0);
            assert_int_equal(rh_conn_interest(conn), RH_LOOP_READ | RH_LOOP_WRITE);
            fake_server_go(&server);
        }
    }
    while (rh_conn_pending(conn) > 0) {
        struct pollfd p = {.fd = rh_conn_fd(conn), .events = POLLOUT};
        assert_int_equal(poll(&p, 1, 10000), 1);
        assert_int_equal(rh_conn_flush(conn, &err), 0);
    }
    assert_int_equal(rh_conn_interest(conn), RH_LOOP_READ);
    bool again;
    char byte;
    assert_int_equal(rh_conn_read(conn, &byte, 1, &again, &err), 0);
    assert_false(again);
    rh_conn_abort(conn);
    fake_server_stop(&server);
    assert_int_equal(server.clients[0].received, (uint64_t) PIECE * PIECES);
    assert_int_equal(server.clients[0].checksum, sum);
    free(piece);
    scene_close(&s);
}

static void test_output_is_bounded(void **state)
{
    (void) state;
    enum { PIECE = 1 << 20 };
    struct fake_server server = {.manner = FAKE_WELCOME, .wait_before_reading = true};
    struct rh_connector_options options = {.threads = 1, .out_max = 3 * PIECE};
    struct rh_error err;
    fake_server_start(&server);
    options.host = server.folder;
    struct rh_connector *connector;
    assert_int_equal(rh_connector_new(&connector, &options, &err), 0);
    struct scene s = {.connector = connector};
    struct rh_conn *conn = connect_one(&s);
    char *piece = calloc(1, PIECE);
    int sent = 0;
    while (sent < 10 && rh_conn_send(conn, rh_span(piece, PIECE), &err) == 0) {
        sent++;
    }
    assert_int_equal(err.code, RH_ERR_LIMIT);
    assert_true(sent >= 3 && sent < 10);
    assert_true(rh_conn_pending(conn) <= 3 * PIECE);
    rh_conn_close(conn); /* output waits: no Terminate into the middle of it */
    fake_server_stop(&server);
    assert_true(server.clients[0].received < (uint64_t) sent * PIECE);
    assert_int_equal(server.clients[0].checksum, 0);
    rh_connector_free(connector);
    free(piece);
}

static void send_small(struct rh_conn *conn, const char *bytes, uint64_t *sum)
{
    struct rh_error err;
    assert_int_equal(rh_conn_send(conn, rh_span_cstr(bytes), &err), 0);
    *sum = fake_checksum(*sum, bytes, strlen(bytes));
}

/* One request may be larger than what may wait, and is neither copied nor in the way of others. */
static void test_a_large_request(void **state)
{
    (void) state;
    enum { LARGE = 70 * 1024 * 1024 };
    struct fake_server server = {.manner = FAKE_WELCOME, .wait_before_reading = true};
    struct scene s;
    struct rh_error err;
    struct rh_buf request;
    uint64_t sum = 0;
    fake_server_start(&server);
    scene_open(&s, &server, 1, 0);
    struct rh_conn *conn = connect_one(&s);
    rh_buf_init(&request, LARGE);
    memset(rh_buf_reserve(&request, LARGE), 'x', LARGE);
    request.len = LARGE;
    sum = fake_checksum(sum, request.data, LARGE);
    assert_int_equal(rh_conn_send_buf(conn, &request, &err), 0);
    assert_int_equal(request.cap, 0);
    assert_true(rh_conn_pending(conn) > RH_CONN_OUT_MAX);
    send_small(conn, "Sync", &sum);

    memset(rh_buf_reserve(&request, LARGE), 'y', LARGE);
    request.len = LARGE;
    assert_int_equal(rh_conn_send_buf(conn, &request, &err), -1);
    assert_int_equal(err.code, RH_ERR_LIMIT);
    rh_buf_release(&request);

    fake_server_go(&server);
    while (rh_conn_pending(conn) > 0) {
        struct pollfd p = {.fd = rh_conn_fd(conn), .events = POLLOUT};
        assert_int_equal(poll(&p, 1, 10000), 1);
        assert_int_equal(rh_conn_flush(conn, &err), 0);
    }
    send_small(conn, "and so on", &sum);
    rh_conn_abort(conn);
    fake_server_stop(&server);
    assert_int_equal(server.clients[0].received, LARGE + 4 + 9);
    assert_int_equal(server.clients[0].checksum, sum);
    scene_close(&s);
}

/* A peer that is gone is told by the read, behind what it said. */
static void test_a_loss_while_sending_is_told_by_the_read(void **state)
{
    (void) state;
    struct fake_server server = {.manner = FAKE_WELCOME, .close_after_welcome = true};
    struct scene s;
    struct rh_error err;
    char data[64];
    fake_server_start(&server);
    scene_open(&s, &server, 1, 0);
    struct rh_conn *conn = connect_one(&s);
    struct pollfd p = {.fd = rh_conn_fd(conn), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 10000), 1);
    assert_int_equal(rh_conn_send(conn, rh_span_cstr("x"), &err), 0);
    assert_int_equal(rh_conn_send(conn, rh_span_cstr("y"), &err), 0);
    assert_int_equal(rh_conn_pending(conn), 0);
    assert_int_equal(read_to_the_end(conn, data, sizeof data, &err), 0);
    assert_int_equal(err.code, RH_ERR_NET);
    assert_non_null(strstr(err.text, "lost while sending: Broken pipe"));
    rh_conn_close(conn);
    fake_server_stop(&server);
    scene_close(&s);
}

/* A connection without its PGconn goes on, says Terminate once at its end, and knows its server's
 * socket. */
static void test_a_slim_connection_goes_on(void **state)
{
    (void) state;
    struct fake_server server = {.manner = FAKE_WELCOME};
    struct scene s;
    struct rh_error err;
    struct sockaddr_storage address;
    socklen_t size;
    char path[128];
    fake_server_start(&server);
    scene_open(&s, &server, 1, 0);
    struct rh_connect_request request = {
        .user = rh_span_cstr("clerk"), .database = rh_span_cstr("shop"), .slim = true};
    assert_int_equal(rh_connector_connect(s.connector, &request), 0);
    struct rh_conn *conn = request.conn;
    assert_null(rh_conn_parameter(conn, "server_version"));
    assert_int_equal(rh_conn_backend_pid(conn), 1234);
    assert_int_equal(rh_conn_peer(conn, &address, &size), 0);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", server.folder);
    assert_string_equal(((struct sockaddr_un *) &address)->sun_path, path);
    rh_conn_slim(conn); /* there is nothing left to give */
    struct pollfd p = {.fd = rh_conn_fd(conn), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 0);
    assert_int_equal(rh_conn_send(conn, rh_span_cstr("ab"), &err), 0);
    rh_conn_close(conn);
    fake_server_stop(&server);
    scene_close(&s);
    assert_int_equal(server.client_count, 1);
    assert_int_equal(server.clients[0].received, 2 + 5);
    assert_int_equal(server.clients[0].checksum, fake_checksum(0, "abX\0\0\0\4", 7));
}

static void on_refusal(void *ctx, const struct rh_error *err)
{
    assert_int_equal(err->code, RH_ERR_REFUSED);
    (*(int *) ctx)++;
}

/* Of two hosts nobody is at the first, and the second, to which libpq turns, is the captured one.
 */
static void test_the_source_is_told_nothing(void **state)
{
    (void) state;
    struct fake_server source = {.manner = FAKE_WELCOME};
    char hosts[160], address[160];
    struct rh_source_guard guard;
    struct rh_connector *connector;
    struct rh_error err;
    struct rh_connect_request request = {.user = rh_span_cstr("clerk"),
                                         .database = rh_span_cstr("shop")};
    int reports = 0;
    fake_server_start(&source);
    snprintf(hosts, sizeof hosts, "%s/nowhere,%s", source.folder, source.folder);
    snprintf(address, sizeof address, "%s/.s.PGSQL.5432", source.folder);
    rh_source_guard_init(&guard, rh_span_cstr(address));
    struct rh_connector_options options = {.host = hosts, .port = "5432", .guard = &guard};
    assert_int_equal(rh_connector_new(&connector, &options, &err), 0);
    rh_connector_on_refusal(connector, on_refusal, &reports);
    assert_int_equal(rh_connector_connect(connector, &request), -1);
    assert_null(request.conn);
    assert_int_equal(request.error.code, RH_ERR_REFUSED);
    assert_non_null(strstr(request.error.text, address));
    assert_non_null(strstr(request.error.text, "--allow-source"));
    assert_int_equal(reports, 1);
    rh_connector_free(connector);

    options.guard = NULL; /* the same way, allowed */
    assert_int_equal(rh_connector_new(&connector, &options, &err), 0);
    assert_int_equal(rh_connector_connect(connector, &request), 0);
    rh_conn_close(request.conn);
    rh_connector_free(connector);
    fake_server_stop(&source);
    assert_int_equal(source.client_count, 2);
    assert_int_equal(source.clients[0].startup_len, 0);
    assert_int_equal(source.clients[0].received, 0);
    assert_true(source.clients[1].startup_len > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_connects_by_four_threads),
        cmocka_unit_test(test_one_thread_takes_them_in_order),
        cmocka_unit_test(test_a_refusal_has_its_sqlstate),
        cmocka_unit_test(test_no_server_and_one_that_hangs_up),
        cmocka_unit_test(test_a_silent_server_ends_with_the_timeout),
        cmocka_unit_test(test_stop_ends_those_that_run_and_those_that_wait),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_what_comes_with_the_welcome_is_not_lost),
        cmocka_unit_test(test_output_waits_and_is_not_mixed_up),
        cmocka_unit_test(test_output_is_bounded),
        cmocka_unit_test(test_a_large_request),
        cmocka_unit_test(test_a_loss_while_sending_is_told_by_the_read),
        cmocka_unit_test(test_a_slim_connection_goes_on),
        cmocka_unit_test(test_the_source_is_told_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
