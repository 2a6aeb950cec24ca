/* What is sent to a server to be planned, from normalised texts; and what is not. */
#include "rh_test.h"

#include "replay/explain_sql.h"

static void check_made(const char *normalised, const char *wanted, uint32_t wanted_params)
{
    struct rh_buf out;
    struct rh_error err;
    uint32_t params;
    rh_buf_init(&out, 4096);
    assert_int_equal(rh_explain_sql_make(&out, rh_span_cstr(normalised), &params, &err), 0);
    assert_string_equal(rh_buf_cstr(&out), wanted);
    assert_int_equal(params, wanted_params);
    rh_buf_release(&out);
}

static void check_refused(const char *text, size_t len, const char *wanted)
{
    struct rh_buf out;
    struct rh_error err;
    uint32_t params;
    rh_buf_init(&out, 64);
    assert_int_equal(rh_explain_sql_make(&out, rh_span(text, len), &params, &err), -1);
    assert_non_null(strstr(err.text, wanted));
    rh_buf_release(&out);
}

#define REFUSED(text, wanted) check_refused((text), sizeof(text) - 1, (wanted))

static void test_constants_become_parameters(void **state)
{
    (void) state;
    check_made("select 1", "select 1", 0); /* ORDER BY 1 keeps its number, for example */
    check_made("select a from t where b = ? and c > ?", "select a from t where b = $1 and c > $2",
               2);
    check_made("select ?::date", "select $1::date", 1);
    check_made("select a from t where b in (?+) or c = array[?+]",
               "select a from t where b in ($1) or c = array[$2]", 2);
    check_made("select a ?? ? and b ??| ?", "select a ? $1 and b ?| $2", 2);
    check_made("select \"odd?;name\", \"a\"\"?\" from t where x = ?",
               "select \"odd?;name\", \"a\"\"?\" from t where x = $1", 1);
    check_made("(select a from t) union select ?", "(select a from t) union select $1", 1);
    check_made("WITH x as (select ?) delete from x", "WITH x as (select $1) delete from x", 1);
    check_made("select ? + ?", "select $1 + $2", 2);
}

static void test_what_is_not_explained(void **state)
{
    (void) state;
    REFUSED("begin", "no statement of a kind");
    REFUSED("vacuum t", "no statement of a kind");
    REFUSED("selection", "no statement of a kind");
    REFUSED("", "no statement of a kind");
    REFUSED("(((", "no statement of a kind");
    REFUSED("explain analyze delete from t", "no statement of a kind");
    REFUSED("select ?; drop table t", "several commands");
    /* What was made up to hide a command. */
    REFUSED("select '\"'; drop table t; --\"", "has a string or a comment");
    REFUSED("select $$\"$$; drop table t; --\"", "has a string or a comment");
    REFUSED("select 1 --\"\n; drop table t; --\"", "has a string or a comment");
    REFUSED("select 1 /*\"*/; drop table t; --\"", "has a string or a comment");
    REFUSED("select 1\0", "has a string or a comment");
    REFUSED("select \"unclosed ; , ?, and so on until it is more than fits the buffer of the test",
            "too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_become_parameters),
        cmocka_unit_test(test_what_is_not_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
