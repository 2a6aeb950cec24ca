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
    int64_t min;
    struct rh_mp others[OTHER_COLUMNS]; /* where each begins; left 0: not there */
    uint32_t *by_template;              /* rows by template, those without one last */
    uint32_t *uses;                     /* by template */
    struct rh_span *texts;              /* scratch of one column */
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

static void group_by_template(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    uint32_t templates = b->state.template_count;
    d->uses = rh_arena_alloc(&b->arena, (templates + 1) * sizeof *d->uses);
    d->by_template = rh_arena_alloc(&b->arena, b->row_count * sizeof *d->by_template);
    uint32_t *next = rh_arena_alloc(&b->arena, (templates + 1) * sizeof *next);
    memset(d->uses, 0, (templates + 1) * sizeof *d->uses);
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(&b->columns[RH_COLUMN_TEMPLATE], i);
        d->uses[t == RH_INT_UNKNOWN ? templates : (uint32_t) t]++;
    }
    uint32_t place = 0;
    for (uint32_t t = 0; t <= templates; t++) {
        next[t] = place;
        place += d->uses[t];
    }
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(&b->columns[RH_COLUMN_TEMPLATE], i);
        d->by_template[next[t == RH_INT_UNKNOWN ? templates : (uint32_t) t]++] = i;
    }
}

/* Lists of values, one a row: how many each row has, and where in `out` they go. */
struct lists {
    uint32_t *counts; /* by row */
    uint32_t *first;  /* by row */
    uint32_t total;
    struct rh_span *out;
};

static int place_lists(struct decoder *d, struct lists *x)
{
    struct rh_trace_block *b = d->b;
    x->first = rh_arena_alloc(&b->arena, b->row_count * sizeof *x->first);
    x->total = 0;
    for (uint32_t i = 0; i < b->row_count; i++) {
        x->first[i] = x->total;
        if (x->counts[i] > RH_BLOCK_VALUES_MAX - x->total) {
            return -1;
        }
        x->total += x->counts[i];
    }
    x->out = rh_arena_alloc(&b->arena, x->total * sizeof *x->out);
    return 0;
}

/* One column: the values at `place` of the rows by_template[first..end). */
static int decode_place(struct decoder *d, struct lists *x, struct rh_mp *m, uint32_t first,
                        uint32_t end, uint32_t place)
{
    uint32_t n = 0;
    for (uint32_t k = first; k < end; k++) {
        n += x->counts[d->by_template[k]] > place;
    }
    if (rh_value_column_get(m, n, d->blobs, &d->b->arena, d->texts) != 0) {
        return -1;
    }
    const struct rh_span *from = d->texts;
    for (uint32_t k = first; k < end; k++) {
        uint32_t row = d->by_template[k];
        if (x->counts[row] > place) {
            x->out[x->first[row] + place] = *from++;
        }
    }
    return 0;
}

static int decode_shared(struct decoder *d, struct lists *x, struct rh_mp *m, int64_t uses_min)
{
    const struct rh_trace_block *b = d->b;
    const struct rh_int_column *templates = &b->columns[RH_COLUMN_TEMPLATE];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(templates, i);
        n += t == RH_INT_UNKNOWN || d->uses[t] < uses_min ? x->counts[i] : 0;
    }
    struct rh_span *texts = rh_arena_alloc(&d->b->arena, n * sizeof *texts);
    if (rh_value_column_get(m, n, d->blobs, &d->b->arena, texts) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(templates, i);
        if (t == RH_INT_UNKNOWN || d->uses[t] < uses_min) {
            for (uint32_t k = 0; k < x->counts[i]; k++) {
                x->out[x->first[i] + k] = *texts++;
            }
        }
    }
    return 0;
}

static int decode_lists(struct decoder *d, struct lists *x, enum rh_column column, int64_t uses_min)
{
    struct rh_mp *m = other(d, column);
    uint32_t columns;
    if (place_lists(d, x) != 0) {
        return -1;
    }
    if (x->total == 0) {
        return 0;
    }
    if (m->left == 0 || rh_mp_get_array(m, &columns) != 0) {
        return -1;
    }
    uint32_t first = 0;
    for (uint32_t t = 0; t < d->b->state.template_count; t++) {
        uint32_t end = first + d->uses[t];
        uint32_t longest = 0;
        for (uint32_t k = first; k < end && d->uses[t] >= uses_min; k++) {
            uint32_t count = x->counts[d->by_template[k]];
            longest = count > longest ? count : longest;
        }
        for (uint32_t place = 0; place < longest; place++) {
            if (decode_place(d, x, m, first, end, place) != 0) {
                return -1;
            }
        }
        first = end;
    }
    return decode_shared(d, x, m, uses_min);
}

static uint32_t count_slots(struct rh_span tmpl)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tmpl.len; i++) {
        n += (unsigned char) tmpl.data[i] <= 1;
    }
    return n;
}

static int decode_literals(struct decoder *d, int64_t uses_min)
{
    struct rh_trace_block *b = d->b;
    struct lists x = {0};
    b->slot_counts = rh_arena_alloc(&b->arena, b->state.template_count * sizeof *b->slot_counts);
    for (uint32_t t = 0; t < b->state.template_count; t++) {
        b->slot_counts[t] = count_slots(b->state.templates[t]);
    }
    x.counts = rh_arena_alloc(&b->arena, b->row_count * sizeof *x.counts);
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(&b->columns[RH_COLUMN_TEMPLATE], i);
        x.counts[i] = t == RH_INT_UNKNOWN ? 0 : b->slot_counts[t];
    }
    if (decode_lists(d, &x, RH_COLUMN_LITERALS, uses_min) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < x.total; i++) {
        if (!x.out[i].data) {
            return -1;
        }
    }
    b->literals = x.out;
    b->literal_first = x.first;
    return 0;
}

static int decode_params(struct decoder *d, int64_t uses_min)
{
    struct rh_trace_block *b = d->b;
    struct lists x = {0};
    x.counts = rh_arena_alloc(&b->arena, b->row_count * sizeof *x.counts);
    for (uint32_t i = 0; i < b->row_count; i++) {
        x.counts[i] = (uint32_t) rh_int_column_at(&b->columns[RH_COLUMN_PARAM_COUNT], i);
    }
    if (decode_lists(d, &x, RH_COLUMN_PARAMS, uses_min) != 0) {
        return -1;
    }
    struct rh_int_column types = {NULL, 0};
    struct rh_int_column formats = {NULL, 0};
    struct rh_mp *type_part = other(d, RH_COLUMN_PARAM_TYPES);
    struct rh_mp *format_part = other(d, RH_COLUMN_PARAM_FORMATS);
    if (x.total > 0 &&
        ((type_part->left > 0 && rh_int_column_get(type_part, x.total, &b->arena, &types) != 0) ||
         (format_part->left > 0 &&
          rh_int_column_get(format_part, x.total, &b->arena, &formats) != 0) ||
         !rh_int_column_within(&types, x.total, 0, UINT32_MAX) ||
         !rh_int_column_within(&formats, x.total, 0, UINT8_MAX))) {
        return -1;
    }
    b->params = rh_arena_alloc(&b->arena, x.total * sizeof *b->params);
    for (uint32_t k = 0; k < x.total; k++) {
        if (x.out[k].len > UINT32_MAX) {
            return -1;
        }
        b->params[k] = (struct rh_param){
            .data = x.out[k].data,
            .len = (uint32_t) x.out[k].len,
            .type = (uint32_t) rh_int_column_at(&types, k),
            .format = (uint8_t) rh_int_column_at(&formats, k),
        };
    }
    b->param_first = x.first;
    return 0;
}

static int decode_result_formats(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    struct rh_int_column formats;
    uint32_t total = 0;
    b->result_format_first = NULL;
    uint32_t *first = rh_arena_alloc(&b->arena, b->row_count * sizeof *first);
    for (uint32_t i = 0; i < b->row_count; i++) {
        first[i] = total;
        total += (uint32_t) rh_int_column_at(&b->columns[RH_COLUMN_RESULT_FORMAT_COUNT], i);
        if (total > RH_BLOCK_VALUES_MAX) {
            return -1;
        }
    }
    if (total == 0) {
        return 0;
    }
    struct rh_mp *m = other(d, RH_COLUMN_RESULT_FORMATS);
    if (m->left == 0 || rh_int_column_get(m, total, &b->arena, &formats) != 0 ||
        !rh_int_column_within(&formats, total, 0, UINT16_MAX)) {
        return -1;
    }
    b->result_formats = rh_arena_alloc(&b->arena, total * sizeof *b->result_formats);
    for (uint32_t k = 0; k < total; k++) {
        b->result_formats[k] = (uint16_t) rh_int_column_at(&formats, k);
    }
    b->result_format_first = first;
    return 0;
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

static int decode_values(struct decoder *d)
{
    int64_t uses_min = 1;
    struct rh_mp *m = other(d, RH_COLUMN_USES_MIN_KEY);
    if (m->left > 0 && rh_mp_get_int_in(m, 1, RH_BLOCK_RECORDS_MAX, &uses_min) != 0) {
        return -1;
    }
    d->texts = rh_arena_alloc(&d->b->arena, d->b->row_count * sizeof *d->texts);
    if (decode_literals(d, uses_min) != 0 || decode_params(d, uses_min) != 0 ||
        decode_result_formats(d) != 0) {
        return -1;
    }
    return decode_details(d);
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
}

int rh_trace_block_decode(struct rh_trace_block *b, const struct rh_block_bytes *bytes)
{
    struct decoder d = {.b = b, .blobs = bytes->blobs, .min = bytes->frame.min};
    b->row_count = bytes->frame.record_count;
    if (rh_block_state_decode(&b->state, bytes->state, bytes->blobs, d.min, b->unit_ns,
                              &b->arena) != 0 ||
        b->state.row_count != b->row_count || find_columns(&d, bytes->data) != 0 ||
        !within_limits(b) || !references_fit(b) || decode_starts(&d) != 0) {
        return -1;
    }
    group_by_template(&d);
    if (decode_values(&d) != 0) {
        return -1;
    }
    fill_common(b);
    return 0;
}
