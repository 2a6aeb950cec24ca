#include "common/arena.h"

#include <stdalign.h>
#include <stdint.h>

#include "common/alloc.h"

struct rh_arena_chunk {
    struct rh_arena_chunk *next;
    size_t size;
    size_t used;
    alignas(max_align_t) char data[];
};

void rh_arena_init(struct rh_arena *a, size_t chunk_bytes)
{
    *a = (struct rh_arena){.chunk_bytes = chunk_bytes};
}

void rh_arena_release(struct rh_arena *a)
{
    struct rh_arena_chunk *chunk = a->first;
    while (chunk) {
        struct rh_arena_chunk *next = chunk->next;
        rh_free(chunk);
        chunk = next;
    }
    *a = (struct rh_arena){.chunk_bytes = a->chunk_bytes};
}

/* Chunks of the ordinary size are kept; oversized ones go, so one large value is not kept. */
void rh_arena_clear(struct rh_arena *a)
{
    struct rh_arena_chunk **link = &a->first;
    while (*link) {
        struct rh_arena_chunk *chunk = *link;
        if (chunk->size > a->chunk_bytes) {
            *link = chunk->next;
            rh_free(chunk);
        } else {
            chunk->used = 0;
            link = &chunk->next;
        }
    }
    a->current = a->first;
    a->used_bytes = 0;
}

static struct rh_arena_chunk *arena_new_chunk(struct rh_arena *a, size_t size)
{
    struct rh_arena_chunk *chunk = rh_malloc_whole(sizeof *chunk + size);
    chunk->size = size;
    chunk->used = 0;
    chunk->next = NULL;
    if (a->current) {
        chunk->next = a->current->next;
        a->current->next = chunk;
    } else {
        chunk->next = a->first;
        a->first = chunk;
    }
    a->current = chunk;
    return chunk;
}

/* The next chunk that has room, or a new one. */
static struct rh_arena_chunk *arena_next_chunk(struct rh_arena *a, size_t n)
{
    struct rh_arena_chunk *chunk = a->current;
    while (chunk && n > chunk->size - chunk->used) {
        chunk = chunk->next;
        if (chunk) {
            a->current = chunk;
        }
    }
    return chunk ? chunk : arena_new_chunk(a, n > a->chunk_bytes ? n : a->chunk_bytes);
}

void *rh_arena_alloc(struct rh_arena *a, size_t n)
{
    const size_t align = alignof(max_align_t);
    n = (n + align - 1) & ~(align - 1);
    struct rh_arena_chunk *chunk = a->current;
    if (!chunk || n > chunk->size - chunk->used) {
        chunk = arena_next_chunk(a, n);
    }
    void *p = chunk->data + chunk->used;
    chunk->used += n;
    a->used_bytes += n;
    return p;
}

struct rh_span rh_arena_copy(struct rh_arena *a, struct rh_span s)
{
    if (!s.data) {
        return s;
    }
    char *copy = rh_arena_alloc(a, s.len + 1);
    if (s.len) {
        memcpy(copy, s.data, s.len);
    }
    copy[s.len] = '\0';
    return (struct rh_span){copy, s.len};
}
