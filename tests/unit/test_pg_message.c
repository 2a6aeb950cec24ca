/* formats/pg_message */
#include "rh_test.h"

#include <stdlib.h>

#include "formats/pg_message.h"
#include "formats/record.h"

#define BODY(literal) rh_span("" literal, sizeof(literal) - 1)

static void assert_tag(struct rh_span body, const char *name, int64_t rows)
{
    struct rh_pg_tag tag;
    assert_int_equal(rh_pg_tag_decode(body, &tag), 0);
    rh_assert_span(tag.name, name);
    assert_int_equal(tag.rows, rows);
}

static void test_tags(void **state)
{
    (void) state;
    assert_tag(BODY("INSERT 0 5\0"), "INSERT", 5);
    assert_tag(BODY("INSERT 16384 1\0"), "INSERT", 1); /* with OIDs, before version 12 */
    assert_tag(BODY("SELECT 5\0"), "SELECT", 5);
    assert_tag(BODY("COPY 3\0"), "COPY", 3);
    assert_tag(BODY("FETCH 0\0"), "FETCH", 0);
    assert_tag(BODY("MERGE 12\0"), "MERGE", 12);
    assert_tag(BODY("SELECT 9223372036854775807\0"), "SELECT", INT64_MAX);
    assert_tag(BODY("CREATE TABLE\0"), "CREATE TABLE", RH_COUNT_UNKNOWN);
    assert_tag(BODY("SELECT\0"), "SELECT", RH_COUNT_UNKNOWN);
    assert_tag(BODY("BEGIN\0"), "BEGIN", RH_COUNT_UNKNOWN);
    assert_tag(BODY("\0"), "", RH_COUNT_UNKNOWN);
    assert_tag(BODY("5\0"), "5", RH_COUNT_UNKNOWN);
    assert_tag(BODY(" 5\0"), " 5", RH_COUNT_UNKNOWN);
    assert_tag(BODY("SELECT 9223372036854775808\0"), "SELECT 9223372036854775808",
               RH_COUNT_UNKNOWN);
    struct rh_pg_tag tag;
    assert_int_equal(rh_pg_tag_decode(BODY("SELECT 1"), &tag), -1);
    assert_int_equal(rh_pg_tag_decode(BODY(""), &tag), -1);
    assert_int_equal(rh_pg_tag_decode(BODY("A\0B\0"), &tag), -1);
}

static void test_error_fields(void **state)
{
    (void) state;
    struct rh_span body = BODY(
        "SFEHLER\0VERROR\0C42P01\0Mno t\0Dd\0Hh\0P15\0Ww\0ss\0tt\0cc\0nn\0Fparse.c\0L12\0Rr\0\0");
    struct rh_pg_report r;
    assert_int_equal(rh_pg_report_decode(body, false, &r), 0);
    rh_assert_span(r.severity, "ERROR");
    rh_assert_span(r.sqlstate, "42P01");
    rh_assert_span(r.message, "no t");
    rh_assert_span(r.detail, "d");
    rh_assert_span(r.hint, "h");
    rh_assert_span(r.where, "w");
    rh_assert_span(r.schema, "s");
    rh_assert_span(r.table, "t");
    rh_assert_span(r.column, "c");
    rh_assert_span(r.constraint, "n");
    assert_int_equal(r.position, 15);
    assert_false(rh_pg_report_is_fatal(&r));

    /* Servers before 9.6 send no V. */
    assert_int_equal(rh_pg_report_decode(BODY("SFATAL\0C57P01\0M\0\0"), false, &r), 0);
    assert_true(rh_pg_report_is_fatal(&r));
    rh_assert_span(r.message, "");
    assert_null(r.detail.data);

    assert_int_equal(rh_pg_report_decode(BODY("\0"), false, &r), 0);
    assert_null(r.severity.data);
    assert_false(rh_pg_report_is_fatal(&r));
    assert_int_equal(rh_pg_report_decode(BODY("P99999999999\0\0"), false, &r), 0);
    assert_int_equal(r.position, 0);
}

static void test_error_fields_that_are_cut(void **state)
{
    (void) state;
    struct rh_pg_report r;
    assert_int_equal(rh_pg_report_decode(BODY("VERROR\0Mlong mess"), false, &r), -1);
    assert_int_equal(rh_pg_report_decode(BODY("VERROR\0Mlong mess"), true, &r), 0);
    rh_assert_span(r.message, "long mess");
    rh_assert_span(r.severity, "ERROR");
    assert_int_equal(rh_pg_report_decode(BODY("VERROR\0M"), true, &r), 0);
    rh_assert_span(r.message, "");
    assert_int_equal(rh_pg_report_decode(BODY(""), false, &r), -1);
    assert_int_equal(rh_pg_report_decode(BODY(""), true, &r), 0);
    assert_int_equal(rh_pg_report_decode(BODY("VERROR\0\0x"), false, &r), -1);
}

static void test_small_bodies(void **state)
{
    (void) state;
    assert_int_equal(rh_pg_ready_decode(BODY("I")), 'I');
    assert_int_equal(rh_pg_ready_decode(BODY("T")), 'T');
    assert_int_equal(rh_pg_ready_decode(BODY("E")), 'E');
    assert_int_equal(rh_pg_ready_decode(BODY("X")), 0);
    assert_int_equal(rh_pg_ready_decode(BODY("")), 0);
    assert_int_equal(rh_pg_ready_decode(BODY("II")), 0);

    struct rh_span name;
    struct rh_span value;
    assert_int_equal(rh_pg_parameter_decode(BODY("TimeZone\0Europe/Rome\0"), &name, &value), 0);
    rh_assert_span(name, "TimeZone");
    rh_assert_span(value, "Europe/Rome");
    assert_int_equal(rh_pg_parameter_decode(BODY("a\0\0"), &name, &value), 0);
    assert_int_equal(value.len, 0);
    assert_int_equal(rh_pg_parameter_decode(BODY("a\0b"), &name, &value), -1);
    assert_int_equal(rh_pg_parameter_decode(BODY("a\0b\0c"), &name, &value), -1);
    assert_int_equal(rh_pg_parameter_decode(BODY(""), &name, &value), -1);

    uint32_t pid;
    struct rh_span key;
    assert_int_equal(rh_pg_key_decode(BODY("\0\0\x04\xd2wxyz"), &pid, &key), 0);
    assert_int_equal(pid, 1234);
    rh_assert_span(key, "wxyz");
    char longest[4 + 257] = {0};
    assert_int_equal(rh_pg_key_decode(rh_span(longest, 4 + 256), &pid, &key), 0);
    assert_int_equal(key.len, 256);
    assert_int_equal(rh_pg_key_decode(rh_span(longest, 4 + 257), &pid, &key), -1);
    assert_int_equal(rh_pg_key_decode(rh_span(longest, 7), &pid, &key), -1);
}

static void test_copy_and_notification(void **state)
{
    (void) state;
    struct rh_pg_copy copy;
    assert_int_equal(rh_pg_copy_decode(BODY("\x01\0\x02\0\x01\0\x01"), &copy), 0);
    assert_int_equal(copy.format, 1);
    assert_int_equal(copy.columns, 2);
    assert_int_equal(rh_pg_copy_decode(BODY("\0\0\0"), &copy), 0);
    assert_int_equal(rh_pg_copy_decode(BODY("\0\0"), &copy), -1);
    assert_int_equal(rh_pg_copy_decode(BODY("\x02\0\0"), &copy), -1);
    assert_int_equal(rh_pg_copy_decode(BODY("\0\0\0\0\0"), &copy), -1);

    struct rh_pg_notification n;
    assert_int_equal(rh_pg_notification_decode(BODY("\0\0\0\x07jobs\0go\0"), &n), 0);
    assert_int_equal(n.pid, 7);
    rh_assert_span(n.channel, "jobs");
    rh_assert_span(n.payload, "go");
    assert_int_equal(rh_pg_notification_decode(BODY("\0\0\0\x07jobs\0go"), &n), -1);
    assert_int_equal(rh_pg_notification_decode(BODY("\0\0\0"), &n), -1);
}

static void test_row(void **state)
{
    (void) state;
    struct rh_span values[2];
    struct rh_span row = BODY("\0\x03\0\0\0\x02hi\xff\xff\xff\xff\0\0\0\0");
    assert_int_equal(rh_pg_row_decode(row, values, 2), 3);
    rh_assert_span(values[0], "hi");
    assert_null(values[1].data);
    assert_int_equal(rh_pg_row_decode(BODY("\0\0"), values, 2), 0);
    for (size_t n = 0; n < row.len; n++) {
        assert_int_equal(rh_pg_row_decode(rh_span(row.data, n), values, 2), -1);
    }
    assert_int_equal(rh_pg_row_decode(BODY("\0\0x"), values, 2), -1);
    assert_int_equal(rh_pg_row_decode(BODY("\0\x01\0\0\0\x03hi"), values, 2), -1);
}

/* Every prefix, in a heap block of its own so that a read past it is seen. */
static void test_prefixes_are_safe(void **state)
{
    (void) state;
    static const char whole[] = "VERROR\0C42P01\0Mno table 5\0P1\0\0";
    for (size_t n = 0; n < sizeof whole; n++) {
        char *body = malloc(n + (n == 0));
        memcpy(body, whole, n);
        struct rh_span s = rh_span(body, n);
        struct rh_pg_report report;
        struct rh_pg_tag tag;
        struct rh_pg_copy copy;
        struct rh_pg_notification notification;
        struct rh_span a;
        struct rh_span b;
        uint32_t pid;
        assert_int_equal(rh_pg_report_decode(s, true, &report), 0);
        assert_int_equal(rh_pg_report_decode(s, false, &report), n == sizeof whole - 1 ? 0 : -1);
        rh_pg_tag_decode(s, &tag);
        rh_pg_copy_decode(s, &copy);
        rh_pg_notification_decode(s, &notification);
        rh_pg_parameter_decode(s, &a, &b);
        rh_pg_key_decode(s, &pid, &a);
        rh_pg_ready_decode(s);
        free(body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_error_fields),
        cmocka_unit_test(test_error_fields_that_are_cut),
        cmocka_unit_test(test_small_bodies),
        cmocka_unit_test(test_copy_and_notification),
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_prefixes_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
