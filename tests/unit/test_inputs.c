/* Several files a side: parts, repeats, and what is neither. */
#include "rh_test.h"

#include <string.h>

#include "diff/inputs.h"
#include "diff/result.h"
#include "diff_fixture.h"

enum { CALLS = 40 };

static const char *const texts[] = {"select a from t where id = 1", "select b from t where id = 1"};

/* Sessions and ordinals are the same in each: only the file tells whose they are. */
static struct fx_statement *calls(struct fx_statement *s, int64_t service_us, int64_t rows)
{
    for (unsigned i = 0; i < CALLS; i++) {
        s[i] = (struct fx_statement){
            .session = 1 + i % 2,
            .ordinal = 1 + i / 2,
            .start_us = 1000000 + 20000 * (int64_t) i,
            .service_us = service_us + (int64_t) (i * 37 % 11),
            .sql = texts[i % 2],
            .rows_plus_1 = 1 + rows,
        };
    }
    return s;
}

static struct fx_file run_of(const char *name, uint8_t uuid, uint8_t trace,
                             const struct fx_statement *statements)
{
    struct fx_file f = fx_run(name, uuid, statements, CALLS);
    f.trace = trace;
    return f;
}

static const char *write_run(const char *name, uint8_t uuid, uint8_t trace, int64_t service_us,
                             int64_t rows)
{
    struct fx_statement statements[CALLS];
    struct fx_file f = run_of(name, uuid, trace, calls(statements, service_us, rows));
    return fx_write(&f);
}

static const char *base_1, *base_1_again, *base_2, *candidate_1, *candidate_2;

#define LIST(...)                                                                                  \
    {                                                                                              \
        .items = (const char *[]){__VA_ARGS__},                                                    \
        .count = sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)                      \
    }

static void open_inputs(struct rh_inputs *in, const struct rh_str_list *base,
                        const struct rh_str_list *candidate)
{
    struct rh_error err = {0};
    if (rh_inputs_open(in, base, candidate, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void compare(struct rh_comparison *c, const struct rh_inputs *in, uint64_t memory_bytes)
{
    struct rh_comparison_part parts[8];
    const struct rh_comparison_options how = {.memory_bytes = memory_bytes};
    struct rh_error err = {0};
    assert_in_range(rh_inputs_pair_count(in), 1, 8);
    rh_inputs_compared(in, parts);
    if (rh_comparison_make_of_parts(c, parts, rh_inputs_pair_count(in), &how, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void test_parts(void **state)
{
    (void) state;
    struct rh_str_list base = LIST(base_1, base_2);
    struct rh_str_list candidate = LIST(candidate_2, candidate_1); /* their order is free */
    struct rh_inputs in;
    struct rh_comparison c;
    open_inputs(&in, &base, &candidate);
    assert_int_equal(in.part_count, 2);
    assert_int_equal(rh_inputs_repeat_count(&in, RH_BASE), 0);
    compare(&c, &in, 16 << 20);
    assert_true(c.paired);
    assert_int_equal(c.pairs.paired, 2 * CALLS);
    assert_int_equal(c.pairs.unpairable, 0);
    assert_int_equal(c.pairs.missing, 0);
    assert_int_equal(c.side[RH_BASE].calls, 2 * CALLS);
    /* Those of the first trace have other rows in its candidate, those of the second have not. */
    assert_int_equal(c.pairs.row_mismatches, CALLS);
    assert_int_equal(fx_query(&c, texts[0])->pairs.timed, CALLS);
    assert_int_equal(fx_query(&c, texts[0])->slowed.part, 1);
    assert_int_equal(fx_query(&c, texts[0])->example.part, 0);
    rh_comparison_release(&c);
    rh_inputs_close(&in);
}

/* Nothing that is counted or tested depends on the order of the parts, or on how often they are
 * read. */
static void test_order_and_passes(void **state)
{
    (void) state;
    struct rh_str_list forth = LIST(base_1, base_2), back = LIST(base_2, base_1);
    struct rh_str_list candidate = LIST(candidate_1, candidate_2);
    struct rh_inputs in[2];
    struct rh_comparison c[2];
    struct rh_result r[2];
    open_inputs(&in[0], &forth, &candidate);
    open_inputs(&in[1], &back, &candidate);
    compare(&c[0], &in[0], 16 << 20);
    compare(&c[1], &in[1], 1);
    for (int i = 0; i < 2; i++) {
        rh_result_make(&r[i], &c[i], NULL);
    }
    assert_memory_equal(&c[0].pairs, &c[1].pairs, sizeof c[0].pairs);
    assert_int_equal(r[0].query_count, r[1].query_count);
    for (uint32_t i = 0; i < r[0].query_count; i++) {
        const struct rh_query_result *x = &r[0].queries[i], *y = &r[1].queries[i];
        assert_int_equal(x->query->fingerprint, y->query->fingerprint);
        assert_memory_equal(&x->query->pairs, &y->query->pairs, sizeof x->query->pairs);
        assert_int_equal(x->verdict, y->verdict);
        struct rh_pair_sums sums[2];
        rh_pair_sums_make(&sums[0], &x->query->times, false);
        rh_pair_sums_make(&sums[1], &y->query->times, false);
        assert_memory_equal(sums[0].batches, sums[1].batches, sizeof sums[0].batches);
        assert_memory_equal(sums[0].ratios, sums[1].ratios, sizeof sums[0].ratios);
        rh_pair_sums_release(&sums[0]);
        rh_pair_sums_release(&sums[1]);
    }
    for (int i = 0; i < 2; i++) {
        rh_result_release(&r[i]);
        rh_comparison_release(&c[i]);
        rh_inputs_close(&in[i]);
    }
}

static void test_repeats(void **state)
{
    (void) state;
    struct rh_str_list base = LIST(base_1, base_2, base_1_again);
    struct rh_str_list candidate = LIST(candidate_1, candidate_2);
    struct rh_comparison_part parts[4];
    struct rh_inputs in;
    open_inputs(&in, &base, &candidate);
    assert_int_equal(in.part_count, 2);
    assert_int_equal(rh_inputs_repeat_count(&in, RH_BASE), 1);
    assert_int_equal(rh_inputs_repeat_count(&in, RH_CANDIDATE), 0);
    assert_int_equal(rh_inputs_repeat(&in, RH_BASE, 1, parts), 1);
    assert_string_equal(rh_trace_file_path(parts[0].file[0]), base_1);
    assert_string_equal(rh_trace_file_path(parts[0].file[1]), base_1_again);
    assert_int_equal(rh_inputs_repeat(&in, RH_BASE, 2, parts), 0);
    assert_int_equal(rh_inputs_repeat(&in, RH_CANDIDATE, 1, parts), 0);
    rh_inputs_close(&in);
}

/* All repeats are compared, in pairs that do not depend on how they are named; the one candidate of
 * the first trace stands in two of them. */
static void test_repeats_are_compared(void **state)
{
    (void) state;
    struct rh_str_list forth = LIST(base_1, base_2, base_1_again);
    struct rh_str_list back = LIST(base_1_again, base_1, base_2);
    struct rh_str_list candidate = LIST(candidate_1, candidate_2);
    struct rh_comparison_part pairs[4];
    struct rh_inputs in[2];
    struct rh_comparison c[2];
    const char *of_first[2] = {NULL, NULL};
    open_inputs(&in[0], &forth, &candidate);
    open_inputs(&in[1], &back, &candidate);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rh_inputs_pair_count(&in[i]), 3);
        rh_inputs_compared(&in[i], pairs);
        for (uint32_t k = 0, n = 0; k < 3; k++) {
            const char *path = rh_trace_file_path(pairs[k].file[RH_BASE]);
            if (strcmp(path, base_2) == 0) {
                assert_string_equal(rh_trace_file_path(pairs[k].file[RH_CANDIDATE]), candidate_2);
                continue;
            }
            assert_string_equal(rh_trace_file_path(pairs[k].file[RH_CANDIDATE]), candidate_1);
            of_first[n] = of_first[n] ? of_first[n] : path;
            assert_string_equal(path, of_first[n++]);
        }
        compare(&c[i], &in[i], 16 << 20);
        assert_int_equal(c[i].pairs.paired, 3 * CALLS);
        assert_int_equal(rh_comparison_file_count(&c[i], RH_BASE), 3);
        assert_int_equal(rh_comparison_file_count(&c[i], RH_CANDIDATE), 2);
    }
    assert_memory_equal(&c[0].pairs, &c[1].pairs, sizeof c[0].pairs);
    for (int i = 0; i < 2; i++) {
        rh_comparison_release(&c[i]);
        rh_inputs_close(&in[i]);
    }
}

/* As without options: two files of different traces are compared without pairs. */
static void test_unlike(void **state)
{
    (void) state;
    struct rh_str_list base = LIST(base_1), candidate = LIST(candidate_2);
    struct rh_inputs in;
    struct rh_comparison c;
    open_inputs(&in, &base, &candidate);
    assert_int_equal(in.part_count, 1);
    compare(&c, &in, 16 << 20);
    assert_false(c.paired);
    assert_string_equal(rh_trace_file_path(c.file[RH_BASE]), base_1);
    assert_string_equal(rh_trace_file_path(c.file[RH_CANDIDATE]), candidate_2);
    rh_comparison_release(&c);
    rh_inputs_close(&in);
}

static void check_refused(const struct rh_str_list *base, const struct rh_str_list *candidate,
                          const char *says)
{
    struct rh_inputs in;
    struct rh_error err = {0};
    assert_int_equal(rh_inputs_open(&in, base, candidate, &err), -1);
    rh_inputs_close(&in);
    assert_int_equal(err.code, RH_ERR_USAGE);
    if (!strstr(err.text, says)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
    }
}

static void test_refused(void **state)
{
    (void) state;
    struct fx_statement statements[CALLS];
    struct fx_file fast = run_of("fast.run", 20, 1, calls(statements, 1000, 1));
    struct fx_file workload = fx_workload("one.trace", statements, CALLS);
    fast.speed = "2";
    workload.uuid = 1;
    struct rh_str_list candidate = LIST(candidate_1), both = LIST(candidate_1, candidate_2);
    struct rh_str_list twice = LIST(base_1, base_1);
    check_refused(&twice, &candidate, "are the same run");
    struct rh_str_list faster = LIST(base_1, fx_write(&fast));
    check_refused(&faster, &candidate, "one does not repeat the other");
    struct rh_str_list traced = LIST(base_1, fx_write(&workload));
    check_refused(&traced, &candidate, "not both of them its replays");
    struct rh_str_list base = LIST(base_1), bases = LIST(base_1, base_2);
    check_refused(&base, &both, "of the candidate is of a trace that no file of the base is of");
    check_refused(&bases, &candidate, "of the base is of a trace that no file of the candidate");
}

static int write_files(void **state)
{
    if (fx_setup(state) != 0) {
        return -1;
    }
    base_1 = write_run("base-1.run", 11, 1, 1000, 1);
    base_1_again = write_run("base-1-again.run", 12, 1, 1010, 1);
    base_2 = write_run("base-2.run", 13, 2, 1000, 1);
    candidate_1 = write_run("candidate-1.run", 14, 1, 1200, 2);
    candidate_2 = write_run("candidate-2.run", 15, 2, 1300, 1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_order_and_passes),
        cmocka_unit_test(test_repeats), cmocka_unit_test(test_repeats_are_compared),
        cmocka_unit_test(test_unlike),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, write_files, fx_teardown);
}
