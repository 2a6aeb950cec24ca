/*
 * replay/write_filter.h
 *
 * Which statements of a workload --read-only leaves out.
 */
#ifndef RH_REPLAY_WRITE_FILTER_H
#define RH_REPLAY_WRITE_FILTER_H

#include <stdbool.h>

#include "formats/record.h"

struct rh_write_filter;

struct rh_write_filter *rh_write_filter_new(void);
void rh_write_filter_free(struct rh_write_filter *filter); /* NULL is allowed */
/* Whether r, a whole record, may write (common/sql_effect.h); a function call may. */
bool rh_write_filter_holds(struct rh_write_filter *filter, const struct rh_record *r);

#endif
