#include "diff/pair_count.h"

/* What the log did not time is counted, and not tested. */
static void add_times(struct rh_comparison *c, uint32_t part, const struct rh_twin *base,
                      const struct rh_twin *candidate)
{
    struct rh_query *q = &c->queries.items[base->query];
    if (base->commit_not_timed || !c->same_vantage) {
        return;
    }
    struct rh_timed_pair pair = {
        .base_ns = base->service_ns,
        .candidate_ns = candidate->service_ns,
        .batch = base->batch,
        .is_first = q->first.part == part && rh_twin_is(base, &q->first),
    };
    rh_dimensions_add_pair(&c->dimensions, base->session, &pair);
    if (base->query == RH_QUERY_OTHER) {
        return;
    }
    rh_pair_stat_add(&q->times, &pair, &c->queries.room);
    struct rh_slowed_pair slowed = {
        .ordinal = rh_twin_ordinal(base),
        .part = part,
        .session = base->session,
        .copy = rh_twin_copy(base),
        .base_ns = base->service_ns,
        .candidate_ns = candidate->service_ns,
    };
    rh_slowed_pair_take(&q->slowed, &slowed);
}

/* Both ran. */
static void settle_outcomes(struct rh_comparison *c, uint32_t part, const struct rh_twin *base,
                            const struct rh_twin *candidate)
{
    struct rh_query_pairs *p = &c->queries.items[base->query].pairs;
    bool base_ok = base->status == RH_OBSERVED_OK;
    bool candidate_ok = candidate->status == RH_OBSERVED_OK;

    if (base_ok && candidate->status == RH_OBSERVED_ERROR) {
        uint32_t group = rh_error_table_put(&c->errors, candidate->query, candidate->code);
        c->errors.items[group].broke++;
        p->broke++;
    }
    if (candidate_ok && base->status == RH_OBSERVED_ERROR) {
        uint32_t group = rh_error_table_put(&c->errors, base->query, base->code);
        c->errors.items[group].fixed++;
        p->fixed++;
    }
    if (!base_ok || !candidate_ok) {
        return;
    }
    if (base->service_known && candidate->service_known &&
        base->commit_not_timed == candidate->commit_not_timed) {
        p->timed++;
        p->base_ns += base->service_ns;
        p->candidate_ns += candidate->service_ns;
        add_times(c, part, base, candidate);
    }
    if (base->rows != RH_TWIN_ROWS_UNKNOWN && candidate->rows != RH_TWIN_ROWS_UNKNOWN) {
        bool mismatch = base->rows != candidate->rows;
        p->rows_compared++;
        p->row_mismatches += mismatch;
        c->pairs.rows_compared++;
        c->pairs.row_mismatches += mismatch;
    }
}

static void settle_missing(struct rh_comparison *c, const struct rh_twin *base, uint32_t code)
{
    enum rh_fate fate = (enum rh_fate)(code >> 8);
    uint32_t reason = code & 0xff;

    if (fate != RH_FATE_LOST && rh_reason_is_outside((enum rh_reason) reason)) {
        c->pairs.outside_window++;
        return;
    }
    c->queries.items[base->query].pairs.missing++;
    c->pairs.missing++;
    if (fate == RH_FATE_LOST) {
        c->pairs.missing_lost++;
    } else {
        c->pairs.missing_by_reason[reason < RH_REASON_COUNT ? reason : RH_REASON_NONE]++;
    }
}

void rh_pair_count_add(struct rh_comparison *c, uint32_t part, const struct rh_twin *base,
                       const struct rh_twin *candidate)
{
    bool base_ran = base->status != RH_OBSERVED_MISSING;
    bool candidate_ran = candidate->status != RH_OBSERVED_MISSING;

    c->pairs.paired++;
    if (base_ran && candidate_ran) {
        settle_outcomes(c, part, base, candidate);
    } else if (base_ran) {
        settle_missing(c, base, candidate->code);
    } else if (candidate_ran) {
        c->pairs.ran_only_in_candidate++;
    }
}

void rh_pair_count_single(struct rh_comparison *c, const struct rh_twin *twin)
{
    if (twin->status == RH_OBSERVED_MISSING) {
        return;
    }
    if (twin->side == RH_CANDIDATE) {
        c->pairs.candidate_only++;
        return;
    }
    c->pairs.base_only++;
    c->pairs.missing++;
    c->pairs.missing_absent++;
    c->queries.items[twin->query].pairs.missing++;
}

void rh_pair_count_clear(struct rh_comparison *c)
{
    c->pairs = (struct rh_pair_totals){0};
    rh_query_table_clear_pairs(&c->queries);
    rh_dimensions_clear_pairs(&c->dimensions);
    rh_error_table_clear_pairs(&c->errors);
}
