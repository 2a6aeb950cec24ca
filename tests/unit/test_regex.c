/* common/regex */
#include "rh_test.h"

#include "common/alloc.h"
#include "common/regex.h"

static int match(const char *pattern, struct rh_span text)
{
    struct rh_regex *re;
    struct rh_error err = {0};
    if (rh_regex_new(&re, pattern, &err) != 0) {
        fail_msg("%s: %s", pattern, err.text);
    }
    int result = rh_regex_match(re, text, &err);
    rh_regex_free(re);
    return result;
}

static void test_matching(void **state)
{
    (void) state;
    assert_int_equal(match("^select\\b", RH_SPAN_LITERAL("select 1")), 1);
    assert_int_equal(match("^select\\b", RH_SPAN_LITERAL("SELECT 1")), 0);
    assert_int_equal(match("(?i)^select\\b", RH_SPAN_LITERAL("SELECT 1")), 1);
    assert_int_equal(match("a.b", RH_SPAN_LITERAL("a\nb")), 1);
    assert_int_equal(match("a.b", RH_SPAN_LITERAL("a\0b")), 1);
    assert_int_equal(match("^$", RH_SPAN_NONE), 1);
    assert_int_equal(match("x", RH_SPAN_LITERAL("")), 0);
    /* Bytes, not characters: a text in another encoding is no error. */
    assert_int_equal(match("caf.$", RH_SPAN_LITERAL("caf\xe9")), 1);
    /* Only the given bytes are looked at. */
    assert_int_equal(match("abc", rh_span("abc", 2)), 0);
}

static void test_bad_patterns(void **state)
{
    (void) state;
    static const char *const bad[] = {"(", "[a", "a{2,1}", "(*UTF)x", "\\"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rh_regex *re = NULL;
        struct rh_error err = {0};
        assert_int_equal(rh_regex_new(&re, bad[i], &err), -1);
        assert_int_equal(err.code, RH_ERR_USAGE);
        assert_non_null(strstr(err.text, bad[i]));
    }
    struct rh_regex *re;
    assert_int_equal(rh_regex_new(&re, "(", NULL), -1);
    rh_regex_free(NULL);
}

/* Time doubles with each letter: without the limit this test would not end. */
static void test_runaway_pattern_is_an_error(void **state)
{
    (void) state;
    struct rh_regex *re;
    struct rh_error err = {0};
    assert_int_equal(rh_regex_new(&re, "^(a+)+$", &err), 0);
    char text[60];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '!';
    assert_int_equal(rh_regex_match(re, rh_span(text, sizeof text), &err), -1);
    assert_int_equal(err.code, RH_ERR_LIMIT);
    assert_non_null(strstr(err.text, "^(a+)+$"));
    assert_int_equal(rh_regex_match(re, RH_SPAN_LITERAL("aaa"), &err), 1);
    rh_regex_free(re);
}

static void test_long_text(void **state)
{
    (void) state;
    size_t n = 4 << 20;
    char *text = rh_malloc(n);
    memset(text, 'x', n);
    text[n - 1] = 'y';
    assert_int_equal(match("xy$", rh_span(text, n)), 1);
    assert_int_equal(match("^x+y$", rh_span(text, n)), 1);
    rh_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_bad_patterns),
        cmocka_unit_test(test_runaway_pattern_is_an_error),
        cmocka_unit_test(test_long_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
