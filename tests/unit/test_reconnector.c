/* replay/reconnector: who connects once more, and when */
#include "rh_test.h"

#include "common/clock.h"
#include "replay/reconnector.h"

enum { SESSIONS = 12 };

struct bench {
    struct rh_loop *loop;
    struct rh_reconnector rc;
    struct rh_reconnect r[SESSIONS];
    int went[64]; /* who had a turn, in order */
    int went_count;
    bool gave_up[SESSIONS];
    int gave_up_count;
};

static int number_of(const struct bench *b, const struct rh_reconnect *r)
{
    return (int) (r - b->r);
}

static void go(struct rh_reconnect *r)
{
    struct bench *b = r->ctx;
    assert_true(r->is_running && !r->is_waiting);
    assert_in_range(b->went_count, 0, 63);
    b->went[b->went_count++] = number_of(b, r);
}

static void give_up(struct rh_reconnect *r)
{
    struct bench *b = r->ctx;
    assert_false(r->is_running || r->is_waiting);
    b->gave_up[number_of(b, r)] = true;
    b->gave_up_count++;
}

static void set_up(struct bench *b, int64_t patience_ns)
{
    struct rh_error err;
    *b = (struct bench){0};
    assert_int_equal(rh_loop_new(&b->loop, &err), 0);
    rh_reconnector_init(&b->rc, b->loop, patience_ns);
    for (int i = 0; i < SESSIONS; i++) {
        b->r[i] = (struct rh_reconnect){.go = go, .give_up = give_up, .ctx = b};
        b->r[i].since_ns = rh_clock_mono_ns();
    }
}

static void tear_down(struct bench *b)
{
    rh_timer_cancel(b->loop, &b->rc.timer);
    rh_loop_free(b->loop);
}

static void put_all(struct bench *b)
{
    for (int i = 0; i < SESSIONS; i++) {
        rh_reconnector_put(&b->rc, &b->r[i]);
    }
}

/* The pause is over. */
static void let_try(struct bench *b)
{
    b->rc.next_ns = 0;
    rh_timer_cancel(b->loop, &b->rc.timer);
    b->rc.timer.fire(&b->rc.timer, rh_clock_mono_ns());
}

static void test_few_at_a_time(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, RH_NS_PER_SEC * 3600);
    put_all(&b);
    assert_int_equal(b.went_count, RH_RECONNECTS_AT_ONCE);
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(b.went[i], i);
        rh_reconnector_end(&b.rc, &b.r[i], RH_RECONNECT_ANSWERED);
        int wanted = i + 1 + RH_RECONNECTS_AT_ONCE;
        assert_int_equal(b.went_count, wanted < SESSIONS ? wanted : SESSIONS);
    }
    assert_int_equal(b.rc.running_count, 0);
    assert_null(b.rc.first);
    tear_down(&b);
}

static void test_one_tries_for_all(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, RH_NS_PER_SEC * 3600);
    put_all(&b);
    for (int i = 0; i < RH_RECONNECTS_AT_ONCE; i++) {
        rh_reconnector_end(&b.rc, &b.r[i], RH_RECONNECT_FAILED);
    }
    /* Nobody goes before the pause is over, and then one at a time, in turn. */
    assert_int_equal(b.went_count, RH_RECONNECTS_AT_ONCE);
    assert_true(rh_timer_is_armed(&b.rc.timer));
    int64_t pause_ns = b.rc.pause_ns;
    for (int i = RH_RECONNECTS_AT_ONCE; i < SESSIONS; i++) {
        let_try(&b);
        assert_int_equal(b.went_count, i + 1);
        assert_int_equal(b.went[i], i);
        rh_reconnector_end(&b.rc, &b.r[i], RH_RECONNECT_FAILED);
        assert_int_equal(b.went_count, i + 1);
        assert_true(b.rc.pause_ns >= pause_ns && b.rc.pause_ns <= RH_NS_PER_SEC);
        pause_ns = b.rc.pause_ns;
    }
    assert_int_equal(pause_ns, RH_NS_PER_SEC);
    /* One was taken: all may. */
    let_try(&b);
    assert_int_equal(b.went[SESSIONS], 0);
    rh_reconnector_end(&b.rc, &b.r[0], RH_RECONNECT_ANSWERED);
    assert_int_equal(b.rc.running_count, RH_RECONNECTS_AT_ONCE);
    assert_int_equal(b.gave_up_count, 0);
    tear_down(&b);
}

static void test_patience_ends(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, RH_NS_PER_SEC * 3600);
    put_all(&b);
    /* The late ones leave when a try fails, whoever tried; those that came later stay. */
    for (int i = 6; i < SESSIONS; i++) {
        b.r[i].since_ns -= RH_NS_PER_SEC * 3600;
    }
    assert_int_equal(b.gave_up_count, 0);
    rh_reconnector_end(&b.rc, &b.r[0], RH_RECONNECT_FAILED);
    assert_int_equal(b.gave_up_count, SESSIONS - 6);
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(b.gave_up[i], i >= 6);
    }
    /* One that runs is given up when its own try fails. */
    b.r[1].since_ns -= RH_NS_PER_SEC * 3600;
    rh_reconnector_end(&b.rc, &b.r[1], RH_RECONNECT_FAILED);
    assert_true(b.gave_up[1]);
    tear_down(&b);
}

static void test_leaving(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, RH_NS_PER_SEC * 3600);
    put_all(&b);
    rh_reconnector_drop(&b.rc, &b.r[SESSIONS - 1]);
    rh_reconnector_drop(&b.rc, &b.r[SESSIONS - 1]);
    rh_reconnector_drop(&b.rc, &b.r[4]);
    rh_reconnector_drop(&b.rc, &b.r[6]);
    rh_reconnector_drop(&b.rc, &b.r[0]); /* it runs: it leaves when that has ended */
    rh_reconnector_end(&b.rc, &b.r[0], RH_RECONNECT_LEFT);
    assert_int_equal(b.went[4], 5);
    rh_reconnector_end(&b.rc, &b.r[1], RH_RECONNECT_LEFT);
    assert_int_equal(b.went[5], 7);
    rh_reconnector_put(&b.rc, &b.r[4]);
    rh_reconnector_end(&b.rc, &b.r[2], RH_RECONNECT_ANSWERED);
    rh_reconnector_end(&b.rc, &b.r[3], RH_RECONNECT_ANSWERED);
    rh_reconnector_end(&b.rc, &b.r[5], RH_RECONNECT_ANSWERED);
    rh_reconnector_end(&b.rc, &b.r[7], RH_RECONNECT_ANSWERED);
    const int last[] = {8, 9, 10, 4};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(b.went[6 + i], last[i]);
    }
    assert_int_equal(b.went_count, 10);
    tear_down(&b);
}

/* A connection that is taken and lost at once, over and over, does not go round without a pause. */
static void test_failed_without_a_turn(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b, RH_NS_PER_SEC * 3600);
    rh_reconnector_put(&b.rc, &b.r[0]);
    rh_reconnector_end(&b.rc, &b.r[0], RH_RECONNECT_ANSWERED);
    rh_reconnector_put_failed(&b.rc, &b.r[0]);
    assert_int_equal(b.went_count, 1);
    assert_true(rh_timer_is_armed(&b.rc.timer));
    let_try(&b);
    assert_int_equal(b.went_count, 2);
    rh_reconnector_end(&b.rc, &b.r[0], RH_RECONNECT_ANSWERED);
    b.r[0].since_ns -= RH_NS_PER_SEC * 3600;
    rh_reconnector_put_failed(&b.rc, &b.r[0]);
    assert_true(b.gave_up[0]);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_at_a_time),         cmocka_unit_test(test_one_tries_for_all),
        cmocka_unit_test(test_patience_ends),         cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_failed_without_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
