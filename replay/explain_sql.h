/*
 * replay/explain_sql.h
 *
 * From a query's normalised text (docs/FINGERPRINT.md), which has no constants, a statement that
 * can be planned: each constant becomes a parameter.
 */
#ifndef RH_REPLAY_EXPLAIN_SQL_H
#define RH_REPLAY_EXPLAIN_SQL_H

#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/span.h"

/* The protocol's limit. */
enum { RH_EXPLAIN_PARAMS_MAX = 65535 };

/*
 * Append the statement, with $1 to $*params.  -1, with a reason that begins in lower case, for what
 * is not explained: anything but one SELECT, INSERT, UPDATE, DELETE, MERGE, VALUES, TABLE or WITH,
 * none of which a plain EXPLAIN executes.
 */
int rh_explain_sql_make(struct rh_buf *out, struct rh_span normalised, uint32_t *params,
                        struct rh_error *err);

#endif
