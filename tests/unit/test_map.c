/* common/map, common/intern */
#include "rh_test.h"

#include <stdio.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/intern.h"
#include "common/map.h"

enum { KEYS = 3000 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Against a plain array, with removals, so that holes are closed in every position. */
static void test_map_agrees_with_an_array(void **state)
{
    (void) state;
    static int values[KEYS];
    static void *model[KEYS];
    memset(model, 0, sizeof model);
    struct rh_map m;
    rh_map_init(&m);
    uint64_t seed = 42;
    for (int step = 0; step < 60000; step++) {
        size_t k = next_random(&seed) % KEYS;
        uint64_t key = k << 32 | (k & 1);
        if (next_random(&seed) % 3 == 0) {
            assert_ptr_equal(rh_map_remove(&m, key), model[k]);
            model[k] = NULL;
        } else {
            model[k] = &values[next_random(&seed) % KEYS];
            rh_map_put(&m, key, model[k]);
        }
    }
    size_t present = 0;
    for (size_t k = 0; k < KEYS; k++) {
        assert_ptr_equal(rh_map_get(&m, k << 32 | (k & 1)), model[k]);
        present += model[k] != NULL;
    }
    assert_int_equal(m.count, present);

    size_t pos = 0;
    uint64_t key;
    size_t walked = 0;
    for (void *v; (v = rh_map_next(&m, &pos, &key)) != NULL; walked++) {
        assert_ptr_equal(v, model[key >> 32]);
    }
    assert_int_equal(walked, present);
    rh_map_release(&m);
}

static void test_map_empty(void **state)
{
    (void) state;
    struct rh_map m;
    rh_map_init(&m);
    size_t pos = 0;
    assert_null(rh_map_get(&m, 0));
    assert_null(rh_map_remove(&m, 0));
    assert_null(rh_map_next(&m, &pos, NULL));
    int x;
    rh_map_put(&m, 0, &x);
    assert_ptr_equal(rh_map_get(&m, 0), &x);
    assert_null(rh_map_get(&m, UINT64_MAX));
    rh_map_release(&m);
}

static void test_intern_numbers_by_first_sight(void **state)
{
    (void) state;
    struct rh_intern t;
    rh_intern_init(&t);
    assert_int_equal(rh_intern_find(&t, RH_SPAN_LITERAL("a")), -1);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 5000; i++) {
            char text[32];
            int n = snprintf(text, sizeof text, "item %u", i);
            bool fresh;
            assert_int_equal(rh_intern_put(&t, rh_span(text, (size_t) n), &fresh), i);
            assert_int_equal(fresh, round == 0);
        }
    }
    assert_int_equal(t.count, 5000);
    rh_assert_span(t.items[4999], "item 4999");
    assert_int_equal(rh_intern_find(&t, RH_SPAN_LITERAL("item 77")), 77);
    assert_int_equal(rh_intern_find(&t, RH_SPAN_LITERAL("item 5000")), -1);
    rh_intern_release(&t);
}

static void test_intern_tells_bytes_apart(void **state)
{
    (void) state;
    struct rh_intern t;
    rh_intern_init(&t);
    assert_int_equal(rh_intern_put(&t, RH_SPAN_NONE, NULL), 0);
    assert_int_equal(rh_intern_put(&t, RH_SPAN_LITERAL(""), NULL), 0);
    assert_int_equal(rh_intern_put(&t, RH_SPAN_LITERAL("\0"), NULL), 1);
    assert_int_equal(rh_intern_put(&t, RH_SPAN_LITERAL("a\0b"), NULL), 2);
    assert_int_equal(rh_intern_put(&t, RH_SPAN_LITERAL("a\0c"), NULL), 3);
    /* Equal hashes do not make texts equal. */
    uint32_t one = rh_intern_put_hashed(&t, RH_SPAN_LITERAL("x"), 7, NULL);
    uint32_t two = rh_intern_put_hashed(&t, RH_SPAN_LITERAL("y"), 7, NULL);
    assert_int_not_equal(one, two);
    assert_int_equal(rh_intern_put_hashed(&t, RH_SPAN_LITERAL("x"), 7, NULL), one);
    struct rh_span s = RH_SPAN_LITERAL("known hash");
    uint32_t id = rh_intern_put_hashed(&t, s, rh_hash(s), NULL);
    assert_int_equal(rh_intern_find(&t, s), id);
    assert_int_equal(t.bytes, 0 + 1 + 3 + 3 + 1 + 1 + s.len);
    rh_intern_release(&t);
}

static void test_intern_clear_keeps_memory(void **state)
{
    (void) state;
    struct rh_intern t;
    rh_intern_init(&t);
    uint64_t before = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            char text[32];
            int n = snprintf(text, sizeof text, "%d-%d", round, i);
            assert_int_equal(rh_intern_put(&t, rh_span(text, (size_t) n), NULL), i);
        }
        if (round > 0) {
            assert_int_equal(rh_alloc_count(), before);
        }
        rh_intern_clear(&t);
        assert_int_equal(t.count, 0);
        assert_int_equal(rh_intern_find(&t, RH_SPAN_LITERAL("0-1")), -1);
        before = rh_alloc_count();
    }
    rh_intern_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_agrees_with_an_array),
        cmocka_unit_test(test_map_empty),
        cmocka_unit_test(test_intern_numbers_by_first_sight),
        cmocka_unit_test(test_intern_tells_bytes_apart),
        cmocka_unit_test(test_intern_clear_keeps_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
