/*
 * tests/wire/wire_mangle.h
 *
 * What networks, senders and captures do to a conversation.  The first kind changes nothing of what
 * the streams hold; the second kind loses some of it.
 */
#ifndef RH_TESTS_WIRE_WIRE_MANGLE_H
#define RH_TESTS_WIRE_WIRE_MANGLE_H

#include "tests/wire/wire_talk.h"

/* The handshake, or what a conversation that was joined midway begins with: it stays in its place.
 */
enum { WIRE_HANDSHAKE = 3 };

/* What loses nothing. */
enum wire_mangling {
    WIRE_MANGLE_NONE,
    WIRE_MANGLE_REORDER,
    WIRE_MANGLE_DUPLICATE,
    WIRE_MANGLE_SPLIT,
    WIRE_MANGLE_SPLIT_SMALL,
    WIRE_MANGLE_JOIN,
    WIRE_MANGLE_OVERLAP,
    WIRE_MANGLE_KEEPALIVE,
    WIRE_MANGLE_SHIFT_CLIENT,
    WIRE_MANGLE_SHIFT_SERVER,
    WIRE_MANGLE_CLIENT_FIRST,
    WIRE_MANGLE_SERVER_FIRST,
    WIRE_MANGLE_SYN_AGAIN,
    WIRE_MANGLE_WRAP,
    WIRE_MANGLE_ALL,
    WIRE_MANGLE_COUNT,
};
void wire_mangle(struct wire_talk *t, enum wire_mangling how, struct wire_random *r);

void wire_mangle_reorder(struct wire_talk *t, struct wire_random *r, uint32_t window);
void wire_mangle_duplicate(struct wire_talk *t, struct wire_random *r);
/* Every segment in pieces of 1 to most bytes. */
void wire_mangle_split(struct wire_talk *t, struct wire_random *r, uint32_t most);
/* Segments that follow each other with the same acknowledgement become one, as receive offload
 * makes them. */
void wire_mangle_join(struct wire_talk *t);
/* The sequence numbers of both sides begin anew within the streams. */
void wire_mangle_wrap(struct wire_talk *t, struct wire_random *r);
/* Sends some parts of the streams once more, over the bounds of segments. */
void wire_mangle_overlap(struct wire_talk *t, struct wire_random *r);
void wire_mangle_keepalive(struct wire_talk *t, struct wire_random *r);
/* One side's times, and then the order, are moved. */
void wire_mangle_shift(struct wire_talk *t, enum rh_tcp_side side, int64_t by_ns);
/* First all of one side, then all of the other. */
void wire_mangle_one_by_one(struct wire_talk *t, enum rh_tcp_side first);
void wire_mangle_resend_syn(struct wire_talk *t);

/* The place of a random segment with payload that was removed, as it was. */
struct wire_segment wire_mangle_drop(struct wire_talk *t, struct wire_random *r);
void wire_mangle_drop_first(struct wire_talk *t, size_t count);
void wire_mangle_drop_side(struct wire_talk *t, enum rh_tcp_side side);
/* Other bytes are sent for what was sent already. */
void wire_mangle_conflict(struct wire_talk *t, struct wire_random *r);

#endif
