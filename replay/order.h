/*
 * replay/order.h
 *
 * --order txn: a transaction begins once every one that had ended before it began, in the capture,
 * has ended in the replay.  It waits at its beginning only, where it holds no lock of a
 * transaction; still a session-level advisory lock can close a circle, so that a wait is given up
 * after a while. Thread-safe; each lane (the copies of a session by --scale are in one each) is for
 * itself.
 */
#ifndef RH_REPLAY_ORDER_H
#define RH_REPLAY_ORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/loop.h"
#include "replay/order_plan.h"

/* A transaction that waits; in its session. */
struct rh_order_wait {
    struct rh_loop
        *loop; /* where `task` is posted once it may begin; set by the owner, as task is */
    struct rh_task task;
    uint32_t need;
    uint32_t place; /* in the lane's heap, from 1; 0: it does not wait */
    /* The task is on its way: set under the lock, cleared by the owner when it runs. */
    atomic_bool is_posted;
};

struct rh_order_lane {
    pthread_mutex_t lock;
    uint8_t *ended;              /* a bit a rank */
    uint32_t prefix;             /* all ranks below have ended */
    struct rh_order_wait **heap; /* the least need first */
    uint32_t heap_count;
    size_t heap_cap;
};

struct rh_order {
    struct rh_order_plan plan;
    struct rh_order_lane *lanes;
    uint32_t lane_count;
};

/* The plan is the order's from here on. */
void rh_order_init(struct rh_order *o, const struct rh_order_plan *plan, uint32_t lane_count);
void rh_order_release(struct rh_order *o);

/* Whether a transaction may begin; if not, w is posted to w->loop when it may. */
bool rh_order_begin(struct rh_order *o, uint32_t lane, const struct rh_order_txn *txn,
                    struct rh_order_wait *w);
/* It does not wait any more; the task may be on its way all the same (is_posted). */
void rh_order_leave(struct rh_order *o, uint32_t lane, struct rh_order_wait *w);
/* It has ended, by whatever means, or will never be; once or more. */
void rh_order_end(struct rh_order *o, uint32_t lane, const struct rh_order_txn *txn);
/*
 * Wait no longer for those that txn waits for: they count as ended, so that nobody else waits for
 * them.  Their number, and one of them in *session (a place in the plan) and *which; 0: there are
 * none.
 */
uint32_t rh_order_break(struct rh_order *o, uint32_t lane, const struct rh_order_txn *txn,
                        uint32_t *session, const struct rh_order_txn **which);

#endif
