#include "rh_test.h"

#include <string.h>

#include "diff/html_data.h"
#include "diff/html_query.h"
#include "diff/pair_stat.h"

static void check_json(const char *json, const char *wanted)
{
    struct rh_buf out;
    rh_buf_init(&out, 4096);
    rh_html_add_json(&out, rh_span_cstr(json));
    assert_string_equal(rh_buf_cstr(&out), wanted);
    rh_buf_release(&out);
}

/* Nothing ends the element, begins a comment or is another character for old readers of scripts. */
static void test_json_in_a_page(void **state)
{
    (void) state;
    check_json("", "");
    check_json("{\"a\":[1,null]}", "{\"a\":[1,null]}");
    check_json("\"</script><!-- ]]> &amp;\"",
               "\"\\u003c/script\\u003e\\u003c!-- ]]\\u003e \\u0026amp;\"");
    check_json("\"\xe2\x80\xa8x\xe2\x80\xa9\"", "\"\\u2028x\\u2029\"");
    check_json("\"\xe2\x80\xaa \xe2\x80\"", "\"\xe2\x80\xaa \xe2\x80\"");
    check_json("\xe2\x80", "\xe2\x80");
}

static void test_cut(void **state)
{
    (void) state;
    const char *text = "na\xc3\xafve";
    assert_int_equal(rh_html_cut(rh_span_cstr(text), 10).len, 6);
    assert_int_equal(rh_html_cut(rh_span_cstr(text), 6).len, 6);
    assert_int_equal(rh_html_cut(rh_span_cstr(text), 4).len, 4);
    assert_int_equal(rh_html_cut(rh_span_cstr(text), 3).len, 2);
    assert_int_equal(rh_html_cut(rh_span_cstr(text), 0).len, 0);
    assert_int_equal(rh_html_cut(rh_span_cstr("\xff\x80\x80"), 2).len, 0);
}

static struct rh_slowed_pair pair(uint32_t session, uint64_t ordinal, uint64_t base,
                                  uint64_t candidate)
{
    return (struct rh_slowed_pair){
        .session = session, .ordinal = ordinal, .base_ns = base, .candidate_ns = candidate};
}

/* Whatever the order in which the pairs come. */
static void test_slowed_most(void **state)
{
    (void) state;
    const struct rh_slowed_pair pairs[] = {
        pair(1, 1, 100, 90), pair(2, 5, 100, 300), pair(1, 9, 1000, 1200),
        pair(1, 2, 50, 250), pair(3, 1, 7, 7),     pair(1, 3, 400, 500),
    };
    enum { PAIRS = sizeof pairs / sizeof pairs[0] };
    for (size_t first = 0; first < PAIRS; first++) {
        struct rh_slowed_pair most = {0};
        for (size_t i = 0; i < PAIRS; i++) {
            rh_slowed_pair_take(&most, &pairs[(first + i) % PAIRS]);
        }
        assert_int_equal(most.session, 1);
        assert_int_equal(most.ordinal, 2);
    }
    struct rh_slowed_pair none = {0};
    rh_slowed_pair_take(&none, &pairs[0]);
    rh_slowed_pair_take(&none, &pairs[4]);
    assert_int_equal(none.ordinal, 0);
}

/* The histogram of ratios is the same from the list and from the sums. */
static void test_ratios(void **state)
{
    (void) state;
    static const struct {
        uint64_t base, candidate;
        int cell; /* from the middle */
    } some[] = {
        {1000, 1000, 0}, {1000, 2000, 8},        {2000, 1000, -8},     {1000, 1091, 1},
        {1000, 1040, 0}, {1000, 1000000000, 40}, {1000000000, 1, -40}, {0, 0, 0},
    };
    enum { SOME = sizeof some / sizeof some[0], ROUNDS = 80 };
    struct rh_pair_stat few = {0};
    struct rh_pair_stat many = {0};
    struct rh_pair_room room = {.bytes_max = 1 << 20};
    struct rh_pair_sums sums;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < SOME; i++) {
            struct rh_timed_pair p = {.base_ns =
                                          some[i].base & ((UINT64_C(1) << RH_SERVICE_BITS) - 1),
                                      .candidate_ns = some[i].candidate};
            rh_pair_stat_add(&many, &p, &room);
            if (round == 0) {
                rh_pair_stat_add(&few, &p, &room);
            }
        }
    }
    assert_non_null(few.list);
    assert_non_null(many.sums);
    uint32_t wanted[RH_RATIO_CELLS] = {0};
    for (size_t i = 0; i < SOME; i++) {
        wanted[RH_RATIO_CELLS / 2 + some[i].cell]++;
    }
    rh_pair_sums_make(&sums, &few, false);
    assert_memory_equal(sums.ratios, wanted, sizeof wanted);
    rh_pair_sums_release(&sums);
    rh_pair_sums_make(&sums, &many, false);
    for (int i = 0; i < RH_RATIO_CELLS; i++) {
        assert_int_equal(sums.ratios[i], ROUNDS * wanted[i]);
    }
    rh_pair_sums_release(&sums);
    rh_pair_stat_release(&few, &room);
    rh_pair_stat_release(&many, &room);
    assert_int_equal(room.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_in_a_page),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_slowed_most),
        cmocka_unit_test(test_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
