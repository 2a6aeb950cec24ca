/* capture/capture_stats.c */
#include "capture/capture_stats.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

void rh_capture_stats_init(struct rh_capture_stats *s)
{
    memset(s, 0, sizeof *s);
    s->first_ns = s->last_ns = RH_TIME_UNKNOWN;
}

void rh_capture_stats_release(struct rh_capture_stats *s)
{
    rh_free(s->errors);
    s->errors = NULL;
}

void rh_capture_stats_add_error(struct rh_capture_stats *s, uint32_t sqlstate)
{
    for (uint32_t i = 0; i < s->error_count; i++) {
        if (s->errors[i].sqlstate == sqlstate) {
            s->errors[i].count++;
            return;
        }
    }
    RH_GROW(s->errors, s->error_count, s->error_cap);
    s->errors[s->error_count++] = (struct rh_error_count){sqlstate, 1};
}

static int compare_counts(const void *a, const void *b)
{
    const struct rh_error_count *x = a, *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return x->sqlstate < y->sqlstate ? -1 : 1;
}

void rh_capture_stats_sort(struct rh_capture_stats *s)
{
    if (s->error_count > 0) {
        qsort(s->errors, s->error_count, sizeof *s->errors, compare_counts);
    }
}

uint64_t rh_capture_stats_statements(const struct rh_capture_stats *s)
{
    return s->kinds[RH_KIND_QUERY] + s->kinds[RH_KIND_EXECUTE] + s->kinds[RH_KIND_FUNCTION];
}
