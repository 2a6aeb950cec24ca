#include "formats/int_column.h"

enum column_form { FORM_PLANES = 1, FORM_PLANES_UNKNOWN = 2, FORM_SPARSE = 3 };

/* Sparse from here on: the exceptions are at most one in so many. */
enum { SPARSE_MIN_ROWS = 64, SPARSE_DIVISOR = 16, SAMPLES = 15, SAMPLES_EQUAL = 11 };

struct range {
    int64_t min;
    int64_t max;
    bool has_unknown;
};

static bool all_equal(const int64_t *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (v[i] != v[0]) {
            return false;
        }
    }
    return true;
}

static struct range find_range(const int64_t *v, uint32_t n)
{
    struct range r = {INT64_MAX, INT64_MIN, false};
    for (uint32_t i = 0; i < n; i++) {
        r.min = v[i] < r.min ? v[i] : r.min;
        r.max = v[i] > r.max ? v[i] : r.max;
    }
    if (r.min != RH_INT_UNKNOWN) {
        return r;
    }
    r.has_unknown = true;
    r.min = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        r.min = v[i] != RH_INT_UNKNOWN && v[i] < r.min ? v[i] : r.min;
    }
    return r;
}

static unsigned bytes_of(uint64_t v)
{
    return v ? (unsigned) (71 - __builtin_clzll(v)) / 8 : 1;
}

static void put_int_or_nil(struct rh_buf *b, int64_t v)
{
    if (v == RH_INT_UNKNOWN) {
        rh_mp_put_nil(b);
    } else {
        rh_mp_put_int(b, v);
    }
}

/* The compiler makes vector code of each of these loops. */
static void fill_plane(uint8_t *out, const int64_t *v, uint32_t n, uint64_t base, unsigned shift)
{
    for (uint32_t i = 0; i < n; i++) {
        out[i] = (uint8_t) (((uint64_t) v[i] - base) >> shift);
    }
}

static void fill_plane_unknown(uint8_t *out, const int64_t *v, uint32_t n, uint64_t base,
                               unsigned shift)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t x = v[i] == RH_INT_UNKNOWN ? 0 : (uint64_t) v[i] - base + 1;
        out[i] = (uint8_t) (x >> shift);
    }
}

static void put_planes(struct rh_trace_part *p, const int64_t *v, uint32_t n, struct range r)
{
    uint64_t distance = (uint64_t) r.max - (uint64_t) r.min + (r.has_unknown ? 1 : 0);
    unsigned width = bytes_of(distance);
    rh_mp_put_array(&p->raw, 4);
    rh_mp_put_int(&p->raw, r.has_unknown ? FORM_PLANES_UNKNOWN : FORM_PLANES);
    rh_mp_put_int(&p->raw, r.min);
    rh_mp_put_int(&p->raw, width);
    rh_mp_put_bin_head(&p->raw, width * n);
    for (unsigned k = 0; k < width; k++) {
        rh_trace_part_cut(p, n);
        uint8_t *out = (uint8_t *) rh_buf_reserve(&p->raw, n);
        if (!out) {
            return;
        }
        if (r.has_unknown) {
            fill_plane_unknown(out, v, n, (uint64_t) r.min, 8 * k);
        } else {
            fill_plane(out, v, n, (uint64_t) r.min, 8 * k);
        }
        p->raw.len += n;
    }
    rh_trace_part_cut(p, 0);
}

static void put_dense(struct rh_trace_part *p, const int64_t *v, uint32_t n)
{
    if (n == 0) {
        rh_mp_put_nil(&p->raw);
    } else if (all_equal(v, n)) {
        put_int_or_nil(&p->raw, v[0]);
    } else {
        put_planes(p, v, n, find_range(v, n));
    }
}

/* What most values are, if a sample says that nearly all are the same. */
static bool guess_default(const int64_t *v, uint32_t n, int64_t *guess)
{
    for (uint32_t s = 0; s < 3; s++) {
        int64_t candidate = v[(uint64_t) n * s / 3 + n / 7];
        unsigned equal = 0;
        for (uint32_t i = 0; i < SAMPLES; i++) {
            equal += v[(uint64_t) n * i / SAMPLES + i % 7] == candidate;
        }
        if (equal >= SAMPLES_EQUAL) {
            *guess = candidate;
            return true;
        }
    }
    return false;
}

/* The few that differ: their rows as distances, and their values, in the caller's small arrays. */
static bool collect_exceptions(const int64_t *v, uint32_t n, int64_t usual, int64_t *rows,
                               int64_t *values, uint32_t *count)
{
    uint32_t k = 0;
    uint32_t last = 0;
    uint32_t limit = n / SPARSE_DIVISOR;
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] == usual) {
            continue;
        }
        if (k == limit) {
            return false;
        }
        rows[k] = i - last;
        values[k++] = v[i];
        last = i;
    }
    *count = k;
    return true;
}

static bool put_sparse(struct rh_trace_part *p, const int64_t *v, uint32_t n)
{
    int64_t usual;
    if (!guess_default(v, n, &usual)) {
        return false;
    }
    /* Enough for 65,536 rows, a whole block; kept per thread, for a column must not allocate. */
    enum { EXCEPTIONS_MAX = 1 << 12 };
    static _Thread_local int64_t rows[EXCEPTIONS_MAX];
    static _Thread_local int64_t values[EXCEPTIONS_MAX];
    uint32_t count;
    if (n / SPARSE_DIVISOR > EXCEPTIONS_MAX ||
        !collect_exceptions(v, n, usual, rows, values, &count)) {
        return false;
    }
    rh_mp_put_array(&p->raw, 5);
    rh_mp_put_int(&p->raw, FORM_SPARSE);
    put_int_or_nil(&p->raw, usual);
    rh_mp_put_int(&p->raw, count);
    put_dense(p, rows, count);
    put_dense(p, values, count);
    return true;
}

void rh_int_column_put(struct rh_trace_part *p, const int64_t *v, uint32_t n)
{
    if (n < SPARSE_MIN_ROWS || all_equal(v, n) || !put_sparse(p, v, n)) {
        put_dense(p, v, n);
    }
}

static void add_planes(int64_t *out, const uint8_t *planes, uint32_t n, unsigned width)
{
    for (uint32_t i = 0; i < n; i++) {
        out[i] = planes[i];
    }
    for (unsigned k = 1; k < width; k++) {
        const uint8_t *plane = planes + (size_t) k * n;
        for (uint32_t i = 0; i < n; i++) {
            out[i] = (int64_t) ((uint64_t) out[i] | (uint64_t) plane[i] << (8 * k));
        }
    }
}

static int get_planes(struct rh_mp *m, uint32_t n, bool unknown, struct rh_arena *arena,
                      struct rh_int_column *column)
{
    int64_t min;
    int64_t width;
    struct rh_span planes;
    if (rh_mp_get_int(m, &min) != 0 || rh_mp_get_int_in(m, 1, 8, &width) != 0 ||
        rh_mp_get_bin(m, &planes) != 0 || planes.len != (uint64_t) n * (uint64_t) width) {
        return -1;
    }
    int64_t *out = rh_arena_alloc(arena, (size_t) n * sizeof *out);
    add_planes(out, (const uint8_t *) planes.data, n, (unsigned) width);
    if (unknown) {
        for (uint32_t i = 0; i < n; i++) {
            out[i] =
                out[i] == 0 ? RH_INT_UNKNOWN : (int64_t) ((uint64_t) out[i] + (uint64_t) min - 1);
        }
    } else {
        for (uint32_t i = 0; i < n; i++) {
            out[i] = (int64_t) ((uint64_t) out[i] + (uint64_t) min);
        }
    }
    column->values = out;
    return 0;
}

static int get_int_or_nil(struct rh_mp *m, int64_t *v)
{
    *v = RH_INT_UNKNOWN;
    return rh_mp_peek(m) == RH_MP_NIL ? rh_mp_get_nil(m) : rh_mp_get_int(m, v);
}

static int get_form(struct rh_mp *m, uint32_t n, bool nested, struct rh_arena *arena,
                    struct rh_int_column *column);

static int get_sparse(struct rh_mp *m, uint32_t n, struct rh_arena *arena,
                      struct rh_int_column *column)
{
    int64_t usual;
    int64_t count;
    struct rh_int_column rows;
    struct rh_int_column values;
    if (get_int_or_nil(m, &usual) != 0 || rh_mp_get_int_in(m, 0, n, &count) != 0 ||
        get_form(m, (uint32_t) count, true, arena, &rows) != 0 ||
        get_form(m, (uint32_t) count, true, arena, &values) != 0) {
        return -1;
    }
    int64_t *out = rh_arena_alloc(arena, (size_t) n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = usual;
    }
    uint32_t row = 0;
    for (uint32_t k = 0; k < (uint32_t) count; k++) {
        int64_t distance = rh_int_column_at(&rows, k);
        if (distance < (k > 0) || distance >= (int64_t) (n - row)) {
            return -1;
        }
        row += (uint32_t) distance;
        out[row] = rh_int_column_at(&values, k);
    }
    column->values = out;
    return 0;
}

static int get_form(struct rh_mp *m, uint32_t n, bool nested, struct rh_arena *arena,
                    struct rh_int_column *column)
{
    *column = (struct rh_int_column){NULL, RH_INT_UNKNOWN};
    if (rh_mp_peek(m) != RH_MP_ARRAY) {
        return get_int_or_nil(m, &column->constant);
    }
    uint32_t items;
    int64_t form;
    if (rh_mp_get_array(m, &items) != 0 || rh_mp_get_int(m, &form) != 0) {
        return -1;
    }
    if ((form == FORM_PLANES || form == FORM_PLANES_UNKNOWN) && items == 4) {
        return get_planes(m, n, form == FORM_PLANES_UNKNOWN, arena, column);
    }
    if (form == FORM_SPARSE && items == 5 && !nested) {
        return get_sparse(m, n, arena, column);
    }
    return -1;
}

int rh_int_column_get(struct rh_mp *m, uint32_t n, struct rh_arena *arena,
                      struct rh_int_column *column)
{
    return get_form(m, n, false, arena, column);
}

bool rh_int_column_within(const struct rh_int_column *c, uint32_t n, int64_t min, int64_t max)
{
    if (!c->values) {
        return n == 0 || (c->constant >= min && c->constant <= max);
    }
    bool within = true;
    for (uint32_t i = 0; i < n; i++) {
        within &= c->values[i] >= min && c->values[i] <= max;
    }
    return within;
}
