/* common/clock */
#include "rh_test.h"

#include <stdlib.h>
#include <time.h>

#include "common/clock.h"

static void test_days_agree_with_the_c_library(void **state)
{
    (void) state;
    /* Every day of 800 years, counted on. */
    int64_t days = rh_civil_to_days(1600, 1, 1);
    for (int year = 1600; year < 2400; year++) {
        for (int month = 1; month <= 12; month++) {
            struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = 1};
            assert_int_equal(timegm(&tm) / 86400, rh_civil_to_days(year, month, 1));
            tm.tm_mon++;
            int64_t next = timegm(&tm) / 86400;
            for (int day = 1; days < next; day++) {
                assert_int_equal(rh_civil_to_days(year, month, day), days);
                days++;
            }
        }
    }
}

static void test_sums_end_at_the_limits(void **state)
{
    (void) state;
    assert_int_equal(rh_time_add(2, -5), -3);
    assert_int_equal(rh_time_sub(2, 5), -3);
    assert_int_equal(rh_time_add(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(rh_time_add(INT64_MIN, -1), -INT64_MAX);
    assert_int_equal(rh_time_add(INT64_MIN, 0), INT64_MIN);
    assert_int_equal(rh_time_sub(INT64_MAX, -1), INT64_MAX);
    assert_int_equal(rh_time_sub(INT64_MIN, 1), -INT64_MAX);
    assert_int_equal(rh_time_sub(0, INT64_MIN), INT64_MAX);
    assert_int_equal(rh_time_sub(INT64_MIN, INT64_MIN), 0);
}

static void test_format(void **state)
{
    (void) state;
    char text[RH_TIME_TEXT_SIZE];
    assert_string_equal(rh_time_format(0, text), "1970-01-01T00:00:00.000000Z");
    assert_string_equal(rh_time_format(-1, text), "1969-12-31T23:59:59.999999Z");
    assert_string_equal(rh_time_format(INT64_C(1769864709123456789), text),
                        "2026-01-31T13:05:09.123456Z");
    assert_string_equal(rh_time_format(INT64_C(951782400) * RH_NS_PER_SEC, text),
                        "2000-02-29T00:00:00.000000Z");
    assert_string_equal(rh_time_format(INT64_MAX, text), "2262-04-11T23:47:16.854775Z");
    assert_string_equal(rh_time_format(INT64_MIN, text), "1677-09-21T00:12:43.145224Z");
    for (int64_t t = -RH_NS_PER_SEC * 86400 * 400; t < RH_NS_PER_SEC * 86400 * 800;
         t += RH_NS_PER_SEC * 86000) {
        time_t seconds = t / RH_NS_PER_SEC;
        struct tm tm;
        char want[RH_TIME_TEXT_SIZE];
        strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.000000Z", gmtime_r(&seconds, &tm));
        assert_string_equal(rh_time_format(t, text), want);
    }
}

static void check_parse(const char *text, int64_t want_ns)
{
    int64_t got = 0;
    struct rh_error err = {0};
    if (rh_time_parse(text, &got, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    if (got != want_ns) {
        fail_msg("%s: %lld instead of %lld", text, (long long) got, (long long) want_ns);
    }
}

static void test_parse_with_zones(void **state)
{
    (void) state;
    const int64_t t = INT64_C(1769864709) * RH_NS_PER_SEC;
    check_parse("2026-01-31 13:05:09Z", t);
    check_parse("2026-01-31T13:05:09z", t);
    check_parse("2026-01-31 13:05:09 UTC", t);
    check_parse("2026-01-31 13:05:09.5 GMT", t + RH_NS_PER_SEC / 2);
    check_parse("2026-01-31 15:05:09+02", t);
    check_parse("2026-01-31 15:05:09 +0200", t);
    check_parse("2026-01-31T18:35:09.000000001+05:30", t + 1);
    check_parse("2026-01-31 05:05:09-08", t);
    check_parse("2026-01-31 13:05Z", t - 9 * RH_NS_PER_SEC);
    check_parse("2026-01-31Z", t - (INT64_C(13) * 3600 + 5 * 60 + 9) * RH_NS_PER_SEC);
    check_parse("2026-01-31 13:05:09.1234567899Z", t + 123456789);
    check_parse("@1735689600.5", INT64_C(1735689600500000000));
    check_parse("@0", 0);
    check_parse("@-1.5", -1500000000);
    check_parse("2024-02-29Z", rh_civil_to_days(2024, 2, 29) * 86400 * RH_NS_PER_SEC);
}

static void test_parse_local_time(void **state)
{
    (void) state;
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    check_parse("2026-01-31 14:05:09", INT64_C(1769864709) * RH_NS_PER_SEC);
    check_parse("2026-07-01 02:00", INT64_C(1782864000) * RH_NS_PER_SEC);
    check_parse("2026-07-01", INT64_C(1782856800) * RH_NS_PER_SEC);
    setenv("TZ", "UTC", 1);
    tzset();
}

static void test_parse_refuses(void **state)
{
    (void) state;
    static const char *const bad[] = {
        "",
        "yesterday",
        "2026",
        "2026-13-01",
        "2026-00-01",
        "2026-02-29",
        "1900-02-29Z",
        "2026-01-32",
        "2026-01-31 24:00",
        "2026-01-31 13:60",
        "2026-01-31 13:05:60",
        "2026-01-31 13",
        "2026-01-31 13:05:09.",
        "2026-01-31 13:05:09 CET",
        "2026-01-31 13:05:09+",
        "2026-01-31 13:05:09+2",
        "2026-01-31 13:05:09+16",
        "2026-01-31 13:05:09+02:60",
        "2026-01-31 13:05:09+02:",
        "2026-01-31 13:05:09Zx",
        "2026-1-31",
        "1677-01-01Z",
        "2262-01-01Z",
        "9999-01-01Z",
        "@",
        "@x",
        "@1.",
        "@1x",
        "@9999999999999999999999",
        "@-",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t got;
        struct rh_error err = {0};
        if (rh_time_parse(bad[i], &got, &err) != -1) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
        assert_int_equal(err.code, RH_ERR_USAGE);
    }
}

static void test_clocks_run(void **state)
{
    (void) state;
    int64_t before = rh_clock_mono_ns();
    assert_true(rh_clock_mono_ns() >= before);
    /* time() may be a tick behind. */
    int64_t earliest_s = time(NULL);
    int64_t wall_s = rh_clock_wall_ns() / RH_NS_PER_SEC;
    int64_t latest_s = time(NULL) + 1;
    assert_true(wall_s >= earliest_s && wall_s <= latest_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_days_agree_with_the_c_library),
        cmocka_unit_test(test_sums_end_at_the_limits),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_parse_with_zones),
        cmocka_unit_test(test_parse_local_time),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
