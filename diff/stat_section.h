/*
 * diff/stat_section.h
 *
 * How sure a quantile is when neighbouring statements are not independent.  Source of the methods:
 * Asmussen and Glynn 2007 (sectioning), Woodruff 1952 (a quantile's interval by its ranks).
 */
#ifndef RH_DIFF_STAT_SECTION_H
#define RH_DIFF_STAT_SECTION_H

#include "diff/pair_stat.h"
#include "diff/stat_batch.h"

enum {
    RH_SECTION_PAIRS_MIN = 20, /* in a section; neighbours are joined until they have as many */
    RH_SECTIONS_MIN = 8,
};

/* ln of candidate quantile / base quantile, from how far the ratios of the sections lie apart.  -1
 * when the pairs do not make RH_SECTIONS_MIN sections. */
int rh_estimate_quantile(struct rh_estimate *e, const struct rh_section *sections, double quantile);

/* How many times fewer independent calls would tell as much of a side's quantile, at least 1; NAN
 * when the pairs do not make RH_SECTIONS_MIN sections. */
double rh_quantile_design_effect(const struct rh_section *sections, enum rh_side side,
                                 double quantile);

/* The quantile of what `h` is a sample of lies in it with this confidence, in ns; NAN at an end
 * where n is too small to tell, and at both when the design effect is NAN. */
struct rh_interval rh_quantile_interval(const struct rh_hist *h, double quantile, double confidence,
                                        double design_effect);

/* Of candidate / base, from the two sides' values of a quantile and their intervals (MOVER, Zou and
 * Donner 2008, on the logarithms).  It takes the sides as independent, so for twins it is wider
 * than need be.  NAN where an end or a value is not known or not above 0. */
struct rh_interval rh_quantile_ratio_interval(double base, struct rh_interval of_base,
                                              double candidate, struct rh_interval of_candidate);

#endif
