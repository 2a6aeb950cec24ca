/* common/json */
#include "rh_test.h"

#include <math.h>

#include "common/json.h"

struct fixture {
    struct rh_buf out;
    struct rh_json j;
};

static void fixture_init(struct fixture *f, bool pretty)
{
    rh_buf_init(&f->out, 1 << 20);
    rh_json_init(&f->j, &f->out, pretty);
}

static void check_and_release(struct fixture *f, const char *want)
{
    assert_string_equal(rh_buf_cstr(&f->out), want);
    rh_buf_release(&f->out);
}

static void write_sample(struct rh_json *j)
{
    rh_json_open(j, '{');
    rh_json_key(j, "a");
    rh_json_int(j, INT64_MIN);
    rh_json_key(j, "b");
    rh_json_open(j, '[');
    rh_json_null(j);
    rh_json_bool(j, true);
    rh_json_bool(j, false);
    rh_json_open(j, '{');
    rh_json_close(j);
    rh_json_open(j, '[');
    rh_json_close(j);
    rh_json_close(j);
    rh_json_key(j, "c");
    rh_json_double(j, 1.25, 3);
    rh_json_close(j);
}

static void test_compact(void **state)
{
    (void) state;
    struct fixture f;
    fixture_init(&f, false);
    write_sample(&f.j);
    check_and_release(&f, "{\"a\":-9223372036854775808,\"b\":[null,true,false,{},[]],\"c\":1.250}");
}

static void test_pretty(void **state)
{
    (void) state;
    struct fixture f;
    fixture_init(&f, true);
    write_sample(&f.j);
    check_and_release(&f, "{\n"
                          "  \"a\": -9223372036854775808,\n"
                          "  \"b\": [\n"
                          "    null,\n"
                          "    true,\n"
                          "    false,\n"
                          "    {},\n"
                          "    []\n"
                          "  ],\n"
                          "  \"c\": 1.250\n"
                          "}");
}

static void test_several_documents(void **state)
{
    (void) state;
    struct fixture f;
    fixture_init(&f, false);
    for (int i = 0; i < 2; i++) {
        rh_json_open(&f.j, '[');
        rh_json_int(&f.j, i);
        rh_json_close(&f.j);
        rh_buf_add_byte(&f.out, '\n');
    }
    check_and_release(&f, "[0]\n[1]\n");
}

static void test_unknown_values_are_null(void **state)
{
    (void) state;
    struct fixture f;
    fixture_init(&f, false);
    rh_json_open(&f.j, '[');
    rh_json_double(&f.j, NAN, 2);
    rh_json_double(&f.j, -INFINITY, 2);
    rh_json_cstr(&f.j, NULL);
    assert_false(rh_json_text(&f.j, RH_SPAN_NONE));
    rh_json_time(&f.j, INT64_MIN);
    rh_json_time(&f.j, 0);
    rh_json_cstr(&f.j, "");
    rh_json_close(&f.j);
    check_and_release(&f, "[null,null,null,null,null,\"1970-01-01T00:00:00.000000Z\",\"\"]");
}

static void check_text(struct rh_span text, const char *want, bool replaced)
{
    struct fixture f;
    assert_int_equal(rh_json_is_utf8(text), !replaced);
    fixture_init(&f, false);
    assert_int_equal(rh_json_text(&f.j, text), replaced);
    check_and_release(&f, want);
}

static void test_escapes(void **state)
{
    (void) state;
    check_text(RH_SPAN_LITERAL("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"", false);
    check_text(RH_SPAN_LITERAL("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"", false);
    check_text(RH_SPAN_LITERAL("x\0y\x01\x1f\x7f"), "\"x\\u0000y\\u0001\\u001f\\u007f\"", false);
}

static void test_utf8(void **state)
{
    (void) state;
    /* The first and last of each length. */
    check_text(RH_SPAN_LITERAL("\xc2\x80\xdf\xbf"), "\"\xc2\x80\xdf\xbf\"", false);
    check_text(RH_SPAN_LITERAL("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"),
               "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"", false);
    check_text(RH_SPAN_LITERAL("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
               "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"", false);
    /* Latin 1. */
    check_text(RH_SPAN_LITERAL("caf\xe9 x"), "\"caf\\ufffd x\"", true);
    /* A lone continuation, an overlong slash, a surrogate, above U+10FFFF. */
    check_text(RH_SPAN_LITERAL("\x80"), "\"\\ufffd\"", true);
    check_text(RH_SPAN_LITERAL("\xc0\xaf"), "\"\\ufffd\\ufffd\"", true);
    check_text(RH_SPAN_LITERAL("\xe0\x9f\xbf"), "\"\\ufffd\\ufffd\\ufffd\"", true);
    check_text(RH_SPAN_LITERAL("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"", true);
    check_text(RH_SPAN_LITERAL("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"", true);
    check_text(RH_SPAN_LITERAL("\xf0\x8f\xbf\xbf"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"", true);
    /* Cut in the middle: never read past the end. */
    check_text(rh_span("\xe2\x82\xac", 2), "\"\\ufffd\\ufffd\"", true);
    check_text(rh_span("\xf0\x9f\x98\x80", 3), "\"\\ufffd\\ufffd\\ufffd\"", true);
    check_text(RH_SPAN_LITERAL("\xe2\x28\xa1"), "\"\\ufffd(\\ufffd\"", true);
}

static void test_text_in_pieces(void **state)
{
    (void) state;
    struct fixture f;
    fixture_init(&f, false);
    rh_json_open(&f.j, '[');
    rh_json_open_text(&f.j);
    rh_buf_add_cstr(&f.out, "00");
    rh_buf_add_cstr(&f.out, "ff");
    rh_json_close_text(&f.j);
    rh_json_open_text(&f.j);
    rh_json_close_text(&f.j);
    rh_json_close(&f.j);
    check_and_release(&f, "[\"00ff\",\"\"]");
}

static void test_full_buffer_is_noticed(void **state)
{
    (void) state;
    struct fixture f;
    fixture_init(&f, false);
    f.out.max = 8;
    rh_json_cstr(&f.j, "much too long for it");
    assert_true(f.out.over);
    rh_buf_release(&f.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compact),           cmocka_unit_test(test_pretty),
        cmocka_unit_test(test_several_documents), cmocka_unit_test(test_unknown_values_are_null),
        cmocka_unit_test(test_escapes),           cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_text_in_pieces),    cmocka_unit_test(test_full_buffer_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
