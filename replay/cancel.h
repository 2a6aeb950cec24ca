/*
 * replay/cancel.h
 *
 * A CancelRequest, on a connection of its own, in a worker's loop and with a deadline
 * (protocol.sgml, "Canceling Requests in Progress").  The server closes that connection behind its
 * signal to the backend: until then the signal may hit whatever the session runs, so the session
 * waits for `done` before it sends anything else.
 *
 * The request is not encrypted, as with libpq before 17: the server acts on it before it looks at
 * pg_hba.conf, so one that admits TLS only takes it as well.
 */
#ifndef RH_REPLAY_CANCEL_H
#define RH_REPLAY_CANCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/loop.h"
#include "replay/conn.h"

/* How the request ended. */
enum rh_cancel_end {
    RH_CANCEL_TAKEN,      /* the server closed the connection: the signal is sent, or the key is not
                             known there */
    RH_CANCEL_NOT_SENT,   /* there was no connection, or it was lost before all was sent */
    RH_CANCEL_UNANSWERED, /* sent, and nothing was heard until the deadline */
};

struct rh_cancel {
    bool is_active; /* between rh_cancel_start() and `done` */

    struct rh_loop *loop;
    const struct rh_conn *conn;
    void (*done)(struct rh_cancel *cancel, enum rh_cancel_end end);
    void *ctx;
    int64_t deadline_ns;
    struct rh_watch watch;
    struct rh_timer timer; /* the deadline, or the next try */
    int fd;                /* -1: none */
    bool is_connected;
    size_t sent; /* bytes of the request */
};

/* Send one for what conn runs; conn stays until it ends.  Zero the struct before its first use.
 * done is called in the loop, never from here, and may start the next one. */
void rh_cancel_start(struct rh_cancel *cancel, struct rh_loop *loop, const struct rh_conn *conn,
                     int64_t timeout_ns,
                     void (*done)(struct rh_cancel *cancel, enum rh_cancel_end end), void *ctx);
/* Leave it; done is not called.  Does nothing for one that is not active. */
void rh_cancel_stop(struct rh_cancel *cancel);

#endif
