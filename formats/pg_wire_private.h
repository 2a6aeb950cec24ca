/*
 * formats/pg_wire_private.h
 *
 * What the parts of the tracker share; not for others.
 */
#ifndef RH_FORMATS_PG_WIRE_PRIVATE_H
#define RH_FORMATS_PG_WIRE_PRIVATE_H

#include "formats/pg_wire.h"

struct rh_pg_wire_event rh_pg_wire_event_make(const struct rh_pg_wire *w,
                                              enum rh_pg_wire_event_type type);
void rh_pg_wire_enter(struct rh_pg_wire *w, enum rh_pg_wire_phase phase);

/* pg_wire.c */
/* Describe and Close of a portal and of a statement stand in the queue under letters of their own:
 * D and p, t and C. */
char rh_pg_wire_queue_type(char type, struct rh_span body);
/* The client speaks; messages and answers are in step if it has waited for all that it asked. */
void rh_pg_wire_note_rest(struct rh_pg_wire *w);

/* pg_wire_match.c */
/* All that is asked gets UNKNOWN. */
void rh_pg_wire_give_up(struct rh_pg_wire *w);
/* How many ReadyForQuery are asked for: 0, 1, or 2 for more. */
uint32_t rh_pg_wire_groups(const struct rh_pg_wire *w);
void rh_pg_wire_answer_clear(struct rh_pg_wire_answer *a);
/* The head of the queue has its answer, which ends without an error: w->now, and the body of its
 * CommandComplete (no data: none).  status: of the ReadyForQuery that ends it, 0: of none. */
void rh_pg_wire_settle_plain(struct rh_pg_wire *w, struct rh_span tag, char status);

/* pg_wire_asked.c */
/* Take the bytes of the client if they are plain requests, whole; false, and nothing changed,
 * otherwise. */
bool rh_pg_wire_take_asked(struct rh_pg_wire *w, struct rh_span bytes);

/* pg_wire_plain.c */
/* Take the bytes if they are the plain answer to all that is asked; false, and nothing changed,
 * otherwise. */
bool rh_pg_wire_take_plain(struct rh_pg_wire *w, struct rh_span bytes);

/* pg_wire_lost.c */
void rh_pg_wire_lose(struct rh_pg_wire *w, enum rh_pg_side side, enum rh_pg_wire_loss loss,
                     uint64_t bytes);
/* Whether the side is found again with these bytes, at their first one or (the server) behind
 * their last one; else they are counted as passed. */
bool rh_pg_wire_find_front(struct rh_pg_wire *w, struct rh_span bytes);
bool rh_pg_wire_find_back(struct rh_pg_wire *w, struct rh_span *bytes);

#endif
