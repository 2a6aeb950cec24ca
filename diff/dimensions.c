#include "diff/dimensions.h"

#include <string.h>

#include "common/alloc.h"

const char *rh_dimension_name(enum rh_dimension dimension)
{
    static const char *const names[RH_DIMENSIONS] = {"database", "user", "application"};
    return names[dimension];
}

void rh_dimensions_init(struct rh_dimensions *d, uint64_t bytes_max)
{
    *d = (struct rh_dimensions){.room = {.bytes_max = bytes_max}};
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        d->values[i] = rh_calloc(RH_DIMENSION_VALUES_MAX, sizeof *d->values[i]);
        d->counts[i] = 1;
    }
    RH_GROW(d->origins, d->origin_count, d->origin_cap);
    d->origins[d->origin_count++] = (struct rh_origin){0};
    rh_index_map_init(&d->by_session[RH_BASE]);
    rh_index_map_init(&d->by_session[RH_CANDIDATE]);
}

void rh_dimensions_release(struct rh_dimensions *d)
{
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        for (uint32_t k = 0; k < d->counts[i]; k++) {
            rh_pair_stat_release(&d->values[i][k].times, &d->room);
            rh_free((char *) d->values[i][k].name.data);
        }
        rh_free(d->values[i]);
    }
    for (uint32_t i = 0; i < d->origin_count; i++) {
        rh_pair_stat_release(&d->origins[i].times, &d->room);
    }
    rh_free(d->origins);
    rh_index_map_release(&d->by_session[RH_BASE]);
    rh_index_map_release(&d->by_session[RH_CANDIDATE]);
    *d = (struct rh_dimensions){0};
}

void rh_dimensions_begin_part(struct rh_dimensions *d)
{
    for (int side = 0; side < RH_SIDES; side++) {
        rh_index_map_clear(&d->by_session[side]);
        d->last_origin[side] = 0;
    }
}

/* The origin + 1 of a session, 0 when it is not known. */
static uint32_t find(struct rh_dimensions *d, enum rh_side side, uint32_t session)
{
    if (d->last_origin[side] == 0 || d->last_session[side] != session) {
        d->last_session[side] = session;
        d->last_origin[side] = rh_index_map_get(&d->by_session[side], session);
    }
    return d->last_origin[side];
}

bool rh_dimensions_knows(struct rh_dimensions *d, enum rh_side side, uint32_t session)
{
    return find(d, side, session) > 0 || d->by_session[side].count >= RH_DIMENSION_SESSIONS_MAX;
}

static uint8_t value_of(struct rh_dimensions *d, enum rh_dimension dimension, struct rh_span name)
{
    struct rh_dimension_value *values = d->values[dimension];
    name = name.data ? name : RH_SPAN_LITERAL(""); /* not told apart */
    name.len = name.len < RH_DIMENSION_NAME_MAX ? name.len : RH_DIMENSION_NAME_MAX;
    for (uint32_t i = 1; i < d->counts[dimension]; i++) {
        if (rh_span_equal(values[i].name, name)) {
            return (uint8_t) i;
        }
    }
    if (d->counts[dimension] == RH_DIMENSION_VALUES_MAX) {
        return 0;
    }
    uint32_t index = d->counts[dimension]++;
    values[index].name = rh_span(rh_memdup(name.data, name.len), name.len);
    return (uint8_t) index;
}

void rh_dimensions_put(struct rh_dimensions *d, enum rh_side side, uint32_t session,
                       const struct rh_span names[RH_DIMENSIONS])
{
    struct rh_origin origin = {0};
    uint32_t index = 0;
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        origin.values[i] = value_of(d, (enum rh_dimension) i, names[i]);
    }
    while (index < d->origin_count &&
           memcmp(d->origins[index].values, origin.values, sizeof origin.values) != 0) {
        index++;
    }
    if (index == RH_DIMENSION_ORIGINS_MAX) {
        index = 0;
    } else if (index == d->origin_count) {
        RH_GROW(d->origins, d->origin_count, d->origin_cap);
        d->origins[d->origin_count++] = origin;
    }
    rh_index_map_put(&d->by_session[side], session, index + 1);
    d->last_session[side] = session;
    d->last_origin[side] = index + 1;
}

static struct rh_origin *origin_of(struct rh_dimensions *d, enum rh_side side, uint32_t session)
{
    uint32_t found = find(d, side, session);
    return &d->origins[found ? found - 1 : 0];
}

void rh_dimensions_observe(struct rh_dimensions *d, enum rh_side side,
                           const struct rh_observation *o)
{
    struct rh_dimension_counts *counts = &origin_of(d, side, o->ref.session)->counts;
    counts->calls[side]++;
    counts->errors[side] += o->status == RH_OBSERVED_ERROR;
}

void rh_dimensions_add_pair(struct rh_dimensions *d, uint32_t session,
                            const struct rh_timed_pair *pair)
{
    struct rh_origin *origin = origin_of(d, RH_BASE, session);
    origin->counts.timed++;
    origin->counts.base_ns += pair->base_ns;
    origin->counts.candidate_ns += pair->candidate_ns;
    if (origin - d->origins < RH_DIMENSION_ORIGINS_APART) {
        rh_pair_stat_add(&origin->times, pair, &d->room);
        return;
    }
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        rh_pair_stat_add(&d->values[i][origin->values[i]].times, pair, &d->room);
    }
}

static void counts_add(struct rh_dimension_counts *into, const struct rh_dimension_counts *from)
{
    for (int side = 0; side < RH_SIDES; side++) {
        into->calls[side] += from->calls[side];
        into->errors[side] += from->errors[side];
    }
    into->timed += from->timed;
    into->base_ns += from->base_ns;
    into->candidate_ns += from->candidate_ns;
}

void rh_dimensions_settle(struct rh_dimensions *d)
{
    for (uint32_t i = 0; i < d->origin_count; i++) {
        struct rh_origin *origin = &d->origins[i];
        for (int k = 0; k < RH_DIMENSIONS; k++) {
            struct rh_dimension_value *v = &d->values[k][origin->values[k]];
            counts_add(&v->counts, &origin->counts);
            rh_pair_stat_merge(&v->times, &origin->times, &d->room);
        }
        origin->counts = (struct rh_dimension_counts){0};
        rh_pair_stat_release(&origin->times, &d->room);
    }
}

void rh_dimensions_clear_pairs(struct rh_dimensions *d)
{
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        for (uint32_t k = 0; k < d->counts[i]; k++) {
            rh_pair_stat_release(&d->values[i][k].times, &d->room);
        }
    }
    for (uint32_t i = 0; i < d->origin_count; i++) {
        struct rh_dimension_counts *counts = &d->origins[i].counts;
        counts->timed = counts->base_ns = counts->candidate_ns = 0;
        rh_pair_stat_release(&d->origins[i].times, &d->room);
    }
}
