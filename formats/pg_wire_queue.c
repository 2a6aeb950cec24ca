#include "formats/pg_wire_queue.h"

#include "common/alloc.h"

enum { CAP_MIN = 64 };

void rh_pg_wire_queue_release(struct rh_pg_wire_queue *q)
{
    rh_free(q->types);
    *q = (struct rh_pg_wire_queue){0};
}

static void grow(struct rh_pg_wire_queue *q)
{
    uint32_t cap = q->cap ? q->cap * 2 : CAP_MIN;
    char *types = rh_malloc(cap);
    for (uint32_t i = 0; i < q->count; i++) {
        types[i] = rh_pg_wire_queue_at(q, i);
    }
    rh_free(q->types);
    q->types = types;
    q->cap = cap;
    q->first = 0;
}

static bool is_mark(char type)
{
    return type == 'c' || type == 'f';
}

bool rh_pg_wire_queue_push(struct rh_pg_wire_queue *q, char type)
{
    if (q->count >= RH_PG_WIRE_QUEUE_MAX) {
        return false;
    }
    if (q->count == q->cap) {
        grow(q);
    }
    q->types[(q->first + q->count++) & (q->cap - 1)] = type;
    q->silent += is_mark(type);
    q->next_serial += !is_mark(type);
    return true;
}

char rh_pg_wire_queue_pop(struct rh_pg_wire_queue *q)
{
    char type = rh_pg_wire_queue_at(q, 0);
    if (type != '\0') {
        q->first = (q->first + 1) & (q->cap - 1);
        q->count--;
        q->silent -= is_mark(type) || type == RH_PG_WIRE_MUTE;
        q->serial += !is_mark(type);
    }
    return type;
}

void rh_pg_wire_queue_mute(struct rh_pg_wire_queue *q, uint32_t i)
{
    char *type = &q->types[(q->first + i) & (q->cap - 1)];
    q->silent += *type != RH_PG_WIRE_MUTE;
    *type = RH_PG_WIRE_MUTE;
}
