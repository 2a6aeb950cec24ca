#include "diff/dimension_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

const char *rh_dimension_verdict(const struct rh_dimension_row *row)
{
    static const char *const names[] = {
        [RH_TEST_NONE] = NULL,   [RH_TEST_REGRESSED] = "regressed", [RH_TEST_IMPROVED] = "improved",
        [RH_TEST_SAME] = "same", [RH_TEST_UNDECIDED] = "undecided",
    };
    return names[row->test.result];
}

static int order_names(struct rh_span a, struct rh_span b)
{
    int order = memcmp(a.data ? a.data : "", b.data ? b.data : "", a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Larger first, unknown last, then by name. */
static int order_rows(const void *a, const void *b)
{
    const struct rh_dimension_row *x = a, *y = b;
    bool x_known = !isnan(x->time_added_ns), y_known = !isnan(y->time_added_ns);
    if (x_known != y_known) {
        return x_known ? -1 : 1;
    }
    if (x_known && x->time_added_ns != y->time_added_ns) {
        return x->time_added_ns > y->time_added_ns ? -1 : 1;
    }
    return order_names(x->value->name, y->value->name);
}

static void add_row(struct rh_dimension_result *r, const struct rh_dimension_value *v,
                    bool is_other)
{
    double pairs = (double) v->counts.timed;
    double added = v->counts.timed
                       ? ((double) v->counts.candidate_ns - (double) v->counts.base_ns) / pairs
                       : NAN;
    r->rows[r->count++] = (struct rh_dimension_row){
        .value = v,
        .is_other = is_other,
        .ratio = v->counts.base_ns > 0
                     ? (double) v->counts.candidate_ns / (double) v->counts.base_ns
                     : NAN,
        .time_added_ns = added * (double) v->counts.calls[RH_BASE],
        .time_added_pct = NAN,
    };
}

void rh_dimension_result_make(struct rh_dimension_result *r, const struct rh_dimensions *d,
                              enum rh_dimension dimension, const struct rh_test_rule *rule,
                              bool tested)
{
    struct rh_query_test *tests[RH_DIMENSION_VALUES_MAX];
    double base_time_ns = 0;
    *r = (struct rh_dimension_result){.rows = rh_calloc(d->counts[dimension], sizeof *r->rows)};
    for (uint32_t i = 0; i < d->counts[dimension]; i++) {
        const struct rh_dimension_value *v = &d->values[dimension][i];
        if (v->counts.calls[RH_BASE] + v->counts.calls[RH_CANDIDATE] > 0) {
            add_row(r, v, i == 0);
            base_time_ns += v->counts.timed
                                ? (double) v->counts.base_ns / (double) v->counts.timed *
                                      (double) v->counts.calls[RH_BASE]
                                : 0;
        }
    }
    qsort(r->rows, r->count, sizeof *r->rows, order_rows);
    for (uint32_t i = 0; i < r->count; i++) {
        struct rh_dimension_row *row = &r->rows[i];
        tests[i] = &row->test;
        row->time_added_pct = base_time_ns > 0 ? 100 * row->time_added_ns / base_time_ns : NAN;
        if (tested) {
            rh_query_test_make(&row->test, &row->value->times, rule);
        }
    }
    if (tested) {
        rh_query_tests_decide(tests, r->count, rule);
    }
}

void rh_dimension_result_release(struct rh_dimension_result *r)
{
    rh_free(r->rows);
    *r = (struct rh_dimension_result){0};
}
