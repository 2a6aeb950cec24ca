/* replay/feeder, replay/engine: a trace that cannot be read any more while it is replayed */
#include "rh_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "fake_server.h"
#include "replay/engine.h"
#include "replay/run_header.h"
#include "trace_testing.h"

enum { SESSIONS = 3 };

#define BASE_NS (INT64_C(1767225600) * RH_NS_PER_SEC)

/* Sessions 1 and 2 are there from the start, the last one comes after an hour. */
static void make_trace(const char *path)
{
    struct rh_trace_header header = testing_header(RH_FILE_WORKLOAD);
    struct rh_trace_writer *w;
    struct rh_error err;
    assert_int_equal(rh_trace_writer_open(&w, path, &header, NULL, &err), 0);
    for (uint32_t i = 1; i <= SESSIONS; i++) {
        int64_t opened_ns = BASE_NS + (i == SESSIONS ? 3600 * RH_NS_PER_SEC : 0);
        struct rh_session s = {.number = i,
                               .user = rh_span_cstr("clerk"),
                               .database = rh_span_cstr("shop"),
                               .opened_ns = opened_ns,
                               .closed_ns = RH_TIME_UNKNOWN};
        assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
    }
    for (uint32_t i = 1; i <= SESSIONS; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.session = i;
        r.ordinal = 1;
        r.start_ns = BASE_NS + (i == SESSIONS ? 3600 * RH_NS_PER_SEC : 0);
        r.text = rh_span_cstr("SELECT 1");
        assert_int_equal(rh_trace_writer_add(w, &r, &err), 0);
    }
    assert_int_equal(rh_trace_writer_finish(w, false, &err), 0);
}

/* Put a folder in the place of the open file: reading it fails. */
static void break_descriptor(const char *path)
{
    int folder = open("/", O_RDONLY | O_DIRECTORY);
    int broken = 0;
    for (int fd = 3; fd < 100; fd++) {
        char link[64], target[512];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        if (n > 0 && (size_t) n == strlen(path) && memcmp(target, path, (size_t) n) == 0) {
            assert_int_equal(dup2(folder, fd), fd);
            broken++;
        }
    }
    close(folder);
    assert_int_equal(broken, 1);
}

struct bench {
    struct fake_server server;
    struct rh_replay_options options;
    struct rh_trace_file *file;
    struct rh_trace_index *index;
    struct rh_plan *plan;
    struct rh_connector *connector;
    struct rh_engine engine;
};

static void set_up(struct bench *b, const char *trace, const char *run)
{
    struct rh_error err;
    struct rh_trace_header header = testing_header(RH_FILE_RUN);
    *b = (struct bench){.server = {.manner = FAKE_WELCOME}};
    fake_server_start(&b->server);
    const struct rh_connector_options to = {.host = b->server.folder, .port = "5432"};
    rh_replay_options_init(&b->options);
    b->options.quiet = true;
    assert_int_equal(rh_connector_new(&b->connector, &to, &err), 0);
    assert_int_equal(rh_trace_file_open(&b->file, trace, &err), 0);
    assert_int_equal(rh_trace_index_new(&b->index, b->file, &err), 0);
    assert_int_equal(rh_plan_new(&b->plan, b->file, b->index, &b->options, &err), 0);
    const struct rh_engine_setup setup = {.plan = b->plan,
                                          .connector = b->connector,
                                          .options = &b->options,
                                          .run_path = run,
                                          .run_header = &header};
    assert_int_equal(rh_engine_init(&b->engine, &setup, &err), 0);
}

static void tear_down(struct bench *b)
{
    rh_connector_free(b->connector);
    rh_recorder_discard(b->engine.recorder);
    rh_engine_release(&b->engine);
    rh_plan_free(b->plan);
    rh_trace_index_free(b->index);
    rh_trace_file_close(b->file);
    rh_replay_options_release(&b->options);
    fake_server_stop(&b->server);
}

static void test_the_rest_is_not_sent_for_this_reason(void **state)
{
    (void) state;
    static struct bench b;
    struct rh_engine_result result;
    char *trace = testing_path("unreadable.trace"), *run = testing_path("unreadable.run");
    make_trace(trace);
    set_up(&b, trace, run);
    break_descriptor(trace);
    rh_engine_run(&b.engine, &result);
    assert_true(result.has_failed);
    assert_false(result.is_stopped);
    assert_non_null(strstr(result.error.text, trace));
    assert_int_equal(result.tally.statements_sent, 0);
    assert_int_equal(b.plan->session_count, SESSIONS);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        const struct rh_plan_session *ps = &b.plan->sessions[i];
        assert_int_equal(ps->rest, RH_REASON_DAMAGED);
        assert_true(ps->rest_ordinal <= 1);
    }
    rh_tally_release(&result.tally);
    tear_down(&b);
    testing_remove(trace);
    testing_remove(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rest_is_not_sent_for_this_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
