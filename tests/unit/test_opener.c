#include "rh_test.h"

#include "common/clock.h"
#include "replay/opener.h"

/* A plan made by hand, and a record of what the opener does with it. */
struct bench {
    struct rh_session captured[8];
    struct rh_plan_session sessions[8];
    uint32_t by_close[8];
    struct rh_plan plan;
    struct rh_loop *loop;
    struct rh_opener opener;
    uint32_t opened[8];
    uint32_t opened_count;
    uint32_t waited[8];
    uint32_t waited_count;
    bool has_begun;
    bool has_finished;
};

static void on_open(void *ctx, struct rh_plan_session *ps)
{
    struct bench *b = ctx;
    b->opened[b->opened_count++] = ps->session->number;
}

static void on_begin(void *ctx, int64_t begin_ns)
{
    struct bench *b = ctx;
    assert_true(begin_ns <= rh_clock_mono_ns());
    b->has_begun = true;
}

static void on_finish(void *ctx)
{
    struct bench *b = ctx;
    b->has_finished = true;
}

static void on_wait(void *ctx, const struct rh_plan_session *ps)
{
    struct bench *b = ctx;
    b->waited[b->waited_count++] = ps->session->number;
}

static void stop_loop(struct rh_timer *timer, int64_t now_ns)
{
    (void) now_ns;
    rh_loop_stop(timer->ctx);
}

/* Run the loop for a moment. */
static void spin(struct bench *b, int64_t ns)
{
    struct rh_timer timer = {.fire = stop_loop, .ctx = b->loop};
    struct rh_error err;
    rh_timer_arm(b->loop, &timer, rh_clock_mono_ns() + ns);
    assert_int_equal(rh_loop_run(b->loop, &err), 0);
}

/* Sessions 1..n open at i ms; close_rank and closed_before are the caller's to set. */
static void set_up(struct bench *b, uint32_t n, bool at_max, uint32_t limit)
{
    struct rh_error err;
    *b = (struct bench){0};
    for (uint32_t i = 0; i < n; i++) {
        b->captured[i].number = i + 1;
        b->sessions[i] = (struct rh_plan_session){
            .session = &b->captured[i], .open_ns = i * RH_NS_PER_MS, .close_rank = UINT32_MAX};
    }
    b->plan = (struct rh_plan){.speed_is_max = at_max,
                               .sessions = b->sessions,
                               .session_count = n,
                               .by_close = b->by_close,
                               .close_count = n};
    rh_time_map_init(&b->plan.map, 0, 1.0);
    assert_int_equal(rh_loop_new(&b->loop, &err), 0);
    const struct rh_opener_calls calls = {
        .open = on_open, .begin = on_begin, .finish = on_finish, .wait = on_wait, .ctx = b};
    rh_opener_init(&b->opener, &b->plan, limit, b->loop, &calls);
}

static void tear_down(struct bench *b)
{
    rh_opener_release(&b->opener);
    rh_loop_free(b->loop);
    rh_time_map_release(&b->plan.map);
}

static void test_in_time(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 3, false, UINT32_MAX);
    b.sessions[2].open_ns = 3600 * RH_NS_PER_SEC;
    rh_opener_start(&b.opener);
    spin(&b, 20 * RH_NS_PER_MS);
    assert_true(b.has_begun);
    assert_int_equal(b.opened_count, 2); /* the third is an hour away */
    rh_opener_stop(&b.opener);
    rh_opener_closed(&b.opener, &b.sessions[0]);
    spin(&b, RH_NS_PER_MS);
    assert_false(b.has_finished);
    rh_opener_closed(&b.opener, &b.sessions[1]);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_finished);
    assert_int_equal(b.opened_count, 2);
    tear_down(&b);
}

/* The clock starts when those that ran before are connected. */
static void test_initial(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 3, false, UINT32_MAX);
    for (int i = 0; i < 2; i++) {
        b.sessions[i].is_initial = true;
        b.sessions[i].open_ns = INT64_MIN;
    }
    rh_opener_start(&b.opener);
    spin(&b, 5 * RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 2);
    rh_opener_ready(&b.opener, &b.sessions[1]);
    spin(&b, RH_NS_PER_MS);
    assert_false(b.has_begun);
    rh_opener_ready(&b.opener, &b.sessions[0]);
    spin(&b, 10 * RH_NS_PER_MS);
    assert_true(b.has_begun);
    assert_int_equal(b.opened_count, 3);
    for (int i = 0; i < 3; i++) {
        rh_opener_closed(&b.opener, &b.sessions[i]);
    }
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_finished);
    tear_down(&b);
}

/* At --speed max a session waits for those that had closed before it opened, and for no other. */
static void test_max(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 4, true, UINT32_MAX);
    b.sessions[0].close_rank = 1;
    b.sessions[1].close_rank = 0; /* the second closed first */
    b.sessions[2].closed_before = 1;
    b.sessions[3].closed_before = 2;
    rh_opener_start(&b.opener);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 2);
    rh_opener_closed(&b.opener, &b.sessions[0]); /* not the one that session 3 waits for */
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 2);
    rh_opener_closed(&b.opener, &b.sessions[1]);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 4);
    rh_opener_closed(&b.opener, &b.sessions[2]);
    rh_opener_closed(&b.opener, &b.sessions[3]);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_finished);
    tear_down(&b);
}

static void test_limit(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 4, true, 2);
    b.sessions[1].unsent = RH_REASON_REPLICATION; /* never opened, and holds no slot */
    rh_opener_start(&b.opener);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 2);
    assert_int_equal(b.opened[1], 3);
    rh_opener_closed(&b.opener, &b.sessions[2]);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 3);
    assert_int_equal(b.opened[2], 4);
    rh_opener_closed(&b.opener, &b.sessions[0]);
    rh_opener_closed(&b.opener, &b.sessions[3]);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_finished);
    tear_down(&b);
}

/* A limit below the number of initial sessions does not keep the clock from starting. */
/* Those whose time has come and that have no slot are told of, once each. */
static void test_waiting(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 5, false, 1);
    b.sessions[1].unsent = RH_REASON_REPLICATION;
    b.sessions[4].open_ns = 3600 * RH_NS_PER_SEC;
    rh_opener_start(&b.opener);
    spin(&b, 20 * RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 1);
    assert_int_equal(b.waited_count, 2);
    assert_int_equal(b.waited[0], 3);
    assert_int_equal(b.waited[1], 4);
    rh_opener_closed(&b.opener, &b.sessions[0]);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 2);
    assert_int_equal(b.waited_count, 2);
    rh_opener_stop(&b.opener);
    rh_opener_closed(&b.opener, &b.sessions[2]);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_finished);
    tear_down(&b);
}

static void test_limit_of_initial(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 2, false, 1);
    b.sessions[0].is_initial = b.sessions[1].is_initial = true;
    rh_opener_start(&b.opener);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 1);
    assert_false(b.has_begun);
    rh_opener_ready(&b.opener, &b.sessions[0]);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_begun);
    rh_opener_closed(&b.opener, &b.sessions[0]);
    spin(&b, RH_NS_PER_MS);
    assert_int_equal(b.opened_count, 2);
    rh_opener_ready(&b.opener, &b.sessions[1]);
    rh_opener_closed(&b.opener, &b.sessions[1]);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_finished);
    tear_down(&b);
}

static void test_nothing(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, 0, false, UINT32_MAX);
    rh_opener_start(&b.opener);
    spin(&b, RH_NS_PER_MS);
    assert_true(b.has_begun && b.has_finished);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_time), cmocka_unit_test(test_initial),
        cmocka_unit_test(test_max),     cmocka_unit_test(test_limit),
        cmocka_unit_test(test_waiting), cmocka_unit_test(test_limit_of_initial),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
