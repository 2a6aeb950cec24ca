#include "front/trace_summary.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "formats/trace_index.h"
#include "formats/trace_reader.h"

void rh_trace_summary_init(struct rh_trace_summary *s)
{
    *s = (struct rh_trace_summary){.begin_ns = RH_TIME_UNKNOWN, .end_ns = RH_TIME_UNKNOWN};
    rh_intern_init(&s->gap_reasons);
    rh_damage_list_init(&s->damage);
}

void rh_trace_summary_release(struct rh_trace_summary *s)
{
    rh_intern_release(&s->gap_reasons);
    rh_damage_list_release(&s->damage);
}

static void widen_span(struct rh_trace_summary *s, int64_t ns)
{
    if (ns == RH_TIME_UNKNOWN) {
        return;
    }
    if (s->begin_ns == RH_TIME_UNKNOWN || ns < s->begin_ns) {
        s->begin_ns = ns;
    }
    if (s->end_ns == RH_TIME_UNKNOWN || ns > s->end_ns) {
        s->end_ns = ns;
    }
}

/* A file made by nobody's capture could hold any number of reasons; memory stays bounded. */
static void count_gap(struct rh_trace_summary *s, const struct rh_record *r)
{
    struct rh_span reason = r->detail.len ? r->detail : RH_SPAN_LITERAL("unknown");
    if (s->gap_reasons.count >= RH_SUMMARY_GAP_REASONS_MAX - 1 &&
        rh_intern_find(&s->gap_reasons, reason) < 0) {
        reason = RH_SPAN_LITERAL("other");
    }
    struct rh_gap_count *gap = &s->gaps[rh_intern_put(&s->gap_reasons, reason, NULL)];
    gap->places++;
    gap->amount += r->count ? r->count : 1;
}

static void count_statement(struct rh_trace_summary *s, const struct rh_record *r)
{
    s->statements++;
    s->failed += r->outcome.sqlstate != 0 && r->outcome.sqlstate != RH_SQLSTATE_UNKNOWN;
    if ((unsigned) r->run.fate < RH_SUMMARY_FATES) {
        s->fates[r->run.fate]++;
    }
    if (r->run.fate == RH_FATE_SKIPPED || r->run.fate == RH_FATE_NOT_SENT) {
        s->unsent[(unsigned) r->run.reason % RH_REASON_COUNT]++;
    }
}

static void count_record(struct rh_trace_summary *s, const struct rh_record *r)
{
    s->by_kind[(unsigned) r->kind % RH_SUMMARY_KINDS]++;
    s->transactions += (r->txn & RH_TXN_BEGINS) != 0;
    widen_span(s, r->start_ns);
    widen_span(s, r->outcome.done_ns);
    if (r->kind == RH_KIND_GAP) {
        count_gap(s, r);
    }
    s->reopenings += r->kind == RH_KIND_OPEN && r->detail.data;
    if (rh_kind_has_ordinal(r->kind) && r->hold != RH_REASON_NONE) {
        s->held[(unsigned) r->hold % RH_REASON_COUNT]++;
        s->held_total++;
    }
    if (rh_kind_is_statement(r->kind)) {
        count_statement(s, r);
    }
}

static int count_records(struct rh_trace_summary *s, struct rh_trace_file *file,
                         struct rh_error *err)
{
    struct rh_trace_reader *reader;
    if (rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, err) != 0) {
        return -1;
    }
    rh_trace_reader_want(reader, RH_WANT_OUTCOMES);
    struct rh_record r;
    int got;
    while ((got = rh_trace_reader_next(reader, &r, err)) > 0) {
        count_record(s, &r);
    }
    rh_damage_list_collect(&s->damage, file, reader);
    rh_trace_reader_close(reader);
    return got;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a;
    int64_t y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

/* The most sessions open at one time, from the sorted times of their openings and closings. */
static uint32_t peak_of(int64_t *opened, int64_t *closed, size_t n)
{
    qsort(opened, n, sizeof *opened, compare_times);
    qsort(closed, n, sizeof *closed, compare_times);
    size_t gone = 0;
    size_t peak = 0;
    for (size_t i = 0; i < n; i++) {
        while (closed[gone] < opened[i]) {
            gone++;
        }
        peak = i + 1 - gone > peak ? i + 1 - gone : peak;
    }
    return (uint32_t) peak;
}

static int count_sessions(struct rh_trace_summary *s, struct rh_trace_file *file,
                          struct rh_error *err)
{
    struct rh_trace_index *index;
    if (rh_trace_index_new(&index, file, err) != 0) {
        return -1;
    }
    s->sessions = rh_trace_index_session_count(index);
    int64_t *opened = rh_calloc(s->sessions, sizeof *opened);
    int64_t *closed = rh_calloc(s->sessions, sizeof *closed);
    size_t n = 0;
    for (uint32_t i = 0; i < s->sessions; i++) {
        const struct rh_session *session = rh_trace_index_session(index, i);
        bool midway = session->flags & RH_SESSION_JOINED_MIDWAY;
        bool left = session->flags & RH_SESSION_LEFT_OPEN;
        s->joined_midway += midway;
        s->left_open += left;
        if (session->flags & RH_SESSION_LOGIN_FAILED) {
            s->logins_failed++;
            continue;
        }
        int64_t first = rh_trace_index_first_ns(index, i);
        int64_t last = rh_trace_index_last_ns(index, i);
        /* RH_TIME_UNKNOWN is before all times, as it has to be for the openings. */
        opened[n] = session->opened_ns != RH_TIME_UNKNOWN || midway ? session->opened_ns : first;
        closed[n] = session->closed_ns != RH_TIME_UNKNOWN ? session->closed_ns : last;
        if (left || closed[n] < opened[n]) {
            closed[n] = left ? INT64_MAX : opened[n];
        }
        n++;
    }
    s->peak_open = peak_of(opened, closed, n);
    rh_free(opened);
    rh_free(closed);
    rh_trace_index_free(index);
    return 0;
}

int rh_trace_summary_read(struct rh_trace_summary *s, struct rh_trace_file *file,
                          struct rh_error *err)
{
    s->data_blocks = rh_trace_file_block_count(file);
    for (uint32_t i = 0; i < s->data_blocks; i++) {
        s->late_blocks += (rh_trace_file_block(file, i)->flags & RH_BLOCK_LATE) != 0;
    }
    if (count_sessions(s, file, err) != 0) {
        return -1;
    }
    return count_records(s, file, err);
}
