/*
 * replay/connector.h
 *
 * Helper threads that connect.  libpq's connect is not free of blocking (name lookup, SCRAM), so a
 * worker hands in a request and gets it back, done, as a task of its loop.
 */
#ifndef RH_REPLAY_CONNECTOR_H
#define RH_REPLAY_CONNECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop.h"
#include "formats/record.h"
#include "replay/conn.h"
#include "replay/source_guard.h"

struct rh_connector;

enum { RH_CONNECT_THREADS_DEFAULT = 4, RH_CONNECT_THREADS_MAX = 64 };

struct rh_connector_options {
    /* Where to, as of psql's -d, -h, -p, -U; NULL: not given.  dbname is a name, a connection
     * string or a URI; what a string holds wins over the other three (as in psql). */
    const char *dbname;
    const char *host;
    const char *port;
    const char *user;
    uint32_t threads;   /* 0: default; also the number of connects that run at once */
    int64_t timeout_ns; /* of one connect; 0: connect_timeout where libpq knows one, else 30 s */
    size_t out_max;     /* of rh_conn_new(); 0: default */
    bool read_only;     /* transactions of all connections are, as far as they do not undo it */
    /* The server that no connection may lead to; NULL: there is none.  Stays as long as the
     * connector. */
    const struct rh_source_guard *guard;
};

/*
 * One connect.  The caller owns the request and what it points to, and keeps both in place until
 * `done` was called, in the thread of `loop`.
 */
struct rh_connect_request {
    /* In.  user and database count unless the options give others; none: libpq's default. */
    struct rh_span user;
    struct rh_span database;
    struct rh_span application;       /* none or empty: PGAPPNAME, else "pgrehearse" */
    const struct rh_setting *startup; /* parameters of the captured startup message */
    uint32_t startup_count;
    bool slim; /* rh_conn_slim() is called: nobody will ask for parameters */
    struct rh_loop *loop;
    void (*done)(struct rh_connect_request *request);
    void *ctx;

    /* Out. */
    struct rh_conn *conn; /* NULL: it failed, see the rest; the receiver's to close */
    char sqlstate[6];     /* of the server's refusal, "" if it sent none */
    bool may_pass;        /* it failed since the server is not there or takes nobody just now */
    /* RH_ERR_NET, RH_ERR_STOPPED (the connector stops), RH_ERR_USAGE or RH_ERR_REFUSED (it led to
     * the guarded server, which was sent nothing). */
    struct rh_error error;
    int64_t began_ns; /* monotonic: a thread took it */
    int64_t ended_ns;

    /* The connector's own. */
    struct rh_task task;
    struct rh_connect_request *next;
};

/* Fails on a connection string that libpq cannot parse.  Call it before other threads are made: it
 * removes PGCLIENTENCODING from the environment (connector.c says why). */
int rh_connector_new(struct rh_connector **out, const struct rh_connector_options *options,
                     struct rh_error *err);

/* Have a connection that led to the guarded server reported, each in the thread that made it. */
void rh_connector_on_refusal(struct rh_connector *connector,
                             void (*report)(void *ctx, const struct rh_error *err), void *ctx);

/* Requests are taken in this order.  From any thread. */
void rh_connector_put(struct rh_connector *connector, struct rh_connect_request *request);

/* Connect in this thread, by the same rules; loop and done are not used.  0 or -1 as in
 * request->error. */
int rh_connector_connect(struct rh_connector *connector, struct rh_connect_request *request);

/* End connects that run and fail those that wait: all come back with RH_ERR_STOPPED, also those put
 * in later.  From any thread; does not wait. */
void rh_connector_stop(struct rh_connector *connector);
/* Stop and wait for the threads; a name lookup cannot be interrupted.  Loops and requests must live
 * until then; afterwards nothing is posted. */
void rh_connector_free(struct rh_connector *connector);

#endif
