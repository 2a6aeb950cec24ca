#include "diff/run_scope.h"

#include <stdlib.h>

#include "common/stop.h"
#include "formats/trace_reader.h"

enum { CHECK_EVERY = 4096 };

/* Of one session; copies of it have the same. */
struct ranges {
    uint64_t first[RH_SIDES]; /* 0: the side has nothing of it */
    uint64_t last[RH_SIDES];
};

uint32_t rh_run_scale(const struct rh_trace_header *h)
{
    char text[16];
    struct rh_span value = rh_trace_header_setting(h, "scale");
    if (h->kind != RH_FILE_RUN || value.len == 0 || value.len >= sizeof text) {
        return 1;
    }
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    unsigned long scale = strtoul(text, NULL, 10);
    return scale >= 1 && scale < UINT32_C(1) << 20 ? (uint32_t) scale : 1;
}

static bool setting_differs(const struct rh_trace_header *a, const struct rh_trace_header *b,
                            const char *name)
{
    struct rh_span x = rh_trace_header_setting(a, name), y = rh_trace_header_setting(b, name);
    return !!x.data != !!y.data || (x.data && !rh_span_equal(x, y));
}

bool rh_run_windows_differ(const struct rh_trace_header *a, const struct rh_trace_header *b)
{
    return a->kind == RH_FILE_RUN && b->kind == RH_FILE_RUN &&
           (setting_differs(a, b, "from") || setting_differs(a, b, "to"));
}

void rh_run_scope_init(struct rh_run_scope *scope)
{
    *scope = (struct rh_run_scope){0};
    rh_map_init(&scope->sessions);
    rh_arena_init(&scope->ranges, 16 * 1024);
}

void rh_run_scope_release(struct rh_run_scope *scope)
{
    rh_map_release(&scope->sessions);
    rh_arena_release(&scope->ranges);
}

static void take(struct rh_run_scope *scope, const struct rh_observation *o, enum rh_side side,
                 bool is_whole)
{
    if (o->status == RH_OBSERVED_MISSING && o->reason == RH_REASON_OUTSIDE_WINDOW) {
        return;
    }
    struct ranges *r = rh_map_get(&scope->sessions, o->ref.session);
    if (!r) {
        r = rh_arena_alloc(&scope->ranges, sizeof *r);
        *r = (struct ranges){0};
        rh_map_put(&scope->sessions, o->ref.session, r);
    }
    if (r->first[side] == 0 || o->ref.ordinal < r->first[side]) {
        r->first[side] = o->ref.ordinal;
    }
    if (!is_whole) {
        r->last[side] = UINT64_MAX;
    } else if (o->ref.ordinal > r->last[side]) {
        r->last[side] = o->ref.ordinal;
    }
}

int rh_run_scope_add(struct rh_run_scope *scope, struct rh_trace_file *run, enum rh_side side,
                     struct rh_error *err)
{
    struct rh_trace_reader *reader;
    struct rh_record r;
    struct rh_observation o;
    bool is_whole = rh_trace_file_complete(run);
    if (rh_trace_reader_open(&reader, run, INT64_MIN, INT64_MAX, err) != 0) {
        return -1;
    }
    rh_trace_reader_want(reader, RH_WANT_OUTCOMES);
    int got;
    for (uint64_t n = 1; (got = rh_trace_reader_next(reader, &r, err)) == 1; n++) {
        if (rh_observation_make(&o, &r, RH_FILE_RUN)) {
            take(scope, &o, side, is_whole);
        }
        if (n % CHECK_EVERY == 0 && rh_stop_requested()) {
            got = rh_error_set(err, RH_ERR_STOPPED, "stopped before both files were read");
            break;
        }
    }
    rh_trace_reader_close(reader);
    return got;
}

bool rh_run_scope_has(const struct rh_run_scope *scope, const struct rh_statement_ref *ref)
{
    const struct ranges *r = rh_map_get(&scope->sessions, ref->session);
    if (!r) {
        return false;
    }
    for (int side = 0; side < RH_SIDES; side++) {
        if (r->first[side] == 0 || ref->ordinal < r->first[side] || ref->ordinal > r->last[side]) {
            return false;
        }
    }
    return true;
}
