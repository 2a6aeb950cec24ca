/*
 * capture/tcp_half.h
 *
 * One direction of a connection: where its stream is, and the pieces that wait.  Sequence numbers
 * become 64-bit offsets by their distance from the next byte to be given (RFC 9293, 3.4), so a
 * stream may wrap as often as it likes.
 */
#ifndef RH_CAPTURE_TCP_HALF_H
#define RH_CAPTURE_TCP_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/wire_counts.h"

/* Where a stream starts: not 0, so that what came before has an offset too. */
static const uint64_t rh_tcp_start = UINT64_C(1) << 32;

enum {
    RH_TCP_WINDOW_MAX = 1 << 30, /* RFC 7323, 2.3: more cannot be in flight */
    RH_TCP_TAIL_BYTES = 512,     /* a power of two */
};

/* Bytes that were captured but cannot be given yet. */
struct rh_tcp_piece {
    struct rh_tcp_piece *prev;
    struct rh_tcp_piece *next;
    uint64_t offset;
    uint64_t len;
    uint64_t needs;     /* how far the other side must have been given first */
    int64_t time_ns;    /* its packet's */
    int64_t arrived_ns; /* the capture's clock then, which never goes back */
    bool cut;           /* sent but not captured: no bytes */
    char bytes[];
};

struct rh_tcp_half {
    bool seen;     /* a packet of this side was captured */
    bool based;    /* seq and given mean something */
    bool syn_seen; /* isn is known */
    bool start_unknown;
    bool fin_known;
    bool ended; /* the FIN, which takes a number too, was reached */
    uint32_t isn;
    uint32_t seq;   /* of the next byte to be given */
    uint64_t given; /* its offset */
    uint64_t acked; /* the other side has all before this */
    uint64_t fin;   /* offset of the FIN */
    int64_t fin_arrived_ns;
    uint32_t old_in_row; /* segments far behind, one after the other */
    struct rh_tcp_piece *first;
    struct rh_tcp_piece *last;
    struct rh_tcp_piece *hint; /* put in last: the next one is often beside it */
    size_t piece_count;
    size_t held_bytes;  /* memory of the pieces */
    uint64_t lost_from; /* the last gap */
    uint64_t lost_to;
    uint64_t tail_from; /* the tail holds what was given from here on, at most its size */
    char tail[RH_TCP_TAIL_BYTES];
};

static inline uint64_t rh_tcp_half_offset(const struct rh_tcp_half *h, uint32_t seq)
{
    return h->given + (uint64_t) (int64_t) (int32_t) (seq - h->seq);
}

/* Its FIN came, bytes before it did not. */
static inline bool rh_tcp_half_fin_waits(const struct rh_tcp_half *h)
{
    return h->fin_known && !h->ended;
}

/* The stream's next byte has this number. */
void rh_tcp_half_base(struct rh_tcp_half *h, uint32_t seq);
/* n bytes were given, or given up (bytes is NULL). */
void rh_tcp_half_advance(struct rh_tcp_half *h, const char *bytes, uint64_t n);
/* A copy of bytes that were given already: counted, and compared as far as the tail goes. */
void rh_tcp_half_repeat(const struct rh_tcp_half *h, uint64_t offset, const char *bytes, uint64_t n,
                        struct rh_wire_counts *counts);
/* Keep what of `piece` (its links are not used) no other piece has; bytes: its bytes, unless it is
 * cut. */
void rh_tcp_half_keep(struct rh_tcp_half *h, const struct rh_tcp_piece *piece, const char *bytes,
                      struct rh_wire_counts *counts);
/* Remove and free the first piece. */
void rh_tcp_half_drop_first(struct rh_tcp_half *h);

#endif
