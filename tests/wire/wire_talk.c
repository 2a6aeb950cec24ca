#include "tests/wire/wire_talk.h"

#include "common/alloc.h"

enum { STREAM_MAX = 64 << 20 };

uint64_t wire_random_next(struct wire_random *r)
{
    /* splitmix64: any seed will do. */
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t wire_random_below(struct wire_random *r, uint32_t n)
{
    return (uint32_t) (wire_random_next(r) >> 33) % n;
}

void wire_talk_insert(struct wire_talk *t, size_t at, const struct wire_segment *s)
{
    struct wire_segment copy = *s;
    RH_GROW(t->segments, t->count, t->cap);
    memmove(t->segments + at + 1, t->segments + at, (t->count - at) * sizeof *t->segments);
    t->segments[at] = copy;
    t->count++;
}

void wire_talk_remove(struct wire_talk *t, size_t at)
{
    t->count--;
    memmove(t->segments + at, t->segments + at + 1, (t->count - at) * sizeof *t->segments);
}

struct rh_tcp_segment wire_talk_header(const struct wire_talk *t, const struct wire_segment *s)
{
    uint32_t back = s->keepalive >= 0 ? 1 : 0;
    uint32_t syn = s->flags & RH_TCP_SYN ? 0 : 1;
    return (struct rh_tcp_segment){
        .source_port = t->port[s->side],
        .destination_port = t->port[!s->side],
        .sequence = t->isn[s->side] + syn + (uint32_t) s->offset - back,
        .acknowledgement = t->isn[!s->side] + 1 + (uint32_t) s->ack,
        .flags = s->flags,
        .payload = s->len > 0 ? rh_span(t->stream[s->side].data + s->offset, s->len)
                              : rh_span("\0", s->keepalive > 0 ? (size_t) s->keepalive : 0),
    };
}

/* What a conversation is made with. */
struct maker {
    struct wire_talk *t;
    struct wire_random *r;
    uint64_t sent[2];
    int64_t time_ns;
};

static void put(struct maker *m, enum rh_tcp_side side, uint8_t flags, uint32_t len, uint64_t ack)
{
    m->time_ns += 1000 + wire_random_below(m->r, 300000);
    struct wire_segment s = {
        .side = side,
        .flags = flags,
        .offset = m->sent[side],
        .len = len,
        .ack = ack,
        .time_ns = m->time_ns,
        .keepalive = -1,
    };
    for (uint32_t i = 0; i < len; i++) {
        (void) rh_buf_add_byte(&m->t->stream[side], (uint8_t) wire_random_next(m->r));
    }
    m->sent[side] += len + (flags & RH_TCP_FIN ? 1 : 0);
    wire_talk_insert(m->t, m->t->count, &s);
}

/* One side speaks; in a conversation that does not alternate it may not have read all yet. */
static void speak(struct maker *m, enum rh_tcp_side side, const struct wire_shape *shape)
{
    uint32_t segments = 1 + wire_random_below(m->r, 5);
    for (uint32_t i = 0; i < segments; i++) {
        put(m, side, RH_TCP_ACK, 1 + wire_random_below(m->r, shape->segment_max), m->sent[!side]);
        if (wire_random_below(m->r, 3) == 0) {
            put(m, !side, RH_TCP_ACK, 0, m->sent[side]);
        }
    }
}

/* Both speak at once: what crosses on the way is not acknowledged. */
static void speak_both(struct maker *m, const struct wire_shape *shape)
{
    uint64_t seen[2] = {m->sent[0], m->sent[1]};
    for (uint32_t i = 2 + wire_random_below(m->r, 6); i > 0; i--) {
        enum rh_tcp_side side = wire_random_below(m->r, 2) ? RH_TCP_SERVER : RH_TCP_CLIENT;
        if (wire_random_below(m->r, 3) == 0) {
            seen[!side] = m->sent[!side];
        }
        put(m, side, RH_TCP_ACK, 1 + wire_random_below(m->r, shape->segment_max), seen[!side]);
    }
}

void wire_talk_make(struct wire_talk *t, const struct wire_shape *shape, struct wire_random *r)
{
    *t = (struct wire_talk){
        .isn = {shape->isn[0], shape->isn[1]},
        .port = {(uint16_t) (40000 + wire_random_below(r, 20000)), 5432},
        .alternating = shape->alternating,
    };
    rh_buf_init(&t->stream[0], STREAM_MAX);
    rh_buf_init(&t->stream[1], STREAM_MAX);
    struct maker m = {.t = t, .r = r, .time_ns = INT64_C(1700000000) * 1000000000};
    put(&m, RH_TCP_CLIENT, RH_TCP_SYN, 0, 0);
    put(&m, RH_TCP_SERVER, RH_TCP_SYN | RH_TCP_ACK, 0, 0);
    put(&m, RH_TCP_CLIENT, RH_TCP_ACK, 0, 0);
    for (uint32_t i = 0; i < shape->turns; i++) {
        if (shape->alternating) {
            speak(&m, i % 2 ? RH_TCP_SERVER : RH_TCP_CLIENT, shape);
        } else {
            speak_both(&m, shape);
        }
    }
    enum rh_tcp_side first = wire_random_below(r, 4) ? RH_TCP_CLIENT : RH_TCP_SERVER;
    put(&m, first, RH_TCP_FIN | RH_TCP_ACK, 0, m.sent[!first]);
    put(&m, !first, RH_TCP_FIN | RH_TCP_ACK, 0, m.sent[first]);
    put(&m, first, RH_TCP_ACK, 0, m.sent[!first]);
    t->truth = rh_calloc(t->count, sizeof *t->truth);
    for (size_t i = 0; i < t->count; i++) {
        if (t->segments[i].len > 0) {
            t->truth[t->truth_count++] = t->segments[i];
        }
    }
}

void wire_talk_release(struct wire_talk *t)
{
    rh_buf_release(&t->stream[0]);
    rh_buf_release(&t->stream[1]);
    rh_free(t->segments);
    rh_free(t->truth);
}
