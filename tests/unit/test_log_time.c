/* formats/log_time */
#include "rh_test.h"

#include "common/clock.h"
#include "formats/log_time.h"

static struct rh_log_stamp parse(struct rh_log_clock *c, const char *text)
{
    struct rh_log_stamp stamp;
    if (!rh_log_stamp_parse(c, rh_span_cstr(text), &stamp)) {
        fail_msg("no stamp: %s", text);
    }
    return stamp;
}

static void assert_utc(struct rh_log_clock *c, const char *text, const char *want)
{
    char got[RH_TIME_TEXT_SIZE];
    rh_time_format(rh_log_clock_utc(c, parse(c, text), 0, RH_LOG_OFFSET_UNKNOWN), got);
    assert_string_equal(got, want);
}

static void test_zones_by_name_and_number(void **state)
{
    (void) state;
    struct rh_log_clock c;
    rh_log_clock_init(&c);
    assert_utc(&c, "2017-07-31 13:36:42.585 CEST", "2017-07-31T11:36:42.585000Z");
    assert_utc(&c, "2017-07-31 13:36:42.585 UTC", "2017-07-31T13:36:42.585000Z");
    assert_utc(&c, "2017-07-31 13:36:42.585 -03", "2017-07-31T16:36:42.585000Z");
    assert_utc(&c, "2017-07-31 13:36:42.585 +0330", "2017-07-31T10:06:42.585000Z");
    assert_utc(&c, "2017-07-31 13:36:42.585 +05:45", "2017-07-31T07:51:42.585000Z");
    /* The name of tzdata's Etc/GMT+3, whose sign is POSIX's. */
    assert_utc(&c, "2017-07-31 13:36:42.585 GMT+3", "2017-07-31T16:36:42.585000Z");
    assert_utc(&c, "2017-07-31 13:36:42 ", "2017-07-31T13:36:42.000000Z");
    assert_utc(&c, "2017-07-31 13:36:42.123456", "2017-07-31T13:36:42.123456Z");
    assert_utc(&c, "2024-02-29 23:59:59.999 UTC", "2024-02-29T23:59:59.999000Z");
}

static void test_refuses_what_is_no_stamp(void **state)
{
    (void) state;
    static const char *const bad[] = {
        "",
        "2017-07-31 13:36:4",
        "2017-13-31 13:36:42 UTC",
        "2017-00-31 13:36:42 UTC",
        "2017-07-32 13:36:42 UTC",
        "2017-07-31 24:36:42 UTC",
        "2017-07-31 13:60:42 UTC",
        "2017-07-31 13:36:61 UTC",
        "2017-07-31 13:36:42. UTC",
        "2017/07/31 13:36:42 UTC",
        "x017-07-31 13:36:42 UTC",
        "8017-07-31 13:36:42 UTC",
        "0017-07-31 13:36:42 UTC",
        "2017-07-31 13:36:42 a very long name of a zone",
        "2017-07-31 13:36:42 U,C",
    };
    struct rh_log_clock c;
    struct rh_log_stamp stamp;
    rh_log_clock_init(&c);
    (void) parse(&c, "2017-07-31 13:36:42 UTC");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (rh_log_stamp_parse(&c, rh_span_cstr(bad[i]), &stamp)) {
            fail_msg("taken for a stamp: %s", bad[i]);
        }
    }
}

static void test_session_id_tells_the_offset(void **state)
{
    (void) state;
    struct rh_log_clock c;
    rh_log_clock_init(&c);
    /* IST is India, Israel or Ireland. */
    struct rh_log_stamp start = parse(&c, "2026-01-01 05:30:00 IST");
    int64_t epoch = 1767225600; /* 2026-01-01 00:00:00 UTC */
    assert_int_equal(rh_log_clock_learn(&c, start, epoch), 19800);
    assert_utc(&c, "2026-01-01 06:30:00.250 IST", "2026-01-01T01:00:00.250000Z");
    /* Nonsense is not learned. */
    assert_int_equal(rh_log_clock_learn(&c, start, epoch + 7), RH_LOG_OFFSET_UNKNOWN);
    assert_int_equal(rh_log_clock_learn(&c, start, epoch - 86400), RH_LOG_OFFSET_UNKNOWN);
    assert_utc(&c, "2026-01-01 06:30:00.250 IST", "2026-01-01T01:00:00.250000Z");
}

static void test_summer_time_begins_and_ends(void **state)
{
    (void) state;
    struct rh_log_clock c;
    rh_log_clock_init(&c);
    assert_utc(&c, "2026-03-29 01:59:59.000 CET", "2026-03-29T00:59:59.000000Z");
    assert_utc(&c, "2026-03-29 03:00:00.000 CEST", "2026-03-29T01:00:00.000000Z");
    assert_utc(&c, "2026-10-25 02:59:59.000 CEST", "2026-10-25T00:59:59.000000Z");
    assert_utc(&c, "2026-10-25 02:00:00.000 CET", "2026-10-25T01:00:00.000000Z");

    /* With names that no table knows: a session of winter goes on in summer. */
    rh_log_clock_init(&c);
    struct rh_log_stamp start = parse(&c, "2026-03-08 00:00:00 XWT");
    int32_t offset = rh_log_clock_learn(&c, start, 1772953200); /* 2026-03-08 07:00:00 UTC */
    assert_int_equal(offset, -7 * 3600);
    int64_t before = rh_log_clock_utc(&c, parse(&c, "2026-03-08 01:59:59 XWT"), start.zone, offset);
    int64_t after = rh_log_clock_utc(&c, parse(&c, "2026-03-08 03:00:00 XST"), start.zone, offset);
    assert_int_equal(after - before, RH_NS_PER_SEC);

    /* Australia once called its zones EST and EDT. */
    rh_log_clock_init(&c);
    start = parse(&c, "2010-04-04 00:00:00 EDT");
    offset = rh_log_clock_learn(&c, start, 1270299600); /* 2010-04-03 13:00:00 UTC */
    assert_int_equal(offset, 11 * 3600);
    before = rh_log_clock_utc(&c, parse(&c, "2010-04-04 02:59:59 EDT"), start.zone, offset);
    after = rh_log_clock_utc(&c, parse(&c, "2010-04-04 02:00:00 EST"), start.zone, offset);
    assert_int_equal(after - before, RH_NS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zones_by_name_and_number),
        cmocka_unit_test(test_refuses_what_is_no_stamp),
        cmocka_unit_test(test_session_id_tells_the_offset),
        cmocka_unit_test(test_summer_time_begins_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
