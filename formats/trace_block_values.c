/*
 * Literals, parameters and result formats of a block: most of what there is to decode, and needed
 * only by who reads texts.  Nothing here trusts a number of the file, as in trace_block_decode.c.
 */
#include "formats/trace_block.h"
#include "formats/value_column.h"

struct decoder {
    struct rh_trace_block *b;
    uint32_t *by_template; /* rows by template, those without one last */
    uint32_t *uses;        /* by template */
    int64_t uses_min;
    struct rh_span *texts; /* scratch of one column */
};

static void group_by_template(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    const struct rh_int_column *column = &b->columns[RH_COLUMN_TEMPLATE];
    uint32_t templates = b->state.template_count;
    d->uses = rh_arena_alloc(&b->arena, (templates + 1) * sizeof *d->uses);
    d->by_template = rh_arena_alloc(&b->arena, b->row_count * sizeof *d->by_template);
    uint32_t *next = rh_arena_alloc(&b->arena, (templates + 1) * sizeof *next);
    memset(d->uses, 0, (templates + 1) * sizeof *d->uses);
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(column, i);
        d->uses[t == RH_INT_UNKNOWN ? templates : (uint32_t) t]++;
    }
    uint32_t place = 0;
    for (uint32_t t = 0; t <= templates; t++) {
        next[t] = place;
        place += d->uses[t];
    }
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(column, i);
        d->by_template[next[t == RH_INT_UNKNOWN ? templates : (uint32_t) t]++] = i;
    }
}

/* Lists of values, one a row: how many each row has, and where in `out` they go. */
struct lists {
    uint32_t *counts;            /* by row */
    const uint32_t *slot_counts; /* by template, where all its rows have the same; else NULL */
    uint32_t *first;             /* by row */
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

/* One column: the values at `place` of the rows that have so many. */
static int decode_place(struct decoder *d, struct lists *x, struct rh_mp *m, const uint32_t *rows,
                        uint32_t row_count, uint32_t place)
{
    uint32_t n = row_count;
    for (uint32_t k = 0; !x->slot_counts && k < row_count; k++) {
        n -= x->counts[rows[k]] <= place;
    }
    if (rh_value_column_get(m, n, d->b->values.blobs, &d->b->arena, d->texts) != 0) {
        return -1;
    }
    const struct rh_span *from = d->texts;
    for (uint32_t k = 0; k < row_count; k++) {
        if (x->slot_counts || x->counts[rows[k]] > place) {
            x->out[x->first[rows[k]] + place] = *from++;
        }
    }
    return 0;
}

/* Whether the row's values are among those of all rows that have no columns of their own. */
static bool is_shared(const struct decoder *d, uint32_t row)
{
    int64_t t = rh_int_column_at(&d->b->columns[RH_COLUMN_TEMPLATE], row);
    return t == RH_INT_UNKNOWN || d->uses[t] < d->uses_min;
}

static int decode_shared(struct decoder *d, struct lists *x, struct rh_mp *m)
{
    const struct rh_trace_block *b = d->b;
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->row_count; i++) {
        n += is_shared(d, i) ? x->counts[i] : 0;
    }
    struct rh_span *texts = rh_arena_alloc(&d->b->arena, n * sizeof *texts);
    if (rh_value_column_get(m, n, b->values.blobs, &d->b->arena, texts) != 0) {
        return -1;
    }
    for (uint32_t i = 0; n > 0 && i < b->row_count; i++) {
        for (uint32_t k = 0; is_shared(d, i) && k < x->counts[i]; k++) {
            x->out[x->first[i] + k] = *texts++;
        }
    }
    return 0;
}

static uint32_t longest_list(const struct lists *x, uint32_t t, const uint32_t *rows,
                             uint32_t row_count)
{
    if (x->slot_counts) {
        return x->slot_counts[t];
    }
    uint32_t longest = 0;
    for (uint32_t k = 0; k < row_count; k++) {
        uint32_t count = x->counts[rows[k]];
        longest = count > longest ? count : longest;
    }
    return longest;
}

static int decode_lists(struct decoder *d, struct lists *x, struct rh_mp m)
{
    uint32_t columns;
    if (place_lists(d, x) != 0) {
        return -1;
    }
    if (x->total == 0) {
        return 0;
    }
    if (m.left == 0 || rh_mp_get_array(&m, &columns) != 0) {
        return -1;
    }
    const uint32_t *rows = d->by_template;
    for (uint32_t t = 0; t < d->b->state.template_count; rows += d->uses[t++]) {
        if (d->uses[t] == 0 || d->uses[t] < d->uses_min) {
            continue;
        }
        uint32_t longest = longest_list(x, t, rows, d->uses[t]);
        for (uint32_t place = 0; place < longest; place++) {
            if (decode_place(d, x, &m, rows, d->uses[t], place) != 0) {
                return -1;
            }
        }
    }
    return decode_shared(d, x, &m);
}

static int decode_literals(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    struct lists x = {.slot_counts = b->slot_counts};
    x.counts = rh_arena_alloc(&b->arena, b->row_count * sizeof *x.counts);
    for (uint32_t i = 0; i < b->row_count; i++) {
        int64_t t = rh_int_column_at(&b->columns[RH_COLUMN_TEMPLATE], i);
        x.counts[i] = t == RH_INT_UNKNOWN ? 0 : b->slot_counts[t];
    }
    if (decode_lists(d, &x, b->values.literals) != 0) {
        return -1;
    }
    bool all = true;
    for (uint32_t i = 0; i < x.total; i++) {
        all &= x.out[i].data != NULL;
    }
    b->literals = x.out;
    b->literal_first = x.first;
    return all ? 0 : -1;
}

/* What is not there is 0 for all. */
static int get_kinds(struct decoder *d, struct rh_mp m, uint32_t n, int64_t max,
                     struct rh_int_column *kinds)
{
    *kinds = (struct rh_int_column){NULL, 0};
    if (m.left > 0 && rh_int_column_get(&m, n, &d->b->arena, kinds) != 0) {
        return -1;
    }
    return rh_int_column_within(kinds, n, 0, max) ? 0 : -1;
}

static int decode_params(struct decoder *d)
{
    struct rh_trace_block *b = d->b;
    struct rh_int_column types;
    struct rh_int_column formats;
    struct lists x = {0};
    const struct rh_int_column *counts = &b->columns[RH_COLUMN_PARAM_COUNT];
    if (!counts->values && counts->constant == 0) {
        return 0;
    }
    x.counts = rh_arena_alloc(&b->arena, b->row_count * sizeof *x.counts);
    for (uint32_t i = 0; i < b->row_count; i++) {
        x.counts[i] = (uint32_t) rh_int_column_at(counts, i);
    }
    if (decode_lists(d, &x, b->values.params) != 0 || x.total == 0) {
        return x.total == 0 ? 0 : -1;
    }
    if (get_kinds(d, b->values.param_types, x.total, UINT32_MAX, &types) != 0 ||
        get_kinds(d, b->values.param_formats, x.total, UINT8_MAX, &formats) != 0) {
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
    struct rh_mp m = b->values.result_formats;
    struct rh_int_column formats;
    const struct rh_int_column *counts = &b->columns[RH_COLUMN_RESULT_FORMAT_COUNT];
    if (!counts->values && counts->constant == 0) {
        return 0;
    }
    uint32_t total = 0;
    uint32_t *first = rh_arena_alloc(&b->arena, b->row_count * sizeof *first);
    for (uint32_t i = 0; i < b->row_count; i++) {
        first[i] = total;
        total += (uint32_t) rh_int_column_at(counts, i);
        if (total > RH_BLOCK_VALUES_MAX) {
            return -1;
        }
    }
    if (total == 0) {
        return 0;
    }
    if (m.left == 0 || rh_int_column_get(&m, total, &b->arena, &formats) != 0 ||
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

int rh_trace_block_decode_values(struct rh_trace_block *b)
{
    struct decoder d = {.b = b, .uses_min = 1};
    struct rh_mp m = b->values.uses_min;
    if (b->with_values) {
        return 0;
    }
    if (m.left > 0 && rh_mp_get_int_in(&m, 1, RH_BLOCK_RECORDS_MAX, &d.uses_min) != 0) {
        return -1;
    }
    group_by_template(&d);
    d.texts = rh_arena_alloc(&b->arena, b->row_count * sizeof *d.texts);
    if (decode_literals(&d) != 0 || decode_params(&d) != 0 || decode_result_formats(&d) != 0) {
        b->literals = NULL;
        b->params = NULL;
        b->result_format_first = NULL;
        return -1;
    }
    b->with_values = true;
    return 0;
}
