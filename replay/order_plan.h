/*
 * replay/order_plan.h
 *
 * The transactions of a plan, and how many had ended before each of them began in the capture: what
 * --order txn holds a replay to.
 */
#ifndef RH_REPLAY_ORDER_PLAN_H
#define RH_REPLAY_ORDER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "formats/trace_file.h"
#include "replay/plan.h"

/* One transaction, or a single statement that is in none. */
struct rh_order_txn {
    uint32_t first; /* ordinals */
    uint32_t last;
    uint32_t rank; /* its place in the order of ending, over all sessions */
    uint32_t need; /* so many had ended before it began: those of ranks 0 .. need - 1 */
};

/* Those of one session, in their order. */
struct rh_order_session {
    struct rh_order_txn *txns;
    uint32_t count;
    size_t cap;
    bool is_open; /* while they are collected: the last one has not ended yet */
};

struct rh_order_plan {
    struct rh_order_session *sessions; /* by place in the plan of a session's first copy */
    uint32_t session_count;
    uint32_t txn_count;
    /* While they are collected: when they began and ended, by rank. */
    struct rh_order_span *spans;
    size_t span_cap;
    int64_t resolution_ns;
};

/*
 * The clock of the capture tells times to resolution_ns: two that are not farther apart may have
 * been in either order, and count as overlapping.
 */
void rh_order_plan_init(struct rh_order_plan *o, uint32_t session_count, int64_t resolution_ns);
void rh_order_plan_release(struct rh_order_plan *o);
/* Takes a record that has an ordinal, in its session's order; its outcome may be unknown.  False:
 * there are more than can be counted. */
bool rh_order_plan_add(struct rh_order_plan *o, uint32_t session, const struct rh_record *r);
/* All are there: find ranks and needs. */
void rh_order_plan_finish(struct rh_order_plan *o);

/* All of this in one pass over the part of the trace that the plan replays.  Takes 16 bytes a
 * transaction, and 24 more meanwhile. */
int rh_order_plan_make(struct rh_order_plan *o, const struct rh_plan *plan,
                       struct rh_trace_file *file, struct rh_error *err);

#endif
