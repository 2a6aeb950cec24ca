#include "rh_test.h"

#include <string.h>

#include "diff/escape.h"

typedef void escape(struct rh_buf *out, struct rh_span s);

static void markdown_short(struct rh_buf *out, struct rh_span s)
{
    rh_escape_markdown(out, s, 12);
}

static void check_escape(escape *f, const char *text, size_t len, const char *wanted)
{
    struct rh_buf out;
    rh_buf_init(&out, 4096);
    f(&out, rh_span(text, len));
    assert_string_equal(rh_buf_cstr(&out), wanted);
    rh_buf_release(&out);
}

#define CHECK(f, text, wanted) check_escape(f, text, sizeof(text) - 1, wanted)
#define FFFD "\xef\xbf\xbd"

static void test_csv(void **state)
{
    (void) state;
    CHECK(rh_escape_csv, "", "\"\"");
    CHECK(rh_escape_csv, "select 1, 2", "\"select 1, 2\"");
    CHECK(rh_escape_csv, "a \"b\"\r\nc", "\"a \"\"b\"\"\r\nc\"");
    CHECK(rh_escape_csv, "=1+1", "\"'=1+1\"");
    CHECK(rh_escape_csv, "@x", "\"'@x\"");
    CHECK(rh_escape_csv, "-- x", "\"'-- x\"");
    CHECK(rh_escape_csv, "\tx", "\"'\tx\"");
    CHECK(rh_escape_csv, "1=1", "\"1=1\"");
    CHECK(rh_escape_csv, "a\0b\033c\xff", "\"a" FFFD "b" FFFD "c" FFFD "\"");
}

static void test_xml(void **state)
{
    (void) state;
    CHECK(rh_escape_xml, "", "");
    CHECK(rh_escape_xml, "a<b>&\"'", "a&#60;b&#62;&#38;&#34;'");
    CHECK(rh_escape_xml, "]]>", "]]&#62;");
    /* In an attribute a line break would be read as a blank. */
    CHECK(rh_escape_xml, "a\n\tb", "a&#10;&#9;b");
    CHECK(rh_escape_xml, "\0\x01\x1f", FFFD FFFD FFFD);
    /* Surrogates, U+FFFE, overlong and torn sequences are not in XML. */
    CHECK(rh_escape_xml, "\xed\xa0\x80", FFFD FFFD FFFD);
    CHECK(rh_escape_xml, "\xef\xbf\xbe", FFFD);
    CHECK(rh_escape_xml, "\xc0\xbc\xe2\x80", FFFD FFFD FFFD FFFD);
    CHECK(rh_escape_xml, "caf\xc3\xa9 \xf0\x9f\x90\x98", "caf\xc3\xa9 \xf0\x9f\x90\x98");
}

static void test_markdown(void **state)
{
    (void) state;
    CHECK(markdown_short, "", "");
    CHECK(markdown_short, "\n \n", "");
    CHECK(markdown_short, "select *", "`select *`");
    CHECK(markdown_short, "a\n  b", "`a b`");
    CHECK(markdown_short, "a`b", "<code>a&#96;b</code>");
    CHECK(markdown_short, "a|<b>", "<code>a&#124;&#60;b&#62;</code>");
    CHECK(markdown_short, "\\", "<code>&#92;</code>");
    CHECK(markdown_short, "select 1, 2, 3", "`select 1,...`");
    CHECK(markdown_short, "|||||||||||||",
          "<code>&#124;&#124;&#124;&#124;&#124;&#124;&#124;&#124;"
          "&#124;&#46;&#46;&#46;</code>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_markdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
