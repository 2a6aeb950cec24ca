/*
 * replay/opener.h
 *
 * When sessions open.  Those that ran when the window began connect first; the clock starts when
 * they are connected.  At a speed each of the others opens at its time; at --speed max once every
 * session that had closed before it opened in the capture has closed here, so that no more are open
 * than were in production.  --max-connections holds in both cases, first come first served.
 *
 * Everything is decided in one loop; the rest may be called from any thread.
 */
#ifndef RH_REPLAY_OPENER_H
#define RH_REPLAY_OPENER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/loop.h"
#include "replay/plan.h"

struct rh_opener_calls {
    void (*open)(void *ctx, struct rh_plan_session *ps);
    void (*begin)(void *ctx, int64_t begin_ns); /* the clock starts: monotonic time */
    void (*finish)(void *ctx);                  /* all that were opened are closed, none is left */
    /* A session could open and has no connection slot; once each.  NULL: nobody wants to know. */
    void (*wait)(void *ctx, const struct rh_plan_session *ps);
    void *ctx;
};

struct rh_opener {
    struct rh_plan *plan;
    struct rh_opener_calls calls;
    struct rh_loop *loop;
    uint32_t limit; /* UINT32_MAX: none */

    /* Of the loop. */
    struct rh_timer timer;
    uint32_t next; /* first session that is not opened yet */
    uint32_t told; /* those before it are open, or calls.wait() was told of them */
    uint32_t started_count;
    int64_t begin_ns;
    bool has_begun;
    bool has_finished;

    pthread_mutex_t lock; /* guards what follows */
    struct rh_task task;
    bool is_posted;
    bool is_stopping;
    bool *closed; /* by close_rank */
    uint32_t closed_prefix;
    uint32_t closed_count;
    uint32_t unready_count; /* opened before the clock started, and not connected yet */
};

void rh_opener_init(struct rh_opener *o, struct rh_plan *plan, uint32_t limit, struct rh_loop *loop,
                    const struct rh_opener_calls *calls);
void rh_opener_release(struct rh_opener *o);

/* Begin; called once, from any thread. */
void rh_opener_start(struct rh_opener *o);
/* A session is connected, or never will be; before rh_opener_closed(), once. */
void rh_opener_ready(struct rh_opener *o, struct rh_plan_session *ps);
void rh_opener_closed(struct rh_opener *o, struct rh_plan_session *ps);
/* Open no more. */
void rh_opener_stop(struct rh_opener *o);

#endif
