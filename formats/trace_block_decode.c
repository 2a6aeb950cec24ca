/*
 * From the bytes of a block to its columns.  Nothing here trusts a number of the file: counts are
 * checked against limits before memory is taken, numbers against the tables they point into, and
 * times against sums that would overflow.
 */
#include "formats/trace_block.h"
#include "formats/trace_defaults.h"
#include "formats/value_column.h"

enum { OTHER_COLUMNS = RH_COLUMN_DETAILS - RH_COLUMN_START_UNITS + 1 };

struct decoder {
    struct rh_trace_block *b;
    struct rh_span blobs;
    struct rh_mp others[OTHER_COLUMNS]; /* where each begins; left 0: not there */
};

static struct rh_mp *other(struct decoder *d, enum rh_column column)
{
    return &d->others[column - RH_COLUMN_START_UNITS];
}

static int find_columns(struct decoder *d, struct rh_span raw)
{
    struct rh_trace_block *b = d->b;
    struct rh_mp m;
    uint32_t n;
    rh_mp_init(&m, raw);
    if (rh_mp_get_map(&m, &n) != 0) {
        return -1;
    }
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        b->columns[c] = (struct rh_int_column){NULL, rh_trace_column_default(c)};
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t key;
        int result;
        if (rh_mp_get_int(&m, &key) != 0) {
            return -1;
        }
        if (key >= 0 && key < RH_ROW_COLUMN_COUNT) {
            if (b->columns[key].values) {
                return -1; /* twice: would take memory each time */
            }
            result = rh_int_column_get(&m, b->row_count, &b->arena, &b->columns[key]);
        } else {
            if (key >= RH_COLUMN_START_UNITS && key <= RH_COLUMN_DETAILS) {
                *other(d, (enum rh_column) key) = m;
            }
            result = rh_mp_skip(&m);
        }
        if (result != 0) {
            return -1;
        }
    }
    return 0;
}

struct limits {
    enum rh_column column;
    int64_t min;
    int64_t max;
};

/* Added to a time within RH_TRACE_TIME_MAX_NS, two of them stay within 64 bits. */
static bool distances_fit(const struct rh_int_column *c, uint32_t n, int64_t unit_ns)
{
    int64_t max = RH_TRACE_DISTANCE_MAX_NS / unit_ns;
    for (uint32_t i = 0; i < (c->values ? n : 1); i++) {
        int64_t v = rh_int_column_at(c, i);
        if (v != RH_INT_UNKNOWN && (v < -max || v > max)) {
            return false;
        }
    }
    return true;
}

static bool numbers_fit(const struct rh_int_column *c, uint32_t n, int64_t count)
{
    for (uint32_t i = 0; i < (c->values ? n : n > 0); i++) {
        int64_t v = rh_int_column_at(c, i);
        if (v != RH_INT_UNKNOWN && (v < 0 || v >= count)) {
            return false;
        }
    }
    return true;
}

static bool within_limits(const struct rh_trace_block *b)
{
    const int64_t u32 = UINT32_MAX;
    const struct limits limits[] = {
        {RH_COLUMN_KIND, 0, RH_KIND_OUTCOME},
        {RH_COLUMN_START, 0, RH_START_CODE_MAX},
        {RH_COLUMN_FLAGS, 0, u32},
        {RH_COLUMN_TXN, 0, UINT8_MAX},
        {RH_COLUMN_HOLD, 0, RH_REASON_COUNT - 1},
        {RH_COLUMN_PARAM_COUNT, 0, UINT16_MAX},
        {RH_COLUMN_RESULT_FORMAT_COUNT, 0, UINT16_MAX},
        {RH_COLUMN_ROW_LIMIT, INT32_MIN, INT32_MAX},
        {RH_COLUMN_FUNCTION_OID, 0, u32},
        {RH_COLUMN_RESULTS, 0, u32},
        {RH_COLUMN_TX_STATUS, 0, INT8_MAX},
        {RH_COLUMN_FATE, 0, RH_FATE_NOT_SENT},
        {RH_COLUMN_REASON, 0, RH_REASON_COUNT - 1},
        {RH_COLUMN_WAIT, 0, RH_TRACE_DISTANCE_MAX_NS / b->unit_ns},
        {RH_COLUMN_HAS_DETAIL, 0, 1},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!rh_int_column_within(&b->columns[limits[i].column], b->row_count, limits[i].min,
                                  limits[i].max)) {
            return false;
        }
    }
    static const enum rh_column times[] = {
        RH_COLUMN_DURATION, RH_COLUMN_FIRST,   RH_COLUMN_PARSE, RH_COLUMN_BIND,
        RH_COLUMN_EXECUTE,  RH_COLUMN_PLANNED, RH_COLUMN_SENT,  RH_COLUMN_READY,
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (!distances_fit(&b->columns[times[i]], b->row_count, b->unit_ns)) {
            return false;
        }
    }
    return true;
}

static bool references_fit(const struct rh_trace_block *b)
{
    static const enum rh_column strings[] = {
        RH_COLUMN_STATEMENT_NAME, RH_COLUMN_PORTAL_NAME, RH_COLUMN_APPLICATION,
        RH_COLUMN_PREPARE_TEXT,   RH_COLUMN_STEPS,       RH_COLUMN_TAG,
    };
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (!numbers_fit(&b->columns[strings[i]], b->row_count, b->state.string_count)) {
            return false;
        }
    }
    return numbers_fit(&b->columns[RH_COLUMN_SQLSTATE], b->row_count, UINT32_MAX) &&
           numbers_fit(&b->columns[RH_COLUMN_TEMPLATE], b->row_count, b->state.template_count);
}

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t) ((uint64_t) a + (uint64_t) b);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

struct start_reader {
    struct rh_int_column units;
    struct rh_int_column stamps;
    uint32_t unit_next;
    uint32_t stamp_next;
    int64_t stamp_units;
    int64_t start; /* of the row before in its session */
    int64_t end;
};

static int open_starts(struct decoder *d, struct start_reader *s)
{
    uint32_t units = 0;
    uint32_t stamps = 0;
    for (uint32_t i = 0; i < d->b->row_count; i++) {
        int64_t code = rh_int_column_at(&d->b->columns[RH_COLUMN_START], i);
        units += code == RH_START_UNITS;
        stamps += code == RH_START_END_STAMP || code == RH_START_START_STAMP;
    }
    *s = (struct start_reader){.stamp_units = 1000};
    if (units > 0 &&
        rh_int_column_get(other(d, RH_COLUMN_START_UNITS), units, &d->b->arena, &s->units) != 0) {
        return -1;
    }
    return stamps > 0 ? rh_int_column_get(other(d, RH_COLUMN_START_STAMPS), stamps, &d->b->arena,
                                          &s->stamps)
                      : 0;
}

/* floor(end / stamp_units) plus the distance, as a time. */
static int64_t next_stamp(const struct start_reader *s, int64_t distance)
{
    uint64_t stamp = (uint64_t) add(floor_div(s->end, s->stamp_units), distance);
    return (int64_t) (stamp * (uint64_t) s->stamp_units);
}

static int64_t next_start(struct start_reader *s, int64_t code, int64_t duration)
{
    switch (code) {
    case RH_START_AT_END:
        return s->end;
    case RH_START_AT_START:
        return s->start;
    case RH_START_UNITS:
        return add(s->end, rh_int_column_at(&s->units, s->unit_next++));
    case RH_START_END_STAMP:
        return add(next_stamp(s, rh_int_column_at(&s->stamps, s->stamp_next++)), -duration);
    case RH_START_START_STAMP:
        return next_stamp(s, rh_int_column_at(&s->stamps, s->stamp_next++));
    default:
        return code < RH_START_START_NEAR ? add(next_stamp(s, code - RH_START_END_NEAR), -duration)
                                          : next_stamp(s, code - RH_START_START_NEAR);
    }
}

static int decode_starts(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    struct start_reader s;
    if (open_starts(d, &s) != 0) {
        return -1;
    }
    /* Within this a start and a distance add up to what 64 bits of ns hold. */
    int64_t max = RH_TRACE_TIME_MAX_NS / b->unit_ns + 1;
    b->start_ns = rh_arena_alloc(&b->arena, b->row_count * sizeof *b->start_ns);
    b->ordinals = rh_arena_alloc(&b->arena, b->row_count * sizeof *b->ordinals);
    b->session_of = rh_arena_alloc(&b->arena, b->row_count * sizeof *b->session_of);
    for (uint32_t k = 0; k < b->state.session_count; k++) {
        struct rh_block_session *session = &b->state.sessions[k];
        uint64_t ordinal = session->first_ordinal - 1;
        s.start = session->first_start;
        s.end = session->first_start;
        for (uint32_t i = session->first_row; i < session->first_row + session->row_count; i++) {
            int64_t duration = rh_int_column_at(&b->columns[RH_COLUMN_DURATION], i);
            duration = duration > 0 ? duration : 0;
            s.start = next_start(&s, rh_int_column_at(&b->columns[RH_COLUMN_START], i), duration);
            if (s.start < -max || s.start > max) {
                return -1;
            }
            s.end = s.start + duration;
            ordinal += (uint64_t) rh_int_column_at(&b->columns[RH_COLUMN_ORDINAL], i);
            b->start_ns[i] = s.start * b->unit_ns;
            b->ordinals[i] = ordinal;
            session->unordered |= i > session->first_row && ordinal < b->ordinals[i - 1];
            b->session_of[i] = k;
        }
    }
    return 0;
}

static uint32_t count_slots(struct rh_span tmpl)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tmpl.len; i++) {
        n += (unsigned char) tmpl.data[i] <= 1;
    }
    return n;
}

static void count_slots_of_templates(struct rh_trace_block *b)
{
    b->slot_counts = rh_arena_alloc(&b->arena, b->state.template_count * sizeof *b->slot_counts);
    for (uint32_t t = 0; t < b->state.template_count; t++) {
        b->slot_counts[t] = count_slots(b->state.templates[t]);
    }
}

static int decode_details(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    const struct rh_int_column *has = &b->columns[RH_COLUMN_HAS_DETAIL];
    uint32_t n = 0;
    b->details = NULL;
    for (uint32_t i = 0; i < b->row_count; i++) {
        n += (uint32_t) rh_int_column_at(has, i);
    }
    if (n == 0) {
        return 0;
    }
    struct rh_mp *m = other(d, RH_COLUMN_DETAILS);
    struct rh_span *texts = rh_arena_alloc(&b->arena, n * sizeof *texts);
    if (m->left == 0 || rh_value_column_get(m, n, d->blobs, &b->arena, texts) != 0) {
        return -1;
    }
    b->details = rh_arena_alloc(&b->arena, b->row_count * sizeof *b->details);
    for (uint32_t i = 0; i < b->row_count; i++) {
        b->details[i] = rh_int_column_at(has, i) ? *texts++ : RH_SPAN_NONE;
    }
    return 0;
}

static bool none_varies(const struct rh_trace_block *b, const enum rh_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (b->columns[columns[i]].values) {
            return false;
        }
    }
    return true;
}

/* A record of a block where nothing differs but what fill_rare() in trace_block.c leaves out. */
static void fill_common(struct rh_trace_block *b)
{
    struct rh_record *r = &b->common;
    rh_record_init(r);
    const struct rh_int_column *c = b->columns;
    struct rh_span *const spans[] = {&r->statement_name, &r->portal_name, &r->application,
                                     &r->prepare_text, &r->steps};
    static const enum rh_column keys[] = {RH_COLUMN_STATEMENT_NAME, RH_COLUMN_PORTAL_NAME,
                                          RH_COLUMN_APPLICATION, RH_COLUMN_PREPARE_TEXT,
                                          RH_COLUMN_STEPS};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!c[keys[i]].values && c[keys[i]].constant != RH_INT_UNKNOWN && b->row_count > 0) {
            *spans[i] = b->state.strings[c[keys[i]].constant];
        }
    }
    r->row_limit = (int32_t) c[RH_COLUMN_ROW_LIMIT].constant;
    r->function_oid = (uint32_t) c[RH_COLUMN_FUNCTION_OID].constant;
    r->count = (uint64_t) c[RH_COLUMN_COUNT].constant;
    static const enum rh_column rest[] = {
        RH_COLUMN_STATEMENT_NAME, RH_COLUMN_PORTAL_NAME, RH_COLUMN_APPLICATION,
        RH_COLUMN_PREPARE_TEXT,   RH_COLUMN_STEPS,       RH_COLUMN_ROW_LIMIT,
        RH_COLUMN_FUNCTION_OID,   RH_COLUMN_COUNT,
    };
    b->plain_rest = !b->details && none_varies(b, rest, sizeof rest / sizeof rest[0]);
    static const enum rh_column outcome[] = {
        RH_COLUMN_FIRST, RH_COLUMN_PARSE, RH_COLUMN_BIND,  RH_COLUMN_EXECUTE, RH_COLUMN_SQLSTATE,
        RH_COLUMN_TAG,   RH_COLUMN_ROWS,  RH_COLUMN_BYTES, RH_COLUMN_RESULTS, RH_COLUMN_TX_STATUS,
    };
    /* First answer and execution are kept as distances from the end. */
    b->plain_outcome = b->row_count > 0 &&
                       none_varies(b, outcome, sizeof outcome / sizeof outcome[0]) &&
                       c[RH_COLUMN_FIRST].constant == RH_INT_UNKNOWN &&
                       c[RH_COLUMN_EXECUTE].constant == RH_INT_UNKNOWN;
    if (b->plain_outcome) {
        rh_trace_block_outcome(b, 0, &r->outcome);
    }
}

static void keep_values(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    b->values = (struct rh_trace_block_values){
        .blobs = d->blobs,
        .uses_min = *other(d, RH_COLUMN_USES_MIN_KEY),
        .literals = *other(d, RH_COLUMN_LITERALS),
        .params = *other(d, RH_COLUMN_PARAMS),
        .param_types = *other(d, RH_COLUMN_PARAM_TYPES),
        .param_formats = *other(d, RH_COLUMN_PARAM_FORMATS),
        .result_formats = *other(d, RH_COLUMN_RESULT_FORMATS),
    };
    b->with_values = false;
    b->literals = NULL;
    b->params = NULL;
    b->result_formats = NULL;
    b->result_format_first = NULL;
}

int rh_trace_block_decode(struct rh_trace_block *b, const struct rh_block_bytes *bytes)
{
    struct decoder d = {.b = b, .blobs = bytes->blobs};
    b->row_count = bytes->frame.record_count;
    if (rh_block_state_decode(&b->state, bytes->state, bytes->blobs, bytes->frame.min, b->unit_ns,
                              &b->arena) != 0 ||
        b->state.row_count != b->row_count || find_columns(&d, bytes->data) != 0 ||
        !within_limits(b) || !references_fit(b) || decode_starts(&d) != 0) {
        return -1;
    }
    count_slots_of_templates(b);
    if (decode_details(&d) != 0) {
        return -1;
    }
    keep_values(&d);
    fill_common(b);
    return 0;
}
