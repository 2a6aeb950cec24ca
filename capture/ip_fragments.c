#include "capture/ip_fragments.h"

#include <string.h>

#include "common/alloc.h"

/* Linux gives a datagram 30 s and all of them 4 MiB (net.ipv4.ipfrag_time, ipfrag_high_thresh). */
enum {
    DATAGRAMS_MAX = 256,
    DATAGRAM_BYTES_MAX = 65535,
    UNIT_BYTES = 8, /* offsets are multiples of it */
    UNITS_MAX = DATAGRAM_BYTES_MAX / UNIT_BYTES + 1,
};
static const int64_t datagram_kept_ns = INT64_C(30) * 1000000000;
/* A datagram that is whole is remembered for its copies, shorter than its number takes to return.
 */
static const int64_t whole_kept_ns = INT64_C(1) * 1000000000;

struct datagram {
    bool used;
    bool whole; /* done, bytes are given back */
    bool end_known;
    uint8_t protocol;
    uint32_t id;
    struct rh_ip_pair ip;
    int64_t first_ns;
    uint32_t end;   /* its length */
    uint32_t high;  /* no byte that is there is behind this */
    uint32_t units; /* that are there */
    uint32_t cap;
    char *bytes;
    uint64_t there[(UNITS_MAX + 63) / 64];
};

struct rh_ip_fragments {
    struct rh_wire_counts *counts;
    char *given; /* bytes of the datagram given last */
    struct datagram datagrams[DATAGRAMS_MAX];
};

struct rh_ip_fragments *rh_ip_fragments_new(struct rh_wire_counts *counts)
{
    struct rh_ip_fragments *f = rh_calloc(1, sizeof *f);
    f->counts = counts;
    return f;
}

static void datagram_clear(struct rh_ip_fragments *f, struct datagram *d)
{
    if (d->used && !d->whole) {
        f->counts->datagrams_incomplete++;
    }
    rh_free(d->bytes);
    memset(d, 0, sizeof *d);
}

void rh_ip_fragments_free(struct rh_ip_fragments *f)
{
    if (!f) {
        return;
    }
    for (size_t i = 0; i < DATAGRAMS_MAX; i++) {
        datagram_clear(f, &f->datagrams[i]);
    }
    rh_free(f->given);
    rh_free(f);
}

static bool is_of(const struct datagram *d, const struct rh_packet *p)
{
    /* The protocol stands in every fragment of IPv4 but may differ in IPv6 (RFC 8200, 4.5). */
    return d->used && d->id == p->fragment.id && d->ip.version == p->ip.version &&
           (d->protocol == p->fragment.protocol || p->ip.version == 6) &&
           memcmp(d->ip.source, p->ip.source, sizeof d->ip.source) == 0 &&
           memcmp(d->ip.destination, p->ip.destination, sizeof d->ip.destination) == 0;
}

static bool is_stale(const struct datagram *d, int64_t time_ns)
{
    int64_t age = time_ns - d->first_ns;
    return age > (d->whole ? whole_kept_ns : datagram_kept_ns);
}

/* The datagram of the fragment, or a free place for it, or the oldest one's. */
static struct datagram *datagram_for(struct rh_ip_fragments *f, const struct rh_packet *p,
                                     int64_t time_ns)
{
    struct datagram *best = &f->datagrams[0];
    for (size_t i = 0; i < DATAGRAMS_MAX; i++) {
        struct datagram *d = &f->datagrams[i];
        if (d->used && is_stale(d, time_ns)) {
            datagram_clear(f, d);
        }
        if (is_of(d, p)) {
            return d;
        }
        if (best->used && (!d->used || d->first_ns < best->first_ns)) {
            best = d;
        }
    }
    datagram_clear(f, best);
    best->used = true;
    best->id = p->fragment.id;
    best->ip = p->ip;
    best->protocol = p->fragment.protocol;
    best->first_ns = time_ns;
    return best;
}

static void make_room(struct datagram *d, uint32_t end)
{
    if (end > d->cap) {
        uint32_t cap = end > DATAGRAM_BYTES_MAX / 2 ? DATAGRAM_BYTES_MAX + 1U : end * 2;
        d->bytes = rh_realloc(d->bytes, cap, 1);
        d->cap = cap;
    }
}

/* Units that are not there yet; the last one of a datagram may be short. */
static bool fill(struct datagram *d, uint32_t offset, struct rh_span bytes)
{
    bool fresh = false;
    for (size_t at = 0; at < bytes.len; at += UNIT_BYTES) {
        size_t unit = (offset + at) / UNIT_BYTES;
        uint64_t bit = UINT64_C(1) << (unit % 64);
        if (d->there[unit / 64] & bit) {
            continue;
        }
        size_t n = bytes.len - at < UNIT_BYTES ? bytes.len - at : UNIT_BYTES;
        memcpy(d->bytes + offset + at, bytes.data + at, n);
        d->there[unit / 64] |= bit;
        d->units++;
        fresh = true;
    }
    return fresh;
}

static enum rh_packet_kind give(struct rh_ip_fragments *f, struct datagram *d,
                                struct rh_packet *packet)
{
    f->given = d->bytes;
    d->bytes = NULL;
    d->cap = 0;
    d->whole = true;
    f->counts->datagrams++;
    enum rh_packet_kind kind =
        rh_packet_decode_payload(d->protocol, rh_span(f->given, d->end), 0, packet);
    return kind == RH_PACKET_FRAGMENT ? RH_PACKET_MALFORMED : kind;
}

enum rh_packet_kind rh_ip_fragments_add(struct rh_ip_fragments *f, struct rh_packet *packet,
                                        int64_t time_ns)
{
    struct rh_ip_fragment part = packet->fragment;
    rh_free(f->given);
    f->given = NULL;
    if (part.more) {
        part.bytes.len -= part.bytes.len % UNIT_BYTES; /* more: it was cut, or is wrong */
    }
    uint64_t whole = part.bytes.len + (part.more ? 0 : (uint64_t) part.cut_bytes);
    if (part.bytes.len == 0 || part.offset > DATAGRAM_BYTES_MAX ||
        whole > DATAGRAM_BYTES_MAX - part.offset) {
        f->counts->fragments_malformed++;
        return RH_PACKET_FRAGMENT;
    }
    struct datagram *d = datagram_for(f, packet, time_ns);
    uint32_t end = part.offset + (uint32_t) whole;
    if (d->whole) {
        f->counts->fragments_duplicate++;
        return RH_PACKET_FRAGMENT;
    }
    if (d->end_known ? end > d->end : !part.more && end < d->high) {
        f->counts->fragments_malformed++;
        return RH_PACKET_FRAGMENT;
    }
    if (part.offset == 0) {
        d->protocol = part.protocol;
    }
    make_room(d, end);
    d->high = end > d->high ? end : d->high;
    f->counts->fragments_duplicate += !fill(d, part.offset, part.bytes);
    if (!part.more && !d->end_known) {
        d->end_known = true;
        d->end = end;
    }
    if (!d->end_known || d->units < (d->end + UNIT_BYTES - 1) / UNIT_BYTES) {
        return RH_PACKET_FRAGMENT;
    }
    return give(f, d, packet);
}
