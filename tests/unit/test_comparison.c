#include "rh_test.h"

#include <math.h>
#include <stdio.h>

#include "diff/result.h"
#include "diff_fixture.h"

static uint32_t state_of(const char *text)
{
    return rh_sqlstate_pack(rh_span_cstr(text));
}

static const struct rh_query_result *row_of(const struct rh_result *r, const struct rh_query *q)
{
    for (uint32_t i = 0; i < r->query_count; i++) {
        if (r->queries[i].query == q) {
            return &r->queries[i];
        }
    }
    fail_msg("no row of a query");
    return NULL;
}

static const struct rh_error_result *error_of(const struct rh_result *r, const char *state)
{
    const struct rh_error_result *found = NULL;
    for (uint32_t i = 0; i < r->error_count; i++) {
        if (r->errors[i].group->sqlstate == state_of(state)) {
            assert_null(found);
            found = &r->errors[i];
        }
    }
    if (!found) {
        fail_msg("no error %s", state);
    }
    return found;
}

static void test_times_of_pairs(void **state)
{
    (void) state;
    /* Only twins that succeeded on both sides make the ratio: here 100 + 300 against 150 + 650. */
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .start_us = 0, .service_us = 100, .sql = "select 1"},
        {.session = 1, .ordinal = 2, .start_us = 1000, .service_us = 300, .sql = "select 2"},
        {.session = 1, .ordinal = 3, .start_us = 2000, .service_us = 50000, .sql = "select 3"},
        {.session = 1,
         .ordinal = 4,
         .start_us = 3000,
         .service_us = 7,
         .sql = "select 4",
         .sqlstate = "40001"},
        {.session = 2, .ordinal = 1, .start_us = 4000, .service_us = 10, .sql = "commit"},
    };
    const struct fx_statement candidate[] = {
        {.session = 2, .ordinal = 1, .start_us = 0, .service_us = 5, .sql = "commit"},
        {.session = 1, .ordinal = 1, .start_us = 10, .service_us = 150, .sql = "select 1"},
        {.session = 1, .ordinal = 2, .start_us = 20, .service_us = 650, .sql = "select 2"},
        {.session = 1,
         .ordinal = 3,
         .start_us = 30,
         .service_us = 9,
         .sql = "select 3",
         .sqlstate = "57014"},
        {.session = 1, .ordinal = 4, .start_us = 40, .service_us = 90000, .sql = "select 4"},
    };
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);

    assert_true(cmp.paired);
    assert_int_equal(cmp.passes, 1);
    assert_int_equal(cmp.pairs.paired, 5);
    assert_int_equal(cmp.pairs.missing, 0);
    assert_int_equal(r.latency, RH_LATENCY_ABSOLUTE);
    assert_int_equal(r.query_count, 2);

    const struct rh_query_result *select = row_of(&r, fx_query(&cmp, "select 77"));
    assert_ptr_equal(select, &r.queries[0]); /* time added ranks it first */
    assert_int_equal(select->compared, 2);
    assert_float_equal(select->ratio, 2.0, 1e-12);
    assert_float_equal(select->time_added_ns, 200e3 * 4, 1e-6);
    assert_true(isnan(select->relative_ratio));
    assert_int_equal(select->query->side[RH_BASE].calls, 4);
    assert_int_equal(select->query->side[RH_BASE].errors, 1);
    assert_int_equal(select->query->side[RH_CANDIDATE].errors, 1);
    assert_int_equal(select->query->pairs.broke, 1);
    assert_int_equal(select->query->pairs.fixed, 1);
    assert_int_equal(select->verdict, RH_QUERY_UNDECIDED);
    assert_string_equal(select->why, RH_WHY_FEW);
    /* The side's own numbers are over all its successes. */
    assert_float_equal(rh_query_mean_ns(select->query, RH_BASE), (100e3 + 300e3 + 50000e3) / 3,
                       1e-6);
    assert_float_equal(rh_query_quantile_ns(select->query, RH_BASE, 1), 50000e3, 1e-6);

    const struct rh_query_result *commit = row_of(&r, fx_query(&cmp, "commit"));
    assert_float_equal(commit->ratio, 0.5, 1e-12);
    assert_float_equal(commit->time_added_ns, -5e3, 1e-6);
    assert_float_equal(r.base_time_ns, 200e3 * 4 + 10e3, 1e-6);
    assert_float_equal(r.time_added_pct, 100.0 * (800 - 5) / 810, 1e-9);

    const struct rh_error_result *canceled = error_of(&r, "57014");
    assert_int_equal(canceled->klass, RH_ERROR_NEW);
    assert_int_equal(canceled->group->broke, 1);
    assert_int_equal(canceled->group->example[RH_CANDIDATE].ref.ordinal, 3);
    rh_assert_span(rh_span(canceled->group->example[RH_CANDIDATE].text,
                           canceled->group->example[RH_CANDIDATE].text_len),
                   "select 3");
    assert_int_equal(error_of(&r, "40001")->klass, RH_ERROR_GONE);
    assert_int_equal(error_of(&r, "40001")->group->fixed, 1);
    assert_int_equal(r.new_errors, 0);
    assert_int_equal(r.new_by_chance, 1); /* one canceled statement */
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_missing_by_reason(void **state)
{
    (void) state;
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .service_us = 1, .sql = "select 1"},
        {.session = 1, .ordinal = 2, .service_us = 1, .sql = "select 1"},
        {.session = 1, .ordinal = 3, .service_us = 1, .sql = "select 1"},
        {.session = 1, .ordinal = 4, .service_us = 1, .sql = "select 1"},
        {.session = 1,
         .ordinal = 5,
         .sql = "set names x",
         .fate = RH_FATE_SKIPPED,
         .reason = RH_REASON_ENCODING},
        {.session = 1, .ordinal = 6, .sql = "select 1", .fate = RH_FATE_LOST, .sqlstate = ""},
    };
    const struct fx_statement candidate[] = {
        {.session = 1, .ordinal = 1, .service_us = 1, .sql = "select 1"},
        {.session = 1, .ordinal = 2, .sql = "select 1", .fate = RH_FATE_LOST, .sqlstate = ""},
        {.session = 1,
         .ordinal = 3,
         .sql = "select 1",
         .fate = RH_FATE_NOT_SENT,
         .reason = RH_REASON_SESSION_LOST},
        {.session = 1,
         .ordinal = 5,
         .sql = "set names x",
         .fate = RH_FATE_SKIPPED,
         .reason = RH_REASON_ENCODING},
        {.session = 1, .ordinal = 6, .sql = "select 1", .service_us = 1},
        {.session = 1, .ordinal = 7, .sql = "select 1", .service_us = 1},
    };
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    fx_compare(&cmp, &b, &c, 0, 0);
    assert_int_equal(cmp.pairs.paired, 5);
    assert_int_equal(cmp.pairs.missing, 3);
    assert_int_equal(cmp.pairs.missing_lost, 1);
    assert_int_equal(cmp.pairs.missing_absent, 1);
    assert_int_equal(cmp.pairs.missing_by_reason[RH_REASON_SESSION_LOST], 1);
    assert_int_equal(cmp.pairs.missing_by_reason[RH_REASON_ENCODING], 0); /* nor did the base */
    assert_int_equal(cmp.pairs.ran_only_in_candidate, 1);
    assert_int_equal(cmp.pairs.candidate_only, 1);
    assert_int_equal(fx_query(&cmp, "select 1")->pairs.missing, 3);
    assert_int_equal(cmp.side[RH_BASE].calls, 4);
    assert_int_equal(cmp.side[RH_BASE].lost, 1);
    assert_int_equal(cmp.side[RH_BASE].by_reason[RH_REASON_ENCODING], 1);
    fx_close(&cmp);
}

/* What the window of a run leaves out is not missing from it. */
static void test_outside_window(void **state)
{
    (void) state;
    struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .service_us = 1, .sql = "select 1"},
        {.session = 1, .ordinal = 2, .service_us = 1, .sql = "select 1"},
        {.session = 1, .ordinal = 3, .service_us = 1, .sql = "select 1"},
    };
    struct fx_statement candidate[3] = {base[0], base[1], base[2]};
    candidate[0].fate = candidate[2].fate = RH_FATE_NOT_SENT;
    candidate[0].reason = RH_REASON_OUTSIDE_WINDOW;
    candidate[2].reason = RH_REASON_TRANSACTION_LOST;
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    fx_compare(&cmp, &b, &c, 0, 0);
    assert_int_equal(cmp.pairs.paired, 3);
    assert_int_equal(cmp.pairs.outside_window, 1);
    assert_int_equal(cmp.pairs.missing, 1);
    assert_int_equal(cmp.pairs.missing_by_reason[RH_REASON_TRANSACTION_LOST], 1);
    assert_int_equal(cmp.pairs.missing_by_reason[RH_REASON_OUTSIDE_WINDOW], 0);
    assert_int_equal(cmp.side[RH_CANDIDATE].statements, 2);
    assert_int_equal(cmp.side[RH_CANDIDATE].outside_window, 1);
    assert_int_equal(cmp.side[RH_CANDIDATE].not_sent, 1);
    assert_int_equal(fx_query(&cmp, "select 1")->pairs.missing, 1);
    assert_int_equal(fx_query(&cmp, "select 1")->side[RH_CANDIDATE].missing, 1);
    fx_close(&cmp);
}

static void test_log_against_run(void **state)
{
    (void) state;
    /* Three queries that a client sees 2x, 4x and 3x slower; the third shift is the median. */
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .service_us = 100, .sql = "select a"},
        {.session = 1, .ordinal = 2, .service_us = 100, .sql = "select b"},
        {.session = 1, .ordinal = 3, .service_us = 100, .sql = "select c"},
        {.session = 1,
         .ordinal = 4,
         .service_us = 20,
         .sql = "insert into t values (1)",
         .flags = RH_FLAG_COMMIT_NOT_TIMED},
    };
    const struct fx_statement candidate[] = {
        {.session = 1, .ordinal = 1, .service_us = 200, .sql = "select a"},
        {.session = 1, .ordinal = 2, .service_us = 400, .sql = "select b"},
        {.session = 1, .ordinal = 3, .service_us = 300, .sql = "select c"},
        {.session = 1,
         .ordinal = 4,
         .service_us = 900,
         .sql = "insert into t values (1)",
         .flags = RH_FLAG_COMMIT_NOT_TIMED},
    };
    struct fx_file b = fx_workload("b.trace", base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_true(cmp.paired);
    assert_int_equal(r.latency, RH_LATENCY_RELATIVE);
    assert_float_equal(r.median_shift, 3, 1e-12);
    assert_float_equal(row_of(&r, fx_query(&cmp, "select a"))->relative_ratio, 2.0 / 3, 1e-12);
    assert_float_equal(row_of(&r, fx_query(&cmp, "select b"))->ratio, 4, 1e-12);
    assert_float_equal(row_of(&r, fx_query(&cmp, "select b"))->relative_time_added_ns,
                       (400e3 / 3 - 100e3), 1e-6);
    const struct rh_query_result *insert = row_of(&r, fx_query(&cmp, "insert into t values (9)"));
    assert_true(isnan(insert->ratio)); /* the log did not time its commit */
    assert_true(isnan(insert->time_added_ns));
    assert_int_equal(insert->query->side[RH_BASE].commit_not_timed, 1);
    assert_int_equal(insert->query->side[RH_CANDIDATE].commit_not_timed, 0);
    assert_ptr_equal(&r.queries[3], insert);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_log_without_durations(void **state)
{
    (void) state;
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .sql = "select a"},
        {.session = 1, .ordinal = 2, .sql = "select b", .sqlstate = "22012"},
    };
    const struct fx_statement candidate[] = {
        {.session = 1, .ordinal = 1, .service_us = 200, .sql = "select a"},
        {.session = 1, .ordinal = 2, .service_us = 400, .sql = "select b", .sqlstate = "22012"},
    };
    struct fx_file b = fx_workload("b.trace", base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_int_equal(r.latency, RH_LATENCY_NONE);
    assert_true(isnan(r.median_shift));
    assert_true(isnan(rh_query_mean_ns(fx_query(&cmp, "select a"), RH_BASE)));
    assert_float_equal(rh_query_mean_ns(fx_query(&cmp, "select a"), RH_CANDIDATE), 200e3, 1e-6);
    assert_true(isnan(r.queries[0].ratio));
    assert_int_equal(error_of(&r, "22012")->klass, RH_ERROR_SAME);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_different_traces(void **state)
{
    (void) state;
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .service_us = 100, .sql = "select a"},
        {.session = 1, .ordinal = 2, .service_us = 200, .sql = "select a"},
        {.session = 1, .ordinal = 3, .service_us = 70, .sql = "select gone"},
    };
    const struct fx_statement candidate[] = {
        {.session = 1, .ordinal = 1, .service_us = 600, .sql = "select a"},
        {.session = 1, .ordinal = 2, .service_us = 5, .sql = "select new"},
        {.session = 1,
         .ordinal = 3,
         .sql = "select gone",
         .fate = RH_FATE_SKIPPED,
         .reason = RH_REASON_CUT_TEXT},
    };
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    c.trace = 9;
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_false(cmp.paired);
    assert_int_equal(cmp.pairs.paired, 0);
    const struct rh_query_result *a = row_of(&r, fx_query(&cmp, "select a"));
    assert_float_equal(a->ratio, 4, 1e-12);
    assert_float_equal(a->time_added_ns, 2 * 450e3, 1e-6);
    assert_int_equal(row_of(&r, fx_query(&cmp, "select new"))->verdict, RH_QUERY_NEW);
    /* The candidate has it, though it did not run there. */
    assert_int_equal(row_of(&r, fx_query(&cmp, "select gone"))->verdict, RH_QUERY_UNTESTED);
    assert_int_equal(row_of(&r, fx_query(&cmp, "select gone"))->missing, 1);
    assert_int_equal(r.missing, 1);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_error_classes(void **state)
{
    (void) state;
    const uint32_t untyped = RH_FLAG_NO_TYPES;
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .sql = "begin"},
        {.session = 1, .ordinal = 2, .sql = "select a"},
        {.session = 1, .ordinal = 3, .sql = "select b"},
        {.session = 1, .ordinal = 4, .sql = "rollback"},
        {.session = 1, .ordinal = 5, .sql = "select c", .sqlstate = "23505"},
        {.session = 1, .ordinal = 6, .sql = "select c"},
        {.session = 1, .ordinal = 7, .sql = "select f($1)", .flags = untyped, .param_count = 1},
        {.session = 1, .ordinal = 8, .sql = "select g(1)", .flags = untyped},
        {.session = 1, .ordinal = 9, .sql = "select h", .sqlstate = "22012"},
        {.session = 1, .ordinal = 10, .kind = RH_KIND_PROTOCOL, .sql = "select z"},
    };
    const struct fx_statement candidate[] = {
        {.session = 1, .ordinal = 1, .sql = "begin"},
        {.session = 1, .ordinal = 2, .sql = "select a", .sqlstate = "42703"},
        {.session = 1, .ordinal = 3, .sql = "select b", .sqlstate = "25P02"},
        {.session = 1, .ordinal = 4, .sql = "rollback"},
        {.session = 1, .ordinal = 5, .sql = "select c", .sqlstate = "23505"},
        {.session = 1, .ordinal = 6, .sql = "select c", .sqlstate = "23505"},
        {.session = 1,
         .ordinal = 7,
         .sql = "select f($1)",
         .flags = untyped,
         .param_count = 1,
         .sqlstate = "42725"},
        {.session = 1, .ordinal = 8, .sql = "select g(1)", .flags = untyped, .sqlstate = "42883"},
        {.session = 1, .ordinal = 9, .sql = "select h", .sqlstate = "22012"},
        {.session = 1,
         .ordinal = 10,
         .kind = RH_KIND_PROTOCOL,
         .sql = "select z",
         .sqlstate = "42P01"},
    };
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_int_equal(r.error_count, 7);
    assert_int_equal(error_of(&r, "42703")->klass, RH_ERROR_NEW);
    assert_false(error_of(&r, "42703")->follows);
    assert_int_equal(error_of(&r, "25P02")->klass, RH_ERROR_NEW);
    assert_true(error_of(&r, "25P02")->follows);
    assert_int_equal(cmp.errors.items[error_of(&r, "25P02")->group->cause].sqlstate,
                     state_of("42703"));
    assert_int_equal(error_of(&r, "23505")->klass, RH_ERROR_CHANGED);
    assert_int_equal(error_of(&r, "42725")->klass, RH_ERROR_TYPES_UNKNOWN);
    /* It has no parameters, so types explain nothing. */
    assert_int_equal(error_of(&r, "42883")->klass, RH_ERROR_NEW);
    assert_int_equal(error_of(&r, "22012")->klass, RH_ERROR_SAME);
    /* A prepare that fails is an error, though no statement. */
    assert_int_equal(error_of(&r, "42P01")->klass, RH_ERROR_NEW);
    assert_int_equal(cmp.side[RH_CANDIDATE].statements, 9);
    assert_int_equal(r.new_errors, 3);
    assert_int_equal(r.new_error_groups, 3);
    /* New causes, what follows, changed, unknown types, the same. */
    static const char *const order[] = {"42703", "42883", "42P01", "25P02",
                                        "23505", "42725", "22012"};
    for (size_t i = 0; i < FX_COUNT(order); i++) {
        char text[6];
        assert_string_equal(rh_sqlstate_unpack(r.errors[i].group->sqlstate, text), order[i]);
    }
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_rows(void **state)
{
    (void) state;
    const struct fx_statement base[] = {
        {.session = 1, .ordinal = 1, .sql = "select a", .rows_plus_1 = 4},
        {.session = 1, .ordinal = 2, .sql = "select a", .rows_plus_1 = 4},
        {.session = 1, .ordinal = 3, .sql = "select a", .rows_plus_1 = 4},
        {.session = 1, .ordinal = 4, .sql = "select a", .rows_plus_1 = 0},
    };
    const struct fx_statement candidate[] = {
        {.session = 1, .ordinal = 1, .sql = "select a", .rows_plus_1 = 4},
        {.session = 1, .ordinal = 2, .sql = "select a", .rows_plus_1 = 5},
        {.session = 1, .ordinal = 3, .sql = "select a", .rows_plus_1 = 1, .sqlstate = "40001"},
        {.session = 1, .ordinal = 4, .sql = "select a", .rows_plus_1 = 2},
    };
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    fx_compare(&cmp, &b, &c, 0, 0);
    assert_int_equal(cmp.pairs.rows_compared, 2);
    assert_int_equal(cmp.pairs.row_mismatches, 1);
    assert_int_equal(fx_query(&cmp, "select a")->pairs.row_mismatches, 1);
    fx_close(&cmp);
}

static void test_with_itself(void **state)
{
    (void) state;
    const struct fx_statement statements[] = {
        {.session = 1, .ordinal = 1, .service_us = 10, .sql = "select a"},
        {.session = 1, .copy = 1, .ordinal = 1, .service_us = 20, .sql = "select a"},
        {.session = 1,
         .ordinal = 2,
         .kind = RH_KIND_FUNCTION,
         .function_oid = 1598,
         .service_us = 3},
    };
    struct fx_file f = fx_run("same.run", 2, statements, FX_COUNT(statements));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &f, &f, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_int_equal(cmp.pairs.paired, 3);
    assert_int_equal(r.query_count, 2);
    for (uint32_t i = 0; i < r.query_count; i++) {
        assert_float_equal(r.queries[i].ratio, 1, 0);
        assert_float_equal(r.queries[i].time_added_ns, 0, 0);
    }
    assert_int_equal(r.missing, 0);
    assert_float_equal(r.time_added_pct, 0, 0);
    rh_result_release(&r);
    fx_close(&cmp);
}

/* Past the limit queries are counted together, and nothing is lost of them. */
static void test_too_many_queries(void **state)
{
    (void) state;
    struct fx_statement statements[26];
    char sql[26][16];
    for (int i = 0; i < 26; i++) {
        memcpy(sql[i], "select a", sizeof "select a");
        sql[i][7] = (char) ('a' + i);
        statements[i] = (struct fx_statement){
            .session = 1, .ordinal = (uint64_t) i + 1, .service_us = 10, .sql = sql[i]};
    }
    struct fx_file f = fx_run("many.run", 2, statements, 26);
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &f, &f, 0, 10);
    rh_result_make(&r, &cmp, NULL);
    assert_int_equal(r.query_count, 11);
    const struct rh_query_result *other = row_of(&r, &cmp.queries.items[RH_QUERY_OTHER]);
    assert_true(other->is_other);
    assert_int_equal(other->query->side[RH_BASE].calls, 16);
    assert_int_equal(other->query->side[RH_CANDIDATE].calls, 16);
    assert_int_equal(other->query->pairs.timed, 16);
    rh_result_release(&r);
    fx_close(&cmp);
}

/* A statement of more constants than a template has slots is known by its whole text. */
static void test_long_texts(void **state)
{
    (void) state;
    static char sql[2][8192];
    for (int which = 0; which < 2; which++) {
        struct rh_buf text;
        rh_buf_init(&text, sizeof sql[which] - 1);
        rh_buf_add_cstr(&text, "select * from t where ");
        for (int i = 0; i < 300; i++) {
            rh_buf_addf(&text, "c%d = %d or ", i, i);
        }
        rh_buf_add_cstr(&text, which ? "last = 1" : "other = 1");
        memcpy(sql[which], rh_buf_cstr(&text), text.len + 1);
        rh_buf_release(&text);
    }
    const struct fx_statement statements[] = {
        {.session = 1, .ordinal = 1, .service_us = 10, .sql = sql[0]},
        {.session = 1, .ordinal = 2, .service_us = 10, .sql = sql[1]},
        {.session = 1, .ordinal = 3, .service_us = 10, .sql = sql[0], .sqlstate = "57014"},
    };
    struct fx_file f = fx_run("long.run", 2, statements, 3);
    struct rh_comparison cmp;
    fx_compare(&cmp, &f, &f, 0, 0);
    assert_ptr_not_equal(fx_query(&cmp, sql[0]), fx_query(&cmp, sql[1]));
    assert_int_equal(fx_query(&cmp, sql[0])->side[RH_BASE].calls, 2);
    assert_true(fx_query(&cmp, sql[0])->sql.len <= RH_QUERY_SQL_MAX);
    const struct rh_error_example *e = &cmp.errors.items[1].example[RH_BASE];
    assert_true(e->text_cut);
    assert_int_equal(e->text_len, RH_ERROR_TEXT_MAX);
    assert_memory_equal(e->text, sql[0], RH_ERROR_TEXT_MAX);
    fx_close(&cmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_of_pairs),
        cmocka_unit_test(test_missing_by_reason),
        cmocka_unit_test(test_outside_window),
        cmocka_unit_test(test_log_against_run),
        cmocka_unit_test(test_log_without_durations),
        cmocka_unit_test(test_different_traces),
        cmocka_unit_test(test_error_classes),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_with_itself),
        cmocka_unit_test(test_too_many_queries),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
