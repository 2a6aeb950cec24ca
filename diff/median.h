/*
 * diff/median.h
 */
#ifndef RH_DIFF_MEDIAN_H
#define RH_DIFF_MEDIAN_H

#include <stddef.h>

/* Ascending; no NAN among them. */
void rh_doubles_sort(double *values, size_t count);
/* Sorts them; of an even number the middle of the two in the middle.  count is at least 1. */
double rh_doubles_median(double *values, size_t count);

#endif
