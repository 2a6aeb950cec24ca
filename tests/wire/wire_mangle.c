#include "tests/wire/wire_mangle.h"

#include <stdlib.h>

/* Whether one that is so late may come now: none that is left behind is older by more than a
 * second, as no capture and no network holds a packet back for longer. */
static bool may_overtake(const struct wire_talk *t, size_t i, size_t j, size_t end)
{
    if (j > i && t->segments[j].flags & RH_TCP_RST) {
        return false; /* it would end what is still to come */
    }
    for (size_t k = i; k < end; k++) {
        if (t->segments[j].time_ns - t->segments[k].time_ns > 1000000000) {
            return false;
        }
    }
    return true;
}

void wire_mangle_reorder(struct wire_talk *t, struct wire_random *r, uint32_t window)
{
    for (size_t i = WIRE_HANDSHAKE; i < t->count; i++) {
        size_t left = t->count - i;
        size_t most = left < window ? left : window;
        size_t j = i + wire_random_below(r, (uint32_t) most);
        if (may_overtake(t, i, j, i + most)) {
            struct wire_segment moved = t->segments[j];
            t->segments[j] = t->segments[i];
            t->segments[i] = moved;
        }
    }
}

void wire_mangle_duplicate(struct wire_talk *t, struct wire_random *r)
{
    for (size_t i = t->count; i-- > 0;) {
        size_t behind = i + 1 + (i >= WIRE_HANDSHAKE ? wire_random_below(r, 3) : 0);
        wire_talk_insert(t, behind < t->count ? behind : t->count, &t->segments[i]);
    }
}

void wire_mangle_split(struct wire_talk *t, struct wire_random *r, uint32_t most)
{
    for (size_t i = t->count; i-- > 0;) {
        while (t->segments[i].len > 1) {
            /* From the end, so that the first piece stays where the segment was. */
            struct wire_segment last = t->segments[i];
            uint32_t n = 1 + wire_random_below(r, most);
            if (n >= last.len) {
                break;
            }
            last.offset += last.len - n;
            last.len = n;
            t->segments[i].len -= n;
            wire_talk_insert(t, i + 1, &last);
        }
    }
}

void wire_mangle_join(struct wire_talk *t)
{
    enum { MOST = 60000 };
    for (size_t i = t->count; i-- > 1;) {
        const struct wire_segment *s = &t->segments[i];
        struct wire_segment *before = &t->segments[i - 1];
        if (s->side == before->side && s->len > 0 && before->len > 0 && s->ack == before->ack &&
            s->offset == before->offset + before->len && before->len + s->len <= MOST) {
            before->len += s->len;
            before->time_ns = s->time_ns;
            wire_talk_remove(t, i);
        }
    }
}

void wire_mangle_wrap(struct wire_talk *t, struct wire_random *r)
{
    for (int side = 0; side < 2; side++) {
        uint32_t bytes = (uint32_t) t->stream[side].len;
        t->isn[side] = UINT32_MAX - (bytes > 0 ? wire_random_below(r, bytes) : 0);
    }
}

/* How far each side has sent before place `at`, and what it acknowledges there. */
static void state_at(const struct wire_talk *t, size_t at, uint64_t sent[2], uint64_t ack[2])
{
    sent[0] = sent[1] = ack[0] = ack[1] = 0;
    for (size_t i = 0; i < at; i++) {
        const struct wire_segment *s = &t->segments[i];
        uint64_t end = s->len > 0 ? s->offset + s->len : 0;
        sent[s->side] = end > sent[s->side] ? end : sent[s->side];
        ack[s->side] = s->ack > ack[s->side] ? s->ack : ack[s->side];
    }
}

/* Nobody says anything any more. */
static bool has_ended(const struct wire_talk *t, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (t->segments[i].flags & (RH_TCP_FIN | RH_TCP_RST)) {
            return true;
        }
    }
    return false;
}

/* None where there is no place behind the handshake. */
static uint32_t repeats(const struct wire_talk *t)
{
    return t->count > WIRE_HANDSHAKE ? 1 + (uint32_t) t->count / 4 : 0;
}

static void insert_repeat(struct wire_talk *t, struct wire_random *r, size_t at, bool conflicting)
{
    uint64_t sent[2];
    uint64_t ack[2];
    state_at(t, at, sent, ack);
    enum rh_tcp_side side = wire_random_below(r, 2) ? RH_TCP_SERVER : RH_TCP_CLIENT;
    uint32_t len = 1 + wire_random_below(r, 4000);
    uint64_t from = sent[side] > len ? sent[side] - len : 0;
    uint32_t short_of = wire_random_below(r, 3) ? 0 : wire_random_below(r, 300);
    if (sent[side] - from <= short_of || has_ended(t, at)) {
        return;
    }
    struct wire_segment s = {
        .side = side,
        .flags = RH_TCP_ACK,
        .offset = from,
        .len = (uint32_t) (sent[side] - from) - short_of,
        .ack = ack[side],
        .time_ns = t->segments[at - 1].time_ns,
        .keepalive = -1,
        .conflicting = conflicting,
    };
    wire_talk_insert(t, at, &s);
}

void wire_mangle_overlap(struct wire_talk *t, struct wire_random *r)
{
    for (uint32_t n = repeats(t); n > 0; n--) {
        size_t at = WIRE_HANDSHAKE + wire_random_below(r, (uint32_t) (t->count - WIRE_HANDSHAKE));
        insert_repeat(t, r, at, false);
    }
}

void wire_mangle_conflict(struct wire_talk *t, struct wire_random *r)
{
    insert_repeat(t, r, t->count - 4, true);
}

void wire_mangle_keepalive(struct wire_talk *t, struct wire_random *r)
{
    for (uint32_t n = repeats(t); n > 0; n--) {
        size_t at = WIRE_HANDSHAKE + wire_random_below(r, (uint32_t) (t->count - WIRE_HANDSHAKE));
        uint64_t sent[2];
        uint64_t ack[2];
        state_at(t, at, sent, ack);
        enum rh_tcp_side side = wire_random_below(r, 2) ? RH_TCP_SERVER : RH_TCP_CLIENT;
        if (has_ended(t, at)) {
            continue;
        }
        struct wire_segment s = {
            .side = side,
            .flags = RH_TCP_ACK,
            .offset = sent[side],
            .ack = ack[side],
            .time_ns = t->segments[at - 1].time_ns,
            .keepalive = (int32_t) wire_random_below(r, 2),
        };
        wire_talk_insert(t, at, &s);
    }
}

static bool has_handshake(const struct wire_talk *t)
{
    return t->count >= WIRE_HANDSHAKE && t->segments[0].flags == RH_TCP_SYN &&
           t->segments[1].flags == (RH_TCP_SYN | RH_TCP_ACK);
}

static int by_time(const void *a, const void *b)
{
    const struct wire_segment *one = a;
    const struct wire_segment *two = b;
    if (one->time_ns == two->time_ns && one->side == two->side) {
        return one->offset < two->offset ? -1 : one->offset > two->offset;
    }
    return one->time_ns < two->time_ns ? -1 : one->time_ns > two->time_ns;
}

void wire_mangle_shift(struct wire_talk *t, enum rh_tcp_side side, int64_t by_ns)
{
    for (size_t i = 0; i < t->count; i++) {
        t->segments[i].time_ns += t->segments[i].side == side ? by_ns : 0;
    }
    qsort(t->segments, t->count, sizeof *t->segments, by_time);
}

void wire_mangle_one_by_one(struct wire_talk *t, enum rh_tcp_side first)
{
    size_t done = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->segments[i].side == first) {
            struct wire_segment s = t->segments[i];
            wire_talk_remove(t, i);
            wire_talk_insert(t, done++, &s);
        }
    }
}

void wire_mangle_resend_syn(struct wire_talk *t)
{
    if (!has_handshake(t)) {
        return;
    }
    struct wire_segment syn[2] = {t->segments[0], t->segments[1]};
    wire_talk_insert(t, t->count / 2, &syn[0]);
    wire_talk_insert(t, t->count / 2, &syn[1]);
    wire_talk_insert(t, 1, &syn[0]);
}

struct wire_segment wire_mangle_drop(struct wire_talk *t, struct wire_random *r)
{
    size_t at = wire_random_below(r, (uint32_t) t->count);
    while (t->segments[at].len == 0) {
        at = (at + 1) % t->count;
    }
    struct wire_segment s = t->segments[at];
    wire_talk_remove(t, at);
    return s;
}

void wire_mangle_drop_first(struct wire_talk *t, size_t count)
{
    while (count-- > 0) {
        wire_talk_remove(t, 0);
    }
}

void wire_mangle_drop_side(struct wire_talk *t, enum rh_tcp_side side)
{
    for (size_t i = t->count; i-- > 0;) {
        if (t->segments[i].side == side) {
            wire_talk_remove(t, i);
        }
    }
}

static void mangle_in_all_ways(struct wire_talk *t, struct wire_random *r)
{
    wire_mangle_split(t, r, 900);
    wire_mangle_overlap(t, r);
    wire_mangle_reorder(t, r, 4);
    wire_mangle_keepalive(t, r);
    wire_mangle_duplicate(t, r);
}

void wire_mangle(struct wire_talk *t, enum wire_mangling how, struct wire_random *r)
{
    switch (how) {
    case WIRE_MANGLE_REORDER:
        wire_mangle_reorder(t, r, 5);
        break;
    case WIRE_MANGLE_DUPLICATE:
        wire_mangle_duplicate(t, r);
        break;
    case WIRE_MANGLE_SPLIT:
        wire_mangle_split(t, r, 500);
        break;
    case WIRE_MANGLE_SPLIT_SMALL:
        wire_mangle_split(t, r, 1);
        break;
    case WIRE_MANGLE_JOIN:
        wire_mangle_join(t);
        break;
    case WIRE_MANGLE_OVERLAP:
        wire_mangle_overlap(t, r);
        break;
    case WIRE_MANGLE_KEEPALIVE:
        wire_mangle_keepalive(t, r);
        break;
    case WIRE_MANGLE_SHIFT_CLIENT:
        wire_mangle_shift(t, RH_TCP_CLIENT, 20000000);
        break;
    case WIRE_MANGLE_SHIFT_SERVER:
        wire_mangle_shift(t, RH_TCP_SERVER, 700000000);
        break;
    case WIRE_MANGLE_CLIENT_FIRST:
        wire_mangle_one_by_one(t, RH_TCP_CLIENT);
        break;
    case WIRE_MANGLE_SERVER_FIRST:
        wire_mangle_one_by_one(t, RH_TCP_SERVER);
        break;
    case WIRE_MANGLE_SYN_AGAIN:
        wire_mangle_resend_syn(t);
        break;
    case WIRE_MANGLE_WRAP:
        wire_mangle_wrap(t, r);
        break;
    case WIRE_MANGLE_ALL:
        mangle_in_all_ways(t, r);
        break;
    case WIRE_MANGLE_NONE:
    case WIRE_MANGLE_COUNT:
        break;
    }
}
