#include "formats/value_column.h"

#include <string.h>

#include "common/alloc.h"
#include "formats/trace_layout.h"

enum value_form { FORM_INTS = 1, FORM_BYTES = 2, FORM_FIXED = 3, FORM_MIXED = 4 };

/* Values of one short length are stored as planes: binary integers, flags, codes. */
enum { FIXED_MAX_BYTES = 16 };

static bool is_canonical(const char *digits, size_t n)
{
    return n > 0 && n <= 19 && (digits[0] != '0' || n == 1);
}

struct rh_value rh_value_of(struct rh_span s)
{
    struct rh_value value = {.u.data = s.data, .len = (uint32_t) s.len, .tag = RH_VALUE_BYTES};
    if (!s.data) {
        return (struct rh_value){.tag = RH_VALUE_NULL};
    }
    bool negative = s.len > 0 && s.data[0] == '-';
    const char *digits = s.data + negative;
    size_t n = s.len - negative;
    if (!is_canonical(digits, n) || (negative && digits[0] == '0')) {
        return value;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned) (unsigned char) digits[i] - '0';
        if (digit > 9) {
            return value;
        }
        v = v * 10 + digit;
    }
    /* The smallest integer means "unknown" in a column, so it stays text. */
    if (v > INT64_MAX) {
        return value;
    }
    value.u.number = negative ? -(int64_t) v : (int64_t) v;
    value.tag = RH_VALUE_INT;
    return value;
}

uint32_t rh_value_format(int64_t v, char text[20])
{
    char reversed[20];
    uint32_t n = 0;
    uint64_t u = v < 0 ? -(uint64_t) v : (uint64_t) v;
    do {
        reversed[n++] = (char) ('0' + u % 10);
        u /= 10;
    } while (u > 0);
    uint32_t len = 0;
    if (v < 0) {
        text[len++] = '-';
    }
    while (n > 0) {
        text[len++] = reversed[--n];
    }
    return len;
}

struct survey {
    uint32_t counts[4];
    bool same_length; /* of all BYTES */
    uint64_t bytes;   /* of BYTES that stay in the column */
};

static uint32_t stored_tag(const struct rh_value *v, const struct rh_blob_list *blobs)
{
    return v->tag == RH_VALUE_BYTES && v->len > blobs->inline_max ? RH_VALUE_BLOB : v->tag;
}

static struct survey survey_values(const struct rh_value *values, uint32_t n,
                                   const struct rh_blob_list *blobs)
{
    struct survey s = {.same_length = true};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tag = stored_tag(&values[i], blobs);
        s.counts[tag]++;
        s.same_length &= values[i].len == values[0].len;
        s.bytes += tag == RH_VALUE_BYTES ? values[i].len : 0;
    }
    return s;
}

static int64_t *scratch_ints(struct rh_value_scratch *scratch, uint32_t n)
{
    if (n > scratch->cap) {
        scratch->cap = n < 1024 ? 1024 : n + n / 2;
        scratch->ints = rh_realloc(scratch->ints, scratch->cap, sizeof *scratch->ints);
    }
    return scratch->ints;
}

/* The numbers (or the lengths) of all values with the tag. */
static void put_field(struct rh_trace_part *p, const struct rh_value *values, uint32_t n,
                      uint32_t tag, const struct rh_blob_list *blobs,
                      struct rh_value_scratch *scratch)
{
    int64_t *v = scratch_ints(scratch, n);
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (stored_tag(&values[i], blobs) == tag) {
            v[k++] = tag == RH_VALUE_INT ? values[i].u.number : (int64_t) values[i].len;
        }
    }
    rh_int_column_put(p, v, k);
}

static void put_bytes(struct rh_trace_part *p, const struct rh_value *values, uint32_t n,
                      uint64_t bytes, const struct rh_blob_list *blobs)
{
    if (bytes > RH_BLOCK_RAW_MAX) {
        p->raw.over = true;
        return;
    }
    rh_mp_put_bin_head(&p->raw, (uint32_t) bytes);
    rh_trace_part_cut(p, bytes);
    for (uint32_t i = 0; i < n; i++) {
        if (stored_tag(&values[i], blobs) == RH_VALUE_BYTES) {
            rh_buf_add(&p->raw, values[i].u.data, values[i].len);
        }
    }
    rh_trace_part_cut(p, 0);
}

static void put_fixed(struct rh_trace_part *p, const struct rh_value *values, uint32_t n)
{
    uint32_t len = values[0].len;
    rh_mp_put_array(&p->raw, 3);
    rh_mp_put_int(&p->raw, FORM_FIXED);
    rh_mp_put_int(&p->raw, len);
    rh_mp_put_bin_head(&p->raw, len * n);
    for (uint32_t k = 0; k < len; k++) {
        rh_trace_part_cut(p, n);
        char *out = rh_buf_reserve(&p->raw, n);
        if (!out) {
            return;
        }
        for (uint32_t i = 0; i < n; i++) {
            out[i] = values[i].u.data[k];
        }
        p->raw.len += n;
    }
    rh_trace_part_cut(p, 0);
}

static void add_blobs(struct rh_blob_list *blobs, const struct rh_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (stored_tag(&values[i], blobs) == RH_VALUE_BLOB) {
            RH_GROW(blobs->items, blobs->count, blobs->cap);
            blobs->items[blobs->count++] = rh_span(values[i].u.data, values[i].len);
            blobs->bytes += values[i].len;
        }
    }
}

static void put_mixed(struct rh_trace_part *p, const struct rh_value *values, uint32_t n,
                      const struct survey *s, struct rh_blob_list *blobs,
                      struct rh_value_scratch *scratch)
{
    int64_t *tags = scratch_ints(scratch, n);
    for (uint32_t i = 0; i < n; i++) {
        tags[i] = stored_tag(&values[i], blobs);
    }
    rh_mp_put_array(&p->raw, 7);
    rh_mp_put_int(&p->raw, FORM_MIXED);
    rh_int_column_put(p, tags, n);
    put_field(p, values, n, RH_VALUE_INT, blobs, scratch);
    put_field(p, values, n, RH_VALUE_BYTES, blobs, scratch);
    put_bytes(p, values, n, s->bytes, blobs);
    put_field(p, values, n, RH_VALUE_BLOB, blobs, scratch);
    rh_mp_put_int(&p->raw, (int64_t) blobs->bytes);
    add_blobs(blobs, values, n);
}

static bool all_same_bytes(const struct rh_value *values, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (memcmp(values[i].u.data, values[0].u.data, values[0].len) != 0) {
            return false;
        }
    }
    return true;
}

void rh_value_column_put_integers(struct rh_trace_part *p, const int64_t *numbers, uint32_t n)
{
    rh_mp_put_array(&p->raw, 2);
    rh_mp_put_int(&p->raw, FORM_INTS);
    rh_int_column_put(p, numbers, n);
}

void rh_value_column_put(struct rh_trace_part *p, const struct rh_value *values, uint32_t n,
                         struct rh_blob_list *blobs, struct rh_value_scratch *scratch)
{
    struct survey s = survey_values(values, n, blobs);
    if (s.counts[RH_VALUE_NULL] == n) {
        rh_mp_put_nil(&p->raw);
    } else if (s.counts[RH_VALUE_INT] == n) {
        int64_t *numbers = scratch_ints(scratch, n);
        for (uint32_t i = 0; i < n; i++) {
            numbers[i] = values[i].u.number;
        }
        rh_value_column_put_integers(p, numbers, n);
    } else if (s.counts[RH_VALUE_BYTES] < n) {
        put_mixed(p, values, n, &s, blobs, scratch);
    } else if (s.same_length && all_same_bytes(values, n)) {
        rh_mp_put_bin(&p->raw, rh_span(values[0].u.data, values[0].len));
    } else if (s.same_length && values[0].len <= FIXED_MAX_BYTES) {
        put_fixed(p, values, n);
    } else {
        rh_mp_put_array(&p->raw, 3);
        rh_mp_put_int(&p->raw, FORM_BYTES);
        put_field(p, values, n, RH_VALUE_BYTES, blobs, scratch);
        put_bytes(p, values, n, s.bytes, blobs);
    }
}

/* The texts of integers: one piece of memory for all, as long as the longest makes it at most. */
static int make_texts(const struct rh_int_column *numbers, uint32_t n, struct rh_arena *arena,
                      struct rh_span *out)
{
    if (!rh_int_column_within(numbers, n, INT64_MIN + 1, INT64_MAX)) {
        return -1;
    }
    char sample[20];
    if (!numbers->values) {
        char *text = rh_arena_alloc(arena, sizeof sample);
        uint32_t len = n > 0 ? rh_value_format(numbers->constant, text) : 0;
        for (uint32_t i = 0; i < n; i++) {
            out[i] = rh_span(text, len);
        }
        return 0;
    }
    uint32_t longest = 1;
    int64_t min = 0;
    int64_t max = 0;
    for (uint32_t i = 0; i < n; i++) {
        min = numbers->values[i] < min ? numbers->values[i] : min;
        max = numbers->values[i] > max ? numbers->values[i] : max;
    }
    longest = rh_value_format(min, sample);
    uint32_t longest_positive = rh_value_format(max, sample);
    longest = longest > longest_positive ? longest : longest_positive;
    /* The formatter may write 20 bytes before it knows better. */
    char *at = rh_arena_alloc(arena, (size_t) n * longest + sizeof sample);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = rh_value_format(numbers->values[i], at);
        out[i] = rh_span(at, len);
        at += len;
    }
    return 0;
}

static int get_ints(struct rh_mp *m, uint32_t n, struct rh_arena *arena, struct rh_span *out)
{
    struct rh_int_column numbers;
    return rh_int_column_get(m, n, arena, &numbers) == 0 ? make_texts(&numbers, n, arena, out) : -1;
}

/* Cut `bytes` into pieces as long as the column says. */
static int cut_bytes(const struct rh_int_column *lengths, uint32_t n, struct rh_span bytes,
                     struct rh_span *out)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t len = rh_int_column_at(lengths, i);
        if (len < 0 || (uint64_t) len > bytes.len) {
            return -1;
        }
        out[i] = rh_span(bytes.data, (size_t) len);
        bytes = rh_span(bytes.data + len, bytes.len - (size_t) len);
    }
    return bytes.len == 0 ? 0 : -1;
}

static int get_bytes(struct rh_mp *m, uint32_t n, struct rh_arena *arena, struct rh_span *out)
{
    struct rh_int_column lengths;
    struct rh_span bytes;
    if (rh_int_column_get(m, n, arena, &lengths) != 0 || rh_mp_get_bin(m, &bytes) != 0) {
        return -1;
    }
    return cut_bytes(&lengths, n, bytes, out);
}

static int get_fixed(struct rh_mp *m, uint32_t n, struct rh_arena *arena, struct rh_span *out)
{
    int64_t len;
    struct rh_span planes;
    if (rh_mp_get_int_in(m, 0, FIXED_MAX_BYTES, &len) != 0 || rh_mp_get_bin(m, &planes) != 0 ||
        planes.len != (uint64_t) n * (uint64_t) len) {
        return -1;
    }
    char *bytes = rh_arena_alloc(arena, planes.len);
    for (uint32_t i = 0; i < n; i++) {
        out[i] = rh_span(bytes + (size_t) i * (size_t) len, (size_t) len);
        for (uint32_t k = 0; k < (uint32_t) len; k++) {
            bytes[(size_t) i * (size_t) len + k] = planes.data[(size_t) k * n + i];
        }
    }
    return 0;
}

/* The pieces of a mixed column, each with how many values it has. */
struct mixed {
    struct rh_int_column tags;
    uint32_t counts[4];
    struct rh_span *parts[4]; /* by tag */
};

static int count_tags(struct mixed *x, uint32_t n)
{
    if (!rh_int_column_within(&x->tags, n, RH_VALUE_NULL, RH_VALUE_BLOB)) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        x->counts[rh_int_column_at(&x->tags, i)]++;
    }
    return 0;
}

static int get_blobs(struct rh_mp *m, struct mixed *x, struct rh_span blobs, struct rh_arena *arena)
{
    struct rh_int_column lengths;
    int64_t offset;
    uint32_t n = x->counts[RH_VALUE_BLOB];
    if (rh_int_column_get(m, n, arena, &lengths) != 0 ||
        rh_mp_get_int_in(m, 0, INT64_MAX, &offset) != 0) {
        return -1;
    }
    if (n == 0) {
        return 0;
    }
    if ((uint64_t) offset > blobs.len) {
        return -1;
    }
    /* The sum may be shorter than the rest of the blobs, which belong to other columns. */
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t len = rh_int_column_at(&lengths, i);
        if (len < 0 || (uint64_t) len > blobs.len - (uint64_t) offset - total) {
            return -1;
        }
        total += (uint64_t) len;
    }
    return cut_bytes(&lengths, n, rh_span(blobs.data + offset, total), x->parts[RH_VALUE_BLOB]);
}

static int get_mixed(struct rh_mp *m, uint32_t n, struct rh_span blobs, struct rh_arena *arena,
                     struct rh_span *out)
{
    struct mixed x = {0};
    if (rh_int_column_get(m, n, arena, &x.tags) != 0 || count_tags(&x, n) != 0) {
        return -1;
    }
    for (unsigned tag = RH_VALUE_INT; tag <= RH_VALUE_BLOB; tag++) {
        x.parts[tag] = rh_arena_alloc(arena, x.counts[tag] * sizeof *x.parts[tag]);
    }
    if (get_ints(m, x.counts[RH_VALUE_INT], arena, x.parts[RH_VALUE_INT]) != 0 ||
        get_bytes(m, x.counts[RH_VALUE_BYTES], arena, x.parts[RH_VALUE_BYTES]) != 0 ||
        get_blobs(m, &x, blobs, arena) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t tag = rh_int_column_at(&x.tags, i);
        out[i] = tag == RH_VALUE_NULL ? RH_SPAN_NONE : *x.parts[tag]++;
    }
    return 0;
}

static int get_same(struct rh_mp *m, uint32_t n, struct rh_span *out)
{
    struct rh_span value = RH_SPAN_NONE;
    if (rh_mp_peek(m) == RH_MP_NIL ? rh_mp_get_nil(m) : rh_mp_get_bin(m, &value)) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        out[i] = value;
    }
    return 0;
}

int rh_value_column_get(struct rh_mp *m, uint32_t n, struct rh_span blobs, struct rh_arena *arena,
                        struct rh_span *out)
{
    uint32_t items;
    int64_t form;
    if (rh_mp_peek(m) != RH_MP_ARRAY) {
        return get_same(m, n, out);
    }
    if (rh_mp_get_array(m, &items) != 0 || rh_mp_get_int(m, &form) != 0) {
        return -1;
    }
    if (form == FORM_INTS && items == 2) {
        return get_ints(m, n, arena, out);
    }
    if (form == FORM_BYTES && items == 3) {
        return get_bytes(m, n, arena, out);
    }
    if (form == FORM_FIXED && items == 3) {
        return get_fixed(m, n, arena, out);
    }
    return form == FORM_MIXED && items == 7 ? get_mixed(m, n, blobs, arena, out) : -1;
}
