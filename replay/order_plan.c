#include "replay/order_plan.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/stop.h"
#include "formats/trace_reader.h"

/* So often it is looked whether a stop was asked for. */
enum { RECORDS_A_LOOK = 4096 };

/* When a transaction ran in the capture, and which it is. */
struct rh_order_span {
    int64_t begin_ns;
    int64_t end_ns;
    uint32_t session;
    uint32_t place; /* among the session's */
};

void rh_order_plan_init(struct rh_order_plan *o, uint32_t session_count, int64_t resolution_ns)
{
    *o = (struct rh_order_plan){.session_count = session_count, .resolution_ns = resolution_ns};
    o->sessions = rh_calloc(session_count ? session_count : 1, sizeof *o->sessions);
}

void rh_order_plan_release(struct rh_order_plan *o)
{
    for (uint32_t i = 0; i < o->session_count; i++) {
        rh_free(o->sessions[i].txns);
    }
    rh_free(o->sessions);
    rh_free(o->spans);
    *o = (struct rh_order_plan){0};
}

static bool begin(struct rh_order_plan *o, uint32_t session, const struct rh_record *r)
{
    struct rh_order_session *s = &o->sessions[session];
    if (o->txn_count == UINT32_MAX) {
        return false;
    }
    RH_GROW(o->spans, o->txn_count, o->span_cap);
    RH_GROW(s->txns, s->count, s->cap);
    o->spans[o->txn_count] = (struct rh_order_span){
        .begin_ns = r->start_ns, .end_ns = r->start_ns, .session = session, .place = s->count};
    /* Its rank is the place of its span until all are there. */
    s->txns[s->count++] =
        (struct rh_order_txn){.first = (uint32_t) r->ordinal, .rank = o->txn_count++};
    s->is_open = true;
    return true;
}

/*
 * Marks that are missing: a new beginning ends what is open, since a session has one transaction at
 * a time; a record without any mark outside of one is a transaction by itself.
 */
bool rh_order_plan_add(struct rh_order_plan *o, uint32_t session, const struct rh_record *r)
{
    struct rh_order_session *s = &o->sessions[session];
    if (r->ordinal > UINT32_MAX) {
        return false;
    }
    bool continues = s->is_open && !(r->txn & RH_TXN_BEGINS);
    if (!continues && !begin(o, session, r)) {
        return false;
    }
    struct rh_order_txn *txn = &s->txns[s->count - 1];
    struct rh_order_span *span = &o->spans[txn->rank];
    txn->last = (uint32_t) r->ordinal;
    int64_t end_ns = r->outcome.done_ns > r->start_ns ? r->outcome.done_ns : r->start_ns;
    span->end_ns = end_ns > span->end_ns ? end_ns : span->end_ns;
    bool goes_on = continues || (r->txn & (RH_TXN_BEGINS | RH_TXN_BLOCK));
    s->is_open = goes_on && !(r->txn & RH_TXN_ENDS);
    return true;
}

static int by_end(const void *a, const void *b)
{
    const struct rh_order_span *x = a, *y = b;
    if (x->end_ns != y->end_ns) {
        return x->end_ns < y->end_ns ? -1 : 1;
    }
    if (x->session != y->session) {
        return x->session < y->session ? -1 : 1;
    }
    return (x->place > y->place) - (x->place < y->place);
}

/* How many of the spans, sorted by their ends, had surely ended at begin_ns. */
static uint32_t count_ended(const struct rh_order_plan *o, int64_t begin_ns)
{
    int64_t until_ns = rh_time_sub(begin_ns, o->resolution_ns);
    uint32_t low = 0, high = o->txn_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->spans[middle].end_ns <= until_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void rh_order_plan_finish(struct rh_order_plan *o)
{
    if (o->txn_count > 0) {
        qsort(o->spans, o->txn_count, sizeof *o->spans, by_end);
    }
    for (uint32_t rank = 0; rank < o->txn_count; rank++) {
        const struct rh_order_span *span = &o->spans[rank];
        struct rh_order_txn *txn = &o->sessions[span->session].txns[span->place];
        txn->rank = rank;
        txn->need = count_ended(o, span->begin_ns);
    }
    rh_free(o->spans);
    o->spans = NULL;
    o->span_cap = 0;
}

static bool is_played(const struct rh_plan_session *ps, const struct rh_record *r)
{
    return ps && ps->unsent == RH_REASON_NONE && rh_kind_has_ordinal(r->kind) &&
           r->ordinal >= ps->first_ordinal && r->ordinal < ps->end_ordinal;
}

int rh_order_plan_make(struct rh_order_plan *o, const struct rh_plan *plan,
                       struct rh_trace_file *file, struct rh_error *err)
{
    struct rh_trace_reader *reader;
    struct rh_record r;
    /* A log's stamps have milliseconds, a workload's times microseconds. */
    bool is_log = rh_trace_file_header(file)->vantage == RH_VANTAGE_SERVER_LOG;
    rh_order_plan_init(o, plan->session_count, is_log ? RH_NS_PER_MS : 1000);
    int got = rh_trace_reader_open(&reader, file, plan->from_ns, plan->to_ns, err);
    if (got != 0) {
        goto out;
    }
    rh_trace_reader_want(reader, RH_WANT_OUTCOMES);
    for (uint64_t n = 1; (got = rh_trace_reader_next(reader, &r, err)) == 1; n++) {
        const struct rh_plan_session *ps = rh_map_get(&plan->by_number, r.session);
        if (is_played(ps, &r) && !rh_order_plan_add(o, (uint32_t) (ps - plan->sessions), &r)) {
            got = rh_error_set(err, RH_ERR_LIMIT,
                               "--order=txn: more transactions than can be counted; replay a part "
                               "of them (--from, --to)");
            break;
        }
        if (n % RECORDS_A_LOOK == 0 && rh_stop_requested()) {
            got = rh_error_set(err, RH_ERR_STOPPED, "stopped");
            break;
        }
    }
    rh_trace_reader_close(reader);
    rh_order_plan_finish(o);

out:
    if (got != 0) {
        rh_order_plan_release(o);
    }
    return got;
}
