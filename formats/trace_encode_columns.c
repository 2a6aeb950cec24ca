/* The columns with one integer a record. */
#include <stddef.h>

#include "formats/trace_defaults.h"
#include "formats/trace_encode.h"

enum { PREFETCH_ROWS = 8 };

/* Memory for a column whose rows differ: those before `count` get what was the same in all. */
static void open_column(struct rh_trace_encoder *e, enum rh_column column, uint32_t count)
{
    struct rh_encode_column *c = &e->columns[column];
    c->values = rh_trace_encode_room(e, e->row_count * sizeof *c->values);
    c->varies = true;
    for (uint32_t k = 0; k < count; k++) {
        c->values[k] = c->usual;
    }
}

/* The value of row i, where nearly always all rows have the same. */
static inline void put(struct rh_trace_encoder *e, enum rh_column column, uint32_t i, int64_t v)
{
    struct rh_encode_column *c = &e->columns[column];
    if (i == 0) {
        c->usual = v;
    }
    if (!c->varies) {
        if (v == c->usual) {
            return;
        }
        open_column(e, column, i);
    }
    c->values[i] = v;
}

/* Another value for row i when `count` rows were put. */
static void correct(struct rh_trace_encoder *e, enum rh_column column, uint32_t i, uint32_t count,
                    int64_t v)
{
    if (!e->columns[column].varies) {
        open_column(e, column, count);
    }
    e->columns[column].values[i] = v;
}

/* Fields that are columns as they are. */
enum field_type { FIELD_U8, FIELD_U32, FIELD_I32, FIELD_I64, FIELD_SQLSTATE, FIELD_STRING };

struct field {
    uint8_t column;
    uint8_t type;
    uint8_t offset;
};

#define ROW_FIELD(column, type, name)                                                              \
    {                                                                                              \
        RH_COLUMN_##column, FIELD_##type, offsetof(struct rh_trace_row, name)                      \
    }
static const struct field row_fields[] = {
    ROW_FIELD(KIND, U8, kind),
    ROW_FIELD(TXN, U8, txn),
    ROW_FIELD(HOLD, U8, hold),
    ROW_FIELD(TX_STATUS, U8, tx_status),
    ROW_FIELD(FLAGS, U32, flags),
    ROW_FIELD(PARAM_COUNT, U32, param_count),
    ROW_FIELD(SQLSTATE, SQLSTATE, sqlstate),
    ROW_FIELD(TAG, STRING, tag),
    ROW_FIELD(ROWS, I64, rows),
    ROW_FIELD(BYTES, I64, bytes),
    ROW_FIELD(RESULTS, U32, results),
};

#define EXTRA_FIELD(column, type, name)                                                            \
    {                                                                                              \
        RH_COLUMN_##column, FIELD_##type, offsetof(struct rh_trace_row_extra, name)                \
    }
static const struct field extra_fields[] = {
    EXTRA_FIELD(STATEMENT_NAME, STRING, statement_name),
    EXTRA_FIELD(PORTAL_NAME, STRING, portal_name),
    EXTRA_FIELD(APPLICATION, STRING, application),
    EXTRA_FIELD(PREPARE_TEXT, STRING, prepare_text),
    EXTRA_FIELD(STEPS, STRING, steps),
    EXTRA_FIELD(PARSE, I64, parse),
    EXTRA_FIELD(BIND, I64, bind),
    EXTRA_FIELD(RESULT_FORMAT_COUNT, U32, result_format_count),
    EXTRA_FIELD(ROW_LIMIT, I32, row_limit),
    EXTRA_FIELD(FUNCTION_OID, U32, function_oid),
    EXTRA_FIELD(COUNT, I64, count),
};

#define RUN_FIELD(column, type, name)                                                              \
    {                                                                                              \
        RH_COLUMN_##column, FIELD_##type, offsetof(struct rh_trace_row_run, name)                  \
    }
static const struct field run_fields[] = {
    RUN_FIELD(FATE, U8, fate),
    RUN_FIELD(REASON, U8, reason),
    RUN_FIELD(WAIT, I64, wait),
};

static inline uint32_t load_u32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline int64_t load_i64(const char *p)
{
    int64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline int64_t load_field(struct rh_trace_encoder *e, enum field_type type, const char *p)
{
    switch (type) {
    case FIELD_U8:
        return (uint8_t) *p;
    case FIELD_U32:
        return load_u32(p);
    case FIELD_I32:
        return (int32_t) load_u32(p);
    case FIELD_I64:
        return load_i64(p);
    case FIELD_SQLSTATE:
        return load_u32(p) == RH_SQLSTATE_UNKNOWN ? RH_INT_UNKNOWN : (int64_t) load_u32(p);
    case FIELD_STRING:
        return rh_trace_encode_string_id(e, load_u32(p));
    }
    return 0;
}

static bool differs_at(const char *differences, const struct field *f)
{
    switch ((enum field_type) f->type) {
    case FIELD_U8:
        return differences[f->offset] != 0;
    case FIELD_I64:
        return load_i64(differences + f->offset) != 0;
    default:
        return load_u32(differences + f->offset) != 0;
    }
}

/* A loop for each type, as the compiler knows it then. */
#define LOAD_ALL(type)                                                                             \
    for (uint32_t i = 0; i < e->row_count; i++) {                                                  \
        __builtin_prefetch(                                                                        \
            (const char *) e->parts[i + PREFETCH_ROWS < e->row_count ? i + PREFETCH_ROWS : i] +    \
            offset);                                                                               \
        values[i] = load_field(e, type, (const char *) e->parts[i] + offset);                      \
    }                                                                                              \
    break

static void load_all(struct rh_trace_encoder *e, const struct field *f, int64_t *values)
{
    size_t offset = f->offset;
    switch ((enum field_type) f->type) {
    case FIELD_U8:
        LOAD_ALL(FIELD_U8);
    case FIELD_U32:
        LOAD_ALL(FIELD_U32);
    case FIELD_I32:
        LOAD_ALL(FIELD_I32);
    case FIELD_I64:
        LOAD_ALL(FIELD_I64);
    case FIELD_SQLSTATE:
        LOAD_ALL(FIELD_SQLSTATE);
    case FIELD_STRING:
        LOAD_ALL(FIELD_STRING);
    }
}

/* The columns of e->parts, which lie where `differences` tell that they do. */
static void put_fields(struct rh_trace_encoder *e, const struct field *fields, size_t n,
                       const void *differences)
{
    for (size_t k = 0; k < n; k++) {
        const struct field *f = &fields[k];
        struct rh_encode_column *c = &e->columns[f->column];
        if (differs_at(differences, f)) {
            open_column(e, (enum rh_column) f->column, 0);
            load_all(e, f, c->values);
        } else {
            c->usual = load_field(e, f->type, (const char *) e->parts[0] + f->offset);
        }
    }
}

/* Strings are numbered row by row.  Where at most one column of them differs, those of the first
 * row come first, and the rest as that column has them. */
static void number_strings(struct rh_trace_encoder *e)
{
    const struct rh_trace_row_extra *x = &e->extra_differences;
    unsigned differing = (e->differences.tag != 0) + (x->statement_name != 0) +
                         (x->portal_name != 0) + (x->application != 0) + (x->prepare_text != 0) +
                         (x->steps != 0);
    uint32_t n = differing > 1 ? e->row_count : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct rh_trace_row *r = e->rows[i];
        rh_trace_encode_string_id(e, r->tag);
        rh_trace_encode_string_id(e, r->extra->statement_name);
        rh_trace_encode_string_id(e, r->extra->portal_name);
        rh_trace_encode_string_id(e, r->extra->application);
        rh_trace_encode_string_id(e, r->extra->prepare_text);
        rh_trace_encode_string_id(e, r->extra->steps);
    }
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

static void put_first(struct rh_trace_encoder *e)
{
    if (e->differences.first == 0 && e->rows[0]->first == RH_INT_UNKNOWN) {
        return;
    }
    for (uint32_t i = 0; i < e->row_count; i++) {
        const struct rh_trace_row *r = e->rows[i];
        put(e, RH_COLUMN_FIRST, i,
            r->done == RH_INT_UNKNOWN ? distance(e, r->start, r->first)
                                      : distance(e, r->first, r->done));
    }
}

static void put_execute(struct rh_trace_encoder *e)
{
    for (uint32_t i = 0; i < e->row_count; i++) {
        const struct rh_trace_row *r = e->rows[i];
        const struct rh_trace_row_extra *x = e->parts[i];
        int64_t duration = distance(e, r->start, r->done);
        int64_t execute = x->execute;
        if (execute != RH_INT_UNKNOWN && duration != RH_INT_UNKNOWN) {
            execute -= duration - (x->parse > 0 ? x->parse : 0) - (x->bind > 0 ? x->bind : 0);
            execute = execute > e->distance_max ? e->distance_max : execute;
            execute = execute < -e->distance_max ? -e->distance_max : execute;
        }
        put(e, RH_COLUMN_EXECUTE, i, execute);
    }
}

static void put_extras(struct rh_trace_encoder *e)
{
    for (uint32_t i = 0; i < e->row_count; i++) {
        e->parts[i] = e->rows[i]->extra;
    }
    put_fields(e, extra_fields, sizeof extra_fields / sizeof extra_fields[0],
               &e->extra_differences);
    put_execute(e);
    if (e->extra_differences.detail.tag == 0 && e->rows[0]->extra->detail.tag == RH_VALUE_NULL) {
        return;
    }
    for (uint32_t i = 0; i < e->row_count; i++) {
        const struct rh_trace_row_extra *x = e->parts[i];
        put(e, RH_COLUMN_HAS_DETAIL, i, x->detail.tag != RH_VALUE_NULL);
    }
}

static void put_runs(struct rh_trace_encoder *e)
{
    for (uint32_t i = 0; i < e->row_count; i++) {
        const struct rh_trace_row *r = e->rows[i];
        e->parts[i] = r->run;
        put(e, RH_COLUMN_PLANNED, i, distance(e, r->run->planned, r->start));
        put(e, RH_COLUMN_SENT, i, distance(e, r->start, r->run->sent));
        put(e, RH_COLUMN_READY, i, distance(e, r->run->ready, r->start));
    }
    put_fields(e, run_fields, sizeof run_fields / sizeof run_fields[0], &e->run_differences);
}

/* The record before in the session. */
struct previous {
    uint64_t ordinal;
    int64_t start;
    int64_t end;
    int64_t end_stamp; /* rounded down to ms, where stamps are looked for */
};

static inline int64_t floor_ms(int64_t v)
{
    return v >= 0 ? (int64_t) ((uint64_t) v / 1000) : -(int64_t) (((uint64_t) -v + 999) / 1000);
}

/* The stamps of a log are whole ms and start is the stamp minus the duration, so the distance of
 * the stamps is a small number where that of the starts is not. */
static inline int64_t start_code(struct rh_trace_encoder *e, int64_t start,
                                 const struct previous *p, int64_t end, int64_t end_stamp)
{
    if (start == p->end) {
        return RH_START_AT_END;
    }
    if (start == p->start) {
        return RH_START_AT_START;
    }
    bool is_end = e->has_stamps && end_stamp * 1000 == end;
    int64_t stamp = is_end ? end_stamp : e->has_stamps ? floor_ms(start) : 0;
    if (!is_end && (!e->has_stamps || stamp * 1000 != start)) {
        e->start_units[e->start_unit_count++] = start - p->end;
        return RH_START_UNITS;
    }
    int64_t stamps = stamp - p->end_stamp;
    int64_t near = is_end ? RH_START_END_NEAR : RH_START_START_NEAR;
    int64_t near_max = (is_end ? RH_START_START_NEAR - 1 : RH_START_CODE_MAX) - near;
    if (stamps >= 0 && stamps <= near_max) {
        return near + stamps;
    }
    e->start_stamps[e->start_stamp_count++] = stamps;
    return is_end ? RH_START_END_STAMP : RH_START_START_STAMP;
}

static inline void fill_times(struct rh_trace_encoder *e, uint32_t i, const struct rh_trace_row *r,
                              struct previous *p)
{
    int64_t duration = distance(e, r->start, r->done);
    int64_t end = r->start + (duration > 0 ? duration : 0);
    int64_t end_stamp = e->has_stamps ? floor_ms(end) : 0;
    e->columns[RH_COLUMN_START].values[i] = start_code(e, r->start, p, end, end_stamp);
    e->columns[RH_COLUMN_DURATION].values[i] = duration;
    *p = (struct previous){r->ordinal, r->start, end, end_stamp};
}

static inline void fill_template(struct rh_trace_encoder *e, uint32_t i,
                                 const struct rh_trace_row *r)
{
    uint32_t t = rh_trace_encode_template(e, r->tmpl);
    e->row_templates[i] = t;
    e->row_values[i] = r->values;
    e->columns[RH_COLUMN_TEMPLATE].values[i] = t == RH_NO_STRING ? RH_INT_UNKNOWN : (int64_t) t;
}

/* What the index wants to know of a session without the columns. */
static inline void note_row(struct rh_encode_session *s, const struct rh_trace_row *r)
{
    s->ordinal_first = r->ordinal < s->ordinal_first ? r->ordinal : s->ordinal_first;
    s->ordinal_last = r->ordinal > s->ordinal_last ? r->ordinal : s->ordinal_last;
    bool has_ordinal = rh_kind_has_ordinal((enum rh_kind) r->kind);
    s->cursor_rows += has_ordinal || r->kind == RH_KIND_COPY_DATA;
    if (has_ordinal) {
        s->timed_first = s->timed_first == RH_INT_UNKNOWN ? r->start : s->timed_first;
        s->timed_last = r->start;
    }
}

static void fill_session_rows(struct rh_trace_encoder *e, uint32_t s)
{
    uint32_t first = e->sessions[s]->block_first_row;
    uint32_t end = first + e->sessions[s]->block_rows;
    uint64_t leading = first < end ? e->rows[first]->ordinal : 0;
    struct previous p = {.ordinal = leading - 1};
    struct rh_encode_session note = {
        .ordinal_first = leading,
        .ordinal_last = leading,
        .timed_first = RH_INT_UNKNOWN,
        .timed_last = RH_INT_UNKNOWN,
    };
    if (first < end) {
        p.start = e->rows[first]->start;
        p.end = p.start;
        p.end_stamp = e->has_stamps ? floor_ms(p.end) : 0;
    }
    for (uint32_t i = first; i < end; i++) {
        const struct rh_trace_row *r = e->rows[i];
        if (i + PREFETCH_ROWS < end) {
            __builtin_prefetch(e->rows[i + PREFETCH_ROWS]);
        }
        put(e, RH_COLUMN_ORDINAL, i, (int64_t) (r->ordinal - p.ordinal));
        fill_template(e, i, r);
        fill_times(e, i, r, &p);
        note_row(&note, r);
    }
    /* The first row counts from the smallest ordinal, which nearly always is its own. */
    if (note.ordinal_first != leading) {
        correct(e, RH_COLUMN_ORDINAL, first, end, (int64_t) (leading - note.ordinal_first) + 1);
    }
    e->notes[s] = note;
}

static void fill_columns(struct rh_trace_encoder *e)
{
    e->start_unit_count = 0;
    e->start_stamp_count = 0;
    open_column(e, RH_COLUMN_START, 0);
    open_column(e, RH_COLUMN_DURATION, 0);
    open_column(e, RH_COLUMN_TEMPLATE, 0);
    for (uint32_t s = 0; s < e->session_count; s++) {
        fill_session_rows(e, s);
    }
    if (e->row_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < e->row_count; i++) {
        e->parts[i] = e->rows[i];
    }
    number_strings(e);
    put_fields(e, row_fields, sizeof row_fields / sizeof row_fields[0], &e->differences);
    put_first(e);
    if (e->has_extra) {
        put_extras(e);
    }
    if (e->has_run) {
        put_runs(e);
    }
}

static bool all_are(const int64_t *values, uint32_t n, int64_t v)
{
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] != v) {
            return false;
        }
    }
    return true;
}

static void put_column(struct rh_trace_encoder *e, enum rh_column key)
{
    const struct rh_encode_column *c = &e->columns[key];
    const int64_t *values = c->varies ? c->values : &c->usual;
    uint32_t n = c->varies ? e->row_count : 1;
    if (!all_are(values, n, rh_trace_column_default(key))) {
        rh_trace_encode_key(e, key);
        rh_int_column_put(&e->data, values, n);
    }
}

void rh_trace_encode_columns(struct rh_trace_encoder *e)
{
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        e->columns[c] = (struct rh_encode_column){.usual = rh_trace_column_default(c)};
    }
    fill_columns(e);
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        put_column(e, (enum rh_column) c);
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
