/*
 * diff/pair_count.h
 *
 * What a pair of twins, or a statement without one, adds to a comparison.
 */
#ifndef RH_DIFF_PAIR_COUNT_H
#define RH_DIFF_PAIR_COUNT_H

#include "diff/comparison.h"
#include "diff/pair_table.h"

void rh_pair_count_add(struct rh_comparison *c, uint32_t part, const struct rh_twin *base,
                       const struct rh_twin *candidate);
/* Its twin will not come. */
void rh_pair_count_single(struct rh_comparison *c, const struct rh_twin *twin);
/* Forget all that was counted over pairs. */
void rh_pair_count_clear(struct rh_comparison *c);

#endif
