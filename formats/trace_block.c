#include "formats/trace_block.h"

/* A chunk of the arena holds the largest arrays of a block, so that the next block uses them again.
 */
enum { BLOCK_CHUNK_BYTES = 4 * 1024 * 1024, SMALL_BLOCK_BYTES = 64 * 1024 };

void rh_trace_block_init(struct rh_trace_block *b)
{
    *b = (struct rh_trace_block){0};
    rh_arena_init(&b->arena, BLOCK_CHUNK_BYTES);
}

void rh_trace_block_release(struct rh_trace_block *b)
{
    rh_arena_release(&b->arena);
    rh_trace_block_init(b);
}

int rh_trace_block_load(struct rh_trace_block *b, struct rh_block_loader *l,
                        const struct rh_trace_file *f, uint32_t index, bool with_values,
                        struct rh_error *err)
{
    struct rh_block_bytes bytes;
    const struct rh_block_info *info = rh_trace_file_block(f, index);
    bool small = info->state_raw_bytes + info->data_raw_bytes < SMALL_BLOCK_BYTES;
    b->arena.chunk_bytes = small ? BLOCK_CHUNK_BYTES / 16 : BLOCK_CHUNK_BYTES;
    rh_arena_clear(&b->arena);
    b->index = index;
    b->unit_ns = rh_trace_file_unit_ns(f);
    b->is_run = rh_trace_file_header(f)->kind == RH_FILE_RUN;
    int result = rh_block_loader_load(l, f, index, RH_WANT_ALL, &b->arena, &bytes, err);
    if (result != 1) {
        return result;
    }
    if (rh_trace_block_decode(b, &bytes) != 0) {
        return 0;
    }
    return !with_values || rh_trace_block_decode_values(b) == 0;
}

static inline int64_t at(const struct rh_trace_block *b, enum rh_column column, uint32_t row)
{
    return rh_int_column_at(&b->columns[column], row);
}

static struct rh_span string_at(const struct rh_trace_block *b, enum rh_column column, uint32_t row)
{
    int64_t v = at(b, column, row);
    return v == RH_INT_UNKNOWN ? RH_SPAN_NONE : b->state.strings[v];
}

/* base and distance to a time; the columns were checked to hold no sums that overflow. */
static int64_t after(const struct rh_trace_block *b, int64_t base_ns, int64_t units)
{
    return units == RH_INT_UNKNOWN ? RH_TIME_UNKNOWN : base_ns + units * b->unit_ns;
}

static int64_t or_minus_one(int64_t v)
{
    return v == RH_INT_UNKNOWN ? -1 : v;
}

static int64_t duration_ns(const struct rh_trace_block *b, enum rh_column column, uint32_t row)
{
    int64_t v = at(b, column, row);
    return v == RH_INT_UNKNOWN ? -1 : v * b->unit_ns;
}

static int64_t execute_ns(const struct rh_trace_block *b, uint32_t row, const struct rh_outcome *o,
                          int64_t start_ns)
{
    int64_t v = at(b, RH_COLUMN_EXECUTE, row);
    if (v == RH_INT_UNKNOWN) {
        return -1;
    }
    int64_t ns = v * b->unit_ns;
    if (o->done_ns != RH_TIME_UNKNOWN) {
        ns += o->done_ns - start_ns - (o->parse_ns > 0 ? o->parse_ns : 0) -
              (o->bind_ns > 0 ? o->bind_ns : 0);
    }
    return ns;
}

void rh_trace_block_outcome(const struct rh_trace_block *b, uint32_t row, struct rh_outcome *o)
{
    int64_t start_ns = b->start_ns[row];
    o->done_ns = after(b, start_ns, at(b, RH_COLUMN_DURATION, row));
    int64_t first = at(b, RH_COLUMN_FIRST, row);
    if (o->done_ns == RH_TIME_UNKNOWN) {
        o->first_ns = after(b, start_ns, first);
    } else {
        o->first_ns = first == RH_INT_UNKNOWN ? RH_TIME_UNKNOWN : o->done_ns - first * b->unit_ns;
    }
    o->parse_ns = duration_ns(b, RH_COLUMN_PARSE, row);
    o->bind_ns = duration_ns(b, RH_COLUMN_BIND, row);
    o->execute_ns = execute_ns(b, row, o, start_ns);
    int64_t sqlstate = at(b, RH_COLUMN_SQLSTATE, row);
    o->sqlstate = sqlstate == RH_INT_UNKNOWN ? RH_SQLSTATE_UNKNOWN : (uint32_t) sqlstate;
    o->tag = string_at(b, RH_COLUMN_TAG, row);
    o->rows = or_minus_one(at(b, RH_COLUMN_ROWS, row));
    o->bytes = or_minus_one(at(b, RH_COLUMN_BYTES, row));
    o->results = (uint32_t) at(b, RH_COLUMN_RESULTS, row);
    o->tx_status = (char) at(b, RH_COLUMN_TX_STATUS, row);
}

static void fill_run(const struct rh_trace_block *b, uint32_t row, struct rh_record *r)
{
    int64_t planned = at(b, RH_COLUMN_PLANNED, row);
    int64_t ready = at(b, RH_COLUMN_READY, row);
    r->run.fate = (enum rh_fate) at(b, RH_COLUMN_FATE, row);
    r->run.reason = (enum rh_reason) at(b, RH_COLUMN_REASON, row);
    r->run.planned_ns =
        planned == RH_INT_UNKNOWN ? RH_TIME_UNKNOWN : r->start_ns - planned * b->unit_ns;
    r->run.sent_ns = after(b, r->start_ns, at(b, RH_COLUMN_SENT, row));
    r->run.wait_ns = at(b, RH_COLUMN_WAIT, row) * b->unit_ns;
    r->run.ready_ns = ready == RH_INT_UNKNOWN ? RH_TIME_UNKNOWN : r->start_ns - ready * b->unit_ns;
}

static void fill_text(const struct rh_trace_block *b, uint32_t row, struct rh_record *r)
{
    int64_t t = at(b, RH_COLUMN_TEMPLATE, row);
    if (t != RH_INT_UNKNOWN) {
        r->template_id = (uint32_t) t;
        r->tmpl = b->state.templates[t];
        r->literal_count = b->slot_counts[t];
        r->literals = r->literal_count && b->literals ? b->literals + b->literal_first[row] : NULL;
    }
    r->param_count = (uint32_t) at(b, RH_COLUMN_PARAM_COUNT, row);
    if (r->param_count > 0 && b->params) {
        r->params = b->params + b->param_first[row];
    }
}

/* Only columns that differ within the block; what is the same in all its rows is in `common`. */
static void fill_rare(const struct rh_trace_block *b, uint32_t row, struct rh_record *r)
{
    const struct rh_int_column *c = b->columns;
    if (c[RH_COLUMN_STATEMENT_NAME].values) {
        r->statement_name = string_at(b, RH_COLUMN_STATEMENT_NAME, row);
    }
    if (c[RH_COLUMN_PORTAL_NAME].values) {
        r->portal_name = string_at(b, RH_COLUMN_PORTAL_NAME, row);
    }
    if (c[RH_COLUMN_APPLICATION].values) {
        r->application = string_at(b, RH_COLUMN_APPLICATION, row);
    }
    if (c[RH_COLUMN_PREPARE_TEXT].values) {
        r->prepare_text = string_at(b, RH_COLUMN_PREPARE_TEXT, row);
    }
    if (c[RH_COLUMN_STEPS].values) {
        r->steps = string_at(b, RH_COLUMN_STEPS, row);
    }
    if (c[RH_COLUMN_ROW_LIMIT].values) {
        r->row_limit = (int32_t) at(b, RH_COLUMN_ROW_LIMIT, row);
    }
    if (c[RH_COLUMN_FUNCTION_OID].values) {
        r->function_oid = (uint32_t) at(b, RH_COLUMN_FUNCTION_OID, row);
    }
    if (c[RH_COLUMN_COUNT].values) {
        r->count = (uint64_t) at(b, RH_COLUMN_COUNT, row);
    }
    if (b->details) {
        r->detail = b->details[row];
    }
}

void rh_trace_block_record(const struct rh_trace_block *b, uint32_t row, struct rh_record *r)
{
    const struct rh_session *s = &b->state.sessions[b->session_of[row]].s;
    *r = b->common;
    r->kind = rh_trace_block_kind(b, row);
    r->session = s->number;
    r->copy = s->copy;
    r->ordinal = b->ordinals[row];
    r->start_ns = b->start_ns[row];
    r->flags = (uint32_t) at(b, RH_COLUMN_FLAGS, row);
    r->txn = (uint8_t) at(b, RH_COLUMN_TXN, row);
    r->hold = (enum rh_reason) at(b, RH_COLUMN_HOLD, row);
    fill_text(b, row, r);
    r->result_format_count = (uint32_t) at(b, RH_COLUMN_RESULT_FORMAT_COUNT, row);
    if (b->result_format_first && r->result_format_count > 0) {
        r->result_formats = b->result_formats + b->result_format_first[row];
    }
    if (b->plain_outcome) {
        r->outcome.done_ns = after(b, r->start_ns, at(b, RH_COLUMN_DURATION, row));
    } else {
        rh_trace_block_outcome(b, row, &r->outcome);
    }
    if (!b->plain_rest) {
        fill_rare(b, row, r);
    }
    if (b->is_run) {
        fill_run(b, row, r);
    }
}
