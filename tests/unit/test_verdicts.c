/* diff/pair_stat and diff/query_test: what is called slower, and what must not be. */
#include "rh_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/json_query.h"
#include "diff/result.h"

enum { QUERIES = 1000, RUN_STEPS = 600 /* seconds */ };

static uint64_t seed;

static double random_unit(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return ((double) (seed >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(void)
{
    return sqrt(-2 * log(random_unit())) * cos(2 * 3.14159265358979 * random_unit());
}

/* A server that is now slower, now faster, with a memory of 5 s: all statements feel it. */
static void make_drift(double *drift, double sd)
{
    double keep = exp(-1.0 / 5);
    double at = random_normal() * sd;
    for (int i = 0; i < RUN_STEPS; i++) {
        drift[i] = exp(at);
        at = keep * at + sqrt(1 - keep * keep) * sd * random_normal();
    }
}

struct pairs {
    struct rh_pair_stat stat[QUERIES];
    struct rh_query_test tests[QUERIES];
    struct rh_pair_room room;
};

static struct pairs world;

static void world_clear(void)
{
    for (int i = 0; i < QUERIES; i++) {
        rh_pair_stat_release(&world.stat[i], &world.room);
    }
    assert_int_equal(world.room.bytes, 0);
    world.room.bytes_max = UINT64_C(1) << 30;
}

static void add(int query, double base_ns, double candidate_ns, unsigned batch)
{
    struct rh_timed_pair pair = {.base_ns = (uint64_t) base_ns & ((UINT64_C(1) << 53) - 1),
                                 .candidate_ns = (uint64_t) candidate_ns,
                                 .batch = batch & 31};
    rh_pair_stat_add(&world.stat[query], &pair, &world.room);
}

static void decide(int count)
{
    static struct rh_query_test *tests[QUERIES];
    struct rh_test_rule rule = rh_test_rule_default();
    for (int i = 0; i < count; i++) {
        rh_query_test_make(&world.tests[i], &world.stat[i], &rule);
        tests[i] = &world.tests[i];
    }
    rh_query_tests_decide(tests, (size_t) count, &rule);
}

static int count_results(int from, int to, enum rh_test_result result)
{
    int n = 0;
    for (int i = from; i < to; i++) {
        n += world.tests[i].result == result;
    }
    return n;
}

/* A statement of a query of this mean at a random second: its parameters make most of its time, on
 * both sides alike. */
static void add_random(int query, double mean_ns, const double *base_drift,
                       const double *candidate_drift, double factor)
{
    int second = (int) (random_unit() * RUN_STEPS);
    double cost = mean_ns * exp(random_normal() * 0.8);
    add(query, cost * base_drift[second] * exp(random_normal() * 0.3),
        cost * candidate_drift[second] * exp(random_normal() * 0.3) * factor,
        (unsigned) second * RH_BATCHES / RUN_STEPS);
}

/* Few queries have most of the calls. */
static int random_query(void)
{
    return (int) exp(random_unit() * log(QUERIES)) % QUERIES;
}

static void test_no_change_raises_no_flag(void **state)
{
    (void) state;
    static double drift[RH_SIDES][RUN_STEPS];
    int flags = 0;
    for (int run = 0; run < 20; run++) {
        world_clear();
        seed = 1000 + (uint64_t) run;
        make_drift(drift[RH_BASE], 0.1);
        make_drift(drift[RH_CANDIDATE], 0.1);
        for (int i = 0; i < 30000; i++) {
            int query = random_query();
            add_random(query, 1e6 * (1 + query % 20), drift[RH_BASE], drift[RH_CANDIDATE], 1);
        }
        decide(QUERIES);
        flags += count_results(0, QUERIES, RH_TEST_REGRESSED);
        flags += count_results(0, QUERIES, RH_TEST_IMPROVED);
    }
    print_message("%d flags in 20 runs\n", flags);
    assert_in_range(flags, 0, 2);
}

static void test_what_is_slower_is_found(void **state)
{
    (void) state;
    enum { COUNT = 60, SLOWER = 10, TAIL = 20 };
    static double drift[RH_SIDES][RUN_STEPS];
    world_clear();
    seed = 7;
    make_drift(drift[RH_BASE], 0.1);
    make_drift(drift[RH_CANDIDATE], 0.1);
    for (int query = 0; query < COUNT; query++) {
        for (int i = 0; i < 1000; i++) {
            double factor = query < SLOWER ? 1.3 : query < TAIL && i % 10 == 0 ? 10 : 1;
            add_random(query, 2e6, drift[RH_BASE], drift[RH_CANDIDATE], factor);
        }
    }
    decide(COUNT);
    assert_int_equal(count_results(0, TAIL, RH_TEST_REGRESSED), TAIL);
    assert_int_equal(count_results(TAIL, COUNT, RH_TEST_REGRESSED), 0);
    assert_int_equal(count_results(TAIL, COUNT, RH_TEST_IMPROVED), 0);
    assert_true(count_results(TAIL, COUNT, RH_TEST_SAME) > (COUNT - TAIL) / 2);
    for (int query = SLOWER; query < TAIL; query++) {
        const struct rh_query_test *t = &world.tests[query];
        struct rh_interval p95 = rh_query_test_interval(t, RH_MEASURE_P95);
        assert_true(t->measures[RH_MEASURE_P95].q[RH_SLOWER] < 0.05);
        assert_true(p95.low > 1.1 && p95.low < exp(t->measures[RH_MEASURE_P95].estimate.log_ratio));
        assert_true(t->slower > t->faster + 60);
        assert_true(rh_mcnemar_mid_p(t->slower, t->faster) < 1e-6);
    }
}

static void test_same_file_is_the_same(void **state)
{
    (void) state;
    static const int calls[] = {1, 14, 15, 40, 63, 64, 300, 512, 513, 2000};
    enum { COUNT = sizeof calls / sizeof calls[0] };
    world_clear();
    seed = 3;
    for (int q = 0; q < COUNT; q++) {
        for (int i = 0; i < calls[q]; i++) {
            double ns = 1e6 * exp(random_normal());
            add(q, ns, ns, (unsigned) (i * 32 / calls[q]));
        }
    }
    decide(COUNT);
    for (int q = 0; q < COUNT; q++) {
        bool few = calls[q] < 15;
        assert_int_equal(world.tests[q].result, few ? RH_TEST_UNDECIDED : RH_TEST_SAME);
        if (few) {
            assert_string_equal(world.tests[q].why, RH_WHY_FEW);
        }
    }
}

/* Three sizes that are tested in different ways, some slower, some faster; times are multiples of
 * 4 ns, so that they scale exactly. */
enum { SHAPES = 12 };

static int shape_calls(int q)
{
    static const int calls[] = {30, 200, 450, 3000};
    return calls[q % 4];
}

static void add_shapes(bool swap, uint64_t scale)
{
    world_clear();
    seed = 5;
    for (int q = 0; q < SHAPES; q++) {
        double factor = q < 4 ? 1 : q < 8 ? 1.5 : 0.6;
        for (int i = 0; i < shape_calls(q); i++) {
            double base = floor(1e6 * exp(random_normal()));
            double candidate = floor(base * factor * exp(random_normal() * 0.1));
            double s = (double) scale;
            add(q, (swap ? candidate : base) * s, (swap ? base : candidate) * s,
                (unsigned) (random_unit() * 32));
        }
    }
    decide(SHAPES);
}

#define NEAR(a, b, relative) assert_true(fabs((a) - (b)) <= (relative) *fmax(fabs(a), fabs(b)))

static void test_swap_of_the_sides(void **state)
{
    (void) state;
    static struct rh_query_test forth[SHAPES];
    add_shapes(false, 1);
    memcpy(forth, world.tests, sizeof forth);
    assert_int_equal(count_results(4, 8, RH_TEST_REGRESSED), 4);
    assert_int_equal(count_results(8, 12, RH_TEST_IMPROVED), 4);
    assert_int_equal(count_results(0, 4, RH_TEST_SAME), 4);
    add_shapes(true, 1);
    assert_int_equal(count_results(4, 8, RH_TEST_IMPROVED), 4);
    assert_int_equal(count_results(8, 12, RH_TEST_REGRESSED), 4);
    for (int q = 0; q < SHAPES; q++) {
        const struct rh_query_test *back = &world.tests[q];
        assert_int_equal(back->slower, forth[q].faster);
        assert_int_equal(back->faster, forth[q].slower);
        for (int m = 0; m < RH_MEASURES; m++) {
            const struct rh_measure_test *a = &forth[q].measures[m], *b = &back->measures[m];
            assert_int_equal(a->tested, b->tested);
            NEAR(a->estimate.log_ratio, -b->estimate.log_ratio, 1e-6);
            NEAR(a->q[RH_SLOWER], b->q[RH_FASTER], 1e-4);
            NEAR(a->p[RH_FASTER], b->p[RH_SLOWER], 1e-4);
            NEAR(a->same_p, b->same_p, 1e-4);
        }
    }
}

static void test_scale_of_both_sides(void **state)
{
    (void) state;
    static struct rh_query_test small[SHAPES];
    add_shapes(false, 1);
    memcpy(small, world.tests, sizeof small);
    add_shapes(false, 10);
    for (int q = 0; q < SHAPES; q++) {
        for (int m = 0; m < RH_MEASURE_P95; m++) { /* its histogram's cells do not scale by 10 */
            const struct rh_measure_test *a = &small[q].measures[m];
            const struct rh_measure_test *b = &world.tests[q].measures[m];
            NEAR(a->p[RH_SLOWER], b->p[RH_SLOWER], 1e-9);
            NEAR(a->p[RH_FASTER], b->p[RH_FASTER], 1e-9);
            NEAR(a->same_p, b->same_p, 1e-9);
        }
        assert_int_equal(small[q].result, world.tests[q].result);
    }
}

static char *json_of(int q)
{
    struct rh_query query = {0};
    struct rh_query_result row = {.query = &query, .test = world.tests[q], .unpaired_p = NAN};
    struct rh_buf buf;
    struct rh_json j;
    rh_buf_init(&buf, 1 << 20);
    rh_json_init(&j, &buf, false);
    rh_json_open(&j, '{');
    rh_json_query_test(&j, &row);
    rh_json_close(&j);
    char *text = strdup(rh_buf_cstr(&buf));
    rh_buf_release(&buf);
    return text;
}

/* Twins meet in another order when memory is short. */
static void test_order_of_pairs(void **state)
{
    (void) state;
    static const int calls[] = {20, 63, 100, 512, 513, 1500};
    enum { COUNT = sizeof calls / sizeof calls[0], MAX = 1500 };
    char *forth[COUNT];
    for (int round = 0; round < 2; round++) {
        world_clear();
        for (int q = 0; q < COUNT; q++) {
            static struct rh_timed_pair all[MAX];
            seed = 100 + (uint64_t) q;
            for (int i = 0; i < calls[q]; i++) {
                all[i] = (struct rh_timed_pair){
                    .base_ns = (1000 + (uint64_t) (1e6 * random_unit())) & 0xffffff,
                    .batch = (unsigned) (i * 32 / calls[q]) & 31,
                    .is_first = i == 0,
                    .candidate_ns = 1000 + (uint64_t) (1e6 * random_unit()),
                };
            }
            for (int i = 0; i < calls[q]; i++) {

                int at = round ? calls[q] - 1 - i : i;
                rh_pair_stat_add(&world.stat[q], &all[at], &world.room);
            }
        }
        decide(COUNT);
        for (int q = 0; q < COUNT; q++) {
            char *text = json_of(q);
            if (round == 0) {
                forth[q] = text;
                continue;
            }
            assert_string_equal(text, forth[q]);
            free(text);
            free(forth[q]);
        }
    }
}

static void test_first_call(void **state)
{
    (void) state;
    world_clear();
    static const int calls[] = {30, 99, 100};
    for (int q = 0; q < 3; q++) {
        for (int i = 0; i < calls[q]; i++) {
            struct rh_timed_pair pair = {.base_ns = 1000000,
                                         .candidate_ns = i == 0 ? 900000000 : 1010000,
                                         .batch = (unsigned) i & 31,
                                         .is_first = i == 0};
            rh_pair_stat_add(&world.stat[q], &pair, &world.room);
        }
    }
    decide(3);
    assert_true(world.tests[0].first_apart && world.tests[1].first_apart);
    assert_int_equal(world.tests[0].pairs, 29);
    assert_int_equal(world.tests[0].slower, 0);
    assert_int_equal(world.tests[0].result, RH_TEST_SAME);
    assert_int_equal(world.tests[1].result, RH_TEST_SAME);
    assert_false(world.tests[2].first_apart);
    assert_int_equal(world.tests[2].slower, 1);
    assert_int_not_equal(world.tests[2].result, RH_TEST_SAME);
}

static void test_undecided_says_why(void **state)
{
    (void) state;
    world_clear();
    seed = 9;
    for (int i = 0; i < 600; i++) {
        add(0, 20e3, 40e3, (unsigned) i & 31); /* 20 us more */
        add(1, 1e6, 2e6, 5);                   /* all at one time */
        if (i < 40) {
            add(2, 1e6, 1e6 * exp(2 * random_normal()), (unsigned) i & 31);
        }
        add(5, 20e3, 60e3 + 61e3, (unsigned) i & 31);
    }
    for (int i = 0; i < 15; i++) {
        add(3, 1e6, 2e6 + i, (unsigned) i);
        if (i > 0) {
            add(4, 1e6, 9e6, (unsigned) i);
        }
    }
    decide(7); /* the last one has no pair */
    assert_string_equal(world.tests[0].why, RH_WHY_SMALL);
    assert_string_equal(world.tests[1].why, RH_WHY_BURST);
    assert_string_equal(world.tests[2].why, RH_WHY_NOISY);
    assert_int_equal(world.tests[3].result, RH_TEST_REGRESSED);
    assert_null(world.tests[3].why);
    assert_string_equal(world.tests[4].why, RH_WHY_FEW);
    assert_int_equal(world.tests[5].result, RH_TEST_REGRESSED);
    assert_true(world.tests[5].confirmed);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(world.tests[i].result, i == 3 ? RH_TEST_REGRESSED : RH_TEST_UNDECIDED);
    }
    assert_int_equal(world.tests[6].result, RH_TEST_NONE);
}

/* A tail of too few pairs to test is shown with an interval that holds the truth. */
static void test_wide_tail(void **state)
{
    (void) state;
    int inside = 0;
    world_clear();
    seed = 77;
    for (int query = 0; query < 100; query++) {
        for (unsigned i = 0; i < 320; i++) {
            double base = 1e6 * exp(random_normal() * 0.5);
            add(query, base, 1.3 * base * exp(random_normal() * 0.05), i / 10);
        }
    }
    for (unsigned i = 0; i < 100; i++) {
        add(100, 1e6, 1e6, i / 4);
    }
    decide(101);
    for (int query = 0; query < 100; query++) {
        const struct rh_measure_test *m = &world.tests[query].measures[RH_MEASURE_P95];
        struct rh_interval ends = rh_query_test_interval(&world.tests[query], RH_MEASURE_P95);
        assert_true(m->estimated && m->is_wide && !m->tested);
        inside += ends.low < 1.3 && !(ends.high < 1.3);
    }
    assert_in_range(inside, 95, 100);
    assert_false(world.tests[100].measures[RH_MEASURE_P95].estimated);
}

static void test_memory_is_bounded(void **state)
{
    (void) state;
    static const uint64_t limits[] = {0, 100, 5000, 9000, 14000, 60000};
    bool lacked = false, kept = false, without_sections = false;
    for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
        world_clear();
        world.room.bytes_max = limits[k];
        seed = 1;
        for (int i = 0; i < 3000; i++) {
            add(0, 1e6, 1e6 * (1 + random_unit()) * 3, (unsigned) i & 31);
            assert_true(world.room.bytes <= limits[k]);
        }
        decide(1);
        const struct rh_query_test *t = &world.tests[0];
        if (world.stat[0].lacks_pairs) {
            assert_int_equal(t->result, RH_TEST_UNDECIDED);
            assert_string_equal(t->why, RH_WHY_MEMORY);
            lacked = true;
        } else {
            assert_int_equal(t->pairs, 3000);
            assert_int_equal(t->result, RH_TEST_REGRESSED);
            without_sections |= !t->measures[RH_MEASURE_P95].tested;
            kept |= t->measures[RH_MEASURE_P95].tested;
        }
    }
    assert_true(lacked && without_sections && kept);
    world_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_change_raises_no_flag),
        cmocka_unit_test(test_what_is_slower_is_found),
        cmocka_unit_test(test_same_file_is_the_same),
        cmocka_unit_test(test_swap_of_the_sides),
        cmocka_unit_test(test_scale_of_both_sides),
        cmocka_unit_test(test_order_of_pairs),
        cmocka_unit_test(test_first_call),
        cmocka_unit_test(test_undecided_says_why),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_wide_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
