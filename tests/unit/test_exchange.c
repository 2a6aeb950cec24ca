#include "rh_test.h"

#include <stdio.h>

#include "replay/exchange.h"

static const struct rh_pg_event nothing = {0};

static struct rh_pg_event event(char type, const char *body, size_t n)
{
    return (struct rh_pg_event){.type = type, .length = (uint32_t) n, .body = rh_span(body, n)};
}

#define EVENT(type, body) event(type, body, sizeof(body) - 1)
#define TAG(text) event('C', text, sizeof(text))
#define ERROR(severity, state) EVENT('E', "S" severity "\0V" severity "\0C" state "\0Mtrouble\0\0")

static enum rh_exchange_turn take(struct rh_exchange *x, struct rh_pg_event ev, int64_t now_ns)
{
    return rh_exchange_take(x, &ev, now_ns);
}

static void test_query(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    assert_int_equal(take(&x, EVENT('N', "..."), 5), RH_EXCHANGE_GOES_ON);
    assert_int_equal(x.outcome.first_ns, RH_TIME_UNKNOWN); /* a notice is no answer */
    assert_int_equal(take(&x, EVENT('T', ""), 10), RH_EXCHANGE_GOES_ON);
    struct rh_pg_event rows = nothing;
    rows.rows = 3;
    assert_int_equal(take(&x, rows, 11), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, TAG("SELECT 3"), 12), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, EVENT('Z', "T"), 13), RH_EXCHANGE_ENDED);
    assert_int_equal(x.outcome.first_ns, 10);
    assert_int_equal(x.outcome.done_ns, 13);
    assert_int_equal(x.outcome.rows, 3);
    assert_int_equal(x.outcome.results, 1);
    assert_int_equal(x.outcome.sqlstate, 0);
    assert_int_equal(x.outcome.tx_status, 'T');
    rh_assert_span(x.outcome.tag, "SELECT");
    assert_false(x.is_active);
}

static void test_several_commands(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    take(&x, TAG("INSERT 0 2"), 1);
    take(&x, TAG("CREATE TABLE"), 2);
    take(&x, TAG("UPDATE 5"), 3);
    assert_int_equal(take(&x, EVENT('Z', "I"), 4), RH_EXCHANGE_ENDED);
    assert_int_equal(x.outcome.rows, 7);
    assert_int_equal(x.outcome.results, 3);
    rh_assert_span(x.outcome.tag, "UPDATE");
}

static void test_no_count_is_unknown(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    take(&x, TAG("CREATE TABLE"), 2);
    take(&x, EVENT('Z', "I"), 4);
    assert_int_equal(x.outcome.rows, RH_COUNT_UNKNOWN);
}

static void test_error(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    struct rh_pg_event partly = nothing;
    partly.rows = 10; /* rows came before the error */
    take(&x, partly, 1);
    assert_int_equal(take(&x, ERROR("ERROR", "22012"), 2), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, EVENT('Z', "E"), 3), RH_EXCHANGE_ENDED);
    assert_int_equal(x.outcome.sqlstate, rh_sqlstate_pack(RH_SPAN_LITERAL("22012")));
    assert_int_equal(x.outcome.rows, 10);
    assert_int_equal(x.outcome.tx_status, 'E');
    assert_false(x.needs_sync);
}

static void test_execution_without_sync(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_EXECUTION);
    assert_int_equal(take(&x, EVENT('3', ""), 1), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, EVENT('1', ""), 1), RH_EXCHANGE_GOES_ON);
    assert_true(x.parse_done);
    assert_int_equal(take(&x, EVENT('2', ""), 1), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, TAG("INSERT 0 1"), 2), RH_EXCHANGE_ENDED);
    assert_int_equal(x.outcome.tx_status, 0);

    rh_exchange_begin(&x, RH_EXCHANGE_EXECUTION);
    assert_false(x.parse_done);
    assert_int_equal(take(&x, ERROR("ERROR", "23505"), 3), RH_EXCHANGE_ENDED);
    assert_true(x.needs_sync);

    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    assert_int_equal(take(&x, EVENT('Z', "I"), 4), RH_EXCHANGE_ENDED);
}

static void test_parse_without_sync(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_PARSING);
    assert_int_equal(take(&x, EVENT('3', ""), 1), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, EVENT('1', ""), 2), RH_EXCHANGE_ENDED);
    assert_true(x.parse_done);
    assert_false(x.needs_sync);

    rh_exchange_begin(&x, RH_EXCHANGE_PARSING);
    assert_int_equal(take(&x, ERROR("ERROR", "42P01"), 3), RH_EXCHANGE_ENDED);
    assert_true(x.needs_sync);
    assert_false(x.parse_done);
}

static void test_fatal(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    assert_int_equal(take(&x, ERROR("FATAL", "57P01"), 1), RH_EXCHANGE_FATAL);
    assert_string_equal(x.fatal, "57P01");

    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    assert_int_equal(take(&x, ERROR("FATAL", "57P02"), 9), RH_EXCHANGE_FATAL);
    assert_false(x.is_active);
    assert_int_equal(x.outcome.done_ns, 9);
    assert_int_equal(x.outcome.sqlstate, rh_sqlstate_pack(RH_SPAN_LITERAL("57P02")));
}

static void test_copy(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    assert_int_equal(take(&x, EVENT('G', "\0\0\1\0\0"), 1), RH_EXCHANGE_COPY_IN);
    assert_true(x.copy_failed);
    take(&x, ERROR("ERROR", "57014"), 2);
    assert_int_equal(take(&x, EVENT('Z', "I"), 3), RH_EXCHANGE_ENDED);

    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    assert_false(x.copy_failed);
    take(&x, EVENT('H', "\0\0\1\0\0"), 1);
    struct rh_pg_event chunks = nothing;
    chunks.copies = 4;
    take(&x, chunks, 2);
    take(&x, EVENT('c', ""), 2);
    take(&x, TAG("COPY 4"), 3);
    assert_int_equal(take(&x, EVENT('Z', "I"), 4), RH_EXCHANGE_ENDED);
    assert_int_equal(x.outcome.rows, 4);
}

static void test_what_cannot_be(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    assert_int_equal(take(&x, EVENT('Z', "I"), 1), RH_EXCHANGE_BAD);
    assert_int_equal(take(&x, TAG("SELECT 1"), 1), RH_EXCHANGE_BAD);
    struct rh_pg_event rows = nothing;
    rows.rows = 1;
    assert_int_equal(take(&x, rows, 1), RH_EXCHANGE_BAD);
    assert_int_equal(take(&x, EVENT('S', "a\0b\0"), 1), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, EVENT('A', "...."), 1), RH_EXCHANGE_GOES_ON);
    assert_int_equal(take(&x, ERROR("ERROR", "XX000"), 1), RH_EXCHANGE_GOES_ON);
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    assert_int_equal(take(&x, EVENT('W', "\0\0\0"), 1), RH_EXCHANGE_BAD);
    x.is_active = false;
    rh_exchange_begin(&x, RH_EXCHANGE_EXECUTION);
    assert_int_equal(take(&x, EVENT('Z', "I"), 1), RH_EXCHANGE_BAD);
}

static void test_long_tag_is_cut(void **state)
{
    (void) state;
    struct rh_exchange x = {0};
    char tag[200];
    memset(tag, 'A', sizeof tag);
    tag[sizeof tag - 1] = '\0';
    rh_exchange_begin(&x, RH_EXCHANGE_READY);
    take(&x, event('C', tag, sizeof tag), 1);
    take(&x, EVENT('Z', "I"), 2);
    assert_int_equal(x.outcome.tag.len, RH_EXCHANGE_TAG_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_several_commands),
        cmocka_unit_test(test_no_count_is_unknown),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_execution_without_sync),
        cmocka_unit_test(test_parse_without_sync),
        cmocka_unit_test(test_fatal),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_what_cannot_be),
        cmocka_unit_test(test_long_tag_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
