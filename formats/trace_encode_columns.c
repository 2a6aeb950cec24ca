/* The columns with one integer a record. */
#include "formats/trace_defaults.h"
#include "formats/trace_encode.h"

/* The record before in the session. */
struct previous {
    uint64_t ordinal;
    int64_t start;
    int64_t end;
};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The stamps of a log are whole ms and start is the stamp minus the duration, so the distance of
 * the stamps is a small number where that of the starts is not. */
static void put_start(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r,
                      const struct previous *p, int64_t end)
{
    int64_t *code = &e->columns[RH_COLUMN_START][i];
    if (r->start == p->end) {
        *code = RH_START_AT_END;
        return;
    }
    if (r->start == p->start) {
        *code = RH_START_AT_START;
        return;
    }
    if (e->stamp_units && end % e->stamp_units == 0) {
        int64_t distance = end / e->stamp_units - floor_div(p->end, e->stamp_units);
        if (distance >= 0 && distance <= RH_START_CODE_MAX - RH_START_STAMP_NEAR) {
            *code = RH_START_STAMP_NEAR + distance;
        } else {
            *code = RH_START_STAMP;
            e->start_stamps[e->start_stamp_count++] = distance;
        }
        return;
    }
    *code = RH_START_UNITS;
    e->start_units[e->start_unit_count++] = r->start - p->end;
}

static int64_t distance(int64_t from, int64_t to)
{
    return from == RH_INT_UNKNOWN || to == RH_INT_UNKNOWN ? RH_INT_UNKNOWN : to - from;
}

static void put_times(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r,
                      struct previous *p)
{
    int64_t duration = distance(r->start, r->done);
    int64_t end = duration > 0 ? r->done : r->start;
    put_start(e, i, r, p, end);
    e->columns[RH_COLUMN_DURATION][i] = duration;
    e->columns[RH_COLUMN_FIRST][i] =
        duration == RH_INT_UNKNOWN ? distance(r->start, r->first) : distance(r->first, r->done);
    const struct rh_trace_row_extra *x = r->extra;
    e->columns[RH_COLUMN_PARSE][i] = x->parse;
    e->columns[RH_COLUMN_BIND][i] = x->bind;
    int64_t execute = x->execute;
    if (execute != RH_INT_UNKNOWN && duration != RH_INT_UNKNOWN) {
        execute -= duration - (x->parse > 0 ? x->parse : 0) - (x->bind > 0 ? x->bind : 0);
    }
    e->columns[RH_COLUMN_EXECUTE][i] = execute;
    p->start = r->start;
    p->end = end;
}

static void put_identity(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r,
                         struct previous *p)
{
    int64_t **c = e->columns;
    c[RH_COLUMN_KIND][i] = r->kind;
    c[RH_COLUMN_ORDINAL][i] = (int64_t) (r->ordinal - p->ordinal);
    c[RH_COLUMN_FLAGS][i] = r->flags;
    c[RH_COLUMN_TXN][i] = r->txn;
    c[RH_COLUMN_HOLD][i] = r->hold;
    uint32_t t = e->row_templates[i];
    c[RH_COLUMN_TEMPLATE][i] = t == RH_NO_STRING ? RH_INT_UNKNOWN : (int64_t) t;
    c[RH_COLUMN_PARAM_COUNT][i] = r->param_count;
    p->ordinal = r->ordinal;
}

static void put_outcome(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r)
{
    int64_t **c = e->columns;
    c[RH_COLUMN_SQLSTATE][i] =
        r->sqlstate == RH_SQLSTATE_UNKNOWN ? RH_INT_UNKNOWN : (int64_t) r->sqlstate;
    c[RH_COLUMN_TAG][i] = rh_trace_encode_string_id(e, r->tag);
    c[RH_COLUMN_ROWS][i] = r->rows;
    c[RH_COLUMN_BYTES][i] = r->bytes;
    c[RH_COLUMN_RESULTS][i] = r->results;
    c[RH_COLUMN_TX_STATUS][i] = r->tx_status;
}

static void put_extra(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row_extra *x)
{
    int64_t **c = e->columns;
    c[RH_COLUMN_STATEMENT_NAME][i] = rh_trace_encode_string_id(e, x->statement_name);
    c[RH_COLUMN_PORTAL_NAME][i] = rh_trace_encode_string_id(e, x->portal_name);
    c[RH_COLUMN_APPLICATION][i] = rh_trace_encode_string_id(e, x->application);
    c[RH_COLUMN_PREPARE_TEXT][i] = rh_trace_encode_string_id(e, x->prepare_text);
    c[RH_COLUMN_STEPS][i] = rh_trace_encode_string_id(e, x->steps);
    c[RH_COLUMN_RESULT_FORMAT_COUNT][i] = x->result_format_count;
    c[RH_COLUMN_ROW_LIMIT][i] = x->row_limit;
    c[RH_COLUMN_FUNCTION_OID][i] = x->function_oid;
    c[RH_COLUMN_COUNT][i] = (int64_t) x->count;
    c[RH_COLUMN_HAS_DETAIL][i] = x->detail.tag != RH_VALUE_NULL;
}

static void put_run(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r)
{
    int64_t **c = e->columns;
    const struct rh_trace_row_run *run = r->run;
    c[RH_COLUMN_FATE][i] = run->fate;
    c[RH_COLUMN_REASON][i] = run->reason;
    c[RH_COLUMN_PLANNED][i] = distance(run->planned, r->start);
    c[RH_COLUMN_SENT][i] = distance(r->start, run->sent);
    c[RH_COLUMN_WAIT][i] = run->wait;
    c[RH_COLUMN_READY][i] = distance(run->ready, r->start);
}

/* What the index wants to know without the columns. */
static void note_session(struct rh_trace_encoder *e, uint32_t s, const struct rh_trace_row *r)
{
    bool has_ordinal = rh_kind_has_ordinal((enum rh_kind) r->kind);
    e->cursor_rows[s] += has_ordinal || r->kind == RH_KIND_COPY_DATA;
    if (has_ordinal) {
        e->timed_first[s] = e->timed_first[s] == RH_INT_UNKNOWN ? r->start : e->timed_first[s];
        e->timed_last[s] = r->start;
    }
}

static void fill_columns(struct rh_trace_encoder *e)
{
    e->start_unit_count = 0;
    e->start_stamp_count = 0;
    for (uint32_t s = 0; s < e->session_count; s++) {
        uint32_t first = e->sessions[s]->block_first_row;
        uint32_t end = first + e->sessions[s]->block_rows;
        struct previous p = {0};
        e->cursor_rows[s] = 0;
        e->timed_first[s] = RH_INT_UNKNOWN;
        e->timed_last[s] = RH_INT_UNKNOWN;
        if (first < end) {
            p = (struct previous){e->rows[first]->ordinal - 1, e->rows[first]->start,
                                  e->rows[first]->start};
        }
        for (uint32_t i = first; i < end; i++) {
            const struct rh_trace_row *r = e->rows[i];
            put_identity(e, i, r, &p);
            put_times(e, i, r, &p);
            put_outcome(e, i, r);
            put_extra(e, i, r->extra);
            put_run(e, i, r);
            note_session(e, s, r);
        }
    }
}

static bool is_default(const int64_t *v, uint32_t n, int64_t usual)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] != usual) {
            return false;
        }
    }
    return true;
}

void rh_trace_encode_columns(struct rh_trace_encoder *e)
{
    fill_columns(e);
    struct rh_buf *raw = &e->data.raw;
    bool present[RH_ROW_COLUMN_COUNT];
    uint32_t entries = 0;
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        present[c] = !is_default(e->columns[c], e->row_count, rh_trace_column_default(c));
        entries += present[c];
    }
    /* rh_trace_encode_values() adds these nine. */
    rh_mp_put_map(raw, entries + 9);
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        if (present[c]) {
            rh_mp_put_int(raw, c);
            rh_int_column_put(&e->data, e->columns[c], e->row_count);
        }
    }
    rh_mp_put_int(raw, RH_COLUMN_START_UNITS);
    rh_int_column_put(&e->data, e->start_units, e->start_unit_count);
    rh_mp_put_int(raw, RH_COLUMN_START_STAMPS);
    rh_int_column_put(&e->data, e->start_stamps, e->start_stamp_count);
}
