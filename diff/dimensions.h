/*
 * diff/dimensions.h
 *
 * The workload cut by database, by user and by application: what is counted for each value, on both
 * sides and over the pairs.  A session's values are those of its first statement.  Bounded: values
 * and sessions beyond a limit are counted together (index 0).
 */
#ifndef RH_DIFF_DIMENSIONS_H
#define RH_DIFF_DIMENSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "diff/index_map.h"
#include "diff/observation.h"
#include "diff/pair_stat.h"

enum rh_dimension { RH_BY_DATABASE, RH_BY_USER, RH_BY_APPLICATION, RH_DIMENSIONS };
/* "database", "user", "application". */
const char *rh_dimension_name(enum rh_dimension dimension);

enum {
    RH_DIMENSION_VALUES_MAX = 64, /* of each, with the one for all others */
    RH_DIMENSION_SESSIONS_MAX = 1 << 20,
    RH_DIMENSION_ORIGINS_MAX = 4096, /* combinations of values */
    RH_DIMENSION_ORIGINS_APART = 64, /* of these, whose pairs are summed once, not for each value */
    RH_DIMENSION_NAME_MAX = 128,     /* bytes kept of a name; the server's have 63 */
};

struct rh_dimension_counts {
    uint64_t calls[RH_SIDES];
    uint64_t errors[RH_SIDES];
    uint64_t timed; /* pairs whose times may be tested, and their sums */
    uint64_t base_ns;
    uint64_t candidate_ns;
};

struct rh_dimension_value {
    struct rh_span name; /* the table's; empty: none, or unknown */
    struct rh_dimension_counts counts;
    struct rh_pair_stat times;
};

/* Of one or more sessions: a combination of values.  What is counted for it goes to its values in
 * rh_dimensions_settle(). */
struct rh_origin {
    uint8_t values[RH_DIMENSIONS];
    struct rh_dimension_counts counts;
    struct rh_pair_stat times;
};

struct rh_dimensions {
    struct rh_dimension_value *values[RH_DIMENSIONS]; /* the first one is of all others */
    uint32_t counts[RH_DIMENSIONS];
    struct rh_origin *origins; /* each that a session has; the first one is of others */
    uint32_t origin_count;
    uint32_t origin_cap;
    struct rh_index_map by_session[RH_SIDES]; /* of the part that is read; origin + 1 */
    uint32_t last_session[RH_SIDES];          /* with last_origin: 0, none */
    uint32_t last_origin[RH_SIDES];
    struct rh_pair_room room;
};

void rh_dimensions_init(struct rh_dimensions *d, uint64_t bytes_max);
void rh_dimensions_release(struct rh_dimensions *d);
/* Sessions of another file come: forget which is which. */
void rh_dimensions_begin_part(struct rh_dimensions *d);

/* Whether the session was seen on that side; else put it, with names[dimension]. */
bool rh_dimensions_knows(struct rh_dimensions *d, enum rh_side side, uint32_t session);
void rh_dimensions_put(struct rh_dimensions *d, enum rh_side side, uint32_t session,
                       const struct rh_span names[RH_DIMENSIONS]);

/* A statement of one side that ran. */
void rh_dimensions_observe(struct rh_dimensions *d, enum rh_side side,
                           const struct rh_observation *o);
/* A pair whose times may be tested, of the base's session. */
void rh_dimensions_add_pair(struct rh_dimensions *d, uint32_t session,
                            const struct rh_timed_pair *pair);
/* After the last pair, before values[][] are read. */
void rh_dimensions_settle(struct rh_dimensions *d);
/* Forget what was counted over pairs. */
void rh_dimensions_clear_pairs(struct rh_dimensions *d);

#endif
