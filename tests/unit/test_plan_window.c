#include "rh_test.h"

#include "common/clock.h"
#include "replay/plan_window.h"

enum { B = RH_TXN_BEGINS, E = RH_TXN_ENDS, K = RH_TXN_BLOCK };

/* Records 1, 2, ... with these marks. */
static struct rh_plan_seen see(const uint8_t *marks, int n)
{
    struct rh_plan_seen seen = {0};
    for (int i = 0; i < n; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.ordinal = (uint64_t) i + 1;
        r.start_ns = 1000 + i;
        r.txn = marks[i];
        rh_plan_seen_add(&seen, &r);
    }
    return seen;
}

#define SEE(...) see((const uint8_t[]){__VA_ARGS__}, (int) sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_start(void **state)
{
    (void) state;
    assert_int_equal(SEE(B | E, B | E).start_ordinal, 0);
    assert_int_equal(SEE(B | K, K, K | E).start_ordinal, 0);
    assert_int_equal(SEE(K, K | E, B | E).start_ordinal, 3); /* within a block */
    assert_int_equal(SEE(K | E, B | E).start_ordinal, 2);    /* at its end */
    assert_int_equal(SEE(0, E, B | E).start_ordinal, 3);     /* within a pipeline */
    assert_int_equal(SEE(K, B | E).start_ordinal, 2);        /* the end was not captured */
    assert_int_equal(SEE(0, 0, B | E).start_ordinal, 0);     /* nothing known: from the first */
    assert_int_equal(SEE(K, K, K).start_ordinal, 4);         /* never ends: nothing is sent */
    assert_int_equal(SEE(B | E).first_ns, 1000);
}

static void test_open_at_end(void **state)
{
    (void) state;
    assert_int_equal(SEE(B | E, B | E).open_ordinal, 0);
    assert_int_equal(SEE(B | E, B | K, K, K).open_ordinal, 2);
    assert_int_equal(SEE(B | K, K | E).open_ordinal, 0);
    assert_int_equal(SEE(B, 0, 0).open_ordinal, 1);
    assert_int_equal(SEE(B | K, B | K).open_ordinal, 2); /* the first one's end was not captured */
    assert_int_equal(SEE(0, 0).open_ordinal, 0);
}

#define MS RH_NS_PER_MS

static void test_pauses(void **state)
{
    (void) state;
    struct rh_time_map map;
    rh_time_map_init(&map, 0, 1.0);
    struct rh_idle_finder f = {.keep_ns = 100 * MS, .busy_to_ns = INT64_MIN, .map = &map};
    rh_idle_finder_add(&f, 0, 50 * MS);
    rh_idle_finder_add(&f, 150 * MS, 160 * MS);         /* 100 ms: kept */
    rh_idle_finder_add(&f, 170 * MS, 5000 * MS);        /* long, and meanwhile */
    rh_idle_finder_add(&f, 3000 * MS, 3001 * MS);       /* ... another */
    rh_idle_finder_add(&f, 9000 * MS, RH_TIME_UNKNOWN); /* pause 5000 to 9000 */
    rh_idle_finder_add(&f, 9101 * MS, RH_TIME_UNKNOWN); /* pause of 101 ms */
    assert_int_equal(map.cut_count, 2);
    assert_int_equal(map.cuts[0].from_ns, 5100 * MS);
    assert_int_equal(map.cuts[0].to_ns, 9000 * MS);
    assert_int_equal(map.cuts[1].to_ns - map.cuts[1].from_ns, MS);
    assert_int_equal(rh_time_map_offset_ns(&map, 9000 * MS), 5100 * MS);
    rh_time_map_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_open_at_end),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
