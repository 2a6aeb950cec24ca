#include "diff/side_reader.h"

void rh_side_reader_init(struct rh_side_reader *s, struct rh_trace_file *file,
                         struct rh_query_table *queries)
{
    uint64_t expected = rh_trace_file_totals(file).statements;
    *s = (struct rh_side_reader){
        .file = file,
        .kind = rh_trace_file_header(file)->kind,
        .expected = expected ? expected : 1,
    };
    rh_query_lookup_init(&s->lookup, queries);
}

void rh_side_reader_release(struct rh_side_reader *s)
{
    if (s->reader) {
        rh_trace_reader_close(s->reader);
    }
    rh_query_lookup_release(&s->lookup);
    *s = (struct rh_side_reader){0};
}

int rh_side_reader_rewind(struct rh_side_reader *s, struct rh_error *err)
{
    struct rh_query_table *queries = s->lookup.table;
    if (s->reader) {
        rh_trace_reader_close(s->reader);
        s->reader = NULL;
    }
    /* Block serials may begin again. */
    rh_query_lookup_release(&s->lookup);
    rh_query_lookup_init(&s->lookup, queries);
    s->read = 0;
    s->gaps = 0;
    return rh_trace_reader_open(&s->reader, s->file, INT64_MIN, INT64_MAX, err);
}

int rh_side_reader_next(struct rh_side_reader *s, struct rh_observation *o, struct rh_error *err)
{
    for (;;) {
        int rc = rh_trace_reader_next(s->reader, &s->record, err);
        s->query_known = false;
        if (rc <= 0) {
            return rc;
        }
        if (rh_observation_make(o, &s->record, s->kind)) {
            s->read += o->is_statement;
            return 1;
        }
        s->gaps += s->record.kind == RH_KIND_GAP;
    }
}

uint32_t rh_side_reader_query(struct rh_side_reader *s)
{
    if (!s->query_known) {
        uint64_t serial = rh_trace_reader_block_serial(s->reader);
        s->query = rh_query_lookup_find(&s->lookup, &s->record, serial);
        s->query_known = true;
    }
    return s->query;
}

double rh_side_reader_share(const struct rh_side_reader *s)
{
    return (double) s->read / (double) s->expected;
}

void rh_side_summary_init(struct rh_side_summary *sum)
{
    *sum = (struct rh_side_summary){.first_ns = RH_TIME_UNKNOWN, .last_ns = RH_TIME_UNKNOWN};
    rh_hist_init(&sum->lag);
}

void rh_side_summary_release(struct rh_side_summary *sum)
{
    rh_hist_release(&sum->lag);
}

static void count_missing(struct rh_side_summary *sum, const struct rh_observation *o)
{
    if (o->fate == RH_FATE_LOST) {
        sum->lost++;
        return;
    }
    sum->skipped += o->fate == RH_FATE_SKIPPED;
    sum->not_sent += o->fate == RH_FATE_NOT_SENT;
    sum->by_reason[(unsigned) o->reason < RH_REASON_COUNT ? o->reason : RH_REASON_NONE]++;
}

void rh_side_summary_observe(struct rh_side_summary *sum, const struct rh_observation *o)
{
    sum->statements++;
    if (o->ref.start_ns != RH_TIME_UNKNOWN) {
        if (sum->first_ns == RH_TIME_UNKNOWN || o->ref.start_ns < sum->first_ns) {
            sum->first_ns = o->ref.start_ns;
        }
        if (sum->last_ns == RH_TIME_UNKNOWN || o->ref.start_ns > sum->last_ns) {
            sum->last_ns = o->ref.start_ns;
        }
    }
    if (o->lag_ns >= 0) {
        rh_hist_add(&sum->lag, o->lag_ns);
    }
    if (o->status == RH_OBSERVED_MISSING) {
        count_missing(sum, o);
        return;
    }
    sum->calls++;
    sum->errors += o->status == RH_OBSERVED_ERROR;
    sum->unknown += o->status == RH_OBSERVED_UNKNOWN;
    sum->commit_not_timed += o->commit_not_timed;
    sum->timed += o->status == RH_OBSERVED_OK && o->service_ns >= 0;
}
