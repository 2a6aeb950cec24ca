/* capture/pending.c */
#include "capture/pending.h"

#include <string.h>

#include "common/alloc.h"

enum { FIRST_BYTES = 512, KEEP_BYTES = 64 * 1024 };

void rh_pending_pool_init(struct rh_pending_pool *pool)
{
    *pool = (struct rh_pending_pool){NULL, 0};
}

void rh_pending_pool_release(struct rh_pending_pool *pool)
{
    while (pool->free) {
        struct rh_pending *p = pool->free;
        pool->free = p->free_next;
        rh_free(p->bytes);
        rh_free(p);
    }
}

struct rh_pending *rh_pending_get(struct rh_pending_pool *pool, enum rh_kind kind)
{
    struct rh_pending *p = pool->free;
    char *bytes = NULL;
    size_t cap = 0;
    if (p) {
        pool->free = p->free_next;
        bytes = p->bytes;
        cap = p->cap;
    } else {
        p = rh_malloc(sizeof *p);
        cap = FIRST_BYTES;
        bytes = rh_malloc(cap);
    }
    *p = (struct rh_pending){
        .kind = kind,
        .sqlstate = RH_SQLSTATE_UNKNOWN,
        .start_ns = RH_TIME_UNKNOWN,
        .stamp_ns = RH_TIME_UNKNOWN,
        .done_ns = RH_TIME_UNKNOWN,
        .duration_ns = -1,
        .parse_ns = -1,
        .bind_ns = -1,
        .execute_ns = -1,
        .bytes = bytes,
        .cap = cap,
    };
    pool->bytes += cap;
    return p;
}

void rh_pending_put(struct rh_pending_pool *pool, struct rh_pending *p)
{
    pool->bytes -= p->cap;
    if (p->cap > KEEP_BYTES) {
        rh_free(p->bytes);
        p->cap = FIRST_BYTES;
        p->bytes = rh_malloc(p->cap);
    }
    p->free_next = pool->free;
    pool->free = p;
}

void rh_pending_store(struct rh_pending_pool *pool, struct rh_pending *p, struct rh_piece *piece,
                      struct rh_span s)
{
    if (!s.data) {
        *piece = (struct rh_piece){0, 0, false};
        return;
    }
    if (s.len > p->cap - p->len) {
        /* Pieces come out of one log record of bounded size at a time, so 32 bits do. */
        size_t cap = p->cap * 2 > p->len + s.len ? p->cap * 2 : p->len + s.len;
        pool->bytes += cap - p->cap;
        p->bytes = rh_realloc(p->bytes, cap, 1);
        p->cap = cap;
    }
    if (s.len > 0) {
        memcpy(p->bytes + p->len, s.data, s.len);
    }
    *piece = (struct rh_piece){(uint32_t) p->len, (uint32_t) s.len, true};
    p->len += s.len;
}

struct rh_span rh_pending_span(const struct rh_pending *p, struct rh_piece piece)
{
    return piece.set ? rh_span(p->bytes + piece.at, piece.len) : RH_SPAN_NONE;
}
