/* diff/error_test: errors that come by chance count when there are more than chance gives. */
#include "rh_test.h"

#include <math.h>

#include "diff/gates.h"
#include "diff_fixture.h"

enum { COUNT = 300 };

static struct fx_statement sides[RH_SIDES][COUNT];

static void make_sides(void)
{
    for (int i = 0; i < COUNT; i++) {
        for (int side = 0; side < RH_SIDES; side++) {
            sides[side][i] = (struct fx_statement){.session = 1,
                                                   .ordinal = (uint64_t) i + 1,
                                                   .start_us = i * 1000,
                                                   .service_us = 100,
                                                   .sql = i < 100 ? "select a" : "select b"};
        }
    }
}

static void fail_from(enum rh_side side, int from, int count, const char *state)
{
    for (int i = from; i < from + count; i++) {
        sides[side][i].sqlstate = state;
    }
}

static const struct rh_error_result *error_of(const struct rh_result *r, const char *state)
{
    for (uint32_t i = 0; i < r->error_count; i++) {
        if (r->errors[i].group->sqlstate == rh_sqlstate_pack(rh_span_cstr(state))) {
            return &r->errors[i];
        }
    }
    fail_msg("no %s", state);
    return NULL;
}

static void compare(struct rh_comparison *cmp, struct rh_result *r, bool paired)
{
    struct fx_file base = fx_run("base.run", 2, sides[RH_BASE], COUNT);
    struct fx_file candidate = fx_run("candidate.run", 3, sides[RH_CANDIDATE], COUNT);
    candidate.trace = paired ? 1 : 9;
    fx_compare(cmp, &base, &candidate, 0, 0);
    rh_result_make(r, cmp, NULL);
}

static void check_new_errors(const struct rh_result *r, double count, uint64_t by_chance)
{
    struct rh_gate gate;
    struct rh_error err;
    assert_int_equal(rh_gate_parse(&gate, "new-errors=0", &err), 0);
    rh_gate_judge(&gate, r);
    assert_true(gate.actual == count);
    assert_int_equal(gate.state, count > 0 ? RH_GATE_FAIL : RH_GATE_PASS);
    assert_int_equal(r->new_by_chance, by_chance);
}

static void test_states(void **state)
{
    (void) state;
    static const char *const by_chance[] = {"40001", "40P01", "23505", "53300", "55P03", "57014"};
    static const char *const never[] = {"42703", "25P02", "22012", "XX000",
                                        "55000", "57P01", "P0001"};
    for (size_t i = 0; i < FX_COUNT(by_chance); i++) {
        assert_true(rh_sqlstate_comes_by_chance(rh_sqlstate_pack(rh_span_cstr(by_chance[i]))));
    }
    for (size_t i = 0; i < FX_COUNT(never); i++) {
        assert_false(rh_sqlstate_comes_by_chance(rh_sqlstate_pack(rh_span_cstr(never[i]))));
    }
    assert_false(rh_sqlstate_comes_by_chance(RH_SQLSTATE_UNKNOWN));
    assert_false(rh_sqlstate_comes_by_chance(0));
}

static void test_a_few_deadlocks(void **state)
{
    (void) state;
    struct rh_comparison cmp;
    struct rh_result r;
    make_sides();
    fail_from(RH_CANDIDATE, 10, 3, "40P01");
    compare(&cmp, &r, true);
    const struct rh_error_result *e = error_of(&r, "40P01");
    assert_int_equal(e->klass, RH_ERROR_NEW);
    assert_true(e->test.tested && e->test.by_chance);
    assert_true(fabs(e->test.p - 0.125) < 1e-12); /* 2^-3 */
    assert_true(e->test.difference.low < 0.03 && e->test.difference.high > 0.03);
    check_new_errors(&r, 0, 3);
    rh_result_release(&r);
    fx_close(&cmp);

    /* One that never comes by chance counts at once. */
    fail_from(RH_CANDIDATE, 120, 1, "42703");
    compare(&cmp, &r, true);
    assert_false(error_of(&r, "42703")->test.tested);
    check_new_errors(&r, 1, 3);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_many_deadlocks(void **state)
{
    (void) state;
    struct rh_comparison cmp;
    struct rh_result r;
    make_sides();
    fail_from(RH_CANDIDATE, 10, 12, "40P01");
    fail_from(RH_CANDIDATE, 110, 2, "57014"); /* two tests: q is not p */
    compare(&cmp, &r, true);
    const struct rh_error_result *e = error_of(&r, "40P01");
    assert_true(fabs(e->test.p - pow(2, -12)) < 1e-12);
    assert_true(fabs(e->test.q - 2 * pow(2, -12)) < 1e-12);
    assert_false(e->test.by_chance);
    assert_true(error_of(&r, "57014")->test.by_chance);
    check_new_errors(&r, 12, 2);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_as_many_before(void **state)
{
    (void) state;
    struct rh_comparison cmp;
    struct rh_result r;
    make_sides();
    fail_from(RH_BASE, 40, 11, "40001");
    fail_from(RH_CANDIDATE, 10, 12, "40001");
    compare(&cmp, &r, true);
    const struct rh_error_result *e = error_of(&r, "40001");
    assert_int_equal(e->klass, RH_ERROR_CHANGED);
    assert_int_equal(e->group->broke, 12);
    assert_int_equal(e->group->fixed, 11);
    assert_true(e->test.by_chance && e->test.p > 0.8);
    check_new_errors(&r, 0, 0);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_without_pairs(void **state)
{
    (void) state;
    struct rh_comparison cmp;
    struct rh_result r;
    make_sides();
    fail_from(RH_CANDIDATE, 0, 5, "40001");
    compare(&cmp, &r, false);
    const struct rh_error_result *e = error_of(&r, "40001");
    assert_true(fabs(e->test.p - rh_fisher_p(0, 100, 5, 100)) < 1e-12);
    assert_true(e->test.p > 0.05 && e->test.by_chance);
    rh_result_release(&r);
    fx_close(&cmp);
}

/* A base whose outcome is not known has nothing to test against: the errors count. */
static void test_unknown_before(void **state)
{
    (void) state;
    struct rh_comparison cmp;
    struct rh_result r;
    make_sides();
    fail_from(RH_BASE, 10, 3, "");
    fail_from(RH_CANDIDATE, 10, 3, "40P01");
    compare(&cmp, &r, true);
    assert_false(error_of(&r, "40P01")->test.tested);
    check_new_errors(&r, 3, 0);
    rh_result_release(&r);
    fx_close(&cmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),         cmocka_unit_test(test_a_few_deadlocks),
        cmocka_unit_test(test_many_deadlocks), cmocka_unit_test(test_as_many_before),
        cmocka_unit_test(test_without_pairs),  cmocka_unit_test(test_unknown_before),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
