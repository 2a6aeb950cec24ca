/*
 * formats/pg_wire_outcome.h
 *
 * The outcome of one record from the answers to its messages.  Capture and replay share it, so what
 * they tell of a statement is told of the same messages.
 */
#ifndef RH_FORMATS_PG_WIRE_OUTCOME_H
#define RH_FORMATS_PG_WIRE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pg_wire.h"
#include "formats/record.h"

/* What an answer says beyond the outcome itself. */
enum rh_pg_wire_mark {
    RH_PG_WIRE_SETTLED = 1 << 0, /* the execution has its answer */
    RH_PG_WIRE_NOT_RUN = 1 << 1, /* the execution was skipped after an error */
    RH_PG_WIRE_LOST = 1 << 2,    /* the answer that tells the outcome is not known */
};

/* Add an ON_ANSWER event to *o, which was cleared before the first one.  is_protocol: the record
 * has no execution, and any answer tells its outcome.  o->tag will point to tag.  Returns marks. */
uint32_t rh_pg_wire_outcome_add(struct rh_outcome *o, char tag[RH_PG_WIRE_TAG_MAX],
                                bool is_protocol, const struct rh_pg_wire_event *ev);

#endif
