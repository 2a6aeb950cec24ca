/*
 * replay/asker.h
 *
 * As whom the target is asked what it is and holds: of the users of the replay the one that may see
 * most, since what a user may not see would pass for what is not there.
 */
#ifndef RH_REPLAY_ASKER_H
#define RH_REPLAY_ASKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "replay/connector.h"
#include "replay/identity.h"

/* "superuser", "sees statistics", "sees its own". */
const char *rh_sight_text(enum rh_sight sight);
/* In JSON: "superuser", "statistics", "own". */
const char *rh_sight_name(enum rh_sight sight);

/*
 * Connect as a superuser of the replay, else as a member of pg_monitor or pg_read_all_stats, else
 * as the user and database with most sessions; of two that see the same, the one with more
 * sessions.  Whom the server does not let in is passed over.  Fills in the sights of `ids`.
 * *who is one of theirs.
 *
 * RH_ERR_NET: none was let in (*refused: it was the server that said so, to each), or there is no
 * server; RH_ERR_REFUSED: it is the one that was captured; RH_ERR_STOPPED.
 */
int rh_asker_connect(struct rh_conn **conn, const struct rh_identity **who,
                     struct rh_connector *connector, struct rh_identities *ids, bool *refused,
                     struct rh_error *err);
/* Of those whose login was done in that database, the one that sees most; NULL: there is none. */
const struct rh_identity *rh_asker_of_database(const struct rh_identities *ids,
                                               struct rh_span database);

#endif
