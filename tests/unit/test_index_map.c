#include "rh_test.h"

#include "diff/index_map.h"

enum { KEYS = 3000 };

/* Keys that agree in their low or high bits. */
static uint64_t key_of(uint32_t i)
{
    return i % 2 ? (uint64_t) i << 32 : (uint64_t) i << 7;
}

static void test_put_and_get(void **state)
{
    (void) state;
    static uint32_t want[KEYS];
    struct rh_index_map m;
    rh_index_map_init(&m);
    assert_int_equal(rh_index_map_get(&m, 0), 0);
    uint64_t random = 5;
    for (int step = 0; step < 20000; step++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t i = (uint32_t) (random >> 33) % KEYS;
        assert_int_equal(rh_index_map_get(&m, key_of(i)), want[i]);
        want[i] = (uint32_t) (random >> 60);
        rh_index_map_put(&m, key_of(i), want[i]);
    }
    assert_in_range(m.count, KEYS * 9 / 10, KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(rh_index_map_get(&m, key_of(i)), want[i]);
    }
    rh_index_map_clear(&m);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(rh_index_map_get(&m, key_of(i)), 0);
    }
    rh_index_map_put(&m, UINT64_MAX, 7);
    assert_int_equal(rh_index_map_get(&m, UINT64_MAX), 7);
    assert_int_equal(m.count, 1);
    rh_index_map_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put_and_get)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
