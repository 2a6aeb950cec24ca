/*
 * common/timer_heap.h
 *
 * The timers of a loop, earliest first.  A timer knows its place, so moving and removing one costs
 * as little as adding it.
 */
#ifndef RH_COMMON_TIMER_HEAP_H
#define RH_COMMON_TIMER_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct rh_timer;

struct rh_timer_cell {
    int64_t deadline_ns; /* a copy, so that comparing does not touch the timer */
    struct rh_timer *timer;
};

struct rh_timer_heap {
    struct rh_timer_cell *cells; /* the timer at cells[i] has place i + 1 */
    uint32_t count;
    uint32_t cap;
};

void rh_timer_heap_init(struct rh_timer_heap *heap);
/* The timers that are left become unarmed. */
void rh_timer_heap_release(struct rh_timer_heap *heap);
/* Add, or move if it is there already. */
void rh_timer_heap_put(struct rh_timer_heap *heap, struct rh_timer *timer, int64_t deadline_ns);
/* Does nothing for one that is not there. */
void rh_timer_heap_remove(struct rh_timer_heap *heap, struct rh_timer *timer);

/* INT64_MAX when empty. */
static inline int64_t rh_timer_heap_first_ns(const struct rh_timer_heap *heap)
{
    return heap->count ? heap->cells[0].deadline_ns : INT64_MAX;
}

#endif
