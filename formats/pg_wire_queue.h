/*
 * formats/pg_wire_queue.h
 *
 * The types of messages that wait for their answers, in order: a ring of bytes.
 */
#ifndef RH_FORMATS_PG_WIRE_QUEUE_H
#define RH_FORMATS_PG_WIRE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* More cannot be told apart from a client that is not answered any more. */
enum { RH_PG_WIRE_QUEUE_MAX = 1 << 20 };

struct rh_pg_wire_queue {
    char *types;
    uint32_t cap; /* a power of two, or 0 */
    uint32_t first;
    uint32_t count;
    uint32_t silent; /* items without an answer to come */
    uint64_t serial; /* of the first item that has a serial */
    uint64_t next_serial;
};

void rh_pg_wire_queue_release(struct rh_pg_wire_queue *q);
/* False when it is full.  'c' and 'f' (the end of COPY data) only mark a place: they have no serial
 * and no answer. */
bool rh_pg_wire_queue_push(struct rh_pg_wire_queue *q, char type);
/* The type of item i from the front, '\0' behind the last. */
static inline char rh_pg_wire_queue_at(const struct rh_pg_wire_queue *q, uint32_t i)
{
    return i < q->count ? q->types[(q->first + i) & (q->cap - 1)] : '\0';
}
/* Take the first one off. */
char rh_pg_wire_queue_pop(struct rh_pg_wire_queue *q);
/* A Sync that the server took without an answer: it keeps its serial, and its type becomes
 * RH_PG_WIRE_MUTE. */
enum { RH_PG_WIRE_MUTE = 'm' };
void rh_pg_wire_queue_mute(struct rh_pg_wire_queue *q, uint32_t i);
/* Items with an answer to come. */
static inline uint32_t rh_pg_wire_queue_awaits(const struct rh_pg_wire_queue *q)
{
    return q->count - q->silent;
}

#endif
