/*
 * common/sql_effect.h
 *
 * What the commands of a query string do to others, as far as their words tell: whether they may
 * write, and whether they reach beyond the data of their database.  Functions of the server are
 * known by name; what a user's function does is not seen.
 */
#ifndef RH_COMMON_SQL_EFFECT_H
#define RH_COMMON_SQL_EFFECT_H

#include <stdbool.h>

#include "common/span.h"

/*
 * Whether it is other than sure, from the words, that nothing of the text writes: what is not known
 * to read counts as writing (DO, CALL, LOCK, VACUUM, SELECT INTO and FOR UPDATE too), and so does
 * what would make transactions read-write.  EXECUTE counts as reading: its PREPARE is judged.
 */
bool rh_sql_may_write(struct rh_span text);

/*
 * What of the text acts on the whole server, on other sessions, on files or on other servers:
 * "ALTER SYSTEM", "pg_switch_wal()", "CREATE ROLE"; the first that is found, NULL if none is.
 * Static.  Text or template.
 */
const char *rh_sql_reach(struct rh_span text, bool is_template);

#endif
