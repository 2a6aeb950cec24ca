/*
 * replay/explain_server.h
 *
 * A server that is asked for plans, never for executions: each in a read-only transaction of its
 * own with timeouts, which is rolled back.
 */
#ifndef RH_REPLAY_EXPLAIN_SERVER_H
#define RH_REPLAY_EXPLAIN_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "replay/explain_call.h"

struct pg_conn; /* PGconn */

struct rh_explain_server {
    struct pg_conn *pg;
    const char *name; /* "base", "candidate": for messages */
    int version;      /* 150018 */
    int64_t statement_timeout_ns;
};

/* Texts are freed by rh_explain_plan_release(). */
struct rh_explain_plan {
    /* "generic": for any values of the parameters; "plain": there are none; "custom": for the
     * values of one call. */
    const char *method;
    char *json;  /* of EXPLAIN (FORMAT JSON); NULL: see error */
    char *text;  /* of EXPLAIN; NULL likewise */
    char *error; /* "42P01: relation ..."; NULL: none */
};

/* conninfo is a name, a connection string or a URI, NULL for what PG* say.  -1: RH_ERR_NET. */
int rh_explain_server_open(struct rh_explain_server *s, const char *name, const char *conninfo,
                           int64_t statement_timeout_ns, struct rh_error *err);
/* The database that it is connected to; of the connection. */
const char *rh_explain_server_database(const struct rh_explain_server *s);
void rh_explain_server_close(struct rh_explain_server *s);

/*
 * The plan of a statement with parameters $1 to $params.  What the server refuses is in
 * plan->error.  -1: the connection is lost (RH_ERR_NET); plan->error tells it too.
 */
int rh_explain_server_ask(struct rh_explain_server *s, const char *sql, uint32_t params,
                          struct rh_explain_plan *plan, struct rh_error *err);
/* The plan of a call, by its own values; likewise.  Its values go to this server and nowhere else.
 */
int rh_explain_server_ask_call(struct rh_explain_server *s, const struct rh_explain_call *call,
                               struct rh_explain_plan *plan, struct rh_error *err);
void rh_explain_plan_release(struct rh_explain_plan *plan);

#endif
