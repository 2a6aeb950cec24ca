/*
 * diff/volatile_text.h
 *
 * Does a query's text choose its rows by what is another in each run: the time of day, chance, a
 * sequence, the transaction's or the backend's number?
 */
#ifndef RH_DIFF_VOLATILE_TEXT_H
#define RH_DIFF_VOLATILE_TEXT_H

#include <stdbool.h>

#include "common/span.h"

/* Of a normalised text.  Only what stands where rows are chosen counts (behind FROM, WHERE, LIMIT
 * ...): now() in a list of values or in SET leaves the number of rows as it is.  Functions of a
 * view or of the database are not seen. */
bool rh_volatile_text(struct rh_span sql);

#endif
