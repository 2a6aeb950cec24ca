#include "replay/order.h"

#include "common/alloc.h"

static bool has_ended(const struct rh_order_lane *lane, uint32_t rank)
{
    return lane->ended[rank / 8] >> (rank % 8) & 1;
}

void rh_order_init(struct rh_order *o, const struct rh_order_plan *plan, uint32_t lane_count)
{
    *o = (struct rh_order){.plan = *plan, .lane_count = lane_count};
    o->lanes = rh_calloc(lane_count, sizeof *o->lanes);
    for (uint32_t i = 0; i < lane_count; i++) {
        pthread_mutex_init(&o->lanes[i].lock, NULL);
        o->lanes[i].ended = rh_calloc((size_t) plan->txn_count / 8 + 1, 1);
    }
}

void rh_order_release(struct rh_order *o)
{
    for (uint32_t i = 0; i < o->lane_count; i++) {
        pthread_mutex_destroy(&o->lanes[i].lock);
        rh_free(o->lanes[i].ended);
        rh_free(o->lanes[i].heap);
    }
    rh_free(o->lanes);
    rh_order_plan_release(&o->plan);
}

static void heap_set(struct rh_order_lane *lane, uint32_t at, struct rh_order_wait *w)
{
    lane->heap[at - 1] = w;
    w->place = at;
}

static void heap_up(struct rh_order_lane *lane, uint32_t at)
{
    struct rh_order_wait *w = lane->heap[at - 1];
    for (; at > 1 && lane->heap[at / 2 - 1]->need > w->need; at /= 2) {
        heap_set(lane, at, lane->heap[at / 2 - 1]);
    }
    heap_set(lane, at, w);
}

static void heap_down(struct rh_order_lane *lane, uint32_t at)
{
    struct rh_order_wait *w = lane->heap[at - 1];
    for (;;) {
        uint32_t child = 2 * at;
        if (child < lane->heap_count && lane->heap[child]->need < lane->heap[child - 1]->need) {
            child++;
        }
        if (child > lane->heap_count || lane->heap[child - 1]->need >= w->need) {
            break;
        }
        heap_set(lane, at, lane->heap[child - 1]);
        at = child;
    }
    heap_set(lane, at, w);
}

static void heap_remove(struct rh_order_lane *lane, struct rh_order_wait *w)
{
    uint32_t at = w->place;
    struct rh_order_wait *last = lane->heap[--lane->heap_count];
    w->place = 0;
    if (last != w) {
        heap_set(lane, at, last);
        heap_up(lane, at);
        heap_down(lane, last->place);
    }
}

bool rh_order_begin(struct rh_order *o, uint32_t lane_number, const struct rh_order_txn *txn,
                    struct rh_order_wait *w)
{
    struct rh_order_lane *lane = &o->lanes[lane_number];
    pthread_mutex_lock(&lane->lock);
    bool may_begin = lane->prefix >= txn->need;
    if (!may_begin && w->place == 0) {
        /* NOLINTNEXTLINE(bugprone-sizeof-expression) */
        RH_GROW(lane->heap, lane->heap_count, lane->heap_cap);
        w->need = txn->need;
        lane->heap[lane->heap_count++] = w;
        heap_up(lane, lane->heap_count);
    }
    pthread_mutex_unlock(&lane->lock);
    return may_begin;
}

void rh_order_leave(struct rh_order *o, uint32_t lane_number, struct rh_order_wait *w)
{
    struct rh_order_lane *lane = &o->lanes[lane_number];
    pthread_mutex_lock(&lane->lock);
    if (w->place != 0) {
        heap_remove(lane, w);
    }
    pthread_mutex_unlock(&lane->lock);
}

/* With the lock held: go over what has ended, and let those begin that waited for no more. */
static void advance(struct rh_order_lane *lane, uint32_t count)
{
    while (lane->prefix < count && has_ended(lane, lane->prefix)) {
        lane->prefix++;
    }
    while (lane->heap_count > 0 && lane->heap[0]->need <= lane->prefix) {
        struct rh_order_wait *w = lane->heap[0];
        heap_remove(lane, w);
        /* One that is still on its way from before will find that its turn has come. */
        if (!atomic_exchange(&w->is_posted, true)) {
            rh_loop_post(w->loop, &w->task);
        }
    }
}

static void set_ended(struct rh_order_lane *lane, uint32_t rank)
{
    lane->ended[rank / 8] = (uint8_t) (lane->ended[rank / 8] | 1 << rank % 8);
}

void rh_order_end(struct rh_order *o, uint32_t lane_number, const struct rh_order_txn *txn)
{
    struct rh_order_lane *lane = &o->lanes[lane_number];
    pthread_mutex_lock(&lane->lock);
    set_ended(lane, txn->rank);
    if (txn->rank == lane->prefix) {
        advance(lane, o->plan.txn_count);
    }
    pthread_mutex_unlock(&lane->lock);
}

/* By a search: it happens once in many seconds. */
static const struct rh_order_txn *find_rank(const struct rh_order_plan *plan, uint32_t rank,
                                            uint32_t *session)
{
    for (uint32_t i = 0; i < plan->session_count; i++) {
        for (uint32_t k = 0; k < plan->sessions[i].count; k++) {
            if (plan->sessions[i].txns[k].rank == rank) {
                *session = i;
                return &plan->sessions[i].txns[k];
            }
        }
    }
    return NULL;
}

uint32_t rh_order_break(struct rh_order *o, uint32_t lane_number, const struct rh_order_txn *txn,
                        uint32_t *session, const struct rh_order_txn **which)
{
    struct rh_order_lane *lane = &o->lanes[lane_number];
    uint32_t count = 0, first = 0;
    pthread_mutex_lock(&lane->lock);
    for (uint32_t rank = lane->prefix; rank < txn->need; rank++) {
        if (!has_ended(lane, rank)) {
            first = count++ == 0 ? rank : first;
            set_ended(lane, rank);
        }
    }
    advance(lane, o->plan.txn_count);
    pthread_mutex_unlock(&lane->lock);
    *which = count > 0 ? find_rank(&o->plan, first, session) : NULL;
    return count;
}
