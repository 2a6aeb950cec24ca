#include "diff/side_reader.h"

#include <string.h>

#include "common/clock.h"
#include "common/sql_template.h"

static void expect(struct rh_side_reader *s, uint64_t statements)
{
    s->expected = statements ? statements : 1;
    s->share_each = 1 / (double) s->expected;
}

void rh_side_reader_init(struct rh_side_reader *s, struct rh_trace_file *file,
                         struct rh_query_table *queries)
{
    *s = (struct rh_side_reader){
        .file = file,
        .kind = rh_trace_file_header(file)->kind,
        .from_ns = INT64_MIN,
        .to_ns = INT64_MAX,
    };
    expect(s, rh_trace_file_totals(file).statements);
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

static void read_time_setting(const struct rh_trace_header *h, const char *name, int64_t *ns)
{
    char text[RH_TIME_TEXT_SIZE];
    struct rh_span value = rh_trace_header_setting(h, name);
    if (value.len > 0 && value.len < sizeof text) {
        memcpy(text, value.data, value.len);
        text[value.len] = '\0';
        rh_time_parse(text, ns, NULL);
    }
}

/* By whole blocks, which is near enough to read both sides in step. */
static uint64_t statements_between(const struct rh_trace_file *file, int64_t from_ns, int64_t to_ns)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < rh_trace_file_block_count(file); i++) {
        const struct rh_block_info *b = rh_trace_file_block(file, i);
        if (b->max_ns >= from_ns && b->min_ns < to_ns) {
            count += b->statement_count;
        }
    }
    return count;
}

void rh_side_reader_narrow(struct rh_side_reader *s, const struct rh_trace_header *other)
{
    if (s->kind == RH_FILE_WORKLOAD && other->kind == RH_FILE_RUN) {
        read_time_setting(other, "from", &s->from_ns);
        read_time_setting(other, "to", &s->to_ns);
        expect(s, statements_between(s->file, s->from_ns, s->to_ns));
    }
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
    if (rh_trace_reader_open(&s->reader, s->file, s->from_ns, s->to_ns, err) != 0) {
        return -1;
    }
    rh_trace_reader_want(s->reader, RH_WANT_OUTCOMES);
    return 0;
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
            o->ref.part = s->part;
            if ((s->scope && !rh_run_scope_has(s->scope, &o->ref)) ||
                (s->copies > 0 && o->ref.copy >= s->copies)) {
                rh_observation_put_outside(o);
            }
            s->read += o->is_statement;
            return 1;
        }
        s->gaps += s->record.kind == RH_KIND_GAP;
    }
}

uint32_t rh_side_reader_query(struct rh_side_reader *s)
{
    if (!s->query_known) {
        if (s->record.literal_count >= RH_TEMPLATE_SLOTS_MAX) {
            rh_side_reader_complete(s); /* then the template alone does not tell the query */
        }
        uint64_t serial = rh_trace_reader_block_serial(s->reader);
        s->query = rh_query_lookup_find(&s->lookup, &s->record, serial);
        s->query_known = true;
    }
    return s->query;
}

void rh_side_reader_complete(struct rh_side_reader *s)
{
    if (!rh_trace_reader_complete(s->reader, &s->record)) {
        /* Damaged: the text is shown without them. */
        s->record.literal_count = 0;
    }
}

double rh_side_reader_share(const struct rh_side_reader *s)
{
    return (double) s->read * s->share_each;
}

void rh_side_summary_init(struct rh_side_summary *sum)
{
    *sum = (struct rh_side_summary){.first_ns = RH_TIME_UNKNOWN, .last_ns = RH_TIME_UNKNOWN};
    rh_hist_init(&sum->lag);
    rh_hist_init(&sum->behind);
}

void rh_side_summary_release(struct rh_side_summary *sum)
{
    rh_hist_release(&sum->lag);
    rh_hist_release(&sum->behind);
    rh_arrivals_release(&sum->arrivals);
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

void rh_side_summary_note_session(struct rh_side_summary *sum, const struct rh_observation *o)
{
    if (o->ref.ordinal == 1 && !rh_observation_is_outside(o)) {
        sum->sessions++;
        sum->sessions_refused +=
            o->status == RH_OBSERVED_MISSING && o->reason == RH_REASON_CONNECT_FAILED;
    }
}

void rh_side_summary_observe(struct rh_side_summary *sum, const struct rh_observation *o,
                             int64_t placed_ns)
{
    if (rh_observation_is_outside(o)) {
        sum->outside_window++;
        return;
    }
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
    if (o->behind_ns > 0) {
        rh_hist_add(&sum->behind, o->behind_ns);
    }
    if (o->status == RH_OBSERVED_MISSING) {
        count_missing(sum, o);
        return;
    }
    sum->calls++;
    sum->order_waits += o->waited_for_order;
    if (o->ref.start_ns != RH_TIME_UNKNOWN) {
        rh_arrivals_add(&sum->arrivals, placed_ns);
    }
    sum->errors += o->status == RH_OBSERVED_ERROR;
    sum->unknown += o->status == RH_OBSERVED_UNKNOWN;
    sum->commit_not_timed += o->commit_not_timed;
    sum->timed += o->status == RH_OBSERVED_OK && o->service_ns >= 0;
}
