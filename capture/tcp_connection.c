/*
 * The rule of causal order: a piece may be given when its side has been given up to it and the
 * other side up to what it acknowledges.  In a whole capture that never blocks for long, as whoever
 * acknowledged had received.  Where it does block, bytes are missing, and settling decides which.
 *
 * An acknowledgement proves that bytes were sent, but not that we will not see them: files hold
 * packets out of order, up to one direction behind the other.  So what is acknowledged is given up
 * only when later bytes have waited for the grace time, and never while the side has not been seen
 * at all.
 */
#include "capture/tcp_connection.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "capture/tcp_private.h"

void rh_tcp_connection_init(struct rh_tcp_connection *c, struct rh_tcp_shared *shared,
                            const struct rh_ip_pair *ip, const uint16_t port[2], int64_t time_ns)
{
    memset(c, 0, sizeof *c);
    c->shared = shared;
    c->ip = *ip;
    c->port[RH_TCP_CLIENT] = port[RH_TCP_CLIENT];
    c->port[RH_TCP_SERVER] = port[RH_TCP_SERVER];
    c->opened_ns = time_ns;
    c->last_ns = time_ns;
}

static void open_at_sink(struct rh_tcp_connection *c)
{
    const struct rh_tcp_half *half = c->half;
    struct rh_tcp_connection_info info = {
        .peer = {{.port = c->port[0]}, {.port = c->port[1]}},
        .opened_ns = c->opened_ns,
        .joined_midway = !half[RH_TCP_CLIENT].syn_seen && !half[RH_TCP_SERVER].syn_seen,
        .serial = ++c->shared->serial,
    };
    int family = c->ip.version == 4 ? AF_INET : AF_INET6;
    inet_ntop(family, c->ip.source, info.peer[0].address, sizeof info.peer[0].address);
    inet_ntop(family, c->ip.destination, info.peer[1].address, sizeof info.peer[1].address);
    c->shared->counts->connections++;
    c->shared->counts->connections_midway += info.joined_midway;
    c->state = c->shared->sink.open(c->shared->sink.context, &info);
}

static void give_gap(struct rh_tcp_connection *c, enum rh_tcp_side side, int64_t time_ns,
                     uint64_t bytes)
{
    struct rh_wire_counts *counts = c->shared->counts;
    counts->gaps++;
    if (bytes == UINT64_MAX) {
        counts->gaps_unknown++;
    } else {
        counts->gap_bytes += bytes;
    }
    c->shared->sink.gap(c->state, side, time_ns, bytes);
}

/* The sink is about to get something of this side. */
static void prepare(struct rh_tcp_connection *c, enum rh_tcp_side side, int64_t time_ns)
{
    if (time_ns > c->last_ns) {
        c->last_ns = time_ns;
    } else if (time_ns < c->last_ns) {
        c->shared->counts->times_back++;
    }
    if (!c->state) {
        open_at_sink(c);
    }
    if (c->half[side].start_unknown) {
        c->half[side].start_unknown = false;
        /* What was joined midway says so itself. */
        if (c->half[0].syn_seen || c->half[1].syn_seen) {
            give_gap(c, side, c->last_ns, UINT64_MAX);
        }
    }
}

/* True: the stream has just ended. */
static bool reach_fin(struct rh_tcp_half *h)
{
    if (!h->fin_known || h->ended || h->given < h->fin) {
        return false;
    }
    h->ended = true;
    h->given++;
    h->seq++;
    return true;
}

void rh_tcp_give_data(struct rh_tcp_connection *c, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes)
{
    if (bytes.len > 0) {
        prepare(c, side, time_ns);
        c->shared->counts->given_bytes += bytes.len;
        c->shared->sink.data(c->state, side, c->last_ns, bytes);
        rh_tcp_half_advance(&c->half[side], bytes.data, bytes.len);
    }
    reach_fin(&c->half[side]);
}

void rh_tcp_give_gap(struct rh_tcp_connection *c, enum rh_tcp_side side, int64_t time_ns,
                     uint64_t bytes)
{
    struct rh_tcp_half *h = &c->half[side];
    if (bytes > 0) {
        prepare(c, side, time_ns);
        give_gap(c, side, c->last_ns, bytes);
        h->lost_from = h->given;
        h->lost_to = h->given + bytes;
        rh_tcp_half_advance(h, NULL, bytes);
    }
    reach_fin(h);
}

void rh_tcp_give_first(struct rh_tcp_connection *c, enum rh_tcp_side side)
{
    struct rh_tcp_half *h = &c->half[side];
    struct rh_tcp_piece *p = h->first;
    if (p->cut) {
        c->shared->counts->cut_bytes += p->len;
        rh_tcp_give_gap(c, side, p->time_ns, p->len);
    } else {
        rh_tcp_give_data(c, side, p->time_ns, rh_span(p->bytes, (size_t) p->len));
    }
    size_t before = h->held_bytes;
    rh_tcp_half_drop_first(h);
    c->shared->held_bytes -= before - h->held_bytes;
}

void rh_tcp_drain(struct rh_tcp_connection *c)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (enum rh_tcp_side side = RH_TCP_CLIENT; side <= RH_TCP_SERVER; side++) {
            struct rh_tcp_half *own = &c->half[side];
            moved = reach_fin(own) || moved;
            while (own->first && own->first->offset <= own->given &&
                   own->first->needs <= c->half[!side].given) {
                rh_tcp_give_first(c, side);
                moved = true;
            }
        }
    }
}

size_t rh_tcp_connection_held_bytes(const struct rh_tcp_connection *c)
{
    return c->half[0].held_bytes + c->half[1].held_bytes;
}

void rh_tcp_connection_close(struct rh_tcp_connection *c, enum rh_tcp_end how)
{
    if (c->closed) {
        return;
    }
    rh_tcp_connection_settle(c, RH_TCP_SETTLE_END);
    for (enum rh_tcp_side side = RH_TCP_CLIENT; side <= RH_TCP_SERVER; side++) {
        struct rh_tcp_half *h = &c->half[side];
        if (h->based && h->acked > h->given) {
            rh_tcp_give_gap(c, side, c->last_ns, h->acked - h->given);
        }
    }
    /* Who has said FIN has closed: a reset then only tells that nobody is there for late data. */
    if (c->reset && !c->half[c->reset_side].ended) {
        how = RH_TCP_END_RST;
    } else if (c->reset || (c->half[0].ended && c->half[1].ended)) {
        how = RH_TCP_END_FIN;
    }
    c->closed = true;
    c->closed_ns = c->shared->clock_ns;
    if (c->state) {
        c->shared->sink.close(c->state, c->last_ns, how);
        c->state = NULL;
    } else {
        c->shared->counts->connections_silent++;
    }
    c->shared->counts->connections_reused += how == RH_TCP_END_REUSED;
    c->shared->counts->connections_idle += how == RH_TCP_END_IDLE;
}
