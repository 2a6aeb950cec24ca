#include "rh_test.h"

#include "replay/order.h"

enum { B = RH_TXN_BEGINS, E = RH_TXN_ENDS, K = RH_TXN_BLOCK, MS = 1000000 };

static void add(struct rh_order_plan *plan, uint32_t session, uint64_t ordinal, uint8_t marks,
                int64_t start_ms, int64_t end_ms)
{
    struct rh_record r;
    rh_record_init(&r);
    r.ordinal = ordinal;
    r.txn = marks;
    r.start_ns = start_ms * MS;
    r.outcome.done_ns = end_ms < 0 ? RH_TIME_UNKNOWN : end_ms * MS;
    assert_true(rh_order_plan_add(plan, session, &r));
}

static void assert_txn(const struct rh_order_plan *plan, uint32_t session, uint32_t place,
                       uint32_t first, uint32_t last, uint32_t rank, uint32_t need)
{
    assert_true(place < plan->sessions[session].count);
    const struct rh_order_txn *txn = &plan->sessions[session].txns[place];
    assert_int_equal(txn->first, first);
    assert_int_equal(txn->last, last);
    assert_int_equal(txn->rank, rank);
    assert_int_equal(txn->need, need);
}

static void test_needs(void **state)
{
    (void) state;
    struct rh_order_plan plan;
    rh_order_plan_init(&plan, 3, 1000);
    add(&plan, 0, 1, B | K, 0, 1); /* a block of three */
    add(&plan, 1, 1, B | E, 2, 5);
    add(&plan, 0, 2, K, 3, 4);
    add(&plan, 0, 3, E | K, 6, 8);
    add(&plan, 2, 1, B | E, 7, 20); /* overlaps the block, follows the single one */
    add(&plan, 1, 2, B | E, 9, 10); /* follows the block */
    add(&plan, 0, 4, B | E, 30, 31);
    rh_order_plan_finish(&plan);
    assert_int_equal(plan.txn_count, 5);
    assert_txn(&plan, 1, 0, 1, 1, 0, 0); /* ended at 5 */
    assert_txn(&plan, 0, 0, 1, 3, 1, 0); /* at 8 */
    assert_txn(&plan, 1, 1, 2, 2, 2, 2); /* at 10 */
    assert_txn(&plan, 2, 0, 1, 1, 3, 1); /* at 20 */
    assert_txn(&plan, 0, 1, 4, 4, 4, 4);
    rh_order_plan_release(&plan);
}

/* Times that the capture cannot tell apart count as overlapping. */
static void test_ties(void **state)
{
    (void) state;
    for (int log = 0; log < 2; log++) {
        struct rh_order_plan plan;
        rh_order_plan_init(&plan, 3, log ? MS : 1000);
        add(&plan, 0, 1, B | E, 0, 10);
        add(&plan, 1, 1, B | E, 10, 11); /* ends when the next begins */
        add(&plan, 2, 1, B | E, 11, 12);
        rh_order_plan_finish(&plan);
        assert_int_equal(plan.sessions[1].txns[0].need, 0);
        assert_int_equal(plan.sessions[2].txns[0].need, 1); /* 10 lies surely before 11 */
        rh_order_plan_release(&plan);
    }
    struct rh_order_plan plan;
    rh_order_plan_init(&plan, 2, MS);
    struct rh_record r;
    rh_record_init(&r);
    r.ordinal = 1;
    r.txn = B | E;
    r.start_ns = 0;
    r.outcome.done_ns = 5 * MS;
    rh_order_plan_add(&plan, 0, &r);
    r.start_ns = 6 * MS - 1; /* of a log: less than a stamp's step behind */
    r.outcome.done_ns = 7 * MS;
    rh_order_plan_add(&plan, 1, &r);
    rh_order_plan_finish(&plan);
    assert_int_equal(plan.sessions[1].txns[0].need, 0);
    rh_order_plan_release(&plan);
}

static void test_marks_missing(void **state)
{
    (void) state;
    struct rh_order_plan plan;
    rh_order_plan_init(&plan, 1, 1000);
    add(&plan, 0, 3, K, 0, 1); /* its BEGIN was not captured */
    add(&plan, 0, 4, K | E, 2, 3);
    add(&plan, 0, 5, 0, 4, 5); /* nothing is known: by itself */
    add(&plan, 0, 6, 0, 6, 7);
    add(&plan, 0, 7, B | K, 8, 9); /* its end was not captured */
    add(&plan, 0, 8, B | E, 10, 11);
    add(&plan, 0, 9, B, 12, 13); /* a pipeline */
    add(&plan, 0, 10, 0, 14, -1);
    add(&plan, 0, 11, E, 16, 17);
    rh_order_plan_finish(&plan);
    const uint32_t bounds[][2] = {{3, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}, {9, 11}};
    assert_int_equal(plan.sessions[0].count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_txn(&plan, 0, i, bounds[i][0], bounds[i][1], i, i);
    }
    rh_order_plan_release(&plan);
}

enum { CIRCLE_SESSIONS = 20, CIRCLE_TXNS = 50 };

/* What txn, which began at `begin`, waits for began before it. */
static void assert_waits_for_earlier(const struct rh_order_plan *plan,
                                     int64_t (*begins)[CIRCLE_TXNS], const struct rh_order_txn *txn,
                                     int64_t begin)
{
    for (uint32_t k = 0; k < CIRCLE_SESSIONS; k++) {
        for (uint32_t m = 0; m < CIRCLE_TXNS; m++) {
            if (plan->sessions[k].txns[m].rank < txn->need) {
                assert_true(begins[k][m] < begin);
            }
        }
    }
}

/* No transaction waits for itself, nor for one that began later, whatever the stamps. */
static void test_no_circle(void **state)
{
    (void) state;
    struct rh_order_plan plan;
    uint32_t seed = 1;
    int64_t begins[CIRCLE_SESSIONS][CIRCLE_TXNS];
    rh_order_plan_init(&plan, CIRCLE_SESSIONS, MS);
    for (uint32_t s = 0; s < CIRCLE_SESSIONS; s++) {
        int64_t now = 0;
        for (uint32_t i = 0; i < CIRCLE_TXNS; i++) {
            seed = seed * 1103515245 + 12345;
            begins[s][i] = now;
            /* Some end before they begin. */
            add(&plan, s, i + 1, B | E, now, now + (int64_t) (seed >> 16) % 7 - 2);
            now += (seed >> 20) % 4;
        }
    }
    rh_order_plan_finish(&plan);
    for (uint32_t s = 0; s < CIRCLE_SESSIONS; s++) {
        for (uint32_t i = 0; i < CIRCLE_TXNS; i++) {
            const struct rh_order_txn *txn = &plan.sessions[s].txns[i];
            assert_true(txn->rank >= txn->need);
            assert_waits_for_earlier(&plan, begins, txn, begins[s][i]);
        }
    }
    rh_order_plan_release(&plan);
}

static void count_turn(struct rh_task *task)
{
    (*(int *) task->ctx)++;
}

static struct rh_order_wait wait_in(struct rh_loop *loop, int *turns)
{
    return (struct rh_order_wait){.loop = loop, .task = {.run = count_turn, .ctx = turns}};
}

/* Sessions 0, 1 and 2 end at 10, 20 and 30 ms; session 3 begins behind the first two, 4 behind all.
 */
static void make_order(struct rh_order *o, uint32_t lanes)
{
    struct rh_order_plan plan;
    rh_order_plan_init(&plan, 5, 1000);
    for (uint32_t i = 0; i < 3; i++) {
        add(&plan, i, 1, B | E, 1, 10 * (int64_t) (i + 1));
    }
    add(&plan, 3, 1, B | E, 25, 50);
    add(&plan, 4, 1, B | E, 40, 60);
    rh_order_plan_finish(&plan);
    rh_order_init(o, &plan, lanes);
}

static const struct rh_order_txn *txn_of(const struct rh_order *o, uint32_t session)
{
    return &o->plan.sessions[session].txns[0];
}

static void test_release(void **state)
{
    (void) state;
    struct rh_order o;
    struct rh_loop *loop;
    struct rh_error err;
    int turns = 0;
    assert_int_equal(rh_loop_new(&loop, &err), 0);
    make_order(&o, 2);
    struct rh_order_wait third = wait_in(loop, &turns), fourth = wait_in(loop, &turns);
    assert_true(rh_order_begin(&o, 0, txn_of(&o, 0), &third)); /* nothing was before it */
    assert_false(rh_order_begin(&o, 0, txn_of(&o, 4), &fourth));
    assert_false(rh_order_begin(&o, 0, txn_of(&o, 3), &third));
    rh_order_end(&o, 0, txn_of(&o, 1)); /* in another order than in the capture */
    rh_order_end(&o, 1, txn_of(&o, 0)); /* of another copy */
    assert_false(atomic_load(&third.is_posted));
    rh_order_end(&o, 0, txn_of(&o, 0));
    assert_true(atomic_load(&third.is_posted));
    assert_false(atomic_load(&fourth.is_posted));
    assert_true(rh_order_begin(&o, 0, txn_of(&o, 3), &third));
    rh_order_end(&o, 0, txn_of(&o, 2));
    rh_order_end(&o, 0, txn_of(&o, 2)); /* twice does nothing */
    assert_true(atomic_load(&fourth.is_posted));
    assert_true(rh_order_begin(&o, 0, txn_of(&o, 4), &fourth));
    /* The other copy has got no farther. */
    struct rh_order_wait copy = wait_in(loop, &turns);
    assert_false(rh_order_begin(&o, 1, txn_of(&o, 3), &copy));
    rh_order_leave(&o, 1, &copy);
    rh_order_leave(&o, 1, &copy);
    rh_order_end(&o, 1, txn_of(&o, 1));
    assert_false(atomic_load(&copy.is_posted));
    rh_order_release(&o);
    rh_loop_free(loop);
}

static void test_break(void **state)
{
    (void) state;
    struct rh_order o;
    struct rh_loop *loop;
    struct rh_error err;
    int turns = 0;
    assert_int_equal(rh_loop_new(&loop, &err), 0);
    make_order(&o, 1);
    struct rh_order_wait third = wait_in(loop, &turns), fourth = wait_in(loop, &turns);
    assert_false(rh_order_begin(&o, 0, txn_of(&o, 3), &third));
    assert_false(rh_order_begin(&o, 0, txn_of(&o, 4), &fourth));
    rh_order_end(&o, 0, txn_of(&o, 1));
    rh_order_leave(&o, 0, &third);
    uint32_t session = 99;
    const struct rh_order_txn *which = NULL;
    assert_int_equal(rh_order_break(&o, 0, txn_of(&o, 3), &session, &which), 1);
    assert_int_equal(session, 0);
    assert_ptr_equal(which, txn_of(&o, 0));
    /* Nobody else waits for it any more, but for the others. */
    assert_false(atomic_load(&fourth.is_posted));
    rh_order_end(&o, 0, txn_of(&o, 2));
    assert_true(atomic_load(&fourth.is_posted));
    rh_order_end(&o, 0, txn_of(&o, 0));
    assert_int_equal(rh_order_break(&o, 0, txn_of(&o, 4), &session, &which), 0);
    assert_null(which);
    rh_order_release(&o);
    rh_loop_free(loop);
}

/* Many wait, with different needs, and some leave: each gets its turn at its rank. */
static void test_many(void **state)
{
    (void) state;
    enum { N = 200 };
    struct rh_order o;
    struct rh_order_plan plan;
    struct rh_loop *loop;
    struct rh_error err;
    static struct rh_order_wait waits[N];
    int turns = 0;
    assert_int_equal(rh_loop_new(&loop, &err), 0);
    rh_order_plan_init(&plan, 2 * N, 1000);
    for (uint32_t i = 0; i < N; i++) {
        add(&plan, i, 1, B | E, 0, 10 * (int64_t) i + 1);
        add(&plan, N + i, 1, B | E, 10 * (int64_t) i + 5, 100000); /* behind 0 .. i */
    }
    rh_order_plan_finish(&plan);
    rh_order_init(&o, &plan, 1);
    for (uint32_t k = 0; k < N; k++) {
        uint32_t i = k * 77 % N;
        waits[i] = wait_in(loop, &turns);
        assert_false(rh_order_begin(&o, 0, txn_of(&o, N + i), &waits[i]));
    }
    for (uint32_t i = 0; i < N; i += 3) {
        rh_order_leave(&o, 0, &waits[i]);
    }
    for (uint32_t i = 0; i < N; i++) {
        rh_order_end(&o, 0, txn_of(&o, i));
        for (uint32_t k = 0; k < N; k++) {
            assert_int_equal(atomic_load(&waits[k].is_posted), k <= i && k % 3 != 0);
        }
    }
    rh_order_release(&o);
    rh_loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs),         cmocka_unit_test(test_ties),
        cmocka_unit_test(test_marks_missing), cmocka_unit_test(test_no_circle),
        cmocka_unit_test(test_release),       cmocka_unit_test(test_break),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
