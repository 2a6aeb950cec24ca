/* capture/redactor */
#include "rh_test.h"

#include <stdlib.h>
#include <string.h>

#include "capture/redactor.h"

enum { BUF_MAX = 1024 * 1024 };

static void check(const char *text, size_t len, const char *want, size_t want_len)
{
    struct rh_redactor r;
    struct rh_buf out;
    rh_redactor_init(&r);
    rh_buf_init(&out, BUF_MAX);
    rh_redactor_text(&r, rh_span(text, len), &out);
    if (!rh_span_equal(rh_buf_span(&out), rh_span(want, want_len))) {
        fail_msg("%s: found %.*s, not %s", text, (int) out.len, out.data ? out.data : "", want);
    }
    rh_buf_release(&out);
    rh_redactor_release(&r);
}

static void test_texts(void **state)
{
    (void) state;
    static const char *const rows[][2] = {
        {"", ""},
        {"SELECT a FROM t", "SELECT a FROM t"},
        {"SELECT 42, -1.5e3, .5, 0x1F", "SELECT 0, 0, 0, 0"},
        {"SELECT a-5, a - -5", "SELECT a-0, a - 0"},
        {"SELECT 'a''b', E'a\\'b', N'c', U&'d', $$e$$, $q$f$q$",
         "SELECT 'x', 'x', 'x', 'x', 'x', 'x'"},
        {"SELECT B'101', x'1f'", "SELECT B'0', X'0'"},
        {"SELECT 1 -- secret\nFROM t /* more /* of */ it */", "SELECT 0 /* */\nFROM t /* */"},
        {"/* secret */", "/* */"},
        {"SELECT $1, \"Name 5\" FROM t5 ORDER BY 2", "SELECT $1, \"Name 5\" FROM t5 ORDER BY 2"},
        /* What does not end. */
        {"SELECT 'secret", "SELECT 'x'"},
        {"SELECT $$secret", "SELECT 'x'"},
        {"SELECT /* secret", "SELECT /* */"},
        {"SELECT \"secret 'a' 5", "SELECT 'x'"},
        {"SELECT 7, \"secret", "SELECT 0, 'x'"},
        /* standard_conforming_strings = off ends these strings elsewhere. */
        {"SELECT 'it\\'s a secret', 5", "SELECT 'x'"},
        {"SELECT 'C:\\\\', secret", "SELECT 'x', secret"},
        {"SELECT 1, N'a\\'b secret'", "SELECT 0, 'x'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check(rows[i][0], strlen(rows[i][0]), rows[i][1], strlen(rows[i][1]));
    }
    /* A raw byte that equals a slot's. */
    check("SELECT \"a\0b\", 'c'", 18, "SELECT \"a\0b\", 'x'", 18);
}

/* The template stays, so that the diff knows the statement again. */
static void test_the_template_stays(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "SELECT * FROM t WHERE a = 5 AND b IN ('x', 'yy', E'z') -- c",
        "INSERT INTO t VALUES (1, -2, NULL, 'a'), (3, 4, $$b$$, B'1')",
        "UPDATE t SET a = a - 1 WHERE \"B\" ~ '^x' GROUP BY 1",
    };
    struct rh_redactor r;
    struct rh_buf out, before;
    rh_redactor_init(&r);
    rh_buf_init(&out, BUF_MAX);
    rh_buf_init(&before, BUF_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        rh_redactor_text(&r, rh_span_cstr(texts[i]), &out);
        rh_template_split(rh_span_cstr(texts[i]), &before, &r.literals);
        rh_template_split(rh_buf_span(&out), &r.tmpl, &r.literals);
        assert_true(rh_span_equal(rh_buf_span(&before), rh_buf_span(&r.tmpl)));
    }
    rh_buf_release(&before);
    rh_buf_release(&out);
    rh_redactor_release(&r);
}

static void test_more_literals_than_a_template_holds(void **state)
{
    (void) state;
    struct rh_redactor r;
    struct rh_buf text, out;
    rh_redactor_init(&r);
    rh_buf_init(&text, BUF_MAX);
    rh_buf_init(&out, BUF_MAX);
    rh_buf_add_cstr(&text, "SELECT 1");
    for (int i = 0; i < 1000; i++) {
        rh_buf_add_cstr(&text, ", 'hush'");
    }
    rh_redactor_text(&r, rh_buf_span(&text), &out);
    assert_null(memmem(out.data, out.len, "hush", 4));
    assert_true(out.len > 1000);
    rh_buf_release(&text);
    rh_buf_release(&out);
    rh_redactor_release(&r);
}

static void test_params(void **state)
{
    (void) state;
    static const char *const rows[][2] = {
        {"12", "0"}, {"-1.5e-3", "0"}, {"", "x"},   {"-", "x"},   {"1.2.3.4x", "x"},
        {"e5", "x"}, {"abc", "x"},     {"+7", "0"}, {"1-2", "x"}, {"2024-01-01", "x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_param p = {.data = rows[i][0], .len = (uint32_t) strlen(rows[i][0])};
        rh_redactor_params(&p, 1);
        rh_assert_span(rh_span(p.data, p.len), rows[i][1]);
    }
    struct rh_param null = {0};
    rh_redactor_params(&null, 1);
    assert_null(null.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_the_template_stays),
        cmocka_unit_test(test_more_literals_than_a_template_holds),
        cmocka_unit_test(test_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
