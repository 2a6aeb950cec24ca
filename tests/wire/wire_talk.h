/*
 * tests/wire/wire_talk.h
 *
 * A TCP conversation: its two streams, and the segments that carry them in the order of time, by a
 * generator whose seed gives the same one each time.
 */
#ifndef RH_TESTS_WIRE_WIRE_TALK_H
#define RH_TESTS_WIRE_WIRE_TALK_H

#include "capture/tcp_sink.h"
#include "common/buf.h"
#include "formats/packet.h"

struct wire_random {
    uint64_t state;
};

uint64_t wire_random_next(struct wire_random *r);
/* 0 .. n - 1 */
uint32_t wire_random_below(struct wire_random *r, uint32_t n);

struct wire_segment {
    enum rh_tcp_side side;
    uint8_t flags;
    uint64_t offset; /* of the payload in the side's stream */
    uint32_t len;
    uint64_t ack; /* offset in the other side's stream; its FIN counts one */
    int64_t time_ns;
    int32_t keepalive; /* bytes of garbage before the offset, or -1: an ordinary segment */
    bool conflicting;  /* other bytes than the stream has */
};

struct wire_talk {
    struct rh_buf stream[2];
    uint32_t isn[2];
    uint16_t port[2];
    bool alternating; /* neither side speaks while the other one does */
    struct wire_segment *segments;
    size_t count;
    size_t cap;
    /* Segments with payload as they were sent first, for the judge. */
    struct wire_segment *truth;
    size_t truth_count;
};

struct wire_shape {
    uint32_t turns;
    uint32_t segment_max; /* bytes of payload */
    bool alternating;
    uint32_t isn[2];
};

void wire_talk_make(struct wire_talk *t, const struct wire_shape *shape, struct wire_random *r);
void wire_talk_release(struct wire_talk *t);
/* The segment goes to place `at` of the list. */
void wire_talk_insert(struct wire_talk *t, size_t at, const struct wire_segment *s);
void wire_talk_remove(struct wire_talk *t, size_t at);
/* As it stands in a TCP header. */
struct rh_tcp_segment wire_talk_header(const struct wire_talk *t, const struct wire_segment *s);

#endif
