/*
 * replay/server_facts.h
 *
 * Collects what a run keeps of its server (formats/server_fact.h): settings that differ from what
 * PostgreSQL is built with or that plans, memory and the WAL depend on, settings of roles and
 * databases, encodings and collations, extensions, the age of statistics.  Secrets are not asked
 * for: of a setting that may hold one only whether it is set.
 */
#ifndef RH_REPLAY_SERVER_FACTS_H
#define RH_REPLAY_SERVER_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "formats/server_fact.h"
#include "replay/inquiry.h"

struct rh_server_facts {
    struct rh_server_fact *items;
    uint32_t count;
    size_t cap;
    size_t bytes; /* of texts; what would pass the limits is left out */
    struct rh_arena arena;
};

void rh_server_facts_init(struct rh_server_facts *f);
void rh_server_facts_release(struct rh_server_facts *f);
/* Of the server as a whole.  What it does not answer is a note among the inquiry's findings. */
void rh_server_facts_ask(struct rh_server_facts *f, struct rh_inquiry *q);
/* Of the database that the inquiry is connected to; once each. */
void rh_server_facts_ask_database(struct rh_server_facts *f, struct rh_inquiry *q,
                                  struct rh_span database);

#endif
