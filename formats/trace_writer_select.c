/*
 * Which rows of a window go into the next block.  The order of time matters only at the cut between
 * blocks and within a session, so rows are counted by time and only those around the cut are
 * sorted; the encoder wants them by session anyhow.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/trace_writer_private.h"

enum { BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS };

static void reserve(struct rh_trace_selection *s, uint32_t n)
{
    if (n <= s->cap) {
        return;
    }
    rh_trace_selection_release(s);
    rh_start_order_init(&s->order);
    size_t each = sizeof *s->starts + sizeof(void *) + 3 * sizeof *s->live;
    s->starts = rh_malloc_whole(n * each);
    s->chosen = (struct rh_trace_row **) (s->starts + n);
    s->live = (uint32_t *) (s->chosen + n);
    s->rest = s->live + n;
    s->group = s->rest + n;
    s->cap = n;
}

void rh_trace_selection_release(struct rh_trace_selection *s)
{
    rh_free(s->starts);
    rh_start_order_release(&s->order);
    *s = (struct rh_trace_selection){0};
}

void rh_trace_selection_begin(struct rh_trace_selection *s, const struct rh_trace_window *win)
{
    reserve(s, win->count);
    for (uint32_t i = 0; i < win->count; i++) {
        s->live[i] = i;
    }
    s->live_count = win->count;
}

static int compare_ties(const void *a, const void *b)
{
    const struct rh_trace_row *x = *(struct rh_trace_row *const *) a;
    const struct rh_trace_row *y = *(struct rh_trace_row *const *) b;
    const struct rh_session *s = &x->session->s;
    const struct rh_session *t = &y->session->s;
    if (s->number != t->number) {
        return s->number < t->number ? -1 : 1;
    }
    if (s->copy != t->copy) {
        return s->copy < t->copy ? -1 : 1;
    }
    if (rh_trace_row_precedes(x, y) || rh_trace_row_precedes(y, x)) {
        return rh_trace_row_precedes(x, y) ? -1 : 1;
    }
    return x < y ? -1 : x > y; /* as they came */
}

/* The last row that is chosen: all before it in order are, and so is it. */
struct cut {
    int64_t start;
    const struct rh_trace_row *last;
};

static bool is_within(const struct cut *cut, const struct rh_trace_row *row, int64_t start)
{
    return start < cut->start || (start == cut->start && compare_ties(&row, &cut->last) <= 0);
}

static struct cut cut_at_end(const struct rh_trace_selection *s, const struct rh_trace_window *win)
{
    struct cut cut = {.start = INT64_MIN};
    for (uint32_t k = 0; k < s->live_count; k++) {
        const struct rh_trace_row *row = &win->rows[s->live[k]];
        int64_t start = win->starts[s->live[k]];
        if (start > cut.start ||
            (start == cut.start && (!cut.last || compare_ties(&cut.last, &row) < 0))) {
            cut = (struct cut){start, row};
        }
    }
    return cut;
}

/* The n-th of the rows that lie in s->group. */
static struct cut cut_group(struct rh_trace_selection *s, const struct rh_trace_window *win,
                            uint32_t count, uint32_t n)
{
    for (uint32_t k = 0; k < count; k++) {
        s->starts[k] = win->starts[s->group[k]];
    }
    rh_start_order_make(&s->order, s->starts, count);
    const uint32_t *order = s->order.order;
    int64_t start = s->starts[order[n - 1]];
    uint32_t begin = n - 1;
    uint32_t end = n;
    while (begin > 0 && s->starts[order[begin - 1]] == start) {
        begin--;
    }
    while (end < count && s->starts[order[end]] == start) {
        end++;
    }
    struct rh_trace_row **ties = s->chosen;
    for (uint32_t k = begin; k < end; k++) {
        ties[k - begin] = &win->rows[s->group[order[k]]];
    }
    if (end - begin > 1) {
        qsort(ties, end - begin, sizeof(void *), compare_ties);
    }
    return (struct cut){start, ties[n - 1 - begin]};
}

static unsigned shift_of(uint64_t range)
{
    unsigned bits = range ? 64 - (unsigned) __builtin_clzll(range) : 0;
    return bits > BUCKET_BITS ? bits - BUCKET_BITS : 0;
}

static struct cut cut_after(struct rh_trace_selection *s, const struct rh_trace_window *win,
                            uint32_t n)
{
    uint32_t counts[BUCKETS] = {0};
    int64_t min = INT64_MAX;
    int64_t max = INT64_MIN;
    for (uint32_t k = 0; k < s->live_count; k++) {
        int64_t start = win->starts[s->live[k]];
        min = start < min ? start : min;
        max = start > max ? start : max;
    }
    unsigned shift = shift_of((uint64_t) max - (uint64_t) min);
    for (uint32_t k = 0; k < s->live_count; k++) {
        counts[((uint64_t) win->starts[s->live[k]] - (uint64_t) min) >> shift]++;
    }
    uint32_t before = 0;
    uint32_t bucket = 0;
    while (before + counts[bucket] < n) {
        before += counts[bucket++];
    }
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->live_count; k++) {
        s->group[count] = s->live[k];
        count += ((uint64_t) win->starts[s->live[k]] - (uint64_t) min) >> shift == bucket;
    }
    return cut_group(s, win, count, n - before);
}

void rh_trace_selection_choose(struct rh_trace_selection *s, const struct rh_trace_window *win,
                               uint32_t n, struct rh_trace_mark *last)
{
    struct cut cut = n < s->live_count ? cut_after(s, win, n) : cut_at_end(s, win);
    assert(cut.last); /* at least one row waits */
    *last =
        (struct rh_trace_mark){cut.start, cut.last->session->s.number, cut.last->session->s.copy};
    uint32_t chosen = 0;
    uint32_t rest = 0;
    for (uint32_t k = 0; k < s->live_count; k++) {
        uint32_t i = s->live[k];
        if (is_within(&cut, &win->rows[i], win->starts[i])) {
            s->chosen[chosen++] = &win->rows[i];
        } else {
            s->rest[rest++] = i;
        }
    }
    s->rest_count = rest;
}

void rh_trace_selection_take(struct rh_trace_selection *s)
{
    uint32_t *taken = s->live;
    s->live = s->rest;
    s->rest = taken;
    s->live_count = s->rest_count;
}
