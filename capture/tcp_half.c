#include "capture/tcp_half.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"

void rh_tcp_half_base(struct rh_tcp_half *h, uint32_t seq)
{
    h->based = true;
    h->seq = seq;
    h->given = rh_tcp_start;
    h->acked = rh_tcp_start;
    h->tail_from = rh_tcp_start;
}

/* Byte `offset` of the stream is at its offset modulo the size. */
static void tail_add(struct rh_tcp_half *h, const char *bytes, uint64_t n)
{
    uint64_t skip = n > RH_TCP_TAIL_BYTES ? n - RH_TCP_TAIL_BYTES : 0;
    size_t len = (size_t) (n - skip);
    size_t at = (size_t) (h->given + skip) & (RH_TCP_TAIL_BYTES - 1);
    size_t before_end = RH_TCP_TAIL_BYTES - at;
    size_t one = len < before_end ? len : before_end;
    memcpy(h->tail + at, bytes + skip, one);
    if (len > one) {
        memcpy(h->tail, bytes + skip + one, len - one);
    }
}

void rh_tcp_half_advance(struct rh_tcp_half *h, const char *bytes, uint64_t n)
{
    if (bytes) {
        tail_add(h, bytes, n);
    } else {
        h->tail_from = h->given + n;
    }
    h->given += n;
    h->seq += (uint32_t) n;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void rh_tcp_half_repeat(const struct rh_tcp_half *h, uint64_t offset, const char *bytes, uint64_t n,
                        struct rh_wire_counts *counts)
{
    if (offset < rh_tcp_start) {
        uint64_t before = rh_tcp_start - offset;
        counts->before_start_bytes += before < n ? before : n;
    }
    uint64_t from = max_u64(offset, h->lost_from);
    uint64_t to = offset + n < h->lost_to ? offset + n : h->lost_to;
    if (from < to) {
        counts->late_bytes += to - from;
    }
    counts->duplicate_bytes += n;
    if (n == 1) {
        return; /* maybe a keep-alive's, which means nothing */
    }
    from = max_u64(offset, max_u64(h->tail_from, h->given - RH_TCP_TAIL_BYTES));
    for (uint64_t at = from; at < offset + n && at < h->given; at++) {
        if (h->tail[at & (RH_TCP_TAIL_BYTES - 1)] != bytes[at - offset]) {
            counts->conflicts++;
            return;
        }
    }
}

/* The last piece that starts at or before offset; NULL: none. */
static struct rh_tcp_piece *place_of(const struct rh_tcp_half *h, uint64_t offset)
{
    struct rh_tcp_piece *p = h->hint ? h->hint : h->last;
    if (h->last && h->last->offset <= offset) {
        return h->last;
    }
    while (p && p->offset > offset) {
        p = p->prev;
    }
    while (p && p->next && p->next->offset <= offset) {
        p = p->next;
    }
    return p;
}

static struct rh_tcp_piece *insert_behind(struct rh_tcp_half *h, struct rh_tcp_piece *before,
                                          const struct rh_tcp_piece *model, uint64_t offset,
                                          uint64_t len, const char *bytes)
{
    size_t size = sizeof *model + (model->cut ? 0 : (size_t) len);
    struct rh_tcp_piece *p = rh_malloc(size);
    *p = *model;
    p->offset = offset;
    p->len = len;
    if (!model->cut) {
        memcpy(p->bytes, bytes, (size_t) len);
    }
    p->prev = before;
    p->next = before ? before->next : h->first;
    *(p->prev ? &p->prev->next : &h->first) = p;
    *(p->next ? &p->next->prev : &h->last) = p;
    h->hint = p;
    h->piece_count++;
    h->held_bytes += size;
    return p;
}

/* The piece from `at` on becomes one of its own, which is returned. */
static struct rh_tcp_piece *split(struct rh_tcp_half *h, struct rh_tcp_piece *p, uint64_t at)
{
    uint64_t rest = p->offset + p->len - at;
    if (!p->cut) {
        h->held_bytes -= (size_t) rest;
    }
    p->len -= rest;
    return insert_behind(h, p, p, at, rest, p->bytes + p->len);
}

/* n bytes of p at `at` came again, in a segment that acknowledges less: that was the first one that
 * was sent, and by it they may be given. */
static struct rh_tcp_piece *relax(struct rh_tcp_half *h, struct rh_tcp_piece *p, uint64_t at,
                                  uint64_t n, uint64_t needs)
{
    if (needs >= p->needs) {
        return p;
    }
    if (p->offset < at) {
        p = split(h, p, at);
    }
    if (p->len > n) {
        (void) split(h, p, at + n);
    }
    p->needs = needs;
    return p;
}

/* n bytes at `at` of a segment are those of p.  A lone byte that differs is a keep-alive's, which
 * means nothing, and gives way to what a segment of more has.  Of two lone ones, as the answer to
 * an SSLRequest is one, the keep-alive's was sent later: it acknowledges more, or came later. */
static bool meets(struct rh_tcp_piece *p, uint64_t at, const char *bytes, uint64_t n,
                  const struct rh_tcp_piece *segment, struct rh_wire_counts *counts)
{
    char *there = p->bytes + (at - p->offset);
    if (p->cut || memcmp(there, bytes, (size_t) n) == 0) {
        return true;
    }
    if (p->len > 1 && segment->len > 1) {
        return false;
    }
    if (p->len == 1 && (segment->len > 1 || segment->needs < p->needs)) {
        *there = *bytes;
    }
    counts->keepalives++;
    return true;
}

void rh_tcp_half_keep(struct rh_tcp_half *h, const struct rh_tcp_piece *piece, const char *bytes,
                      struct rh_wire_counts *counts)
{
    assert(piece->offset >= h->given);
    struct rh_tcp_piece *p = place_of(h, piece->offset);
    uint64_t at = piece->offset;
    uint64_t end = at + piece->len;
    bool conflict = false;
    while (at < end) {
        const char *from = piece->cut ? NULL : bytes + (at - piece->offset);
        if (p && p->offset + p->len > at) {
            uint64_t n = p->offset + p->len < end ? p->offset + p->len - at : end - at;
            if (!piece->cut) {
                counts->duplicate_bytes += n;
                conflict = !meets(p, at, from, n, piece, counts) || conflict;
            }
            p = relax(h, p, at, n, piece->needs);
            at += n;
        } else {
            const struct rh_tcp_piece *next = p ? p->next : h->first;
            uint64_t stop = next && next->offset < end ? next->offset : end;
            if (stop > at) {
                p = insert_behind(h, p, piece, at, stop - at, from);
            }
            at = stop;
        }
        struct rh_tcp_piece *next = p ? p->next : h->first;
        if (next && next->offset <= at) {
            p = next;
        }
    }
    counts->conflicts += conflict;
}

void rh_tcp_half_drop_first(struct rh_tcp_half *h)
{
    struct rh_tcp_piece *p = h->first;
    h->first = p->next;
    *(p->next ? &p->next->prev : &h->last) = NULL;
    if (h->hint == p) {
        h->hint = NULL;
    }
    h->piece_count--;
    h->held_bytes -= sizeof *p + (p->cut ? 0 : (size_t) p->len);
    rh_free(p);
}
