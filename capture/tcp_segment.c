/*
 * What a segment means for its connection.
 */
#include "capture/tcp_private.h"

/* So many segments in a row from far behind are no stray ones. */
enum { OLD_IN_ROW_MAX = 3 };

bool rh_tcp_connection_is_over(const struct rh_tcp_connection *c, enum rh_tcp_side side,
                               const struct rh_tcp_segment *s)
{
    const struct rh_tcp_half *own = &c->half[side];
    if (s->flags & RH_TCP_RST) {
        return false;
    }
    if (s->flags & RH_TCP_SYN) {
        if (own->syn_seen) {
            return own->isn != s->sequence;
        }
        if (!own->based) {
            return c->closed;
        }
        /* It came late, or something else begins. */
        uint64_t start = rh_tcp_half_offset(own, s->sequence + 1);
        bool nothing_yet = own->given == rh_tcp_start && !c->closed;
        return start != rh_tcp_start && !(nothing_yet && start < own->given &&
                                          own->given - start < (uint64_t) RH_TCP_WINDOW_MAX);
    }
    if (!c->closed || s->payload.len + s->cut_bytes == 0 ||
        c->shared->clock_ns - c->closed_ns < c->shared->options.linger_ns) {
        return false;
    }
    return !own->based ||
           rh_tcp_half_offset(own, s->sequence) + s->payload.len + s->cut_bytes > own->given;
}

static void take_syn(struct rh_tcp_connection *c, enum rh_tcp_side side,
                     const struct rh_tcp_segment *s)
{
    struct rh_tcp_half *own = &c->half[side];
    if (own->syn_seen) {
        c->shared->counts->duplicate_syns++;
        return;
    }
    if (!own->based) {
        rh_tcp_half_base(own, s->sequence + 1);
    } else if (own->given == rh_tcp_start) {
        /* The start had been taken from an acknowledgement, or from a segment that is still held.
         */
        uint64_t start = rh_tcp_half_offset(own, s->sequence + 1);
        own->given = start;
        own->seq = s->sequence + 1;
        own->tail_from = start;
    }
    own->syn_seen = true;
    own->start_unknown = false;
    own->isn = s->sequence;
}

/* Where the other side's stream stands, as this segment has it; 0: it does not say. */
static uint64_t take_ack(struct rh_tcp_connection *c, enum rh_tcp_side side,
                         const struct rh_tcp_segment *s)
{
    struct rh_tcp_half *own = &c->half[side];
    struct rh_tcp_half *other = &c->half[!side];
    if (!(s->flags & RH_TCP_ACK)) {
        return 0;
    }
    if (!other->based) {
        rh_tcp_half_base(other, s->acknowledgement);
        /* With this side's first segment the other one cannot have sent anything yet. */
        bool first = own->syn_seen && ((s->flags & RH_TCP_SYN) || s->sequence == own->isn + 1);
        other->start_unknown = !first;
        return other->given;
    }
    uint64_t ack = rh_tcp_half_offset(other, s->acknowledgement);
    if (ack > other->given && ack - other->given > RH_TCP_WINDOW_MAX) {
        c->shared->counts->odd_acks++;
        return 0;
    }
    if (ack > other->acked) {
        other->acked = ack;
    }
    return ack;
}

static void take_reset(struct rh_tcp_connection *c, enum rh_tcp_side side,
                       const struct rh_tcp_segment *s)
{
    const struct rh_tcp_half *own = &c->half[side];
    if (own->based && s->sequence != 0) {
        uint64_t at = rh_tcp_half_offset(own, s->sequence);
        if (at < own->given || at - own->given > RH_TCP_WINDOW_MAX) {
            c->shared->counts->odd_resets++;
            return;
        }
    }
    if (!c->reset) {
        c->reset = true;
        c->reset_side = side;
        c->reset_ns = c->shared->clock_ns;
    }
}

/* More than a window behind: either a stray segment, or so much was lost that the numbers went
 * half round. */
static bool is_far_behind(struct rh_tcp_connection *c, enum rh_tcp_side side,
                          const struct rh_tcp_segment *s, uint64_t offset)
{
    struct rh_tcp_half *own = &c->half[side];
    if (offset >= own->given || own->given - offset <= RH_TCP_WINDOW_MAX) {
        own->old_in_row = 0;
        return false;
    }
    if (++own->old_in_row < OLD_IN_ROW_MAX) {
        c->shared->counts->duplicate_bytes += s->payload.len;
        return true;
    }
    /* What waits belongs to the old numbers. */
    rh_tcp_connection_settle(c, RH_TCP_SETTLE_END);
    own->old_in_row = 0;
    own->start_unknown = false;
    rh_tcp_give_gap(c, side, c->last_ns, UINT64_MAX);
    rh_tcp_half_base(own, s->sequence);
    own->lost_from = own->lost_to = 0;
    own->fin_known = own->ended = false;
    c->shared->counts->resyncs++;
    return false;
}

/* A segment's place in the stream, trimmed to what is new. */
struct range {
    uint64_t offset;
    struct rh_span bytes;
    uint64_t cut_bytes; /* behind them */
};

static void trim(struct rh_tcp_connection *c, enum rh_tcp_side side, struct range *r)
{
    struct rh_tcp_half *own = &c->half[side];
    struct rh_wire_counts *counts = c->shared->counts;
    uint64_t end = r->offset + r->bytes.len + r->cut_bytes;
    if (own->fin_known && end > own->fin) {
        uint64_t over = end - own->fin;
        uint64_t cut = over < r->cut_bytes ? over : r->cut_bytes;
        r->cut_bytes -= cut;
        over -= cut;
        over = over < r->bytes.len ? over : r->bytes.len;
        r->bytes.len -= (size_t) over;
        counts->behind_fin_bytes += over;
    }
    if (r->offset >= own->given) {
        return;
    }
    uint64_t old = own->given - r->offset;
    uint64_t n = old < r->bytes.len ? old : r->bytes.len;
    if (n == 1 && old == 1 && r->bytes.len == 1 && r->cut_bytes == 0) {
        counts->keepalives++; /* its byte means nothing (RFC 9293, 3.8.4) */
    } else if (n > 0) {
        rh_tcp_half_repeat(own, r->offset, r->bytes.data, n, counts);
    }
    r->bytes.data += n;
    r->bytes.len -= (size_t) n;
    uint64_t cut = old - n;
    r->cut_bytes -= cut < r->cut_bytes ? cut : r->cut_bytes;
    r->offset += old;
}

static void keep(struct rh_tcp_connection *c, enum rh_tcp_side side, const struct range *r,
                 uint64_t needs, int64_t time_ns)
{
    struct rh_tcp_half *own = &c->half[side];
    struct rh_tcp_shared *shared = c->shared;
    size_t before = own->held_bytes;
    struct rh_tcp_piece piece = {
        .offset = r->offset,
        .len = r->bytes.len,
        .needs = needs,
        .time_ns = time_ns,
        .arrived_ns = shared->clock_ns,
    };
    rh_tcp_half_keep(own, &piece, r->bytes.data, shared->counts);
    piece.offset += r->bytes.len;
    piece.len = r->cut_bytes;
    piece.cut = true;
    rh_tcp_half_keep(own, &piece, NULL, shared->counts);
    shared->held_bytes += own->held_bytes - before;
    shared->counts->reordered++;
}

static void take_payload(struct rh_tcp_connection *c, enum rh_tcp_side side, struct range r,
                         uint64_t needs, int64_t time_ns)
{
    struct rh_tcp_half *own = &c->half[side];
    trim(c, side, &r);
    if (r.bytes.len + r.cut_bytes == 0) {
        return;
    }
    if (own->first || r.offset != own->given || needs > c->half[!side].given) {
        keep(c, side, &r, needs, time_ns);
        return;
    }
    rh_tcp_give_data(c, side, time_ns, r.bytes);
    c->shared->counts->cut_bytes += r.cut_bytes;
    rh_tcp_give_gap(c, side, time_ns, r.cut_bytes);
}

/* The side's numbers are known from now on, if the segment can tell them. */
static bool take_base(struct rh_tcp_connection *c, enum rh_tcp_side side,
                      const struct rh_tcp_segment *s)
{
    struct rh_tcp_half *own = &c->half[side];
    if (own->based) {
        return true;
    }
    /* A keep-alive has the number before its next one, and maybe a byte that means nothing. */
    if (s->payload.len + s->cut_bytes <= 1 && !(s->flags & RH_TCP_FIN)) {
        c->shared->counts->before_start_bytes += s->payload.len + s->cut_bytes;
        return false;
    }
    rh_tcp_half_base(own, s->sequence);
    own->start_unknown = true;
    return true;
}

static void take_fin(struct rh_tcp_connection *c, enum rh_tcp_side side, uint64_t offset)
{
    struct rh_tcp_half *own = &c->half[side];
    if (own->last && own->last->offset + own->last->len > offset) {
        c->shared->counts->odd_fins++; /* there was more */
        return;
    }
    if (!own->fin_known && offset >= own->given) {
        own->fin_known = true;
        own->fin = offset;
        own->fin_arrived_ns = c->shared->clock_ns;
    }
}

static void take_stream(struct rh_tcp_connection *c, enum rh_tcp_side side,
                        const struct rh_tcp_segment *s, uint64_t needs, int64_t time_ns)
{
    struct rh_tcp_half *own = &c->half[side];
    uint32_t seq = s->sequence + ((s->flags & RH_TCP_SYN) != 0);
    uint64_t offset = rh_tcp_half_offset(own, seq);
    uint64_t len = s->payload.len + s->cut_bytes;
    if (len == 0 && offset + 1 == own->given && !(s->flags & RH_TCP_FIN) && !own->ended) {
        c->shared->counts->keepalives++;
    } else if (len > 0) {
        if (is_far_behind(c, side, s, offset)) {
            return;
        }
        offset = rh_tcp_half_offset(own, seq);
        take_payload(c, side, (struct range){offset, s->payload, s->cut_bytes}, needs, time_ns);
    }
    if (s->flags & RH_TCP_FIN) {
        take_fin(c, side, offset + len);
    }
}

static void take_after_close(struct rh_tcp_connection *c, const struct rh_tcp_half *own,
                             const struct rh_tcp_segment *s)
{
    struct rh_wire_counts *counts = c->shared->counts;
    bool old = own->based && rh_tcp_half_offset(own, s->sequence) + s->payload.len <= own->given;
    *(old ? &counts->duplicate_bytes : &counts->after_close_bytes) += s->payload.len;
}

void rh_tcp_connection_segment(struct rh_tcp_connection *c, enum rh_tcp_side side,
                               const struct rh_tcp_segment *s, int64_t time_ns)
{
    struct rh_tcp_half *own = &c->half[side];
    if (c->closed) {
        take_after_close(c, own, s);
        return;
    }
    own->seen = true;
    if (s->flags & RH_TCP_RST) {
        take_reset(c, side, s); /* what it carries is a message to people (RFC 9293, 3.5.3) */
        return;
    }
    if (s->flags & RH_TCP_SYN) {
        take_syn(c, side, s);
    }
    uint64_t needs = take_ack(c, side, s);
    if (take_base(c, side, s)) {
        take_stream(c, side, s, needs, time_ns);
        if (rh_tcp_connection_waits(c)) {
            rh_tcp_drain(c);
        }
    }
    if (own->ended && c->half[!side].ended) {
        rh_tcp_connection_close(c, RH_TCP_END_FIN);
    }
}
