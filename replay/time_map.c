#include "replay/time_map.h"

#include <assert.h>

#include "common/alloc.h"
#include "common/clock.h"

void rh_time_map_init(struct rh_time_map *m, int64_t origin_ns, double speed)
{
    assert(speed > 0);
    *m = (struct rh_time_map){.origin_ns = origin_ns, .speed = speed};
}

void rh_time_map_release(struct rh_time_map *m)
{
    rh_free(m->cuts);
    m->cuts = NULL;
    m->cut_count = m->cut_cap = 0;
}

int rh_time_map_cut(struct rh_time_map *m, int64_t from_ns, int64_t to_ns)
{
    assert(from_ns < to_ns);
    assert(m->cut_count == 0 || m->cuts[m->cut_count - 1].to_ns <= from_ns);
    if (m->cut_count == RH_TIME_CUTS_MAX) {
        return -1;
    }
    RH_GROW(m->cuts, m->cut_count, m->cut_cap);
    int64_t removed_ns = rh_time_add(rh_time_map_removed_ns(m), rh_time_sub(to_ns, from_ns));
    m->cuts[m->cut_count++] = (struct rh_time_cut){from_ns, to_ns, removed_ns};
    return 0;
}

/* How much is cut out before trace_ns. */
static int64_t removed_before(const struct rh_time_map *m, int64_t trace_ns)
{
    size_t low = 0, high = m->cut_count; /* the first cut that begins at or after trace_ns */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->cuts[middle].from_ns < trace_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return 0;
    }
    const struct rh_time_cut *last = &m->cuts[low - 1];
    int64_t after_ns = last->to_ns > trace_ns ? rh_time_sub(last->to_ns, trace_ns) : 0;
    return last->removed_ns - after_ns;
}

int64_t rh_time_map_scale_ns(const struct rh_time_map *m, int64_t length_ns)
{
    if (m->speed == 1.0) {
        return length_ns;
    }
    double scaled = (double) length_ns / m->speed;
    if (scaled <= -9e18) {
        return -INT64_MAX / 2;
    }
    return scaled < 9e18 ? (int64_t) scaled : INT64_MAX / 2;
}

int64_t rh_time_map_offset_ns(const struct rh_time_map *m, int64_t trace_ns)
{
    if (trace_ns <= m->origin_ns) {
        return 0;
    }
    int64_t passed_ns = rh_time_sub(trace_ns, m->origin_ns);
    return rh_time_map_scale_ns(m, rh_time_sub(passed_ns, removed_before(m, trace_ns)));
}

int64_t rh_time_map_removed_ns(const struct rh_time_map *m)
{
    return m->cut_count ? m->cuts[m->cut_count - 1].removed_ns : 0;
}
