#include "rh_test.h"

#include <math.h>

#include "diff/human.h"

static void test_durations(void **state)
{
    (void) state;
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0, "0 ns"},          {1, "1 ns"},
        {999, "999 ns"},      {999.6, "1.00 us"},
        {1000, "1.00 us"},    {9994, "9.99 us"},
        {9996, "10.0 us"},    {99960, "100 us"},
        {999400, "999 us"},   {999600, "1.00 ms"},
        {2.1e6, "2.10 ms"},   {31e6, "31.0 ms"},
        {999.6e6, "1.00 s"},  {160.1e9, "160 s"},
        {999.4e9, "999 s"},   {999.6e9, "16.7 min"},
        {1800e9, "30.0 min"}, {5930e9, "98.8 min"},
        {7200e9, "2.00 h"},   {3.6e17, "100000 h"},
        {-2.1e6, "-2.10 ms"}, {-999.6e9, "-16.7 min"},
    };
    char text[RH_HUMAN_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(rh_human_duration(cases[i].ns, text), cases[i].text);
    }
    assert_string_equal(rh_human_duration(NAN, text), "-");
    assert_string_equal(rh_human_duration_signed(NAN, text), "-");
    assert_string_equal(rh_human_duration_signed(2.1e6, text), "+2.10 ms");
    assert_string_equal(rh_human_duration_signed(-2.1e6, text), "-2.10 ms");
}

static void test_numbers(void **state)
{
    (void) state;
    char text[RH_HUMAN_SIZE];
    assert_string_equal(rh_human_count(0, text), "0");
    assert_string_equal(rh_human_count(999, text), "999");
    assert_string_equal(rh_human_count(1000, text), "1,000");
    assert_string_equal(rh_human_count(1204331, text), "1,204,331");
    assert_string_equal(rh_human_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
    assert_string_equal(rh_human_ratio(2.584, text), "2.58x");
    assert_string_equal(rh_human_ratio(1234.5, text), "1234x");
    assert_string_equal(rh_human_ratio(NAN, text), "-");
    assert_string_equal(rh_human_share(1, 0, text), "-");
    assert_string_equal(rh_human_share(3, 3, text), "100.00 %");
    assert_string_equal(rh_human_share(99999999, 100000000, text), "99.99 %");
    assert_string_equal(rh_human_share(1, 3, text), "33.33 %");
}

static void check_text(const char *text, size_t len, unsigned columns, const char *want)
{
    struct rh_buf out;
    rh_buf_init(&out, 4096);
    rh_buf_add_cstr(&out, " >");
    rh_human_text(&out, rh_span(text, len), columns);
    rh_assert_span(rh_span(out.data + 2, out.len - 2), want);
    rh_buf_release(&out);
}

static void test_text(void **state)
{
    (void) state;
    check_text("", 0, 10, "");
    check_text("select 1", 8, 8, "select 1");
    check_text("select 1", 8, 7, "sele...");
    check_text("  a\n\t b  ", 9, 10, "a b");
    check_text("abc", 3, 3, "abc");
    check_text("abcd", 4, 3, "...");
    /* Nothing reaches the terminal that could command it. */
    check_text("a\033[2Jb\x7f\0c", 9, 20, "a?[2Jb??c");
    check_text("\xc2\x9b"
               "1m",
               4, 20, "?1m");
    check_text("a\xe2\x80\xae"
               "b",
               5, 20, "a?b");
    check_text("\xff\xc3+", 3, 20, "??+");
    check_text("\xc0\xaf\xed\xa0\x80", 5, 20, "?????");
    check_text("na\xc3\xafve", 6, 5, "na\xc3\xafve");
    check_text("na\xc3\xafve x", 8, 6, "na\xc3\xaf...");
    /* Two columns each: one does not fit beside "...". */
    check_text("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 9, 6,
               "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
    check_text("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 9, 5, "\xe6\x97\xa5...");
    check_text("ab\xe6\x97", 4, 20, "ab??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
