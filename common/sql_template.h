/*
 * common/sql_template.h
 *
 * A statement as a template and its literals.  The template is the text with each literal replaced
 * by one slot byte; putting the literals back gives the exact bytes of the text, always.
 *
 * Literals are those of sql_literal.h (numbers with their sign, strings of every kind, but not the
 * positions of ORDER BY 1) and comments.  A raw byte of the text that equals a slot byte is a
 * literal of its own.  The literal number RH_TEMPLATE_SLOTS_MAX takes the rest of the text with it,
 * so a template has a bounded number of slots.
 */
#ifndef RH_COMMON_SQL_TEMPLATE_H
#define RH_COMMON_SQL_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

enum {
    RH_TEMPLATE_CONSTANT = 0x00, /* slot of a number or string, or of the rest of a long text */
    RH_TEMPLATE_COMMENT = 0x01,  /* slot of a comment, or of a raw slot byte */
    RH_TEMPLATE_SLOTS_MAX = 256,
};

/* Filled by a split; spans point into the split text and live as long as it does. */
struct rh_literals {
    struct rh_span items[RH_TEMPLATE_SLOTS_MAX];
    uint32_t count;
    bool capped; /* the last literal is the rest of the text */
};

/* Split text; *tmpl is cleared first; its maximum must be at least the text's length. */
void rh_template_split(struct rh_span text, struct rh_buf *tmpl, struct rh_literals *literals);

/* How many slots a template has. */
uint32_t rh_template_slot_count(struct rh_span tmpl);

/* Append template with its literals put back.  -1 when count is not the number of slots, or the
 * buffer's maximum is passed. */
int rh_template_join(struct rh_span tmpl, const struct rh_span *literals, uint32_t count,
                     struct rh_buf *out);

#endif
