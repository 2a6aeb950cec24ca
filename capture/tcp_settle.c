/*
 * When pieces wait and nothing comes: which bytes are lost, and in what order the rest goes.
 */
#include "capture/tcp_private.h"

/* What of a side comes next, behind a hole or not: a piece, or its FIN. */
struct head {
    bool is;
    bool blocked; /* it acknowledges what has not been given */
    uint64_t offset;
    uint64_t needs;
    int64_t time_ns;
    int64_t waited_ns;
};

static struct head head_of(const struct rh_tcp_connection *c, enum rh_tcp_side side)
{
    const struct rh_tcp_half *h = &c->half[side];
    if (h->first) {
        return (struct head){
            .is = true,
            .blocked = h->first->needs > c->half[!side].given,
            .offset = h->first->offset,
            .needs = h->first->needs,
            .time_ns = h->first->time_ns,
            .waited_ns = c->shared->clock_ns - h->first->arrived_ns,
        };
    }
    return (struct head){
        .is = h->fin_known && !h->ended,
        .offset = h->fin,
        .time_ns = c->last_ns,
        .waited_ns = c->shared->clock_ns - h->fin_arrived_ns,
    };
}

static bool has_waited(const struct rh_tcp_connection *c, const struct head *head,
                       enum rh_tcp_settling how, bool certain)
{
    if (how != RH_TCP_SETTLE_DUE) {
        return true;
    }
    const struct rh_tcp_options *o = &c->shared->options;
    return head->waited_ns >= (certain ? o->grace_ns : o->patience_ns);
}

static void give_up(struct rh_tcp_connection *c, enum rh_tcp_side side, uint64_t to,
                    const struct head *head, enum rh_tcp_settling how)
{
    c->shared->counts->budget_gaps += how == RH_TCP_SETTLE_BUDGET;
    rh_tcp_give_gap(c, side, head->time_ns, to - c->half[side].given);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A hole before the head of this side that the other side has acknowledged. */
static bool settle_lost(struct rh_tcp_connection *c, enum rh_tcp_side side,
                        enum rh_tcp_settling how)
{
    const struct rh_tcp_half *h = &c->half[side];
    struct head head = head_of(c, side);
    if (!head.is || head.offset <= h->given || h->acked <= h->given ||
        !has_waited(c, &head, how, true)) {
        return false;
    }
    give_up(c, side, min_u64(head.offset, h->acked), &head, how);
    return true;
}

/* The head of this side is next but acknowledges bytes of the other side that are not there. */
static bool settle_blocked(struct rh_tcp_connection *c, enum rh_tcp_side side,
                           enum rh_tcp_settling how)
{
    const struct rh_tcp_half *other = &c->half[!side];
    struct head head = head_of(c, side);
    if (!head.is || head.offset > c->half[side].given || !head.blocked ||
        !has_waited(c, &head, how, true)) {
        return false;
    }
    struct head facing = head_of(c, !side);
    if (facing.is && facing.offset <= other->given) {
        /* Both wait for each other: one of them is a later copy of a segment that we did not see.
         * Most talk starts at the client. */
        c->shared->counts->order_conflicts++;
        rh_tcp_give_first(c, RH_TCP_CLIENT);
        return true;
    }
    if (how == RH_TCP_SETTLE_DUE && !other->seen) {
        return false;
    }
    give_up(c, !side, facing.is ? min_u64(facing.offset, head.needs) : head.needs, &head, how);
    return true;
}

/* A hole that nobody acknowledged. */
static bool settle_missing(struct rh_tcp_connection *c, enum rh_tcp_side side,
                           enum rh_tcp_settling how)
{
    struct head head = head_of(c, side);
    if (!head.is || head.offset <= c->half[side].given || !has_waited(c, &head, how, false) ||
        (how == RH_TCP_SETTLE_DUE && !c->half[!side].seen)) {
        return false;
    }
    give_up(c, side, head.offset, &head, how);
    return true;
}

static bool settle_one(struct rh_tcp_connection *c, enum rh_tcp_settling how)
{
    static bool (*const ways[])(struct rh_tcp_connection *, enum rh_tcp_side,
                                enum rh_tcp_settling) = {
        settle_lost,
        settle_blocked,
        settle_missing,
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (ways[i](c, RH_TCP_CLIENT, how) || ways[i](c, RH_TCP_SERVER, how)) {
            return true;
        }
    }
    return false;
}

void rh_tcp_connection_settle(struct rh_tcp_connection *c, enum rh_tcp_settling how)
{
    do {
        rh_tcp_drain(c);
    } while (settle_one(c, how));
    if (how == RH_TCP_SETTLE_DUE && c->reset && c->half[0].seen && c->half[1].seen &&
        c->shared->clock_ns - c->reset_ns >= c->shared->options.grace_ns) {
        rh_tcp_connection_close(c, RH_TCP_END_RST);
    } else if (how != RH_TCP_SETTLE_END && c->half[0].ended && c->half[1].ended) {
        rh_tcp_connection_close(c, RH_TCP_END_FIN);
    }
}
