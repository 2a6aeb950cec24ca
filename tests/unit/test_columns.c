/* formats/int_column, formats/value_column, formats/start_order */
#include "rh_test.h"

#include "formats/start_order.h"
#include "formats/trace_layout.h"
#include "formats/value_column.h"
#include "trace_testing.h"

static size_t check_ints(const int64_t *v, uint32_t n)
{
    struct rh_trace_part part;
    struct rh_arena arena;
    struct rh_mp m;
    struct rh_int_column got;
    rh_trace_part_init(&part);
    rh_arena_init(&arena, 65536);
    rh_int_column_put(&part, v, n);
    assert_false(part.raw.over);
    rh_mp_init(&m, rh_buf_span(&part.raw));
    assert_int_equal(rh_int_column_get(&m, n, &arena, &got), 0);
    assert_int_equal(m.left, 0);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(rh_int_column_at(&got, i) == v[i]);
    }
    size_t bytes = part.raw.len;
    /* Cut anywhere, or with another number of rows, it is refused or harmless. */
    for (size_t cut = 0; cut < bytes; cut += 1 + bytes / 50) {
        rh_mp_init(&m, rh_span(part.raw.data, cut));
        rh_arena_clear(&arena);
        assert_int_equal(rh_int_column_get(&m, n, &arena, &got), -1);
    }
    if (got.values) {
        rh_mp_init(&m, rh_buf_span(&part.raw));
        rh_arena_clear(&arena);
        rh_int_column_get(&m, n + 1, &arena, &got);
    }
    rh_arena_release(&arena);
    rh_trace_part_release(&part);
    return bytes;
}

static void test_ints_of_all_widths(void **state)
{
    (void) state;
    enum { N = 1000 };
    int64_t v[N];
    uint64_t seed = 5;
    for (unsigned bits = 0; bits <= 62; bits++) {
        for (unsigned unknown = 0; unknown <= 20; unknown += 10) {
            for (unsigned i = 0; i < N; i++) {
                uint64_t x = testing_random(&seed) << 20 ^ testing_random(&seed);
                v[i] = (int64_t) (x & ((UINT64_C(1) << bits) - 1)) - (INT64_C(1) << bits) / 2;
                v[i] = testing_chance(&seed, unknown) ? RH_INT_UNKNOWN : v[i];
            }
            check_ints(v, N);
            check_ints(v, 1);
            check_ints(v, 2);
        }
    }
    v[0] = INT64_MAX;
    v[1] = INT64_MIN + 1;
    check_ints(v, 2);
}

static void test_ints_that_repeat(void **state)
{
    (void) state;
    enum { N = 65536 };
    static int64_t v[N];
    assert_int_equal(check_ints(v, 0), 1);
    assert_int_equal(check_ints(v, N), 1);
    for (unsigned i = 0; i < N; i++) {
        v[i] = RH_INT_UNKNOWN;
    }
    assert_int_equal(check_ints(v, N), 1);
    for (unsigned i = 77; i < N; i += 100) {
        v[i] = 1000 + i;
    }
    assert_in_range(check_ints(v, N), 600, 4000);
    v[0] = 5;
    v[N - 1] = 6;
    check_ints(v, N);
    for (unsigned i = 0; i < N; i += 16) {
        v[i] = 1;
    }
    check_ints(v, N);
    for (unsigned i = 0; i < N; i++) {
        v[i] = i % 7;
    }
    assert_in_range(check_ints(v, N), N, N + 20);
}

static void refuse_ints(struct rh_span bytes, uint32_t n)
{
    struct rh_arena arena;
    struct rh_mp m;
    struct rh_int_column got;
    rh_arena_init(&arena, 4096);
    rh_mp_init(&m, bytes);
    assert_int_equal(rh_int_column_get(&m, n, &arena, &got), -1);
    rh_arena_release(&arena);
}

static void test_ints_that_lie(void **state)
{
    (void) state;
    refuse_ints(RH_SPAN_LITERAL("\x94\x01\x00\x00\xc4\x00"), 0); /* width 0 */
    refuse_ints(RH_SPAN_LITERAL("\x94\x01\x00\x09\xc4\x09"
                                "123456789"),
                1); /* width 9 */
    refuse_ints(RH_SPAN_LITERAL("\x94\x01\x00\x01\xc4\x02"
                                "12"),
                1); /* more bytes than rows */
    refuse_ints(RH_SPAN_LITERAL("\x94\x07\x00\x01\xc4\x01"
                                "1"),
                1); /* no such form */
    refuse_ints(RH_SPAN_LITERAL("\x93\x01\x00\x01"), 1);
    refuse_ints(RH_SPAN_LITERAL("\x95\x03\x00\x05\x00\x00"), 4); /* 5 exceptions of 4 */
    refuse_ints(RH_SPAN_LITERAL("\x95\x03\x00\x01\x04\x00"), 4); /* row 4 of 4 */
    refuse_ints(RH_SPAN_LITERAL("\x95\x03\x00\x02\x00\x00"), 4); /* row 0 twice */
    refuse_ints(RH_SPAN_LITERAL("\x95\x03\x00\x01\xff\x00"), 4); /* row -1 */
    refuse_ints(RH_SPAN_LITERAL("\x95\x03\x00\x01\x95\x03\x00\x00\xc0\xc0\x00"), 4); /* nested */
    refuse_ints(RH_SPAN_LITERAL("\xa1x"), 1);
    refuse_ints(RH_SPAN_LITERAL(""), 1);
}

static void check_value(const char *text, bool is_int)
{
    struct rh_value v = rh_value_of(rh_span_cstr(text));
    assert_int_equal(v.tag, is_int ? RH_VALUE_INT : RH_VALUE_BYTES);
    if (is_int) {
        char again[20];
        assert_int_equal(rh_value_format(v.u.number, again), strlen(text));
        assert_memory_equal(again, text, strlen(text));
    }
}

static void test_canonical_integers(void **state)
{
    (void) state;
    const char *const ints[] = {
        "0", "1", "-1", "10", "-987654321", "9223372036854775807", "-9223372036854775807"};
    const char *const others[] = {"",
                                  "-",
                                  "-0",
                                  "+1",
                                  "01",
                                  "1 ",
                                  " 1",
                                  "1.0",
                                  "1e5",
                                  "9223372036854775808",
                                  "00",
                                  "-01",
                                  "0x1",
                                  "1_0",
                                  "-9223372036854775808",
                                  "99999999999999999999",
                                  "18446744073709551616"};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        check_value(ints[i], true);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        check_value(others[i], false);
    }
    assert_int_equal(rh_value_of(RH_SPAN_NONE).tag, RH_VALUE_NULL);
    assert_int_equal(rh_value_of(rh_span("1\0", 2)).tag, RH_VALUE_BYTES);
}

/* Each number of digits, and another byte in each place; in memory that ends with the text. */
static void test_integers_of_all_lengths(void **state)
{
    (void) state;
    static const char others[] = "/:a \0";
    for (size_t n = 1; n <= 18; n++) {
        char *text = rh_malloc(n);
        char again[20];
        for (size_t i = 0; i < n; i++) {
            text[i] = (char) ('1' + (i * 7 + n) % 9);
        }
        struct rh_value v = rh_value_of(rh_span(text, n));
        assert_int_equal(v.tag, RH_VALUE_INT);
        assert_int_equal(rh_value_format(v.u.number, again), n);
        assert_memory_equal(again, text, n);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < sizeof others - 1; k++) {
                char digit = text[i];
                text[i] = others[k];
                assert_int_equal(rh_value_of(rh_span(text, n)).tag, RH_VALUE_BYTES);
                text[i] = digit;
            }
        }
        rh_free(text);
    }
}

static void check_values(const struct rh_span *texts, uint32_t n, uint32_t inline_max)
{
    struct rh_trace_part part;
    struct rh_arena arena;
    struct rh_blob_list blobs = {.inline_max = inline_max};
    struct rh_value_scratch scratch = {0};
    struct rh_buf blob_bytes;
    struct rh_mp m;
    struct rh_value *values = rh_calloc(n, sizeof *values);
    struct rh_span *got = rh_calloc(n, sizeof *got);
    rh_trace_part_init(&part);
    rh_arena_init(&arena, 65536);
    rh_buf_init(&blob_bytes, 1 << 24);
    for (uint32_t i = 0; i < n; i++) {
        values[i] = rh_value_of(texts[i]);
    }
    /* Blobs of another column lie before. */
    rh_buf_add_cstr(&blob_bytes, "others");
    blobs.bytes = 6;
    rh_value_column_put(&part, values, n, &blobs, &scratch);
    assert_false(part.raw.over);
    for (uint32_t i = 0; i < blobs.count; i++) {
        rh_buf_add_span(&blob_bytes, blobs.items[i]);
    }
    assert_int_equal(blobs.bytes, blob_bytes.len);
    rh_mp_init(&m, rh_buf_span(&part.raw));
    assert_int_equal(rh_value_column_get(&m, n, rh_buf_span(&blob_bytes), &arena, got), 0);
    assert_int_equal(m.left, 0);
    for (uint32_t i = 0; i < n; i++) {
        testing_assert_span(got[i], texts[i], "value");
    }
    for (size_t cut = 0; cut < part.raw.len; cut += 1 + part.raw.len / 50) {
        rh_mp_init(&m, rh_span(part.raw.data, cut));
        rh_arena_clear(&arena);
        assert_int_equal(rh_value_column_get(&m, n, rh_buf_span(&blob_bytes), &arena, got), -1);
    }
    rh_mp_init(&m, rh_buf_span(&part.raw));
    if (blobs.count > 0) {
        struct rh_span less = rh_span(blob_bytes.data, blob_bytes.len - 1);
        assert_int_equal(rh_value_column_get(&m, n, less, &arena, got), -1);
    }
    rh_trace_part_release(&part);
    rh_arena_release(&arena);
    rh_buf_release(&blob_bytes);
    rh_free(blobs.items);
    rh_free(scratch.ints);
    rh_free(values);
    rh_free(got);
}

static void test_value_mixes(void **state)
{
    (void) state;
    enum { N = 500 };
    struct rh_span texts[N];
    struct rh_arena arena;
    uint64_t seed = 99;
    rh_arena_init(&arena, 65536);
    for (unsigned mix = 0; mix < 64; mix++) {
        for (unsigned i = 0; i < N; i++) {
            char *number = rh_arena_alloc(&arena, 24);
            int n = snprintf(number, 24, "%lld", (long long) testing_random(&seed) - (1LL << 50));
            texts[i] = rh_span(number, (size_t) n);
            if ((mix & 1) && testing_chance(&seed, 30)) {
                texts[i] = RH_SPAN_NONE;
            }
            if ((mix & 2) && testing_chance(&seed, 50)) {
                texts[i] = testing_bytes(&seed, &arena, 40);
            }
            if ((mix & 4) && testing_chance(&seed, 20)) {
                texts[i] = testing_bytes(&seed, &arena, 300);
            }
            if (mix & 8) {
                texts[i] = rh_span(&"abcdefghijklmnopqrstuvwxyz"[testing_below(&seed, 8)], 9);
            }
            if (mix & 16) {
                texts[i] = RH_SPAN_LITERAL("the same");
            }
            if ((mix & 32) && testing_chance(&seed, 50)) {
                texts[i] = RH_SPAN_LITERAL("");
            }
        }
        check_values(texts, N, 100);
        check_values(texts, 1, 100);
        check_values(texts, 0, 100);
    }
    rh_arena_release(&arena);
}

static void check_order(struct rh_start_order *o, const int64_t *starts, uint32_t n)
{
    rh_start_order_make(o, starts, n);
    for (uint32_t i = 1; i < n; i++) {
        int64_t a = starts[o->order[i - 1]];
        int64_t b = starts[o->order[i]];
        assert_true(a < b || (a == b && o->order[i - 1] < o->order[i]));
    }
}

/* What a log gives (ends in order, starts nearly), what a block has (one session behind the other),
 * and both with all starts in few clusters, where the rough order tells nothing. */
static void test_start_order_of_traces(void **state)
{
    (void) state;
    enum { N = 20000 };
    static int64_t starts[N];
    struct rh_start_order o;
    uint64_t seed = 5;
    rh_start_order_init(&o);
    for (unsigned spread = 1; spread < 2000000; spread *= 5) {
        for (unsigned i = 0; i < N; i++) {
            starts[i] = (int64_t) i * 100 - (int64_t) testing_below(&seed, spread);
        }
        check_order(&o, starts, N);
        for (unsigned i = 0; i < N; i++) {
            starts[i] = (int64_t) (i % (N / 8)) * 1000 + (int64_t) testing_below(&seed, spread);
        }
        check_order(&o, starts, N);
        for (unsigned i = 0; i < N; i++) {
            starts[i] = (int64_t) testing_below(&seed, spread) +
                        (testing_chance(&seed, 50) ? INT64_C(1) << 45 : 0);
        }
        check_order(&o, starts, N);
        check_order(&o, starts, 1);
    }
    starts[7] = INT64_MIN / 2;
    starts[9] = INT64_MAX / 2;
    starts[11] = INT64_MAX / 2;
    check_order(&o, starts, N);
    rh_start_order_release(&o);
}

static void test_start_order(void **state)
{
    (void) state;
    enum { N = 5000 };
    static int64_t starts[N];
    struct rh_start_order o;
    uint64_t seed = 3;
    rh_start_order_init(&o);
    for (unsigned bits = 0; bits < 60; bits += 3) {
        for (unsigned i = 0; i < N; i++) {
            starts[i] = (int64_t) (testing_random(&seed) * 2000003 & ((UINT64_C(1) << bits) - 1)) -
                        (int64_t) bits * 1000;
        }
        check_order(&o, starts, N);
    }
    starts[0] = INT64_MAX;
    starts[1] = INT64_MIN;
    rh_start_order_make(&o, starts, 2);
    assert_int_equal(o.order[0], 1);
    rh_start_order_make(&o, starts, 0);
    rh_start_order_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ints_of_all_widths),
        cmocka_unit_test(test_ints_that_repeat),
        cmocka_unit_test(test_ints_that_lie),
        cmocka_unit_test(test_canonical_integers),
        cmocka_unit_test(test_integers_of_all_lengths),
        cmocka_unit_test(test_value_mixes),
        cmocka_unit_test(test_start_order),
        cmocka_unit_test(test_start_order_of_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
