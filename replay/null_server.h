/*
 * replay/null_server.h
 *
 * A server that answers anything at once: threads with an event loop each, which share the
 * connections.  For measuring clients, and for tests that need thousands of connections.
 */
#ifndef RH_REPLAY_NULL_SERVER_H
#define RH_REPLAY_NULL_SERVER_H

#include <stdint.h>

#include "common/error.h"
#include "replay/null_listen.h"
#include "replay/null_options.h"
#include "replay/null_session.h"

struct rh_null_server;

enum { RH_NULL_JOBS_MAX = 64 };

struct rh_null_setup {
    struct rh_null_options options;
    const char *const *hosts; /* as rh_null_listen() takes them */
    size_t host_count;
    uint16_t port; /* 0: a free one */
    uint32_t jobs;
};

struct rh_null_totals {
    uint64_t connections;
    uint32_t peak; /* open at once */
    struct rh_null_counts counts;
    uint64_t bytes_sent;
};

/* Listen; raises the limit of open files as far as it may. */
int rh_null_server_open(struct rh_null_server **out, const struct rh_null_setup *setup,
                        struct rh_error *err);
const struct rh_null_listeners *rh_null_server_listeners(const struct rh_null_server *server);
/* Serve until a stop is asked for (common/stop.h). */
int rh_null_server_run(struct rh_null_server *server, struct rh_error *err);
/* After the run. */
struct rh_null_totals rh_null_server_count(const struct rh_null_server *server);
void rh_null_server_close(struct rh_null_server *server);

#endif
