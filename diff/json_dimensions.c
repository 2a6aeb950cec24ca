#include "diff/json_dimensions.h"

#include <math.h>

#include "diff/json_put.h"

static void put_sides(struct rh_json *j, const char *key, const uint64_t counts[RH_SIDES])
{
    rh_json_key(j, key);
    rh_json_open(j, '{');
    rh_json_put_count(j, "base", counts[RH_BASE]);
    rh_json_put_count(j, "candidate", counts[RH_CANDIDATE]);
    rh_json_close(j);
}

static void put_row(struct rh_json *j, const struct rh_dimension_row *row)
{
    struct rh_interval interval = {NAN, NAN};
    if (row->test.pairs > 0) {
        interval = rh_query_test_interval(&row->test, RH_MEASURE_MEAN);
    }
    rh_json_open(j, '{');
    if (row->is_other) {
        rh_json_key(j, "name");
        rh_json_null(j);
    } else {
        rh_json_put_text(j, "name", row->value->name);
    }
    put_sides(j, "calls", row->value->counts.calls);
    put_sides(j, "errors", row->value->counts.errors);
    rh_json_put_count(j, "compared", row->value->counts.timed);
    rh_json_key(j, "ratio");
    rh_json_double(j, row->ratio, 6);
    rh_json_key(j, "interval");
    rh_json_open(j, '[');
    rh_json_digits(j, interval.low, 7);
    rh_json_digits(j, interval.high, 7);
    rh_json_close(j);
    rh_json_put_ns_as_us(j, "time_added_us", row->time_added_ns);
    rh_json_key(j, "time_added_pct");
    rh_json_double(j, row->time_added_pct, 3);
    rh_json_key(j, "verdict");
    rh_json_cstr(j, rh_dimension_verdict(row));
    rh_json_key(j, "reason");
    rh_json_cstr(j, row->test.why);
    rh_json_close(j);
}

void rh_json_dimensions(struct rh_json *j, const struct rh_result *r)
{
    rh_json_key(j, "dimensions");
    rh_json_open(j, '{');
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        const struct rh_dimension_result *d = &r->dimensions[i];
        rh_json_key(j, rh_dimension_name((enum rh_dimension) i));
        rh_json_open(j, '[');
        for (uint32_t k = 0; k < d->count; k++) {
            put_row(j, &d->rows[k]);
        }
        rh_json_close(j);
    }
    rh_json_close(j);
}
