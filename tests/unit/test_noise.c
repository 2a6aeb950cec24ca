/* What runs of one side differ by, and what it does to verdicts. */
#include "rh_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/gates.h"
#include "diff/noise.h"
#include "diff/result.h"
#include "diff_fixture.h"

enum { QUERIES = 10, EACH = 64, CALLS = QUERIES * EACH };

/* The queries' times as factors of those of the first run. */
struct times {
    double factor[QUERIES];
    unsigned other_rows; /* of each this many calls query 4 has another row; 0: none */
    const char *error;   /* of query 5 */
};

static char texts[QUERIES][64];

static const char *write_run(const char *name, uint8_t uuid, const struct times *times)
{
    static struct fx_statement s[CALLS];
    uint64_t seed = uuid;
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned query = i % QUERIES;
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        double jitter = 1 + ((double) (seed >> 40) / (1 << 24) - 0.5) * 0.02;
        double us = (2000 + 1000 * (double) query) * times->factor[query] * jitter;
        bool other = times->other_rows && query == 4 && i / QUERIES % times->other_rows == 0;
        s[i] = (struct fx_statement){
            .session = 1 + query,
            .ordinal = 1 + i / QUERIES,
            .start_us = 50000 * (int64_t) i,
            .service_us = (int64_t) us,
            .sql = texts[query],
            .sqlstate = query == 5 ? times->error : NULL,
            .rows_plus_1 = other ? 3 : 2,
        };
    }
    struct fx_file f = fx_run(name, uuid, s, CALLS);
    return fx_write(&f);
}

static void compare(struct rh_comparison *c, const char *base, const char *candidate)
{
    const struct rh_comparison_options how = {.memory_bytes = 16 << 20};
    struct rh_trace_file *files[RH_SIDES];
    struct rh_error err = {0};
    assert_int_equal(rh_trace_file_open(&files[RH_BASE], base, &err), 0);
    assert_int_equal(rh_trace_file_open(&files[RH_CANDIDATE], candidate, &err), 0);
    assert_int_equal(rh_comparison_make(c, files[RH_BASE], files[RH_CANDIDATE], &how, &err), 0);
}

/* Alternately 12 % slower and faster; query 7 is 60 % slower. */
static const struct times again = {
    .factor = {1.12, 1 / 1.12, 1.12, 1 / 1.12, 1.12, 1 / 1.12, 1.12, 1.6, 1.12, 1 / 1.12},
};
static const struct times as_ever = {.factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
/* Query 0 is 20 % slower, query 3 takes twice as long, query 7 half as long again. */
static const struct times changed = {.factor = {1.2, 1, 1, 2, 1, 1, 1, 1.5, 1, 1}};

static const char *base_path, *again_path, *changed_path;

static const struct rh_query_result *row_of(const struct rh_result *r, unsigned query)
{
    for (uint32_t i = 0; i < r->query_count; i++) {
        if (r->queries[i].query == fx_query(r->comparison, texts[query])) {
            return &r->queries[i];
        }
    }
    fail_msg("no query %u", query);
    return NULL;
}

static void check_near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 0.01)) {
        fail_msg("%g instead of %g", found, wanted);
    }
}

static void check_verdicts(const struct rh_noise *noise, enum rh_query_verdict q0,
                           enum rh_query_verdict q3, enum rh_query_verdict q7)
{
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_comparison c;
    struct rh_result r;
    rule.noise = noise;
    compare(&c, base_path, changed_path);
    rh_result_make(&r, &c, &rule);
    assert_int_equal(row_of(&r, 0)->verdict, q0);
    assert_int_equal(row_of(&r, 3)->verdict, q3);
    assert_int_equal(row_of(&r, 7)->verdict, q7);
    check_near(r.margin_given, 0.05);
    assert_int_equal(r.noisier, noise ? 1 : 0);
    const struct rh_fitness_check *check = &r.fitness.checks[RH_CHECK_NOISE];
    if (noise) {
        check_near(r.rule.margin, noise->margin);
        check_near(check->actual, 100 * noise->margin);
        assert_int_equal(check->state, RH_FIT_DEGRADED); /* 26.8 % */
        assert_int_equal(r.fitness.verdict, RH_FIT_DEGRADED);
    } else {
        assert_int_equal(check->state, RH_FIT_UNKNOWN);
    }
    rh_result_release(&r);
    fx_close(&c);
}

static void test_margins(void **state)
{
    (void) state;
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_noise noise = {0};
    struct rh_comparison c;
    compare(&c, base_path, again_path);
    rh_noise_add(&noise, &c, &rule);
    uint64_t q2 = fx_query(&c, texts[2])->fingerprint, q7 = fx_query(&c, texts[7])->fingerprint;
    fx_close(&c);
    rh_noise_finish(&noise);
    assert_int_equal(noise.pairs, 1);
    assert_int_equal(noise.query_count, QUERIES);
    /* exp(2 s) - 1 with s^2 = ln(1.12)^2 / 0.4549 / 2 */
    check_near(noise.margin, 0.268);
    for (int i = 0; i < RH_MEASURES; i++) {
        bool estimated = i != RH_MEASURE_P95; /* 64 pairs */
        check_near(rh_noise_find(&noise, q2)->margin[i], estimated ? 0.12 : 0);
        check_near(rh_noise_find(&noise, q7)->margin[i], estimated ? 0.6 : 0);
    }
    assert_null(rh_noise_find(&noise, 1));
    check_verdicts(NULL, RH_QUERY_REGRESSED, RH_QUERY_REGRESSED, RH_QUERY_REGRESSED);
    check_verdicts(&noise, RH_QUERY_UNDECIDED, RH_QUERY_REGRESSED, RH_QUERY_UNDECIDED);
    rh_noise_release(&noise);
}

/* Two runs alike: the margin that was asked for stays, and a query's jitter is its error's. */
static void test_quiet_runs(void **state)
{
    (void) state;
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_noise noise = {0};
    struct rh_comparison c;
    compare(&c, base_path, write_run("quiet.run", 21, &as_ever));
    rh_noise_add(&noise, &c, &rule);
    fx_close(&c);
    rh_noise_finish(&noise);
    assert_in_range((int) (noise.margin * 1000), 0, 10);
    for (uint32_t i = 0; i < noise.query_count; i++) {
        assert_true(noise.queries[i].margin[RH_MEASURE_TYPICAL] < 0.01);
    }
    rule.noise = &noise;
    struct rh_result r;
    compare(&c, base_path, changed_path);
    rh_result_make(&r, &c, &rule);
    check_near(r.rule.margin, 0.05);
    assert_int_equal(r.noisier, 0);
    assert_int_equal(row_of(&r, 0)->verdict, RH_QUERY_REGRESSED);
    rh_result_release(&r);
    fx_close(&c);
    rh_noise_release(&noise);
}

/* Evidence of one query is the most of all pairs of runs; few queries tell no margin. */
static void test_more_runs(void **state)
{
    (void) state;
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_noise noise = {0};
    struct rh_comparison c;
    compare(&c, base_path, base_path);
    rh_noise_finish(&noise);
    assert_true(isnan(noise.margin));
    rh_noise_add(&noise, &c, &rule);
    uint64_t q7 = fx_query(&c, texts[7])->fingerprint;
    fx_close(&c);
    compare(&c, base_path, again_path);
    rh_noise_add(&noise, &c, &rule);
    fx_close(&c);
    rh_noise_finish(&noise);
    assert_int_equal(noise.pairs, 2);
    assert_int_equal(noise.query_count, QUERIES);
    check_near(rh_noise_find(&noise, q7)->margin[RH_MEASURE_TYPICAL], 0.6);
    rh_noise_release(&noise);
}

/* What is invalid as a rehearsal is no evidence either. */
static void test_invalid_repeat(void **state)
{
    (void) state;
    struct fx_statement some[4] = {
        {.session = 1, .ordinal = 1, .sql = texts[0], .service_us = 900}};
    struct fx_file f = fx_run("short.run", 31, some, 1);
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_noise noise = {0};
    struct rh_comparison c;
    compare(&c, base_path, fx_write(&f));
    rh_noise_add(&noise, &c, &rule);
    fx_close(&c);
    rh_noise_finish(&noise);
    assert_int_equal(noise.pairs, 0);
    assert_int_equal(noise.rejected, 1);
    assert_true(isnan(noise.margin));
    rh_noise_release(&noise);
}

static void check_rows(const struct rh_noise *noise, const char *candidate, uint64_t counted,
                       uint64_t not_counted, enum rh_volatility of_4)
{
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_gate gate;
    struct rh_comparison c;
    struct rh_result r;
    rule.noise = noise;
    compare(&c, base_path, candidate);
    rh_result_make(&r, &c, &rule);
    assert_int_equal(rh_gate_parse(&gate, "row-mismatches=0", NULL), 0);
    rh_gate_judge(&gate, &r);
    assert_int_equal(gate.state, counted ? RH_GATE_FAIL : RH_GATE_PASS);
    assert_int_equal(r.row_mismatches, counted);
    assert_int_equal(r.volatile_mismatches, not_counted);
    assert_int_equal(r.rows_compared + r.volatile_compared, c.pairs.rows_compared);
    assert_int_equal(row_of(&r, 4)->volatility, of_4);
    assert_int_equal(row_of(&r, 3)->volatility, RH_VOLATILE_NOT);
    rh_result_release(&r);
    fx_close(&c);
}

/* Errors are judged apart: that query 5 failed in a run of the base hides neither that it fails
 * otherwise in the candidate, nor its rows. */
static void check_errors(const struct rh_noise *noise, const char *candidate)
{
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_comparison c;
    struct rh_result r;
    rule.noise = noise;
    compare(&c, base_path, candidate);
    rh_result_make(&r, &c, &rule);
    assert_int_equal(r.new_errors, EACH);
    assert_int_equal(r.new_error_groups, 1);
    assert_int_equal(row_of(&r, 5)->volatility, RH_VOLATILE_NOT);
    rh_result_release(&r);
    fx_close(&c);
}

/* What differs from run to run is not counted when it differs in the candidate. */
static void test_volatile(void **state)
{
    (void) state;
    static const struct times other_rows = {.factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                            .other_rows = 16};
    static const struct times more_rows = {.factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                           .other_rows = 4};
    static const struct times all_rows = {.factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                          .other_rows = 1};
    static const struct times other_errors = {.factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                              .error = "42703"};
    static const struct times errors = {.factor = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, .error = "42P01"};
    const char *again_rows = write_run("rows.run", 41, &other_rows);
    const char *candidate = write_run("more-rows.run", 42, &more_rows);
    struct rh_test_rule rule = rh_test_rule_default();
    struct rh_noise noise = {0};
    struct rh_comparison c;
    check_rows(NULL, candidate, EACH / 4, 0, RH_VOLATILE_NOT);

    compare(&c, base_path, again_rows);
    uint64_t q4 = fx_query(&c, texts[4])->fingerprint, q5 = fx_query(&c, texts[5])->fingerprint;
    rh_noise_add(&noise, &c, &rule);
    fx_close(&c);
    rh_noise_finish(&noise);
    assert_int_equal(rh_noise_find(&noise, q4)->row_mismatches, EACH / 16);
    assert_int_equal(rh_noise_find(&noise, q4)->rows_compared, EACH);
    check_rows(&noise, candidate, 0, EACH / 4, RH_VOLATILE_BY_RUNS);
    /* Far more often than without a change: this is no chance any more. */
    check_rows(&noise, write_run("all-rows.run", 44, &all_rows), EACH, 0, RH_VOLATILE_NOT);

    compare(&c, base_path, write_run("errors.run", 43, &errors));
    rh_noise_add(&noise, &c, &rule);
    fx_close(&c);
    assert_int_equal(rh_noise_find(&noise, q5)->outcomes_differ, EACH);
    check_errors(&noise, write_run("other-errors.run", 45, &other_errors));
    rh_noise_release(&noise);
}

static int write_files(void **state)
{
    if (fx_setup(state) != 0) {
        return -1;
    }
    for (unsigned i = 0; i < QUERIES; i++) {
        snprintf(texts[i], sizeof texts[i], "select column_%u from orders where id = 1", i);
    }
    base_path = write_run("base.run", 11, &as_ever);
    again_path = write_run("again.run", 12, &again);
    changed_path = write_run("changed.run", 13, &changed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_margins),   cmocka_unit_test(test_quiet_runs),
        cmocka_unit_test(test_more_runs), cmocka_unit_test(test_invalid_repeat),
        cmocka_unit_test(test_volatile),
    };
    return cmocka_run_group_tests(tests, write_files, fx_teardown);
}
