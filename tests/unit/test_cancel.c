/* replay/cancel, replay/cancel_key */
#include "rh_test.h"

#include <stdio.h>

#include "common/clock.h"
#include "fake_server.h"
#include "replay/cancel.h"
#include "replay/connector.h"

struct scene {
    struct fake_server server;
    struct rh_connector *connector;
    struct rh_loop *loop;
    struct rh_conn *conn;
    struct rh_cancel cancel;
    enum rh_cancel_end end;
    int done_count;
};

static void scene_open(struct scene *s)
{
    struct rh_error err;
    fake_server_start(&s->server);
    struct rh_connector_options options = {.host = s->server.folder, .port = "5432", .threads = 1};
    struct rh_connect_request request = {.user = rh_span_cstr("clerk"),
                                         .database = rh_span_cstr("shop")};
    assert_int_equal(rh_loop_new(&s->loop, &err), 0);
    assert_int_equal(rh_connector_new(&s->connector, &options, &err), 0);
    assert_int_equal(rh_connector_connect(s->connector, &request), 0);
    s->conn = request.conn;
}

static void scene_close(struct scene *s)
{
    rh_conn_abort(s->conn);
    rh_connector_free(s->connector);
    rh_loop_free(s->loop);
}

static void on_done(struct rh_cancel *cancel, enum rh_cancel_end end)
{
    struct scene *s = cancel->ctx;
    assert_false(cancel->is_active);
    s->end = end;
    s->done_count++;
    rh_loop_stop(s->loop);
}

static void start(struct scene *s, int64_t timeout_ns)
{
    rh_cancel_start(&s->cancel, s->loop, s->conn, timeout_ns, on_done, s);
    assert_true(s->cancel.is_active);
    assert_int_equal(s->done_count, 0);
}

static void run(struct scene *s)
{
    assert_int_equal(rh_loop_run(s->loop, NULL), 0);
    assert_int_equal(s->done_count, 1);
}

static void test_it_is_done_when_the_server_closes(void **state)
{
    (void) state;
    static struct scene s;
    s = (struct scene){.server = {.manner = FAKE_WELCOME}};
    scene_open(&s);
    start(&s, 60 * RH_NS_PER_SEC);
    run(&s);
    assert_int_equal(s.end, RH_CANCEL_TAKEN);
    scene_close(&s);
    fake_server_stop(&s.server);
    assert_int_equal(s.server.client_count, 2);
    const struct fake_client *c = &s.server.clients[1];
    assert_int_equal(c->startup_len, 12);
    assert_memory_equal(c->startup, "\x04\xd2\x16\x2e\0\0\x04\xd2key!", 12);
    assert_int_equal(c->received, 0);
}

static void test_a_server_that_does_not_close(void **state)
{
    (void) state;
    static struct scene s;
    s = (struct scene){.server = {.manner = FAKE_WELCOME, .ignore_cancels = true}};
    scene_open(&s);
    int64_t began_ns = rh_clock_mono_ns();
    start(&s, 50 * RH_NS_PER_MS);
    run(&s);
    assert_int_equal(s.end, RH_CANCEL_UNANSWERED);
    assert_true(rh_clock_mono_ns() - began_ns >= 50 * RH_NS_PER_MS);
    scene_close(&s);
    fake_server_stop(&s.server);
}

static void test_no_server(void **state)
{
    (void) state;
    static struct scene s;
    s = (struct scene){.server = {.manner = FAKE_WELCOME, .close_after_welcome = true}};
    scene_open(&s);
    fake_server_stop(&s.server);
    start(&s, 60 * RH_NS_PER_SEC);
    run(&s);
    assert_int_equal(s.end, RH_CANCEL_NOT_SENT);
    scene_close(&s);
}

static void test_stop_tells_nothing(void **state)
{
    (void) state;
    static struct scene s;
    s = (struct scene){.server = {.manner = FAKE_WELCOME}};
    scene_open(&s);
    start(&s, 60 * RH_NS_PER_SEC);
    rh_cancel_stop(&s.cancel);
    rh_cancel_stop(&s.cancel);
    assert_false(s.cancel.is_active);
    rh_loop_stop(s.loop);
    assert_int_equal(rh_loop_run(s.loop, NULL), 0);
    assert_int_equal(s.done_count, 0);
    scene_close(&s);
    fake_server_stop(&s.server);
}

static void check_key(const char *trace, uint32_t pid, const char *bytes, size_t len)
{
    for (size_t piece = 1; piece < 40; piece += 7) {
        struct rh_cancel_key key;
        rh_cancel_key_init(&key);
        size_t n = strlen(trace);
        for (size_t at = 0; at < n; at += piece) {
            rh_cancel_key_feed(&key, trace + at, n - at < piece ? n - at : piece);
        }
        assert_int_equal(key.len, len);
        if (len > 0) {
            assert_int_equal(key.pid, pid);
            assert_memory_equal(key.bytes, bytes, len);
        }
    }
}

static void test_keys_of_traces(void **state)
{
    (void) state;
    /* libpq 14 to 17 */
    check_key("F\t41\tUnknown message: length is 41\n"
              "B\t23\tParameterStatus\t \"in_hot_standby\" \"off\"\n"
              "B\t12\tBackendKeyData\t 31571 -1455890480\n"
              "B\t5\tReadyForQuery\t I\n",
              31571, "\xa9\x38\xdf\xd0", 4);
    check_key("B\t12\tBackendKeyData\t 7 16909060\n", 7, "\1\2\3\4", 4);
    /* libpq 18 */
    check_key("B\t12\tBackendKeyData\t 7 'a\\x00'b'\n", 7, "a\0'b", 4);
    check_key("B\t20\tBackendKeyData\t 7 '\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\xff\\xfe234'\n", 7,
              "\1\2\3\4\5\6\7\xff\xfe\x32\x33\x34", 12);
    /* the last one counts */
    check_key("B\t12\tBackendKeyData\t 6 1\nB\t12\tBackendKeyData\t 7 2\n", 7, "\0\0\0\2", 4);
}

static void test_what_is_no_key(void **state)
{
    (void) state;
    check_key("", 0, "", 0);
    check_key("B\t12\tBackendKeyData\t 7 2", 0, "", 0); /* no end */
    check_key("B\t12\tBackendKeyData\t 7\n", 0, "", 0);
    check_key("B\t12\tBackendKeyData\t 7 x\n", 0, "", 0);
    check_key("B\t12\tBackendKeyData\t 7 '\n", 0, "", 0);
    check_key("F\t12\tBackendKeyData\t 7 2\n", 0, "", 0);
    char lengthy[3000];
    snprintf(lengthy, sizeof lengthy, "B\t12\tBackendKeyData\t 7 '%02900d'\n", 0);
    check_key(lengthy, 0, "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_done_when_the_server_closes),
        cmocka_unit_test(test_a_server_that_does_not_close),
        cmocka_unit_test(test_no_server),
        cmocka_unit_test(test_stop_tells_nothing),
        cmocka_unit_test(test_keys_of_traces),
        cmocka_unit_test(test_what_is_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
