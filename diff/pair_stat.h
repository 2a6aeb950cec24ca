/*
 * diff/pair_stat.h
 *
 * The times of one query's pairs, as the tests need them: all of them while they are few, then sums
 * over batches of the base's time and a histogram for each section of it.  Both forms depend on the
 * pairs alone, not on their order, so several passes over the files give the same bytes.
 */
#ifndef RH_DIFF_PAIR_STAT_H
#define RH_DIFF_PAIR_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hist.h"
#include "diff/observation.h"
#include "diff/stat_batch.h"

enum {
    RH_PAIR_LIST_MAX = 512, /* pairs kept one by one */
    RH_SECTIONS = 16,       /* each two batches long */
    RH_RATIOS_PER_OCTAVE = 8,
    RH_RATIO_CELLS =
        10 * RH_RATIOS_PER_OCTAVE + 1, /* from 1/32 to 32, a ratio of 1 in the middle */
};

/* Twins that both succeeded with times that mean the same. */
struct rh_timed_pair {
    uint64_t base_ns : 53;
    uint64_t batch : 5;    /* of the base's time */
    uint64_t is_first : 1; /* the query's first call in the base: caches are cold */
    uint64_t candidate_ns;
};

struct rh_section {
    struct rh_hist side[RH_SIDES]; /* ns */
};

struct rh_pair_sums {
    struct rh_batch batches[RH_BATCHES];
    uint64_t slower; /* took at least twice the base's time */
    uint64_t faster; /* at most half of it */
    /* Pairs by candidate / base; what is beyond counts into the outer cells. */
    uint32_t ratios[RH_RATIO_CELLS];
    bool has_sections;
    struct rh_section sections[RH_SECTIONS];
};

struct rh_pair_stat {
    struct rh_timed_pair *list;
    uint32_t count; /* of the list */
    uint32_t cap;
    bool lacks_pairs;          /* there was no memory for them: nothing can be tested */
    struct rh_pair_sums *sums; /* NULL while the list holds all */
};

/* Memory that all of them together may take, and do. */
struct rh_pair_room {
    uint64_t bytes;
    uint64_t bytes_max;
};

/* Zeroed is empty. */
void rh_pair_stat_release(struct rh_pair_stat *s, struct rh_pair_room *room);
/* Without room for sections the sums go on without them, without room for the sums nothing does. */
void rh_pair_stat_add(struct rh_pair_stat *s, const struct rh_timed_pair *pair,
                      struct rh_pair_room *room);
/* As if the pairs of `from`, of the same room, had been added to `into`. */
void rh_pair_stat_merge(struct rh_pair_stat *into, const struct rh_pair_stat *from,
                        struct rh_pair_room *room);

/* Makes *sums of the pairs, whichever form they have; release it.  without_first leaves out the
 * query's first call, if the list still knows it. */
void rh_pair_sums_make(struct rh_pair_sums *sums, const struct rh_pair_stat *s, bool without_first);
void rh_pair_sums_release(struct rh_pair_sums *sums);
uint64_t rh_pair_sums_count(const struct rh_pair_sums *sums);

#endif
