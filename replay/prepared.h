/*
 * replay/prepared.h
 *
 * Which prepared statements a session of the replay has, by Parse or by PREPARE (one namespace in
 * the server), and of which text.  Only hashes are kept.  Forgetting a name is harmless: the
 * statement is closed and parsed again.
 */
#ifndef RH_REPLAY_PREPARED_H
#define RH_REPLAY_PREPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/map.h"
#include "common/span.h"

/* With more names all are forgotten. */
enum { RH_PREPARED_MAX = 65536 };

struct rh_prepared {
    struct rh_map names; /* hash of the name -> hash of the text */
};

void rh_prepared_init(struct rh_prepared *p);
void rh_prepared_release(struct rh_prepared *p);

uint64_t rh_prepared_text_hash(struct rh_span text);
/* Whether name is there, with the text of that hash. */
bool rh_prepared_is(const struct rh_prepared *p, struct rh_span name, uint64_t text_hash);
/* Whether name is there, with any text. */
bool rh_prepared_has(const struct rh_prepared *p, struct rh_span name);
void rh_prepared_put(struct rh_prepared *p, struct rh_span name, uint64_t text_hash);
void rh_prepared_forget(struct rh_prepared *p, struct rh_span name);
void rh_prepared_forget_all(struct rh_prepared *p);

/* Whether text may hold PREPARE, DEALLOCATE or DISCARD ALL: cheap, for every statement. */
bool rh_prepared_concerns(struct rh_span text);
/* Take over what such a text did; it succeeded. */
void rh_prepared_apply(struct rh_prepared *p, struct rh_span text);

/* The statement that a PREPARE command makes: true, and its name is appended, folded. */
bool rh_prepared_name(struct rh_span prepare_text, struct rh_buf *name);

#endif
