/* replay/session_lost: servers that hang up, start, or refuse */
#include "rh_test.h"

#include <string.h>

#include "common/clock.h"
#include "fake_server.h"
#include "replay/engine.h"
#include "replay/run_header.h"
#include "trace_testing.h"

enum { STATEMENTS = 3, PAUSE_MS = 50, PATIENCE_MS = 300 };

#define BASE_NS (INT64_C(1767225600) * RH_NS_PER_SEC)

/* An ErrorResponse with that SQLSTATE. */
#define REFUSAL(state)                                                                             \
    "E\0\0\0\x1c"                                                                                  \
    "SFATAL\0"                                                                                     \
    "C" state "\0"                                                                                 \
    "Mnot now\0"

static void make_trace(const char *path)
{
    struct rh_trace_header header = testing_header(RH_FILE_WORKLOAD);
    struct rh_trace_writer *w;
    struct rh_error err;
    struct rh_session s = {.number = 1,
                           .user = rh_span_cstr("clerk"),
                           .database = rh_span_cstr("shop"),
                           .opened_ns = BASE_NS,
                           .closed_ns = RH_TIME_UNKNOWN};
    assert_int_equal(rh_trace_writer_open(&w, path, &header, NULL, &err), 0);
    assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
    for (uint64_t i = 1; i <= STATEMENTS; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.session = 1;
        r.ordinal = i;
        r.start_ns = BASE_NS;
        r.txn = RH_TXN_BEGINS | RH_TXN_ENDS;
        r.text = rh_span_cstr("SELECT 1");
        assert_int_equal(rh_trace_writer_add(w, &r, &err), 0);
    }
    assert_int_equal(rh_trace_writer_finish(w, false, &err), 0);
}

struct found {
    struct rh_tally tally;
    struct rh_plan_session session;
    int client_count;
};

/* Replay on the server, which is started here. */
static struct found replay(struct fake_server *server, bool reconnects)
{
    static struct rh_engine engine;
    struct rh_replay_options options;
    struct rh_trace_file *file;
    struct rh_trace_index *index;
    struct rh_plan *plan;
    struct rh_connector *connector;
    struct rh_engine_result result;
    struct rh_error err;
    struct rh_trace_header header = testing_header(RH_FILE_RUN);
    char *trace = testing_path("reconnect.trace"), *run = testing_path("reconnect.run");
    make_trace(trace);
    fake_server_start(server);
    const struct rh_connector_options to = {.host = server->folder, .port = "5432"};
    rh_replay_options_init(&options);
    options.quiet = true;
    options.no_reconnect = !reconnects;
    options.reconnect_timeout_ns = PATIENCE_MS * RH_NS_PER_MS;
    assert_int_equal(rh_connector_new(&connector, &to, &err), 0);
    assert_int_equal(rh_trace_file_open(&file, trace, &err), 0);
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    assert_int_equal(rh_plan_new(&plan, file, index, &options, &err), 0);
    const struct rh_engine_setup setup = {.plan = plan,
                                          .connector = connector,
                                          .options = &options,
                                          .run_path = run,
                                          .run_header = &header};
    assert_int_equal(rh_engine_init(&engine, &setup, &err), 0);
    rh_engine_run(&engine, &result);
    assert_false(result.has_failed || result.is_stopped);
    struct found found = {.tally = result.tally, .session = plan->sessions[0]};
    rh_tally_release(&result.tally);
    rh_connector_free(connector);
    rh_recorder_discard(engine.recorder);
    rh_engine_release(&engine);
    rh_plan_free(plan);
    rh_trace_index_free(index);
    rh_trace_file_close(file);
    rh_replay_options_release(&options);
    fake_server_stop(server);
    found.client_count = server->client_count;
    testing_remove(trace);
    testing_remove(run);
    return found;
}

/* Each connection is closed once it is made.  A statement may have been sent before that is seen:
 * then it is lost, and the next one is tried.  It ends, and not after thousands of connections. */
static void test_taken_and_lost_at_once(void **state)
{
    (void) state;
    static struct fake_server server = {.manner = FAKE_WELCOME, .close_after_welcome = true};
    const int tries = PATIENCE_MS / PAUSE_MS + 2;
    struct found f = replay(&server, true);
    assert_int_equal(f.tally.sessions_opened, 1);
    assert_int_equal(f.tally.sessions_failed, 0);
    assert_true(f.tally.sessions_lost <= 1);
    assert_in_range(f.client_count, 2, (STATEMENTS + 1) * tries);
    assert_int_equal(f.tally.reconnects, f.client_count - 1);
    assert_int_equal(f.tally.sessions_reconnected, 1);
    uint64_t unsent = f.tally.sessions_lost ? STATEMENTS + 1 - f.session.rest_ordinal : 0;
    assert_int_equal(f.tally.statements_lost + unsent, STATEMENTS);
    assert_int_equal(f.session.rest, unsent ? RH_REASON_SESSION_LOST : RH_REASON_NONE);
}

static void test_no_reconnect(void **state)
{
    (void) state;
    static struct fake_server server = {.manner = FAKE_WELCOME, .close_after_welcome = true};
    struct found f = replay(&server, false);
    assert_int_equal(f.client_count, 1);
    assert_int_equal(f.tally.sessions_lost, 1);
    assert_int_equal(f.tally.reconnects, 0);
    assert_int_equal(f.session.rest, RH_REASON_SESSION_LOST);
}

/* A server that starts is asked again, with pauses, and not for ever. */
static void test_starting_server(void **state)
{
    (void) state;
    static const char refusal[] = REFUSAL("57P03");
    static struct fake_server server = {
        .manner = FAKE_REFUSE, .refusal = refusal, .refusal_len = sizeof refusal};
    struct found f = replay(&server, true);
    assert_in_range(f.client_count, 2, PATIENCE_MS / PAUSE_MS + 2);
    assert_int_equal(f.tally.sessions_failed, 1);
    assert_int_equal(f.tally.refused_session, 1);
    assert_non_null(strstr(f.tally.refused_text, "tried for"));
    assert_non_null(strstr(f.tally.refused_text, "not now"));
    assert_int_equal(f.session.rest, RH_REASON_CONNECT_FAILED);
}

/* A wrong password, or a server that is full at the first connect, is final. */
static void test_final_refusals(void **state)
{
    (void) state;
    static const char password[] = REFUSAL("28P01"), full[] = REFUSAL("53300");
    static struct fake_server servers[] = {
        {.manner = FAKE_REFUSE, .refusal = password, .refusal_len = sizeof password},
        {.manner = FAKE_REFUSE, .refusal = full, .refusal_len = sizeof full},
    };
    for (int i = 0; i < 2; i++) {
        struct found f = replay(&servers[i], true);
        assert_int_equal(f.client_count, 1);
        assert_int_equal(f.tally.sessions_failed, 1);
        assert_null(strstr(f.tally.refused_text, "tried for"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken_and_lost_at_once),
        cmocka_unit_test(test_no_reconnect),
        cmocka_unit_test(test_starting_server),
        cmocka_unit_test(test_final_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
