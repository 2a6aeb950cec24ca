/* The columns with one integer a record. */
#include "formats/trace_defaults.h"
#include "formats/trace_encode.h"

enum { PREFETCH_ROWS = 8 };

/* Most columns are the same in all rows: memory is written only from the first row that differs. */
static inline void put(struct rh_trace_encoder *e, enum rh_column column, uint32_t i, int64_t v)
{
    struct rh_encode_column *c = &e->columns[column];
    if (c->varies) {
        c->values[i] = v;
    } else if (i == 0) {
        c->usual = v;
    } else if (v != c->usual) {
        for (uint32_t k = 0; k < i; k++) {
            c->values[k] = c->usual;
        }
        c->values[i] = v;
        c->varies = true;
    }
}

/* Another value for row i when `count` rows were put. */
static void correct(struct rh_trace_encoder *e, enum rh_column column, uint32_t i, uint32_t count,
                    int64_t v)
{
    struct rh_encode_column *c = &e->columns[column];
    if (!c->varies) {
        for (uint32_t k = 0; k < count; k++) {
            c->values[k] = c->usual;
        }
        c->varies = true;
    }
    c->values[i] = v;
}

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
static int64_t start_code(struct rh_trace_encoder *e, const struct rh_trace_row *r,
                          const struct previous *p, int64_t end)
{
    if (r->start == p->end) {
        return RH_START_AT_END;
    }
    if (r->start == p->start) {
        return RH_START_AT_START;
    }
    bool end_stamp = e->stamp_units && end % e->stamp_units == 0;
    if (!end_stamp && (!e->stamp_units || r->start % e->stamp_units != 0)) {
        e->start_units[e->start_unit_count++] = r->start - p->end;
        return RH_START_UNITS;
    }
    int64_t stamp = (end_stamp ? end : r->start) / e->stamp_units;
    int64_t stamps = stamp - floor_div(p->end, e->stamp_units);
    int64_t near = end_stamp ? RH_START_END_NEAR : RH_START_START_NEAR;
    int64_t near_max = (end_stamp ? RH_START_START_NEAR - 1 : RH_START_CODE_MAX) - near;
    if (stamps >= 0 && stamps <= near_max) {
        return near + stamps;
    }
    e->start_stamps[e->start_stamp_count++] = stamps;
    return end_stamp ? RH_START_END_STAMP : RH_START_START_STAMP;
}

static int64_t distance(const struct rh_trace_encoder *e, int64_t from, int64_t to)
{
    if (from == RH_INT_UNKNOWN || to == RH_INT_UNKNOWN) {
        return RH_INT_UNKNOWN;
    }
    int64_t d = to - from;
    d = d > e->distance_max ? e->distance_max : d;
    return d < -e->distance_max ? -e->distance_max : d;
}

static void put_times(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r,
                      struct previous *p)
{
    int64_t duration = distance(e, r->start, r->done);
    int64_t end = r->start + (duration > 0 ? duration : 0);
    put(e, RH_COLUMN_START, i, start_code(e, r, p, end));
    put(e, RH_COLUMN_DURATION, i, duration);
    put(e, RH_COLUMN_FIRST, i,
        duration == RH_INT_UNKNOWN ? distance(e, r->start, r->first)
                                   : distance(e, r->first, r->done));
    p->start = r->start;
    p->end = end;
}

static void put_identity(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r,
                         struct previous *p)
{
    put(e, RH_COLUMN_KIND, i, r->kind);
    put(e, RH_COLUMN_ORDINAL, i, (int64_t) (r->ordinal - p->ordinal));
    put(e, RH_COLUMN_FLAGS, i, r->flags);
    put(e, RH_COLUMN_TXN, i, r->txn);
    put(e, RH_COLUMN_HOLD, i, r->hold);
    uint32_t t = rh_trace_encode_template(e, r->tmpl);
    e->row_templates[i] = t;
    e->row_params[i] = r->param_count;
    e->row_values[i] = r->values;
    put(e, RH_COLUMN_TEMPLATE, i, t == RH_NO_STRING ? RH_INT_UNKNOWN : (int64_t) t);
    put(e, RH_COLUMN_PARAM_COUNT, i, r->param_count);
    p->ordinal = r->ordinal;
}

static void put_outcome(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r)
{
    put(e, RH_COLUMN_SQLSTATE, i,
        r->sqlstate == RH_SQLSTATE_UNKNOWN ? RH_INT_UNKNOWN : (int64_t) r->sqlstate);
    put(e, RH_COLUMN_TAG, i, rh_trace_encode_string_id(e, r->tag));
    put(e, RH_COLUMN_ROWS, i, r->rows);
    put(e, RH_COLUMN_BYTES, i, r->bytes);
    put(e, RH_COLUMN_RESULTS, i, r->results);
    put(e, RH_COLUMN_TX_STATUS, i, r->tx_status);
}

static void put_extra(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r)
{
    const struct rh_trace_row_extra *x = r->extra;
    int64_t duration = distance(e, r->start, r->done);
    int64_t execute = x->execute;
    if (execute != RH_INT_UNKNOWN && duration != RH_INT_UNKNOWN) {
        execute -= duration - (x->parse > 0 ? x->parse : 0) - (x->bind > 0 ? x->bind : 0);
        execute = execute > e->distance_max ? e->distance_max : execute;
        execute = execute < -e->distance_max ? -e->distance_max : execute;
    }
    put(e, RH_COLUMN_PARSE, i, x->parse);
    put(e, RH_COLUMN_BIND, i, x->bind);
    put(e, RH_COLUMN_EXECUTE, i, execute);
    put(e, RH_COLUMN_STATEMENT_NAME, i, rh_trace_encode_string_id(e, x->statement_name));
    put(e, RH_COLUMN_PORTAL_NAME, i, rh_trace_encode_string_id(e, x->portal_name));
    put(e, RH_COLUMN_APPLICATION, i, rh_trace_encode_string_id(e, x->application));
    put(e, RH_COLUMN_PREPARE_TEXT, i, rh_trace_encode_string_id(e, x->prepare_text));
    put(e, RH_COLUMN_STEPS, i, rh_trace_encode_string_id(e, x->steps));
    put(e, RH_COLUMN_RESULT_FORMAT_COUNT, i, x->result_format_count);
    put(e, RH_COLUMN_ROW_LIMIT, i, x->row_limit);
    put(e, RH_COLUMN_FUNCTION_OID, i, x->function_oid);
    put(e, RH_COLUMN_COUNT, i, (int64_t) x->count);
    put(e, RH_COLUMN_HAS_DETAIL, i, x->detail.tag != RH_VALUE_NULL);
}

static void put_run(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r)
{
    const struct rh_trace_row_run *run = r->run;
    put(e, RH_COLUMN_FATE, i, run->fate);
    put(e, RH_COLUMN_REASON, i, run->reason);
    put(e, RH_COLUMN_PLANNED, i, distance(e, run->planned, r->start));
    put(e, RH_COLUMN_SENT, i, distance(e, r->start, run->sent));
    put(e, RH_COLUMN_WAIT, i, run->wait);
    put(e, RH_COLUMN_READY, i, distance(e, run->ready, r->start));
}

/* What the index wants to know without the columns. */
static void note_session(struct rh_trace_encoder *e, uint32_t s, const struct rh_trace_row *r)
{
    uint64_t ordinal = r->ordinal;
    e->ordinal_first[s] = ordinal < e->ordinal_first[s] ? ordinal : e->ordinal_first[s];
    e->ordinal_last[s] = ordinal > e->ordinal_last[s] ? ordinal : e->ordinal_last[s];
    bool has_ordinal = rh_kind_has_ordinal((enum rh_kind) r->kind);
    e->cursor_rows[s] += has_ordinal || r->kind == RH_KIND_COPY_DATA;
    if (has_ordinal) {
        e->timed_first[s] = e->timed_first[s] == RH_INT_UNKNOWN ? r->start : e->timed_first[s];
        e->timed_last[s] = r->start;
    }
}

static void fill_row(struct rh_trace_encoder *e, uint32_t i, struct previous *p)
{
    const struct rh_trace_row *r = e->rows[i];
    put_identity(e, i, r, p);
    put_times(e, i, r, p);
    if (i == 0 || e->outcomes_differ) {
        put_outcome(e, i, r);
    }
    if (e->has_extra) {
        put_extra(e, i, r);
    }
    if (e->has_run) {
        put_run(e, i, r);
    }
}

/* The rows of a session lie far apart in the window. */
static void prefetch_row(const struct rh_trace_encoder *e, uint32_t i)
{
    if (i < e->row_count) {
        const char *row = (const char *) e->rows[i];
        __builtin_prefetch(row);
        __builtin_prefetch(row + 64);
        __builtin_prefetch(row + sizeof *e->rows[i] - 1);
    }
}

static void fill_session_rows(struct rh_trace_encoder *e, uint32_t s)
{
    uint32_t first = e->sessions[s]->block_first_row;
    uint32_t end = first + e->sessions[s]->block_rows;
    uint64_t leading = first < end ? e->rows[first]->ordinal : 0;
    struct previous p = {.ordinal = leading - 1};
    e->cursor_rows[s] = 0;
    e->timed_first[s] = RH_INT_UNKNOWN;
    e->timed_last[s] = RH_INT_UNKNOWN;
    e->ordinal_first[s] = leading;
    e->ordinal_last[s] = leading;
    if (first < end) {
        p.start = e->rows[first]->start;
        p.end = p.start;
    }
    for (uint32_t i = first; i < end; i++) {
        prefetch_row(e, i + PREFETCH_ROWS);
        fill_row(e, i, &p);
        note_session(e, s, e->rows[i]);
    }
    /* The first row counts from the smallest ordinal, which nearly always is its own. */
    if (e->ordinal_first[s] != leading) {
        correct(e, RH_COLUMN_ORDINAL, first, end, (int64_t) (leading - e->ordinal_first[s]) + 1);
    }
}

static void fill_columns(struct rh_trace_encoder *e)
{
    e->start_unit_count = 0;
    e->start_stamp_count = 0;
    for (uint32_t s = 0; s < e->session_count; s++) {
        fill_session_rows(e, s);
    }
}

void rh_trace_encode_columns(struct rh_trace_encoder *e)
{
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        e->columns[c].varies = false;
        e->columns[c].usual = rh_trace_column_default(c);
    }
    fill_columns(e);
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        const struct rh_encode_column *column = &e->columns[c];
        if (column->varies) {
            rh_trace_encode_key(e, (enum rh_column) c);
            rh_int_column_put(&e->data, column->values, e->row_count);
        } else if (column->usual != rh_trace_column_default(c)) {
            rh_trace_encode_key(e, (enum rh_column) c);
            rh_int_column_put(&e->data, &column->usual, 1);
        }
    }
    if (e->start_unit_count > 0) {
        rh_trace_encode_key(e, RH_COLUMN_START_UNITS);
        rh_int_column_put(&e->data, e->start_units, e->start_unit_count);
    }
    if (e->start_stamp_count > 0) {
        rh_trace_encode_key(e, RH_COLUMN_START_STAMPS);
        rh_int_column_put(&e->data, e->start_stamps, e->start_stamp_count);
    }
}
