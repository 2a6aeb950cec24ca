/*
 * replay/null_conn.h
 *
 * A connection of the null server: its session, its socket, and the bytes that wait on either side.
 * Everything happens in the thread of its worker.
 */
#ifndef RH_REPLAY_NULL_CONN_H
#define RH_REPLAY_NULL_CONN_H

#include "common/buf.h"
#include "common/loop.h"
#include "replay/null_session.h"

struct rh_null_worker;

struct rh_null_conn {
    struct rh_null_worker *worker;
    struct rh_task open_task;
    struct rh_watch watch;
    struct rh_timer timer; /* of an answer that waits */
    int fd;
    uint32_t slot;
    uint64_t serial;
    bool is_refused; /* too many are open */
    bool is_due;     /* the answer has waited */
    enum rh_null_turn turn;
    struct rh_null_session session;
    struct rh_buf unsent;
    struct rh_buf untaken; /* input that came before the session could take it */
    struct rh_span input;  /* in untaken, or in the worker's scratch while a callback runs */
};

/* Accepted; the worker takes it by its open_task. */
struct rh_null_conn *rh_null_conn_new(int fd, uint64_t serial, bool is_refused);
/* It has its slot: begin.  It may be gone afterwards. */
void rh_null_conn_start(struct rh_null_conn *c);
/* A CancelRequest has come for its process id. */
void rh_null_conn_cancel(struct rh_null_conn *c, struct rh_span key);
/* The server ends: say so if the client can take it, and close. */
void rh_null_conn_shut(struct rh_null_conn *c);

#endif
