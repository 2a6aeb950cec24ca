/*
 * replay/conninfo.h
 *
 * What libpq is told for a connection: what the command line says, and below it what the session
 * was.
 */
#ifndef RH_REPLAY_CONNINFO_H
#define RH_REPLAY_CONNINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/span.h"
#include "formats/record.h"

/* More than libpq has options. */
enum { RH_CONNINFO_MAX = 80 };

struct rh_conninfo {
    const char *keywords[RH_CONNINFO_MAX + 1]; /* NULL-terminated, for PQconnectStartParams() */
    const char *values[RH_CONNINFO_MAX + 1];
    uint32_t count;
    struct rh_arena text;
};

/* A session as it was captured. */
struct rh_conninfo_session {
    struct rh_span user;
    struct rh_span database;
    struct rh_span application;
    const struct rh_setting *startup;
    uint32_t startup_count;
    bool read_only; /* its transactions are to be, whatever it asked for at startup */
};

/* Empty. */
void rh_conninfo_init(struct rh_conninfo *info);
void rh_conninfo_release(struct rh_conninfo *info);

/* The value given for a keyword, NULL if none. */
const char *rh_conninfo_get(const struct rh_conninfo *info, const char *keyword);

/*
 * Take psql's -d (a name, a connection string or a URI), -h, -p and -U, NULL for those not given;
 * what a string or URI holds wins over the others.  Refused: a string that libpq cannot parse, and
 * a demand for GSS encryption.
 */
int rh_conninfo_set_target(struct rh_conninfo *info, const char *dbname, const char *host,
                           const char *port, const char *user, struct rh_error *err);

/*
 * Fill info, empty so far, with target and session: the target wins.  Startup parameters without a
 * keyword of libpq become `-c name=value` in `options`, behind those of the target or PGOPTIONS;
 * the last of them makes transactions read-only where the session asks for it. Refused: a name that
 * holds a NUL or is longer than a startup packet may be.  info points into target.
 */
int rh_conninfo_add_session(struct rh_conninfo *info, const struct rh_conninfo *target,
                            const struct rh_conninfo_session *session, struct rh_error *err);

#endif
