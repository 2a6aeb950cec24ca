/*
 * common/template_match.h
 *
 * Split a text by a template that it probably has, without scanning it.  Programs send the same few
 * templates in turn, so the template after the last one is known before its text is read; then only
 * the pieces between the literals are to be compared.
 *
 * The result is what rh_template_split() gives, or none.  A template takes part if that can be
 * known from its bytes and from literals that the scanner found in its places before: numbers of
 * digits with or without a sign, and strings in plain quotes.
 */
#ifndef RH_COMMON_TEMPLATE_MATCH_H
#define RH_COMMON_TEMPLATE_MATCH_H

#include "common/arena.h"
#include "common/sql_template.h"

struct rh_template_match {
    uint32_t *piece_lens; /* slot_count + 1: the bytes before each slot, and behind the last one */
    uint8_t *seen;        /* by slot: bits of the shapes that the scanner found there */
    uint32_t slot_count;
    bool learned; /* the above is there */
    bool usable;
};

/* Take in what rh_template_split() made of a text.  Memory comes from the arena, once a template.
 */
void rh_template_match_learn(struct rh_template_match *m, struct rh_span tmpl,
                             const struct rh_span *literals, uint32_t count,
                             struct rh_arena *arena);

/* Split text if it surely has the template; false: ask rh_template_split().  literals->capped stays
 * false. */
bool rh_template_match_split(const struct rh_template_match *m, struct rh_span tmpl,
                             struct rh_span text, struct rh_literals *literals);

#endif
