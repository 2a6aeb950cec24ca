/*
 * formats/record_query.h
 *
 * Which text a record's query is known by, and its fingerprint: one rule for every tool, so that a
 * fingerprint of a report finds its statements in a file.
 */
#ifndef RH_FORMATS_RECORD_QUERY_H
#define RH_FORMATS_RECORD_QUERY_H

#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"
#include "formats/record.h"

enum rh_query_text {
    RH_QUERY_TEMPLATE, /* the template tells the query */
    RH_QUERY_WHOLE,    /* only the whole text does */
    RH_QUERY_NAMED,    /* it has no text: a name that no statement can have, "(function call 5)" */
};

/* *text points into r, or into `whole`, which is cleared and used where needed, and stays valid
 * until either changes. */
enum rh_query_text rh_record_query(const struct rh_record *r, struct rh_buf *whole,
                                   struct rh_span *text);
uint64_t rh_query_fingerprint(enum rh_query_text kind, struct rh_span text, struct rh_buf *scratch);

#endif
