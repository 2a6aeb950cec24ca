/* Literals and parameters by template and place, and the other columns with lengths of their own.
 */
#include "formats/trace_encode.h"

/* Which of a row's two lists of values. */
enum list { LITERALS, PARAMS };

static uint32_t literal_count(const struct rh_trace_encoder *e, uint32_t row)
{
    uint32_t t = e->row_templates[row];
    return t == RH_NO_STRING ? 0 : e->store->facts[e->templates[t]].slot_count;
}

static uint32_t list_count(const struct rh_trace_encoder *e, uint32_t row, enum list which)
{
    return which == LITERALS ? literal_count(e, row) : rh_trace_encode_param_count(e, row);
}

static const struct rh_value *list_values(const struct rh_trace_encoder *e, uint32_t row,
                                          enum list which)
{
    const struct rh_value *values = e->row_values[row];
    return which == LITERALS || !values ? values : values + literal_count(e, row);
}

/* The longest list of template t's rows, by_template[first..end). */
static uint32_t longest_list(const struct rh_trace_encoder *e, uint32_t t, uint32_t first,
                             uint32_t end, enum list which)
{
    if (which == LITERALS) {
        return e->store->facts[e->templates[t]].slot_count;
    }
    uint32_t longest = 0;
    for (uint32_t k = first; k < end; k++) {
        uint32_t n = rh_trace_encode_param_count(e, e->by_template[k]);
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* The usual case: integers in all rows.  How many; 0, and nothing is put, where it is another. */
static uint32_t put_integers(struct rh_trace_encoder *e, uint32_t t, uint32_t first, uint32_t end,
                             uint32_t place, enum list which)
{
    int64_t *flat = rh_trace_encode_flat(e, end - first);
    uint32_t slots = e->store->facts[e->templates[t]].slot_count;
    uint32_t index = which == LITERALS ? place : slots + place;
    uint32_t n = 0;
    for (uint32_t k = first; k < end; k++) {
        uint32_t row = e->by_template[k];
        if (which == PARAMS && rh_trace_encode_param_count(e, row) <= place) {
            continue;
        }
        const struct rh_value *v = &e->row_values[row][index];
        if (v->tag != RH_VALUE_INT) {
            return 0;
        }
        flat[n++] = v->u.number;
    }
    rh_value_column_put_integers(&e->data, flat, n);
    return n;
}

/* How many values there are. */
static uint32_t put_place(struct rh_trace_encoder *e, uint32_t t, uint32_t first, uint32_t end,
                          uint32_t place, enum list which)
{
    uint32_t n = put_integers(e, t, first, end, place, which);
    if (n > 0) {
        return n;
    }
    struct rh_value *values = rh_trace_encode_value_room(e, end - first);
    for (uint32_t k = first; k < end; k++) {
        uint32_t row = e->by_template[k];
        if (list_count(e, row, which) > place) {
            values[n++] = list_values(e, row, which)[place];
        }
    }
    rh_value_column_put(&e->data, values, n, &e->blobs, &e->scratch);
    return n;
}

/* How many columns put_lists() makes. */
static uint32_t count_columns(const struct rh_trace_encoder *e, enum list which)
{
    uint32_t columns = 1;
    uint32_t first = 0;
    for (uint32_t t = 0; t < e->template_count; t++) {
        uint32_t end = first + e->template_uses[t];
        if (e->template_uses[t] >= RH_COLUMN_USES_MIN) {
            columns += longest_list(e, t, first, end, which);
        }
        first = end;
    }
    return columns;
}

/* Rows of templates that are too rare for columns of their own, in the order of the rows. */
static void put_shared(struct rh_trace_encoder *e, uint32_t total, enum list which)
{
    struct rh_value *values = rh_trace_encode_value_room(e, total);
    uint32_t n = 0;
    for (uint32_t i = 0; total > 0 && i < e->row_count; i++) {
        uint32_t t = e->row_templates[i];
        if (t == RH_NO_STRING || e->template_uses[t] < RH_COLUMN_USES_MIN) {
            const struct rh_value *from = list_values(e, i, which);
            uint32_t count = list_count(e, i, which);
            for (uint32_t k = 0; k < count; k++) {
                values[n++] = from[k];
            }
        }
    }
    rh_value_column_put(&e->data, values, n, &e->blobs, &e->scratch);
}

static uint64_t count_values(const struct rh_trace_encoder *e, enum list which)
{
    uint64_t total = 0;
    for (uint32_t t = 0; which == LITERALS && t < e->template_count; t++) {
        total += (uint64_t) e->template_uses[t] * e->store->facts[e->templates[t]].slot_count;
    }
    for (uint32_t i = 0; which == PARAMS && i < e->row_count; i++) {
        total += rh_trace_encode_param_count(e, i);
    }
    return total;
}

static bool put_lists(struct rh_trace_encoder *e, enum rh_column key, enum list which)
{
    uint64_t total = count_values(e, which);
    if (total == 0 || total > RH_BLOCK_VALUES_MAX) {
        return total == 0;
    }
    rh_trace_encode_key(e, key);
    rh_mp_put_array(&e->data.raw, count_columns(e, which));
    uint32_t first = 0;
    for (uint32_t t = 0; t < e->template_count; t++) {
        uint32_t end = first + e->template_uses[t];
        if (e->template_uses[t] >= RH_COLUMN_USES_MIN) {
            uint32_t longest = longest_list(e, t, first, end, which);
            for (uint32_t place = 0; place < longest; place++) {
                total -= put_place(e, t, first, end, place, which);
            }
        }
        first = end;
    }
    put_shared(e, (uint32_t) total, which);
    return true;
}

/* The n integers of e->flat; none: all are 0. */
static void put_kinds(struct rh_trace_encoder *e, enum rh_column key, uint32_t n)
{
    static const int64_t zero = 0;
    rh_trace_encode_key(e, key);
    rh_int_column_put(&e->data, n > 0 ? e->flat : &zero, n > 0 ? n : 1);
}

/* Types and formats of all parameters, in the order of the rows. */
static void put_param_kinds(struct rh_trace_encoder *e)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < e->row_count; i++) {
        total += rh_trace_encode_param_count(e, i);
    }
    /* Only what is not a default has types and formats, which lie in `extra`. */
    if (total == 0 || !e->has_extra) {
        return;
    }
    int64_t *flat = rh_trace_encode_flat(e, total);
    uint32_t n = 0;
    for (uint32_t i = 0; e->has_param_types && i < e->row_count; i++) {
        const uint32_t *types = e->rows[i]->extra->param_types;
        for (uint32_t k = 0; k < e->rows[i]->param_count; k++) {
            flat[n++] = types ? types[k] : 0;
        }
    }
    put_kinds(e, RH_COLUMN_PARAM_TYPES, n);
    n = 0;
    for (uint32_t i = 0; e->has_param_formats && i < e->row_count; i++) {
        const uint8_t *formats = e->rows[i]->extra->param_formats;
        for (uint32_t k = 0; k < e->rows[i]->param_count; k++) {
            flat[n++] = formats ? formats[k] : 0;
        }
    }
    put_kinds(e, RH_COLUMN_PARAM_FORMATS, n);
}

static bool put_result_formats(struct rh_trace_encoder *e)
{
    const struct rh_encode_column *counts = &e->columns[RH_COLUMN_RESULT_FORMAT_COUNT];
    if (!counts->varies && counts->usual == 0) {
        return true;
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < e->row_count; i++) {
        total += e->rows[i]->extra->result_format_count;
    }
    if (total == 0 || total > RH_BLOCK_VALUES_MAX) {
        return total == 0;
    }
    int64_t *flat = rh_trace_encode_flat(e, (uint32_t) total);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->row_count; i++) {
        const struct rh_trace_row_extra *x = e->rows[i]->extra;
        for (uint32_t k = 0; k < x->result_format_count; k++) {
            flat[n++] = x->result_formats[k];
        }
    }
    rh_trace_encode_key(e, RH_COLUMN_RESULT_FORMATS);
    rh_int_column_put(&e->data, flat, n);
    return true;
}

static void put_details(struct rh_trace_encoder *e)
{
    const struct rh_encode_column *has = &e->columns[RH_COLUMN_HAS_DETAIL];
    if (!has->varies && has->usual == 0) {
        return;
    }
    struct rh_value *values = rh_trace_encode_value_room(e, e->row_count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->row_count; i++) {
        if (e->rows[i]->extra->detail.tag != RH_VALUE_NULL) {
            values[n++] = e->rows[i]->extra->detail;
        }
    }
    if (n == 0) {
        return;
    }
    rh_trace_encode_key(e, RH_COLUMN_DETAILS);
    rh_value_column_put(&e->data, values, n, &e->blobs, &e->scratch);
}

bool rh_trace_encode_values(struct rh_trace_encoder *e)
{
    rh_trace_encode_key(e, RH_COLUMN_USES_MIN_KEY);
    rh_mp_put_int(&e->data.raw, RH_COLUMN_USES_MIN);
    if (!put_lists(e, RH_COLUMN_LITERALS, LITERALS) || !put_lists(e, RH_COLUMN_PARAMS, PARAMS)) {
        return false;
    }
    put_param_kinds(e);
    put_details(e);
    return put_result_formats(e);
}
