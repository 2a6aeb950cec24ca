/* common/wake_lead, on a simulated clock */
#include "rh_test.h"

#include "common/clock.h"
#include "common/wake_lead.h"

struct simulation {
    struct rh_wake_lead lead;
    int64_t now_ns;
    int64_t awake_ns; /* all that was waited for awake */
    uint32_t random;
};

/* A sleep ends between 40 and 80 us too late, one of fifty a further 3 ms. */
static int64_t late_ns(struct simulation *s)
{
    s->random = s->random * 1103515245U + 12345U;
    uint32_t draw = s->random >> 8;
    return 40000 + draw % 40000 + (draw % 50 == 0 ? 3000000 : 0);
}

/* Waits as a loop does; returns how late it was. */
static int64_t wait_for(struct simulation *s, int64_t deadline_ns)
{
    while (s->now_ns < deadline_ns) {
        int64_t wake_ns = rh_wake_lead_ask(&s->lead, deadline_ns, s->now_ns);
        assert_true(wake_ns <= deadline_ns);
        if (wake_ns <= s->now_ns) {
            s->now_ns += 500;
            s->awake_ns += 500;
        } else {
            int64_t late = late_ns(s);
            s->now_ns = wake_ns + late;
            rh_wake_lead_learn(&s->lead, late);
        }
    }
    return s->now_ns - deadline_ns;
}

static void test_most_waits_end_in_time(void **state)
{
    (void) state;
    struct simulation s = {.now_ns = RH_NS_PER_SEC, .random = 1};
    int in_time = 0;
    for (int i = 1; i <= 5000; i++) {
        int64_t late = wait_for(&s, RH_NS_PER_SEC + i * INT64_C(1000000));
        in_time += i > 1000 && late < 1000;
    }
    assert_in_range(in_time, 3000, 3400); /* four of five, of 4,000 */
    assert_in_range(s.lead.lead_ns, 60000, 80000);
    assert_true(s.awake_ns < 5 * RH_NS_PER_SEC / 20);
}

static void test_dense_deadlines_stay_within_a_tenth(void **state)
{
    (void) state;
    struct simulation s = {.now_ns = RH_NS_PER_SEC, .random = 1};
    for (int i = 0; i < 1000; i++) {
        rh_wake_lead_learn(&s.lead, RH_WAKE_LEAD_MAX_NS);
    }
    int64_t begun_ns = s.now_ns;
    for (int i = 1; i <= 50000; i++) {
        wait_for(&s, begun_ns + i * INT64_C(100000));
    }
    int64_t spent_ns = s.now_ns - begun_ns;
    assert_true(s.awake_ns <= spent_ns / 10 + 11 * RH_NS_PER_SEC / 1000);
    assert_true(s.awake_ns > spent_ns / 20);
}

static void test_the_lead_is_bounded(void **state)
{
    (void) state;
    struct rh_wake_lead lead = {0};
    rh_wake_lead_learn(&lead, 0);
    assert_int_equal(lead.lead_ns, 0);
    for (int i = 0; i < 1000; i++) {
        rh_wake_lead_learn(&lead, RH_NS_PER_SEC);
    }
    assert_in_range(lead.lead_ns, RH_WAKE_LEAD_MAX_NS - 4000, RH_WAKE_LEAD_MAX_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_waits_end_in_time),
        cmocka_unit_test(test_dense_deadlines_stay_within_a_tenth),
        cmocka_unit_test(test_the_lead_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
