/*
 * formats/session_state.h
 *
 * What a session has made of itself by SQL and protocol: named prepared statements (by Parse and by
 * PREPARE) and session-level settings.  The trace writer keeps it to begin each block with; a
 * replay from the middle, or a reconnection, restores it.  Bounded: past RH_STATE_ITEMS_MAX items
 * or RH_STATE_BYTES_MAX bytes new ones are not kept and `incomplete` is set.
 */
#ifndef RH_FORMATS_SESSION_STATE_H
#define RH_FORMATS_SESSION_STATE_H

#include <stdbool.h>

#include "common/arena.h"
#include "formats/record.h"

enum { RH_STATE_ITEMS_MAX = 4096, RH_STATE_BYTES_MAX = 4 * 1024 * 1024 };

enum rh_state_kind {
    RH_STATE_STATEMENT = 0, /* prepared by Parse: name, text */
    RH_STATE_PREPARE = 1,   /* prepared by SQL: name (folded), the PREPARE command */
    RH_STATE_SETTING = 2,   /* name (lower case), the SET command */
};

struct rh_state_item {
    enum rh_state_kind kind;
    struct rh_span name; /* one piece of memory with text and types, owned by the state */
    struct rh_span text;
    struct rh_span types; /* of a STATEMENT: of its parameters as in Parse, 4 bytes each,
                             big-endian; none: left to the server */
    uint64_t key_hash;    /* of kind and name */
    uint64_t text_hash;
};

struct rh_session_state {
    struct rh_state_item *items; /* in order of making; settings keep the order of their last SET */
    uint32_t count;
    uint32_t cap;
    size_t bytes;
    bool incomplete;
    uint32_t *slots; /* item + 1 by key_hash, 0 empty */
    uint32_t slot_cap;
};

void rh_session_state_init(struct rh_session_state *s);
void rh_session_state_release(struct rh_session_state *s);
void rh_session_state_clear(struct rh_session_state *s);

/* Take over what a record does that did not fail.  A named EXECUTE record prepares its name with
 * its text (the newest text wins).  SET, RESET, DISCARD ALL, PREPARE, DEALLOCATE are read from the
 * text; SET LOCAL changes nothing, and a SET in a transaction that rolls back is kept all the same
 * (documented: a log does not always tell). */
void rh_session_state_apply(struct rh_session_state *s, const struct rh_record *r);

/* Whether a text (or template) has a command that apply would act on. */
bool rh_session_state_concerns(struct rh_span text, bool is_template);

/* Set one item directly (a reader does, from a block). */
void rh_session_state_put(struct rh_session_state *s, enum rh_state_kind kind, struct rh_span name,
                          struct rh_span text);
void rh_session_state_put_typed(struct rh_session_state *s, enum rh_state_kind kind,
                                struct rh_span name, struct rh_span text, struct rh_span types);
void rh_session_state_remove(struct rh_session_state *s, enum rh_state_kind kind,
                             struct rh_span name);
const struct rh_state_item *rh_session_state_find(const struct rh_session_state *s,
                                                  enum rh_state_kind kind, struct rh_span name);
/* A hash of all items in their order, and whether two states have the same ones. */
uint64_t rh_session_state_digest(const struct rh_session_state *s);
bool rh_session_state_equal(const struct rh_session_state *a, const struct rh_session_state *b);

#endif
