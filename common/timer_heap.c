#include "common/timer_heap.h"

#include <assert.h>

#include "common/alloc.h"
#include "common/loop.h"

/* Four children a node: half the levels of a binary heap, and the children share a cache line. */
enum { WIDTH = 4 };

void rh_timer_heap_init(struct rh_timer_heap *heap)
{
    *heap = (struct rh_timer_heap){0};
}

void rh_timer_heap_release(struct rh_timer_heap *heap)
{
    for (uint32_t i = 0; i < heap->count; i++) {
        heap->cells[i].timer->place = 0;
    }
    rh_free(heap->cells);
    *heap = (struct rh_timer_heap){0};
}

static void cell_set(struct rh_timer_heap *heap, uint32_t at, struct rh_timer_cell cell)
{
    heap->cells[at] = cell;
    cell.timer->place = at + 1;
}

static void sift_up(struct rh_timer_heap *heap, uint32_t at, struct rh_timer_cell cell)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / WIDTH;
        if (heap->cells[parent].deadline_ns <= cell.deadline_ns) {
            break;
        }
        cell_set(heap, at, heap->cells[parent]);
        at = parent;
    }
    cell_set(heap, at, cell);
}

static void sift_down(struct rh_timer_heap *heap, uint32_t at, struct rh_timer_cell cell)
{
    for (;;) {
        uint64_t first = (uint64_t) at * WIDTH + 1;
        if (first >= heap->count) {
            break;
        }
        uint32_t least = (uint32_t) first;
        for (uint32_t i = least + 1; i < heap->count && i < first + WIDTH; i++) {
            if (heap->cells[i].deadline_ns < heap->cells[least].deadline_ns) {
                least = i;
            }
        }
        if (cell.deadline_ns <= heap->cells[least].deadline_ns) {
            break;
        }
        cell_set(heap, at, heap->cells[least]);
        at = least;
    }
    cell_set(heap, at, cell);
}

/* Put cell in the hole at `at`, up or down as it belongs. */
static void hole_fill(struct rh_timer_heap *heap, uint32_t at, struct rh_timer_cell cell)
{
    if (at > 0 && cell.deadline_ns < heap->cells[(at - 1) / WIDTH].deadline_ns) {
        sift_up(heap, at, cell);
    } else {
        sift_down(heap, at, cell);
    }
}

void rh_timer_heap_put(struct rh_timer_heap *heap, struct rh_timer *timer, int64_t deadline_ns)
{
    struct rh_timer_cell cell = {deadline_ns, timer};
    timer->deadline_ns = deadline_ns;
    if (timer->place) {
        assert(timer->place <= heap->count && heap->cells[timer->place - 1].timer == timer);
        hole_fill(heap, timer->place - 1, cell);
    } else {
        RH_GROW(heap->cells, heap->count, heap->cap);
        heap->count++;
        sift_up(heap, heap->count - 1, cell);
    }
}

void rh_timer_heap_remove(struct rh_timer_heap *heap, struct rh_timer *timer)
{
    if (!timer->place) {
        return;
    }
    assert(timer->place <= heap->count && heap->cells[timer->place - 1].timer == timer);
    uint32_t at = timer->place - 1;
    timer->place = 0;
    heap->count--;
    if (at < heap->count) {
        hole_fill(heap, at, heap->cells[heap->count]);
    }
}
