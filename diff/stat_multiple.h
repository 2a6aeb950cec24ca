/*
 * diff/stat_multiple.h
 *
 * Many tests at once: adjusted p-values whose limit bounds the share of false ones among those that
 * are called significant.
 */
#ifndef RH_DIFF_STAT_MULTIPLE_H
#define RH_DIFF_STAT_MULTIPLE_H

#include <stddef.h>

/* Benjamini and Hochberg 1995, for tests that are independent or positively dependent, as those on
 * one server are.  adjusted[i] belongs to p[i]; the two may be the same array.  No p is NAN. */
void rh_adjust_benjamini_hochberg(const double *p, size_t count, double *adjusted);
/* Benjamini and Yekutieli 2001: the same under any dependence, and more cautious. */
void rh_adjust_benjamini_yekutieli(const double *p, size_t count, double *adjusted);

#endif
