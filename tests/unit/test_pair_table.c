#include "rh_test.h"

#include <stdlib.h>

#include "diff/pair_table.h"

static struct rh_twin twin_of(enum rh_side side, uint32_t session, uint32_t copy, uint64_t ordinal)
{
    struct rh_observation o = {
        .ref = {.session = session, .copy = copy, .ordinal = ordinal},
        .status = RH_OBSERVED_OK,
        .is_statement = true,
        .service_ns = (int64_t) ordinal * 10,
        .rows = RH_COUNT_UNKNOWN,
    };
    struct rh_twin twin;
    assert_true(rh_twin_make(&twin, &o, side, session + 1));
    return twin;
}

static void test_twin_keeps_what_counts(void **state)
{
    (void) state;
    struct rh_observation o = {
        .ref = {.session = UINT32_MAX, .copy = 1048575, .ordinal = (UINT64_C(1) << 44) - 1},
        .status = RH_OBSERVED_ERROR,
        .sqlstate = 123456,
        .commit_not_timed = true,
        .service_ns = (INT64_C(1) << 53) - 1,
        .rows = UINT32_MAX,
    };
    struct rh_twin twin;
    assert_true(rh_twin_make(&twin, &o, RH_CANDIDATE, 77));
    assert_int_equal(twin.session, UINT32_MAX);
    assert_int_equal(twin.query, 77);
    assert_int_equal(twin.side, RH_CANDIDATE);
    assert_int_equal(twin.status, RH_OBSERVED_ERROR);
    assert_int_equal(twin.code, 123456);
    assert_true(twin.commit_not_timed);
    assert_true(twin.service_known);
    assert_int_equal(twin.service_ns, (INT64_C(1) << 53) - 1);
    assert_int_equal(twin.rows, RH_TWIN_ROWS_UNKNOWN - 1);

    o.status = RH_OBSERVED_MISSING;
    o.fate = RH_FATE_NOT_SENT;
    o.reason = RH_REASON_STOPPED;
    o.service_ns = -1;
    o.rows = 0;
    assert_true(rh_twin_make(&twin, &o, RH_BASE, 0));
    assert_int_equal(twin.code, RH_FATE_NOT_SENT << 8 | RH_REASON_STOPPED);
    assert_false(twin.service_known);
    assert_int_equal(twin.rows, 0);

    o.ref.ordinal++;
    assert_false(rh_twin_make(&twin, &o, RH_BASE, 0));
    o.ref.ordinal = 1;
    o.ref.copy++;
    assert_false(rh_twin_make(&twin, &o, RH_BASE, 0));
}

static void test_identity(void **state)
{
    (void) state;
    struct rh_pair_table t;
    struct rh_twin other;
    rh_pair_table_init(&t, 1 << 20);

    struct rh_twin base = twin_of(RH_BASE, 1, 0, 5);
    assert_int_equal(rh_pair_table_put(&t, &base, true, &other), RH_PAIR_WAITS);
    assert_int_equal(rh_pair_table_put(&t, &base, true, &other), RH_PAIR_DUPLICATE);
    /* Another session, copy or ordinal is another statement. */
    const struct rh_twin others[] = {twin_of(RH_CANDIDATE, 2, 0, 5), twin_of(RH_CANDIDATE, 1, 1, 5),
                                     twin_of(RH_CANDIDATE, 1, 0, 6)};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rh_pair_table_put(&t, &others[i], false, &other), RH_PAIR_NONE);
    }
    assert_int_equal(t.count[RH_CANDIDATE], 0);
    struct rh_twin candidate = twin_of(RH_CANDIDATE, 1, 0, 5);
    assert_int_equal(rh_pair_table_put(&t, &candidate, true, &other), RH_PAIR_MATCHED);
    assert_int_equal(other.side, RH_BASE);
    assert_int_equal(other.service_ns, 50);
    assert_int_equal(t.count[RH_BASE], 0);
    assert_int_equal(rh_pair_table_put(&t, &candidate, false, &other), RH_PAIR_NONE);
    rh_pair_table_release(&t);
}

static void test_limits(void **state)
{
    (void) state;
    struct rh_pair_table t;
    struct rh_twin other;
    rh_pair_table_init(&t, 0);
    size_t limit = rh_pair_table_side_limit(&t);
    assert_int_equal(limit, 24);
    for (uint64_t i = 1; i <= limit; i++) {
        struct rh_twin b = twin_of(RH_BASE, 1, 0, i);
        struct rh_twin c = twin_of(RH_CANDIDATE, 2, 0, i);
        assert_int_equal(rh_pair_table_put(&t, &b, true, &other), RH_PAIR_WAITS);
        assert_int_equal(rh_pair_table_put(&t, &c, true, &other), RH_PAIR_WAITS);
    }
    struct rh_twin more = twin_of(RH_BASE, 1, 0, limit + 1);
    assert_int_equal(rh_pair_table_put(&t, &more, true, &other), RH_PAIR_FULL);
    /* A full table still matches. */
    struct rh_twin match = twin_of(RH_BASE, 2, 0, 1);
    assert_int_equal(rh_pair_table_put(&t, &match, true, &other), RH_PAIR_MATCHED);
    rh_pair_table_release(&t);

    /* It grows to the limit of memory and no further, the old table included. */
    rh_pair_table_init(&t, 3 * 1024 * 32);
    assert_int_equal(t.old_cap_max, 2048);
    rh_pair_table_release(&t);
    rh_pair_table_init(&t, 3 * 32768 * 32 - 64);
    assert_int_equal(t.old_cap_max, 32768);
    for (uint64_t i = 1; i <= rh_pair_table_side_limit(&t); i++) {
        struct rh_twin b = twin_of(RH_BASE, 1, 0, i);
        assert_int_equal(rh_pair_table_put(&t, &b, true, &other), RH_PAIR_WAITS);
    }
    assert_int_equal(t.old.cap, 16384); /* those that are young have cells of their own */
    for (uint64_t i = 1; i <= rh_pair_table_side_limit(&t); i++) {
        struct rh_twin c = twin_of(RH_CANDIDATE, 2, 0, i);
        assert_int_equal(rh_pair_table_put(&t, &c, true, &other), RH_PAIR_WAITS);
    }
    assert_int_equal(t.old.cap, 32768);
    match = twin_of(RH_BASE, 1, 0, 1);
    assert_int_equal(rh_pair_table_put(&t, &match, true, &other), RH_PAIR_DUPLICATE);
    match = twin_of(RH_CANDIDATE, 1, 0, 1);
    assert_int_equal(rh_pair_table_put(&t, &match, true, &other), RH_PAIR_MATCHED);
    assert_int_equal(rh_pair_table_put(&t, &match, false, &other), RH_PAIR_NONE);
    rh_pair_table_clear(&t);
    assert_int_equal(rh_pair_table_put(&t, &more, true, &other), RH_PAIR_WAITS);
    rh_pair_table_release(&t);
}

/* So many that most of those that wait become old. */
enum { IDENTITIES = 40000, STEPS = 600000 };

/* Which side of each identity waits: 0 none, 1 base, 2 candidate. */
static uint8_t waiting[IDENTITIES];

static void test_against_a_plain_array(void **state)
{
    (void) state;
    struct rh_pair_table t;
    uint64_t random = 1;
    size_t count = 0;
    rh_pair_table_init(&t, 1 << 23);
    for (int step = 0; step < STEPS; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t id = (uint32_t) (random >> 33) % IDENTITIES;
        enum rh_side side = (random >> 20) % 2 ? RH_CANDIDATE : RH_BASE;
        struct rh_twin twin = twin_of(side, id % 7, id % 3, id);
        struct rh_twin other;
        enum rh_pair_result result = rh_pair_table_put(&t, &twin, true, &other);
        if (waiting[id] == 0) {
            assert_int_equal(result, RH_PAIR_WAITS);
            waiting[id] = (uint8_t) (side + 1);
            count++;
        } else if (waiting[id] == side + 1) {
            assert_int_equal(result, RH_PAIR_DUPLICATE);
        } else {
            assert_int_equal(result, RH_PAIR_MATCHED);
            assert_int_equal(other.place, twin.place);
            assert_int_equal(other.session, twin.session);
            waiting[id] = 0;
            count--;
        }
        assert_int_equal(t.count[RH_BASE] + t.count[RH_CANDIDATE], count);
    }
    size_t pos = 0;
    size_t walked = 0;
    for (const struct rh_twin *twin; (twin = rh_pair_table_next(&t, &pos));) {
        uint64_t id = twin->place & ((UINT64_C(1) << 44) - 1);
        assert_int_equal(waiting[id], twin->side + 1);
        walked++;
    }
    assert_int_equal(walked, count);
    rh_pair_table_release(&t);
}

/* Parts of the identities must be of about equal size for any number of parts. */
static void test_hash_spreads(void **state)
{
    (void) state;
    for (uint32_t parts = 2; parts <= 64; parts = parts * 3 / 2 + 1) {
        uint32_t sizes[100] = {0};
        for (uint32_t i = 0; i < 20000; i++) {
            struct rh_twin twin = twin_of(RH_BASE, i / 2000, 0, i % 2000 + 1);
            sizes[(rh_twin_hash(&twin) >> 32) % parts]++;
        }
        for (uint32_t i = 0; i < parts; i++) {
            assert_in_range(sizes[i], 20000 / parts * 3 / 4, 20000 / parts * 5 / 4 + 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin_keeps_what_counts),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_against_a_plain_array),
        cmocka_unit_test(test_hash_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
