/*
 * formats/server_fact.h
 *
 * What a run tells of the server it was made on, beside its version: settings, extensions,
 * databases.  Kinds are texts, so that a later version's facts are kept and shown by an earlier
 * one:
 *
 *   "setting"     name, value, unit and source as pg_settings has them
 *   "override"    ALTER ROLE or DATABASE ... SET: database (none: all), name, value; the source is
 *                 the role (none: all)
 *   "database"    its encoding, collate, ctype, provider, collation_version
 *   "extension"   database, name, version
 *   "statistics"  of a database that was asked: tables, tables_without_statistics, last_analyzed;
 *                 where there are none, its extensions are not known either
 *
 * A secret never is a fact: where a setting may hold one, its value is "(set)".
 */
#ifndef RH_FORMATS_SERVER_FACT_H
#define RH_FORMATS_SERVER_FACT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "formats/mp.h"

enum {
    RH_SERVER_FACTS_MAX = 4096,
    RH_SERVER_FACTS_BYTES_MAX = 256 * 1024, /* of their texts, together; kept by who collects */
};

struct rh_server_fact {
    struct rh_span kind;
    struct rh_span database;
    struct rh_span name;
    struct rh_span value;
    struct rh_span unit;
    struct rh_span source;
};

enum { RH_SERVER_FACT_TEXTS = 6 };

/* The texts in the order of the file; each points into *f. */
void rh_server_fact_texts(struct rh_server_fact *f,
                          struct rh_span *texts[static RH_SERVER_FACT_TEXTS]);
/* Copies that are valid as long as the arena. */
struct rh_server_fact rh_server_fact_copy(const struct rh_server_fact *f, struct rh_arena *arena);
const struct rh_server_fact *rh_server_facts_copy(const struct rh_server_fact *facts,
                                                  uint32_t count, struct rh_arena *arena);
/* The database was asked for its statistics, and so for its extensions. */
bool rh_server_facts_cover(const struct rh_server_fact *facts, uint32_t count,
                           struct rh_span database);
/* As one array of texts (FORMAT.md, "header block"). */
void rh_server_facts_put(const struct rh_server_fact *facts, uint32_t count, struct rh_buf *out);
/* Texts are copied to the arena, which holds the facts too.  -1: not such an array. */
int rh_server_facts_get(struct rh_mp *m, struct rh_arena *arena,
                        const struct rh_server_fact **facts, uint32_t *count);

#endif
