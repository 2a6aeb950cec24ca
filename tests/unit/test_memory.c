/* common/buf, common/arena, common/alloc, common/error */
#include "rh_test.h"

#include <errno.h>
#include <stdint.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"

static void test_buf_keeps_its_maximum(void **state)
{
    (void) state;
    struct rh_buf b;
    rh_buf_init(&b, 10);
    assert_int_equal(rh_buf_add_cstr(&b, "12345678"), 0);
    assert_int_equal(rh_buf_add_cstr(&b, "abc"), -1);
    assert_true(b.over);
    assert_int_equal(b.len, 8);
    assert_int_equal(rh_buf_add_byte(&b, 'x'), -1);
    rh_buf_clear(&b);
    assert_int_equal(rh_buf_add_cstr(&b, "1234567890"), 0);
    assert_string_equal(rh_buf_cstr(&b), "1234567890");
    assert_int_equal(rh_buf_add_byte(&b, 'x'), -1);
    rh_buf_release(&b);
}

static void test_buf_writes_big_endian(void **state)
{
    (void) state;
    struct rh_buf b;
    rh_buf_init(&b, 100);
    rh_buf_add_be16(&b, 0x0102);
    rh_buf_add_be32(&b, 0x03040506);
    rh_buf_add_be64(&b, UINT64_C(0x0708090a0b0c0d0e));
    for (int i = 0; i < 14; i++) {
        assert_int_equal((unsigned char) b.data[i], i + 1);
    }
    rh_buf_clear(&b);
    rh_buf_addf(&b, "%s-%d", "x", 42);
    assert_string_equal(rh_buf_cstr(&b), "x-42");
    rh_buf_release(&b);
}

static void test_arena_reuses_its_chunks(void **state)
{
    (void) state;
    struct rh_arena a;
    rh_arena_init(&a, 1024);
    for (int round = 0; round < 3; round++) {
        uint64_t before = rh_alloc_count();
        for (int i = 0; i < 100; i++) {
            memset(rh_arena_alloc(&a, 100), 'x', 100);
        }
        if (round > 0) {
            assert_int_equal(rh_alloc_count(), before);
        }
        rh_arena_clear(&a);
    }
    char *large = rh_arena_alloc(&a, 5000);
    memset(large, 'y', 5000);
    struct rh_span copy = rh_arena_copy(&a, RH_SPAN_LITERAL("hello"));
    assert_string_equal(copy.data, "hello");
    assert_null(rh_arena_copy(&a, RH_SPAN_NONE).data);
    rh_arena_release(&a);
}

static void test_error_names_its_reason(void **state)
{
    (void) state;
    struct rh_error err;
    rh_error_clear(&err);
    errno = ENOENT;
    assert_int_equal(rh_error_set_errno(&err, "cannot open \"%s\"", "x"), -1);
    assert_int_equal(err.code, RH_ERR_IO);
    assert_string_equal(err.text, "cannot open \"x\": No such file or directory");
    assert_int_equal(rh_error_set(NULL, RH_ERR_LIMIT, "ignored"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buf_keeps_its_maximum),
        cmocka_unit_test(test_buf_writes_big_endian),
        cmocka_unit_test(test_arena_reuses_its_chunks),
        cmocka_unit_test(test_error_names_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
