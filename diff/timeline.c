#include "diff/timeline.h"

#include "common/alloc.h"

#define SINCE_MAX_NS (INT64_C(12) * 86400 * 1000000000)

static void point_release(struct rh_timeline_point *p)
{
    rh_hist_release(&p->service);
    rh_hist_release(&p->lag);
    *p = (struct rh_timeline_point){0};
}

void rh_timeline_release(struct rh_timeline *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        point_release(&t->points[i]);
    }
    rh_free(t->points);
    *t = (struct rh_timeline){0};
}

static void point_merge(struct rh_timeline_point *into, const struct rh_timeline_point *from)
{
    into->calls += from->calls;
    into->errors += from->errors;
    rh_hist_merge(&into->service, &from->service);
    rh_hist_merge(&into->lag, &from->lag);
}

/* Two neighbours become one. */
static void coarsen(struct rh_timeline *t)
{
    for (uint32_t i = 1; i < t->count; i++) {
        struct rh_timeline_point from = t->points[i];
        t->points[i] = (struct rh_timeline_point){0};
        point_merge(&t->points[i / 2], &from);
        point_release(&from);
    }
    t->count = (t->count + 1) / 2;
    t->span_ns *= 2;
}

void rh_timeline_add(struct rh_timeline *t, const struct rh_observation *o, int64_t start_ns)
{
    int64_t since;
    if (!t->points) {
        t->points = rh_calloc(RH_TIMELINE_POINTS, sizeof *t->points);
        t->span_ns = RH_TIMELINE_SPAN_NS;
        t->first_ns = start_ns;
    }
    if (__builtin_sub_overflow(start_ns, t->first_ns, &since) || since > SINCE_MAX_NS) {
        return;
    }
    since = since > 0 ? since : 0;
    while (since / t->span_ns >= RH_TIMELINE_POINTS) {
        coarsen(t);
    }
    uint32_t at = (uint32_t) (since / t->span_ns);
    t->count = at < t->count ? t->count : at + 1;
    struct rh_timeline_point *p = &t->points[at];
    p->calls++;
    p->errors += o->status == RH_OBSERVED_ERROR;
    if (o->status == RH_OBSERVED_OK && o->service_ns >= 0) {
        rh_hist_add(&p->service, o->service_ns);
    }
    if (o->lag_ns >= 0) {
        rh_hist_add(&p->lag, o->lag_ns);
    }
}

void rh_timeline_align(struct rh_timeline *a, struct rh_timeline *b)
{
    while (a->points && b->points && a->span_ns != b->span_ns) {
        coarsen(a->span_ns < b->span_ns ? a : b);
    }
}
