/* formats/csvlog */
#include "rh_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/csvlog.h"

/* A record of 23 columns with this message field (quotes included). */
static size_t make_record(char *out, size_t cap, const char *message_field, const char *end)
{
    return (size_t) snprintf(
        out, cap,
        "2026-01-01 00:00:00.001 UTC,\"u\",\"d\",1,\"1.1.1.1:1\",65.1,1,\"SELECT\",2026-01-01 "
        "00:00:00 UTC,3/1,0,LOG,00000,%s,,,,,,,,,\"app\"%s",
        message_field, end);
}

static void assert_split(char *text, size_t n, bool at_end, ptrdiff_t want,
                         struct rh_csvlog_row *row)
{
    ptrdiff_t got = rh_csvlog_split(text, n, at_end, row);
    if (got != want) {
        print_error("%.*s\n", (int) n, text);
    }
    assert_int_equal(got, want);
}

static void test_fields_and_line_ends(void **state)
{
    (void) state;
    char text[1000];
    struct rh_csvlog_row row;
    size_t n = make_record(text, sizeof text, "\"statement: SELECT \"\"a\"\",\n'b'\"", "\n");
    assert_split(text, n, false, (ptrdiff_t) n, &row);
    assert_int_equal(row.columns, 23);
    assert_int_equal(row.lines, 2);
    assert_false(row.crlf);
    rh_assert_span(rh_csvlog_raw(&row, RH_CSVLOG_TIME), "2026-01-01 00:00:00.001 UTC");
    rh_assert_span(rh_csvlog_text(&row, RH_CSVLOG_USER), "u");
    rh_assert_span(rh_csvlog_text(&row, RH_CSVLOG_MESSAGE), "statement: SELECT \"a\",\n'b'");
    rh_assert_span(rh_csvlog_text(&row, RH_CSVLOG_APPLICATION), "app");
    assert_null(rh_csvlog_text(&row, RH_CSVLOG_DETAIL).data);
    assert_null(rh_csvlog_text(&row, RH_CSVLOG_BACKEND_TYPE).data);

    /* CR LF: the line ends within the text were made CR LF, too; a lone CR stays. */
    n = make_record(text, sizeof text, "\"a\r\nb\rc\"\"\"", "\r\n");
    assert_split(text, n, false, (ptrdiff_t) n, &row);
    assert_true(row.crlf);
    rh_assert_span(rh_csvlog_text(&row, RH_CSVLOG_MESSAGE), "a\nb\rc\"");
    rh_assert_span(rh_csvlog_text(&row, RH_CSVLOG_APPLICATION), "app");

    /* Empty in quotes is a value, empty without is none. */
    n = make_record(text, sizeof text, "\"\"", "\n");
    assert_split(text, n, false, (ptrdiff_t) n, &row);
    assert_non_null(rh_csvlog_text(&row, RH_CSVLOG_MESSAGE).data);
    assert_int_equal(rh_csvlog_text(&row, RH_CSVLOG_MESSAGE).len, 0);
}

static void test_needs_more_until_the_end(void **state)
{
    (void) state;
    char text[1000];
    struct rh_csvlog_row row;
    size_t n = make_record(text, sizeof text, "\"a \"\"b\"\" c\"", "\r\n");
    for (size_t cut = 0; cut < n; cut++) {
        assert_split(text, cut, false, 0, &row);
    }
    /* Without its line end it is whole, if the input ends there. */
    assert_split(text, n - 2, true, (ptrdiff_t) n - 2, &row);
    assert_split(text, n - 1, true, (ptrdiff_t) n - 1, &row);
    rh_assert_span(rh_csvlog_text(&row, RH_CSVLOG_APPLICATION), "app");
    /* Cut within the message it is not. */
    assert_split(text, 130, true, -1, &row);
    assert_int_equal(row.fault, RH_CSVLOG_TRUNCATED);
}

static void assert_fault(char *text, size_t n, enum rh_csvlog_fault want)
{
    struct rh_csvlog_row row;
    assert_split(text, n, true, -1, &row);
    assert_int_equal(row.fault, want);
    assert_true(strlen(rh_csvlog_fault_text(row.fault)) > 3);
}

static void test_faults(void **state)
{
    (void) state;
    char text[1000];
    size_t n = make_record(text, sizeof text, "\"SELECT \"bad\" quote\"", "\n");
    assert_fault(text, n, RH_CSVLOG_QUOTING);
    n = make_record(text, sizeof text, "SELECT bad\" quote", "\n");
    assert_fault(text, n, RH_CSVLOG_QUOTING);
    n = make_record(text, sizeof text, "\"a\" ", "\n");
    assert_fault(text, n, RH_CSVLOG_QUOTING);
    n = make_record(text, sizeof text, "\"a\"\r", "\n");
    assert_fault(text, n, RH_CSVLOG_QUOTING);
    n = make_record(text, sizeof text, "\"a_b\"", "\n");
    text[strcspn(text, "_")] = '\0';
    assert_fault(text, n, RH_CSVLOG_NUL);
    n = make_record(text, sizeof text, "\"a\"", ",,,,,,,\n");
    assert_fault(text, n, RH_CSVLOG_COLUMNS);
    n = make_record(text, sizeof text, "\"a\"", ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
    assert_fault(text, n, RH_CSVLOG_COLUMNS);
    n = (size_t) snprintf(text, sizeof text, "2026-01-01 00:00:00.001 UTC,a,b\n");
    assert_fault(text, n, RH_CSVLOG_COLUMNS);
    n = (size_t) snprintf(text, sizeof text, "pg_ctl: could not start the server\n");
    assert_fault(text, n, RH_CSVLOG_NO_STAMP);
}

/* Quotes, commas and line feeds at every place relative to the blocks of 64 bytes. */
static void test_every_alignment(void **state)
{
    (void) state;
    char message[700], text[2000];
    struct rh_csvlog_row row;
    for (size_t pad = 0; pad < 200; pad++) {
        memset(message, 'x', sizeof message);
        message[0] = '"';
        memcpy(message + 1 + pad, "a\"\"b,\n\"\"\"\"c\"", sizeof "a\"\"b,\n\"\"\"\"c\"");
        size_t n = make_record(text, sizeof text, message, "\n2026");
        assert_split(text, n, false, (ptrdiff_t) n - 4, &row);
        assert_int_equal(row.columns, 23);
        assert_int_equal(row.lines, 2);
        struct rh_span got = rh_csvlog_text(&row, RH_CSVLOG_MESSAGE);
        assert_int_equal(got.len, pad + strlen("a\"b,\n\"\"c"));
        assert_memory_equal(got.data + pad, "a\"b,\n\"\"c", strlen("a\"b,\n\"\"c"));
    }
}

/* The rule, said byte by byte. */
static ptrdiff_t split_slowly(const char *p, size_t n, uint32_t *columns)
{
    bool in = false, start = true;
    *columns = 1;
    for (size_t i = 0; i < n; i++) {
        if (in) {
            if (p[i] == '"' && i + 1 < n && p[i + 1] == '"') {
                i++;
            } else if (p[i] == '"') {
                in = false;
                if (i + 1 < n && p[i + 1] != ',' && p[i + 1] != '\n') {
                    return -1;
                }
            }
            continue;
        }
        if (p[i] == '"') {
            if (!start) {
                return -1;
            }
            in = true;
        } else if (p[i] == '\n') {
            return (ptrdiff_t) i + 1;
        }
        start = p[i] == ',';
        *columns += start;
    }
    return 0;
}

static void test_random_texts_as_byte_by_byte(void **state)
{
    (void) state;
    static const char alphabet[] = "\"\"\"\",,\nab";
    unsigned long seed = 12345;
    uint32_t whole = 0, bad = 0;
    for (int round = 0; round < 60000; round++) {
        char text[420] = "2026-01-01 00:00:00.001 UTC,,,,,,,,,,,,,,,,,,,,,";
        size_t n = strlen(text);
        size_t len = 1 + (size_t) round % 300;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            text[n++] = alphabet[(seed >> 33) % (sizeof alphabet - 1 + (round % 3 ? 8 : 0)) %
                                 (sizeof alphabet - 1)];
        }
        uint32_t columns;
        ptrdiff_t want = split_slowly(text, n, &columns);
        struct rh_csvlog_row row;
        ptrdiff_t got = rh_csvlog_split(text, n, false, &row);
        if (want > 0 && (columns < RH_CSVLOG_COLUMNS_MIN || columns > RH_CSVLOG_COLUMNS_MAX)) {
            want = -1;
        }
        if (columns > RH_CSVLOG_FIELDS_MAX) {
            continue;
        }
        if (got != want) {
            print_error("%zu: %.*s\n", n, (int) n, text);
        }
        assert_int_equal(got, want);
        if (got > 0) {
            assert_int_equal(row.columns, columns);
            whole++;
        }
        bad += got < 0;
    }
    assert_true(whole > 500);
    assert_true(bad > 500);
}

static void test_finds_the_next_start(void **state)
{
    (void) state;
    char record[1000], text[3000];
    bool sure;
    size_t len = make_record(record, sizeof record, "\"a\"", "\n");
    int n = snprintf(text, sizeof text, "garbage 2026-01-02 garbage ABRQ%s", record);
    assert_int_equal(rh_csvlog_find_start(text, (size_t) n, false, &sure), 31);
    assert_true(sure);
    /* A stamp within a text, as in a log that is logged, has no head behind it. */
    n = snprintf(text, sizeof text, "x 2026-01-01 00:00:00.000 UTC [1] LOG:  %s", record);
    assert_int_equal(rh_csvlog_find_start(text, (size_t) n, true, &sure), 40);
    assert_true(sure);
    n = snprintf(text, sizeof text, "x 2026-01-01 00:00:00.000 UTC,\"\"u\"\",\"\"d\"\",1,");
    assert_int_equal(rh_csvlog_find_start(text, (size_t) n, true, &sure), n);
    assert_false(sure);
    /* Cut short, it may be one, unless the input ends. */
    n = snprintf(text, sizeof text, "xx\n%.*s", 45, record);
    assert_int_equal(rh_csvlog_find_start(text, (size_t) n, false, &sure), 3);
    assert_false(sure);
    assert_int_equal(rh_csvlog_find_start(text, (size_t) n, true, &sure), n);
    /* With all fields quoted. */
    n = snprintf(text, sizeof text,
                 "..\"2026-01-01 00:00:00.001 UTC\",\"u\",\"d\",\"1\",\"[local]\","
                 "\"65.1\",\"1\",\"x\"");
    assert_int_equal(rh_csvlog_find_start(text, (size_t) n, true, &sure), 2);
    assert_true(sure);
    assert_true(len > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_and_line_ends),
        cmocka_unit_test(test_needs_more_until_the_end),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_every_alignment),
        cmocka_unit_test(test_random_texts_as_byte_by_byte),
        cmocka_unit_test(test_finds_the_next_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
