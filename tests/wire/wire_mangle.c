#include "tests/wire/wire_mangle.h"

#include <stdlib.h>

void wire_mangle_reorder(struct wire_talk *t, struct wire_random *r, uint32_t window)
{
    for (size_t i = WIRE_HANDSHAKE; i < t->count; i++) {
        size_t left = t->count - i;
        size_t j = i + wire_random_below(r, left < window ? (uint32_t) left : window);
        struct wire_segment moved = t->segments[j];
        t->segments[j] = t->segments[i];
        t->segments[i] = moved;
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

/* How far each side has sent before place `at`, and what it acknowledges there. */
static void state_at(const struct wire_talk *t, size_t at, uint64_t sent[2], uint64_t ack[2])
{
    sent[0] = sent[1] = ack[0] = ack[1] = 0;
    for (size_t i = 0; i < at; i++) {
        const struct wire_segment *s = &t->segments[i];
        uint64_t end = s->offset + s->len;
        sent[s->side] = end > sent[s->side] ? end : sent[s->side];
        ack[s->side] = s->ack > ack[s->side] ? s->ack : ack[s->side];
    }
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
    if (sent[side] - from <= short_of || sent[side] > t->stream[side].len) {
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
    for (uint32_t n = 1 + (uint32_t) t->count / 4; n > 0; n--) {
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
    for (uint32_t n = 1 + (uint32_t) t->count / 4; n > 0; n--) {
        size_t at = WIRE_HANDSHAKE + wire_random_below(r, (uint32_t) (t->count - WIRE_HANDSHAKE));
        uint64_t sent[2];
        uint64_t ack[2];
        state_at(t, at, sent, ack);
        enum rh_tcp_side side = wire_random_below(r, 2) ? RH_TCP_SERVER : RH_TCP_CLIENT;
        if (sent[side] > t->stream[side].len) {
            continue; /* it has finished */
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

static int by_time(const void *a, const void *b)
{
    const struct wire_segment *one = a;
    const struct wire_segment *two = b;
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
