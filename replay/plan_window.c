#include "replay/plan_window.h"

#include <assert.h>

#include "common/alloc.h"
#include "common/map.h"
#include "formats/trace_reader.h"

/*
 * A record without any mark is one of which nothing is known, or the middle of an implicit
 * transaction: it is taken to be outside unless an ENDS or a BLOCK shows that it was inside.
 */
void rh_plan_seen_add(struct rh_plan_seen *seen, const struct rh_record *r)
{
    if (seen->record_count++ == 0) {
        seen->first_ns = r->start_ns;
    }
    bool begins = r->txn & RH_TXN_BEGINS, ends = r->txn & RH_TXN_ENDS;

    if (!seen->is_settled) {
        if (begins) {
            seen->start_ordinal = seen->is_inside ? r->ordinal : 0;
            seen->is_settled = true;
        } else if (ends) {
            seen->start_ordinal = r->ordinal + 1;
            seen->is_settled = true;
        } else if (r->txn & RH_TXN_BLOCK) {
            seen->is_inside = true;
            seen->start_ordinal = r->ordinal + 1;
        } else if (seen->is_inside) {
            seen->start_ordinal = r->ordinal + 1;
        }
    }
    if (ends) {
        seen->open_ordinal = 0;
    } else if (begins) {
        seen->open_ordinal = r->ordinal;
    }
}

void rh_idle_finder_add(struct rh_idle_finder *f, int64_t from_ns, int64_t to_ns)
{
    if (f->busy_to_ns != INT64_MIN && from_ns > f->busy_to_ns &&
        from_ns - f->busy_to_ns > f->keep_ns) {
        (void) rh_time_map_cut(f->map, f->busy_to_ns + f->keep_ns, from_ns);
    }
    if (from_ns > f->busy_to_ns) {
        f->busy_to_ns = from_ns;
    }
    if (to_ns > f->busy_to_ns) {
        f->busy_to_ns = to_ns;
    }
}

struct scanner {
    struct rh_plan_scan *scan;
    struct rh_map places; /* session number -> struct rh_plan_seen */
    struct rh_idle_finder idle;
    const int64_t *events;
    size_t event_count;
    size_t next_event;
};

static void add_events(struct scanner *s, int64_t until_ns)
{
    while (s->next_event < s->event_count && s->events[s->next_event] <= until_ns) {
        rh_idle_finder_add(&s->idle, s->events[s->next_event++], RH_TIME_UNKNOWN);
    }
}

static void scan_record(struct scanner *s, const struct rh_record *r)
{
    if (!rh_kind_has_ordinal(r->kind)) {
        return;
    }
    struct rh_plan_seen *seen = rh_map_get(&s->places, r->session);
    if (seen) {
        rh_plan_seen_add(seen, r);
    }
    if (rh_kind_is_statement(r->kind)) {
        s->scan->statement_count++;
    }
    int64_t done_ns = r->outcome.done_ns > r->start_ns ? r->outcome.done_ns : r->start_ns;
    if (done_ns > s->scan->end_ns) {
        s->scan->end_ns = done_ns;
    }
    if (s->idle.keep_ns > 0) {
        add_events(s, r->start_ns);
        rh_idle_finder_add(&s->idle, r->start_ns, done_ns);
    }
}

int rh_plan_scan(struct rh_plan_scan *scan, struct rh_trace_file *file,
                 const struct rh_trace_index *index, const struct rh_replay_options *options,
                 const int64_t *events, size_t event_count, struct rh_time_map *map,
                 struct rh_error *err)
{
    uint32_t count = rh_trace_index_session_count(index);
    *scan = (struct rh_plan_scan){.end_ns = INT64_MIN};
    scan->seen = rh_calloc(count ? count : 1, sizeof *scan->seen);

    struct scanner s = {
        .scan = scan,
        .idle = {.keep_ns = options->skip_idle_ns, .busy_to_ns = INT64_MIN, .map = map},
        .events = events,
        .event_count = event_count,
    };
    rh_map_init(&s.places);
    for (uint32_t i = 0; i < count; i++) {
        rh_map_put(&s.places, rh_trace_index_session(index, i)->number, &scan->seen[i]);
    }

    struct rh_trace_reader *reader = NULL;
    struct rh_record r;
    int got = rh_trace_reader_open(&reader, file, options->from_ns, options->to_ns, err);
    if (got == 0) {
        rh_trace_reader_want(reader, RH_WANT_OUTCOMES);
        while ((got = rh_trace_reader_next(reader, &r, err)) == 1) {
            scan_record(&s, &r);
        }
    }
    if (got == 0 && s.idle.keep_ns > 0) {
        add_events(&s, INT64_MAX);
    }
    if (reader) {
        rh_trace_reader_close(reader);
    }
    rh_map_release(&s.places);
    if (got != 0) {
        rh_plan_scan_release(scan);
    }
    return got;
}

void rh_plan_scan_release(struct rh_plan_scan *scan)
{
    rh_free(scan->seen);
    scan->seen = NULL;
}
