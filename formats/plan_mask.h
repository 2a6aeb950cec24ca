/*
 * formats/plan_mask.h
 *
 * The output of EXPLAIN without the values of the statement that was planned: each literal of an
 * expression becomes "?".  Costs, estimates, names, and the settings of the server stay.  What a
 * plan prints is from src/backend/commands/explain.c and utils/adt/ruleutils.c (PostgreSQL 10 to
 * 18): labels are not translated, and a string is written so that quotes and backslashes in it are
 * doubled.
 */
#ifndef RH_FORMATS_PLAN_MASK_H
#define RH_FORMATS_PLAN_MASK_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"

/* Append an expression as a plan has it, "(customer = ?)". */
void rh_plan_expression_mask(struct rh_buf *out, struct rh_span expression);
/* Append a whole plan of EXPLAIN (FORMAT TEXT), or a part of one that ends at a line's end. */
void rh_plan_text_mask(struct rh_buf *out, struct rh_span plan);
/* Whether a member of a node of EXPLAIN (FORMAT JSON) is never an expression, as "Node Type". */
bool rh_plan_member_is_name(struct rh_span key);
/* Append an error as "42P01: relation ..."; a message that may quote a value is left out, and its
 * SQLSTATE stays.  What does not begin with a SQLSTATE is ours and stays as it is. */
void rh_plan_error_mask(struct rh_buf *out, struct rh_span error);

#endif
