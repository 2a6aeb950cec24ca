/* The workload by database, user and application. */
#include "rh_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff/result.h"
#include "diff_fixture.h"

enum { SESSIONS = 8, EACH = 40, CALLS = SESSIONS * EACH };

/* Sessions 1 to 4 are of database "a", the others of "b"; odd ones of user "web"; each has its
 * application, but for the last one. */
static const char *write_run(const char *name, uint8_t uuid, double slower_in_b, const char *error)
{
    static struct fx_statement s[CALLS];
    static char applications[SESSIONS][16];
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned session = i % SESSIONS;
        bool in_b = session >= 4;
        double us = (1000 + (double) (i * 37 % 101)) * (in_b ? slower_in_b : 1);
        snprintf(applications[session], sizeof applications[session], "app-%u", session + 1);
        s[i] = (struct fx_statement){
            .session = 1 + session,
            .ordinal = 1 + i / SESSIONS,
            .start_us = 50000 * (int64_t) i,
            .service_us = (int64_t) us,
            .sql = "select 1",
            .sqlstate = in_b && i / SESSIONS == 3 ? error : NULL,
            .database = in_b ? "b" : "a",
            .user = session % 2 ? "batch" : "web",
            .application = session + 1 < SESSIONS ? applications[session] : "",
        };
    }
    struct fx_file f = fx_run(name, uuid, s, CALLS);
    return fx_write(&f);
}

static void compare(struct rh_comparison *c, const char *base, const char *candidate,
                    uint64_t memory_bytes)
{
    const struct rh_comparison_options how = {.memory_bytes = memory_bytes};
    struct rh_trace_file *files[RH_SIDES];
    struct rh_error err = {0};
    assert_int_equal(rh_trace_file_open(&files[RH_BASE], base, &err), 0);
    assert_int_equal(rh_trace_file_open(&files[RH_CANDIDATE], candidate, &err), 0);
    assert_int_equal(rh_comparison_make(c, files[RH_BASE], files[RH_CANDIDATE], &how, &err), 0);
}

static const struct rh_dimension_row *row_of(const struct rh_result *r, enum rh_dimension dimension,
                                             const char *name)
{
    const struct rh_dimension_result *d = &r->dimensions[dimension];
    for (uint32_t i = 0; i < d->count; i++) {
        if (!d->rows[i].is_other && rh_span_is(d->rows[i].value->name, name)) {
            return &d->rows[i];
        }
    }
    fail_msg("no %s \"%s\"", rh_dimension_name(dimension), name);
    return NULL;
}

static void check(const char *base, const char *candidate, uint64_t memory_bytes)
{
    struct rh_comparison c;
    struct rh_result r;
    compare(&c, base, candidate, memory_bytes);
    rh_result_make(&r, &c, NULL);

    assert_int_equal(r.dimensions[RH_BY_DATABASE].count, 2);
    assert_int_equal(r.dimensions[RH_BY_USER].count, 2);
    assert_int_equal(r.dimensions[RH_BY_APPLICATION].count, SESSIONS);
    const struct rh_dimension_row *a = row_of(&r, RH_BY_DATABASE, "a");
    const struct rh_dimension_row *b = row_of(&r, RH_BY_DATABASE, "b");
    assert_ptr_equal(b, r.dimensions[RH_BY_DATABASE].rows); /* most time added */
    assert_int_equal(a->value->counts.calls[RH_BASE], CALLS / 2);
    assert_int_equal(a->value->counts.errors[RH_CANDIDATE], 0);
    assert_int_equal(b->value->counts.calls[RH_CANDIDATE], CALLS / 2);
    assert_int_equal(b->value->counts.errors[RH_CANDIDATE], 4);
    assert_int_equal(b->value->counts.errors[RH_BASE], 0);
    assert_int_equal(b->value->counts.timed, CALLS / 2 - 4);
    assert_string_equal(rh_dimension_verdict(a), "same");
    assert_string_equal(rh_dimension_verdict(b), "regressed");
    assert_true(fabs(b->ratio - 1.5) < 0.01);
    assert_true(fabs(b->time_added_pct - 25) < 1);
    assert_true(fabs(a->ratio - 1) < 0.01);
    assert_string_equal(rh_dimension_verdict(row_of(&r, RH_BY_USER, "web")), "regressed");
    assert_string_equal(rh_dimension_verdict(row_of(&r, RH_BY_APPLICATION, "app-1")), "same");
    assert_string_equal(rh_dimension_verdict(row_of(&r, RH_BY_APPLICATION, "app-5")), "regressed");
    assert_string_equal(rh_dimension_verdict(row_of(&r, RH_BY_APPLICATION, "")), "regressed");
    rh_result_release(&r);
    fx_close(&c);
}

static void test_values(void **state)
{
    (void) state;
    const char *base = write_run("base.run", 11, 1, NULL);
    const char *candidate = write_run("candidate.run", 12, 1.5, "42703");
    check(base, candidate, 16 << 20);
    check(base, candidate, 1); /* in several passes, if need be */
}

/* Beyond the limit values are counted together. */
static void test_many_values(void **state)
{
    (void) state;
    enum { MANY = 100 };
    static struct fx_statement s[MANY];
    static char users[MANY][16];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(users[i], sizeof users[i], "user-%u", i);
        s[i] = (struct fx_statement){.session = 1 + i,
                                     .ordinal = 1,
                                     .start_us = 1000 * (int64_t) i,
                                     .service_us = 500,
                                     .sql = "select 1",
                                     .user = users[i]};
    }
    struct fx_file base = fx_run("many.run", 21, s, MANY), candidate = base;
    struct rh_comparison c;
    struct rh_result r;
    candidate.name = "many-2.run";
    candidate.uuid = 22;
    fx_compare(&c, &base, &candidate, 0, 0);
    rh_result_make(&r, &c, NULL);
    const struct rh_dimension_result *d = &r.dimensions[RH_BY_USER];
    uint64_t calls = 0, others = 0;
    assert_int_equal(d->count, RH_DIMENSION_VALUES_MAX);
    for (uint32_t i = 0; i < d->count; i++) {
        calls += d->rows[i].value->counts.calls[RH_BASE];
        others += d->rows[i].is_other ? d->rows[i].value->counts.calls[RH_BASE] : 0;
    }
    assert_int_equal(calls, MANY);
    assert_int_equal(others, MANY - (RH_DIMENSION_VALUES_MAX - 1));
    assert_int_equal(r.dimensions[RH_BY_DATABASE].count, 1);
    assert_int_equal(r.dimensions[RH_BY_APPLICATION].count, 1); /* no session has one */
    assert_int_equal(r.dimensions[RH_BY_APPLICATION].rows[0].value->name.len, 0);
    assert_false(r.dimensions[RH_BY_APPLICATION].rows[0].is_other);
    rh_result_release(&r);
    fx_close(&c);
}

/* Session numbers mean something else in another part. */
static void test_parts_and_sides(void **state)
{
    (void) state;
    struct rh_dimensions d;
    const struct rh_observation o = {.ref = {.session = 1}, .status = RH_OBSERVED_OK};
    rh_dimensions_init(&d, 1 << 20);
    for (int part = 0; part < 2; part++) {
        const struct rh_span names[RH_DIMENSIONS] = {
            part ? RH_SPAN_LITERAL("second") : RH_SPAN_LITERAL("first"), RH_SPAN_LITERAL("u")};
        rh_dimensions_begin_part(&d);
        assert_false(rh_dimensions_knows(&d, RH_BASE, 1));
        rh_dimensions_put(&d, RH_BASE, 1, names);
        assert_true(rh_dimensions_knows(&d, RH_BASE, 1));
        assert_false(rh_dimensions_knows(&d, RH_CANDIDATE, 1));
        rh_dimensions_observe(&d, RH_BASE, &o);
    }
    rh_dimensions_settle(&d);
    assert_int_equal(d.counts[RH_BY_DATABASE], 3);
    assert_int_equal(d.values[RH_BY_DATABASE][1].counts.calls[RH_BASE], 1);
    assert_int_equal(d.values[RH_BY_DATABASE][2].counts.calls[RH_BASE], 1);
    assert_int_equal(d.values[RH_BY_USER][1].counts.calls[RH_BASE], 2);
    rh_dimensions_release(&d);
}

static struct rh_timed_pair pair_of(unsigned n)
{
    return (struct rh_timed_pair){.base_ns = 1000 + n * 7919 % 100000,
                                  .batch = n % RH_BATCHES,
                                  .candidate_ns = 900 + n * 104729 % 250000};
}

static void assert_same_sums(const struct rh_pair_stat *a, const struct rh_pair_stat *b)
{
    struct rh_pair_sums x, y;
    rh_pair_sums_make(&x, a, false);
    rh_pair_sums_make(&y, b, false);
    assert_int_equal(rh_pair_sums_count(&x), rh_pair_sums_count(&y));
    assert_memory_equal(x.batches, y.batches, sizeof x.batches);
    assert_memory_equal(x.ratios, y.ratios, sizeof x.ratios);
    assert_int_equal(x.slower, y.slower);
    assert_int_equal(x.faster, y.faster);
    assert_int_equal(x.has_sections, y.has_sections);
    for (int i = 0; i < RH_SECTIONS && x.has_sections; i++) {
        for (int side = 0; side < RH_SIDES; side++) {
            const struct rh_hist *of_x = &x.sections[i].side[side],
                                 *of_y = &y.sections[i].side[side];
            assert_int_equal(of_x->count, of_y->count);
            assert_int_equal(of_x->min, of_y->min);
            for (int eighth = 0; eighth <= 8; eighth++) {
                double q = eighth / 8.0;
                assert_int_equal(rh_hist_quantile(of_x, q), rh_hist_quantile(of_y, q));
            }
        }
    }
    rh_pair_sums_release(&x);
    rh_pair_sums_release(&y);
}

/* Lists and sums, in every combination; and what lacks its sections, or its pairs. */
static void test_merging_is_adding(void **state)
{
    (void) state;
    static const unsigned counts[] = {0, 3, RH_PAIR_LIST_MAX, RH_PAIR_LIST_MAX + 1, 5000};
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    for (unsigned i = 0; i < (unsigned) COUNTS * COUNTS; i++) {
        unsigned first = counts[i / COUNTS], second = counts[i % COUNTS];
        struct rh_pair_room room = {.bytes_max = 1 << 26};
        struct rh_pair_stat all = {0}, into = {0}, from = {0};
        for (unsigned n = 0; n < first + second; n++) {
            struct rh_timed_pair pair = pair_of(n);
            rh_pair_stat_add(&all, &pair, &room);
            rh_pair_stat_add(n < first ? &into : &from, &pair, &room);
        }
        rh_pair_stat_merge(&into, &from, &room);
        assert_same_sums(&into, &all);
        rh_pair_stat_release(&all, &room);
        rh_pair_stat_release(&into, &room);
        rh_pair_stat_release(&from, &room);
        assert_int_equal(room.bytes, 0);
    }
}

static void test_merging_what_had_no_room(void **state)
{
    (void) state;
    for (uint64_t bytes_max = 0; bytes_max < 300000; bytes_max += 997) {
        struct rh_pair_room room = {.bytes_max = bytes_max};
        struct rh_pair_stat into = {0}, from = {0};
        for (unsigned n = 0; n < 4000; n++) {
            struct rh_timed_pair pair = pair_of(n);
            rh_pair_stat_add(n < 1000 ? &into : &from, &pair, &room);
        }
        bool lacks = into.lacks_pairs || from.lacks_pairs;
        rh_pair_stat_merge(&into, &from, &room);
        assert_int_equal(into.lacks_pairs, lacks);
        if (!lacks) {
            struct rh_pair_sums sums;
            rh_pair_sums_make(&sums, &into, false);
            assert_int_equal(rh_pair_sums_count(&sums), 4000);
            rh_pair_sums_release(&sums);
        }
        assert_true(room.bytes <= room.bytes_max);
        rh_pair_stat_release(&into, &room);
        rh_pair_stat_release(&from, &room);
        assert_int_equal(room.bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_parts_and_sides),
        cmocka_unit_test(test_merging_is_adding),
        cmocka_unit_test(test_merging_what_had_no_room),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
