/* formats/mp: shortest forms, limits, every cut. */
#include "rh_test.h"

#include "formats/mp.h"

static void check_int(int64_t v, const char *bytes, size_t n)
{
    struct rh_buf b;
    struct rh_mp m;
    int64_t got;
    rh_buf_init(&b, 100);
    assert_int_equal(rh_mp_put_int(&b, v), 0);
    assert_int_equal(b.len, n);
    assert_memory_equal(b.data, bytes, n);
    rh_mp_init(&m, rh_buf_span(&b));
    assert_int_equal(rh_mp_get_int(&m, &got), 0);
    assert_true(got == v);
    assert_int_equal(m.left, 0);
    for (size_t cut = 0; cut < n; cut++) {
        rh_mp_init(&m, rh_span(b.data, cut));
        assert_int_equal(rh_mp_get_int(&m, &got), -1);
        assert_int_equal(rh_mp_skip(&m), -1);
    }
    rh_buf_release(&b);
}

static void test_integers(void **state)
{
    (void) state;
    check_int(0, "\x00", 1);
    check_int(127, "\x7f", 1);
    check_int(128, "\xcc\x80", 2);
    check_int(255, "\xcc\xff", 2);
    check_int(256, "\xcd\x01\x00", 3);
    check_int(65536, "\xce\x00\x01\x00\x00", 5);
    check_int(INT64_C(4294967296), "\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 9);
    check_int(INT64_MAX, "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 9);
    check_int(-1, "\xff", 1);
    check_int(-32, "\xe0", 1);
    check_int(-33, "\xd0\xdf", 2);
    check_int(-129, "\xd1\xff\x7f", 3);
    check_int(-32769, "\xd2\xff\xff\x7f\xff", 5);
    check_int(INT64_MIN, "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9);
}

/* Written by others: longer forms than needed, and numbers that we have no room for. */
static void test_foreign_forms(void **state)
{
    (void) state;
    struct rh_mp m;
    int64_t v;
    rh_mp_init(&m, RH_SPAN_LITERAL("\xcf\x00\x00\x00\x00\x00\x00\x00\x05"));
    assert_int_equal(rh_mp_get_int(&m, &v), 0);
    assert_int_equal(v, 5);
    rh_mp_init(&m, RH_SPAN_LITERAL("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"));
    assert_int_equal(rh_mp_peek(&m), RH_MP_OTHER);
    assert_int_equal(rh_mp_get_int(&m, &v), -1);
    assert_int_equal(rh_mp_skip(&m), 0);
    assert_int_equal(m.left, 0);
    rh_mp_init(&m,
               RH_SPAN_LITERAL("\xcb\x00\x00\x00\x00\x00\x00\x00\x00\xd4\x01\x02\xc7\x02\x01zz"));
    assert_int_equal(rh_mp_skip(&m), 0);
    assert_int_equal(rh_mp_skip(&m), 0);
    assert_int_equal(rh_mp_skip(&m), 0);
    assert_int_equal(m.left, 0);
    rh_mp_init(&m, RH_SPAN_LITERAL("\xc1"));
    assert_int_equal(rh_mp_skip(&m), -1);
}

static void test_texts_and_structures(void **state)
{
    (void) state;
    static char large[70000];
    const size_t lengths[] = {0, 1, 31, 32, 255, 256, 65535, 65536, 70000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct rh_buf b;
        struct rh_mp m;
        struct rh_span s;
        uint32_t n;
        bool flag;
        rh_buf_init(&b, 1 << 20);
        rh_mp_put_array(&b, 5);
        rh_mp_put_str(&b, rh_span(large, lengths[i]));
        rh_mp_put_bin(&b, rh_span(large, lengths[i]));
        rh_mp_put_nil(&b);
        rh_mp_put_bool(&b, true);
        rh_mp_put_map(&b, 1);
        rh_mp_put_int(&b, 1);
        rh_mp_put_int(&b, 2);
        rh_mp_init(&m, rh_buf_span(&b));
        assert_int_equal(rh_mp_skip(&m), 0);
        assert_int_equal(m.left, 0);
        rh_mp_init(&m, rh_buf_span(&b));
        assert_int_equal(rh_mp_get_map(&m, &n), -1);
        assert_int_equal(rh_mp_get_array(&m, &n), 0);
        assert_int_equal(n, 5);
        assert_int_equal(rh_mp_get_bin(&m, &s), -1);
        assert_int_equal(rh_mp_get_str(&m, &s), 0);
        assert_int_equal(s.len, lengths[i]);
        assert_int_equal(rh_mp_get_bin(&m, &s), 0);
        assert_int_equal(s.len, lengths[i]);
        assert_int_equal(rh_mp_get_nil(&m), 0);
        assert_int_equal(rh_mp_get_bool(&m, &flag), 0);
        assert_true(flag);
        assert_int_equal(rh_mp_get_map(&m, &n), 0);
        assert_int_equal(n, 1);
        for (size_t cut = 0; cut < b.len; cut += cut < 80 ? 1 : 997) {
            rh_mp_init(&m, rh_span(b.data, cut));
            assert_int_equal(rh_mp_skip(&m), -1);
        }
        rh_buf_release(&b);
    }
}

/* Five bytes that announce four billion items must not be believed. */
static void test_announced_counts(void **state)
{
    (void) state;
    struct rh_mp m;
    uint32_t n;
    struct rh_span s;
    rh_mp_init(&m, RH_SPAN_LITERAL("\xdd\xff\xff\xff\xff\x01"));
    assert_int_equal(rh_mp_get_array(&m, &n), -1);
    assert_int_equal(rh_mp_skip(&m), -1);
    rh_mp_init(&m, RH_SPAN_LITERAL("\xdf\xff\xff\xff\xff\x01\x02"));
    assert_int_equal(rh_mp_get_map(&m, &n), -1);
    assert_int_equal(rh_mp_skip(&m), -1);
    rh_mp_init(&m, RH_SPAN_LITERAL("\xc6\xff\xff\xff\xff\x01\x02"));
    assert_int_equal(rh_mp_get_bin(&m, &s), -1);
    assert_int_equal(rh_mp_skip(&m), -1);
    /* Arrays in arrays to any depth: no recursion. */
    static char deep[200000];
    memset(deep, 0x91, sizeof deep);
    rh_mp_init(&m, rh_span(deep, sizeof deep));
    assert_int_equal(rh_mp_skip(&m), -1);
    deep[sizeof deep - 1] = 1;
    rh_mp_init(&m, rh_span(deep, sizeof deep));
    assert_int_equal(rh_mp_skip(&m), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_foreign_forms),
        cmocka_unit_test(test_texts_and_structures),
        cmocka_unit_test(test_announced_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
