#include "capture/tcp_reassembly.h"

#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/map.h"

/* Closed connections that are remembered, so that repeated packets of theirs open no new one, and
 * for how long (RFC 9293 has two minutes, Linux one). */
enum { CLOSED_MAX = 4096 };

/* Places for the entries that were found last (a power of two): packets come from few connections
 * at a time. */
enum { RECENT_PLACES = 256 };
static const int64_t closed_kept_ns = INT64_C(60) * 1000000000;

struct link {
    struct link *prev;
    struct link *next;
};

struct entry {
    struct link use;  /* in open or closed, the one used last at the end */
    struct link wait; /* in waiting, or to itself */
    int64_t used_ns;  /* the clock */
    int64_t wait_ns;  /* since when, by the clock */
    uint64_t hash;
    struct entry *chain; /* of the same hash */
    struct rh_tcp_connection c;
};

struct list {
    struct link head;
    size_t count;
};

struct rh_tcp_reassembly {
    struct rh_tcp_shared shared;
    struct rh_map map;                   /* by hash, the first of a chain */
    struct entry *recent[RECENT_PLACES]; /* by recent_place(); NULL: none */
    struct list open;
    struct list closed;
    struct list waiting;
};

/* What tells connections apart, without padding. */
struct key {
    uint8_t address[2][16];
    uint16_t port[2];
    uint32_t version;
};

#define ENTRY_OF(link_, member)                                                                    \
    ((struct entry *) ((char *) (link_) -offsetof(struct entry, member)))

struct rh_tcp_options rh_tcp_options_default(void)
{
    return (struct rh_tcp_options){
        .connection_bytes = (size_t) 64 << 20,
        .total_bytes = (size_t) 1 << 30,
        .pieces_max = 65536,
        .connections_max = 65536,
        .grace_ns = INT64_C(3) * 1000000000,
        .patience_ns = INT64_C(60) * 1000000000,
        .linger_ns = INT64_C(2) * 1000000000,
        .idle_ns = INT64_C(24) * 3600 * 1000000000,
    };
}

static void list_init(struct list *l)
{
    l->head.prev = l->head.next = &l->head;
    l->count = 0;
}

static void list_add(struct list *l, struct link *k)
{
    k->prev = l->head.prev;
    k->next = &l->head;
    k->prev->next = k;
    l->head.prev = k;
    l->count++;
}

static void list_remove(struct list *l, struct link *k)
{
    k->prev->next = k->next;
    k->next->prev = k->prev;
    k->prev = k->next = k;
    l->count--;
}

static void list_make_last(struct list *l, struct link *k)
{
    if (l->head.prev != k) {
        list_remove(l, k);
        list_add(l, k);
    }
}

static bool is_linked(const struct link *k)
{
    return k->next != k;
}

struct rh_tcp_reassembly *rh_tcp_reassembly_new(const struct rh_tcp_options *options,
                                                const struct rh_tcp_sink *sink,
                                                struct rh_wire_counts *counts)
{
    struct rh_tcp_reassembly *r = rh_calloc(1, sizeof *r);
    r->shared = (struct rh_tcp_shared){
        .options = *options,
        .sink = *sink,
        .counts = counts,
        .clock_ns = INT64_MIN / 2,
    };
    rh_map_init(&r->map);
    list_init(&r->open);
    list_init(&r->closed);
    list_init(&r->waiting);
    return r;
}

static void entry_stop_waiting(struct rh_tcp_reassembly *r, struct entry *e)
{
    if (is_linked(&e->wait)) {
        list_remove(&r->waiting, &e->wait);
    }
}

static size_t recent_place(const uint16_t port[2])
{
    return (size_t) (port[0] ^ port[1]) % RECENT_PLACES;
}

static void entry_free(struct rh_tcp_reassembly *r, struct entry *e)
{
    struct entry **recent = &r->recent[recent_place(e->c.port)];
    *recent = *recent == e ? NULL : *recent;
    struct entry *first = rh_map_get(&r->map, e->hash);
    if (first == e && !e->chain) {
        rh_map_remove(&r->map, e->hash);
    } else if (first == e) {
        rh_map_put(&r->map, e->hash, e->chain);
    } else {
        while (first->chain != e) {
            first = first->chain;
        }
        first->chain = e->chain;
    }
    entry_stop_waiting(r, e);
    rh_free(e);
}

static void closed_shrink(struct rh_tcp_reassembly *r, size_t most)
{
    while (r->closed.count > 0) {
        struct entry *e = ENTRY_OF(r->closed.head.next, use);
        if (r->closed.count <= most && r->shared.clock_ns - e->c.closed_ns < closed_kept_ns) {
            return;
        }
        list_remove(&r->closed, &e->use);
        entry_free(r, e);
    }
}

/* Into the lists where it belongs after something happened to it. */
static void entry_sort(struct rh_tcp_reassembly *r, struct entry *e)
{
    if (e->c.closed) {
        entry_stop_waiting(r, e);
        list_remove(&r->open, &e->use);
        list_add(&r->closed, &e->use);
        closed_shrink(r, CLOSED_MAX);
        return;
    }
    bool waits = rh_tcp_connection_waits(&e->c);
    if (waits && !is_linked(&e->wait)) {
        e->wait_ns = r->shared.clock_ns;
        list_add(&r->waiting, &e->wait);
    } else if (!waits) {
        entry_stop_waiting(r, e);
    }
}

static void entry_close(struct rh_tcp_reassembly *r, struct entry *e, enum rh_tcp_end how)
{
    rh_tcp_connection_close(&e->c, how);
    entry_sort(r, e);
}

void rh_tcp_reassembly_finish(struct rh_tcp_reassembly *r)
{
    while (r->open.count > 0) {
        entry_close(r, ENTRY_OF(r->open.head.next, use), RH_TCP_END_CAPTURE_END);
    }
}

void rh_tcp_reassembly_free(struct rh_tcp_reassembly *r)
{
    if (!r) {
        return;
    }
    rh_tcp_reassembly_finish(r);
    while (r->closed.count > 0) {
        struct entry *e = ENTRY_OF(r->closed.head.next, use);
        list_remove(&r->closed, &e->use);
        entry_free(r, e);
    }
    rh_map_release(&r->map);
    rh_free(r);
}

static struct key key_of(enum rh_tcp_side from, const struct rh_ip_pair *ip,
                         const struct rh_tcp_segment *s)
{
    struct key key = {.version = ip->version};
    memcpy(key.address[from], ip->source, sizeof ip->source);
    memcpy(key.address[!from], ip->destination, sizeof ip->destination);
    key.port[from] = s->source_port;
    key.port[!from] = s->destination_port;
    return key;
}

static bool entry_is(const struct entry *e, const struct key *key)
{
    return e->c.port[0] == key->port[0] && e->c.port[1] == key->port[1] &&
           e->c.ip.version == key->version &&
           memcmp(e->c.ip.source, key->address[0], sizeof key->address[0]) == 0 &&
           memcmp(e->c.ip.destination, key->address[1], sizeof key->address[1]) == 0;
}

static void entry_init(struct rh_tcp_reassembly *r, struct entry *e, const struct key *key,
                       int64_t time_ns)
{
    struct rh_ip_pair ip = {.version = (uint8_t) key->version};
    memcpy(ip.source, key->address[0], sizeof ip.source);
    memcpy(ip.destination, key->address[1], sizeof ip.destination);
    rh_tcp_connection_init(&e->c, &r->shared, &ip, key->port, time_ns);
    list_add(&r->open, &e->use);
}

static struct entry *entry_new(struct rh_tcp_reassembly *r, const struct key *key, uint64_t hash,
                               int64_t time_ns)
{
    while (r->open.count >= r->shared.options.connections_max) {
        entry_close(r, ENTRY_OF(r->open.head.next, use), RH_TCP_END_IDLE);
    }
    struct entry *e = rh_malloc(sizeof *e);
    e->wait.prev = e->wait.next = &e->wait;
    e->hash = hash;
    e->chain = rh_map_get(&r->map, hash);
    rh_map_put(&r->map, hash, e);
    entry_init(r, e, key, time_ns);
    return e;
}

/* *is_new: it was made for this packet. */
static struct entry *entry_find(struct rh_tcp_reassembly *r, const struct key *key, int64_t time_ns,
                                bool *is_new)
{
    struct entry **recent = &r->recent[recent_place(key->port)];
    *is_new = false;
    if (*recent && entry_is(*recent, key)) {
        return *recent;
    }
    uint64_t hash = rh_hash(rh_span((const char *) key, sizeof *key));
    struct entry *e = rh_map_get(&r->map, hash);
    while (e && !entry_is(e, key)) {
        e = e->chain;
    }
    if (!e) {
        e = entry_new(r, key, hash, time_ns);
        *is_new = true;
    }
    *recent = e;
    return e;
}

/* The entry of the segment: the one that is there, one begun anew, or a new one. */
static struct entry *entry_for(struct rh_tcp_reassembly *r, enum rh_tcp_side from,
                               const struct rh_ip_pair *ip, const struct rh_tcp_segment *s,
                               int64_t time_ns)
{
    struct key key = key_of(from, ip, s);
    bool is_new;
    struct entry *e = entry_find(r, &key, time_ns, &is_new);
    if (!is_new && rh_tcp_connection_is_over(&e->c, from, s)) {
        list_remove(e->c.closed ? &r->closed : &r->open, &e->use);
        entry_stop_waiting(r, e);
        rh_tcp_connection_close(&e->c, RH_TCP_END_REUSED);
        entry_init(r, e, &key, time_ns);
    }
    return e;
}

/* What has waited or been idle for long enough. */
static void look_after(struct rh_tcp_reassembly *r)
{
    int64_t now = r->shared.clock_ns;
    const struct rh_tcp_options *o = &r->shared.options;
    for (size_t n = r->waiting.count; n > 0; n--) {
        struct entry *e = ENTRY_OF(r->waiting.head.next, wait);
        if (now - e->wait_ns < o->grace_ns) {
            break;
        }
        list_remove(&r->waiting, &e->wait);
        rh_tcp_connection_settle(&e->c, RH_TCP_SETTLE_DUE);
        entry_sort(r, e);
    }
    while (r->open.count > 0) {
        struct entry *e = ENTRY_OF(r->open.head.next, use);
        if (now - e->used_ns < o->idle_ns) {
            break;
        }
        entry_close(r, e, RH_TCP_END_IDLE);
    }
    closed_shrink(r, CLOSED_MAX);
}

static void keep_budget(struct rh_tcp_reassembly *r, struct entry *e)
{
    const struct rh_tcp_options *o = &r->shared.options;
    if (rh_tcp_connection_held_bytes(&e->c) > o->connection_bytes ||
        e->c.half[0].piece_count + e->c.half[1].piece_count > o->pieces_max) {
        rh_tcp_connection_settle(&e->c, RH_TCP_SETTLE_BUDGET);
    }
    while (r->shared.held_bytes > o->total_bytes && r->waiting.count > 0) {
        struct entry *oldest = ENTRY_OF(r->waiting.head.next, wait);
        list_remove(&r->waiting, &oldest->wait);
        rh_tcp_connection_settle(&oldest->c, RH_TCP_SETTLE_BUDGET);
        if (oldest != e) {
            entry_sort(r, oldest);
        }
    }
}

void rh_tcp_reassembly_clock(struct rh_tcp_reassembly *r, int64_t time_ns)
{
    if (time_ns > r->shared.clock_ns) {
        r->shared.clock_ns = time_ns;
        look_after(r);
    }
}

void rh_tcp_reassembly_segment(struct rh_tcp_reassembly *r, enum rh_tcp_side from,
                               const struct rh_ip_pair *ip, const struct rh_tcp_segment *s,
                               int64_t time_ns)
{
    rh_tcp_reassembly_clock(r, time_ns);
    r->shared.counts->segments++;
    r->shared.counts->payload_bytes += s->payload.len;
    struct entry *e = entry_for(r, from, ip, s, time_ns);
    e->used_ns = r->shared.clock_ns;
    if (e->c.closed) {
        rh_tcp_connection_segment(&e->c, from, s, time_ns);
        return;
    }
    list_make_last(&r->open, &e->use);
    rh_tcp_connection_segment(&e->c, from, s, time_ns);
    if (e->c.half[0].first || e->c.half[1].first) {
        keep_budget(r, e);
    }
    entry_sort(r, e);
}
