/*
 * replay/replay_options.h
 *
 * The command line of pgrehearse-replay.
 */
#ifndef RH_REPLAY_REPLAY_OPTIONS_H
#define RH_REPLAY_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/opt.h"
#include "formats/record.h"
#include "replay/conninfo.h"

enum { RH_JOBS_MAX = 64, RH_SCALE_MAX = 10000 };

struct rh_replay_speed {
    bool is_max;   /* no pauses at all */
    double factor; /* else: 2 is twice as fast as captured */
};

struct rh_replay_options {
    /* The target, as in psql; NULL: not given. */
    const char *dbname;
    const char *host;
    const char *port;
    const char *user;
    struct rh_conninfo target; /* of these four, by rh_replay_options_check() */
    int64_t connect_timeout_ns;
    bool allow_source;
    bool dry_run;
    bool no_preflight;
    const char *format; /* of the dry run, as given; NULL: not */
    bool json;          /* by rh_replay_options_check() */

    /* What of the trace, and as whom. */
    int64_t from_ns;              /* INT64_MIN: from its beginning */
    int64_t to_ns;                /* INT64_MAX: to its end */
    struct rh_str_list map_users; /* "A=B" */
    struct rh_str_list map_databases;
    bool read_only;
    uint32_t scale; /* each session so many times; 1: as captured */

    /* When and how. */
    struct rh_replay_speed speed;
    int64_t skip_idle_ns;     /* pauses longer than this are cut to it; 0: none are cut */
    uint32_t jobs;            /* 0: rh_replay_options_jobs() */
    uint32_t max_connections; /* 0: as many as in production */
    uint64_t read_ahead_bytes;
    bool order_txn; /* a transaction waits for those that had ended before it began */
    int64_t order_timeout_ns;
    bool no_reconnect;
    int64_t reconnect_timeout_ns;

    const char *output; /* NULL: T.run beside T.trace */
    bool quiet;
    bool verbose;
};

extern const struct rh_opt_command rh_replay_command;

/* Readers of rows that other commands have too: rh_opt_duration() of at least 1 ms, and worker
 * threads. */
int rh_replay_read_time(const char *arg, void *target, struct rh_error *err);
int rh_replay_read_jobs(const char *arg, void *target, struct rh_error *err);

/* The worker threads to take where that many sessions are open at once: those that were asked for,
 * or the default. */
uint32_t rh_replay_options_jobs(const struct rh_replay_options *o, uint32_t peak_sessions);
/* Default values. */
void rh_replay_options_init(struct rh_replay_options *o);
void rh_replay_options_release(struct rh_replay_options *o);
/* What the table cannot check by itself: that the window is one, that the maps hold A=B and have
 * something to map, and that libpq can parse the target. */
int rh_replay_options_check(struct rh_replay_options *o, struct rh_error *err);
/* The target's hosts if they are a list, "a,b"; else NULL.  Those of a service file are not seen.
 */
const char *rh_replay_options_hosts(const struct rh_replay_options *o);
/* Put the user and database that a captured session is replayed as in place of its own: those of
 * the target, if it names any, else those of the maps. */
void rh_replay_options_identify(const struct rh_replay_options *o, struct rh_session *session);

#endif
