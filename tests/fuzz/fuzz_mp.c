/*
 * MessagePack values of any bytes: what the typed functions read is what skipping passes over, and
 * what was read and is written again reads the same.
 */
#include <string.h>

#include "formats/int_column.h"
#include "formats/mp.h"
#include "fuzz_target.h"

enum { ITEMS_MAX = 10000, ROWS = 40 };

static struct rh_buf written;

/* The value written last is the only one in the buffer. */
static struct rh_mp again(void)
{
    struct rh_mp m;
    rh_mp_init(&m, rh_buf_span(&written));
    return m;
}

static int read_int(struct rh_mp *m)
{
    int64_t v;
    int64_t w;
    if (rh_mp_get_int(m, &v) != 0) {
        return -1;
    }
    rh_buf_clear(&written);
    rh_mp_put_int(&written, v);
    struct rh_mp copy = again();
    rh_fuzz_require(rh_mp_get_int(&copy, &w) == 0 && w == v && copy.left == 0, "an integer");
    return 0;
}

static int read_bytes(struct rh_mp *m, bool is_str)
{
    struct rh_span v;
    struct rh_span w;
    size_t left = m->left;
    if ((is_str ? rh_mp_get_str(m, &v) : rh_mp_get_bin(m, &v)) != 0) {
        return -1;
    }
    rh_fuzz_require(v.len < left, "bytes lie in the input");
    rh_buf_clear(&written);
    (void) (is_str ? rh_mp_put_str(&written, v) : rh_mp_put_bin(&written, v));
    struct rh_mp copy = again();
    rh_fuzz_require((is_str ? rh_mp_get_str(&copy, &w) : rh_mp_get_bin(&copy, &w)) == 0 &&
                        w.len == v.len && (!v.len || memcmp(v.data, w.data, v.len) == 0),
                    "bytes");
    return 0;
}

/* One value by its type; *items is how many more belong to it. */
static int read_value(struct rh_mp *m, uint64_t *items)
{
    uint32_t n = 0;
    bool flag;
    int rc = -1;
    *items = 0;
    switch (rh_mp_peek(m)) {
    case RH_MP_END:
        return -1;
    case RH_MP_NIL:
        return rh_mp_get_nil(m);
    case RH_MP_BOOL:
        return rh_mp_get_bool(m, &flag);
    case RH_MP_INT:
        return read_int(m);
    case RH_MP_STR:
    case RH_MP_BIN:
        return read_bytes(m, rh_mp_peek(m) == RH_MP_STR);
    case RH_MP_ARRAY:
        rc = rh_mp_get_array(m, &n);
        *items = n;
        break;
    case RH_MP_MAP:
        rc = rh_mp_get_map(m, &n);
        *items = 2 * (uint64_t) n;
        break;
    case RH_MP_OTHER:
        return rh_mp_skip(m);
    }
    rh_fuzz_require(rc != 0 || *items <= m->left, "no count beyond the bytes is believed");
    return rc;
}

/* The first value with all that belongs to it: how many bytes are left, SIZE_MAX if it is bad. */
static size_t walk(struct rh_mp m)
{
    uint64_t due = 1;
    while (due) {
        uint64_t items;
        if (read_value(&m, &items) != 0) {
            return SIZE_MAX;
        }
        due += items - 1;
    }
    return m.left;
}

/* The input as a column of integers: what `within` says of it is what its values say. */
static void read_column(struct rh_span input)
{
    struct rh_arena arena;
    struct rh_int_column column;
    struct rh_mp m;
    rh_arena_init(&arena, 4096);
    rh_mp_init(&m, input);
    if (rh_int_column_get(&m, ROWS, &arena, &column) == 0) {
        int64_t min = INT64_MAX;
        int64_t max = INT64_MIN;
        bool known = true;
        for (uint32_t i = 0; i < ROWS; i++) {
            int64_t v = rh_int_column_at(&column, i);
            known = known && v != RH_INT_UNKNOWN;
            min = v < min ? v : min;
            max = v > max ? v : max;
        }
        rh_fuzz_require(!known || rh_int_column_within(&column, ROWS, min, max),
                        "values lie within their bounds");
        rh_fuzz_require(max == INT64_MIN || !rh_int_column_within(&column, ROWS, min, max - 1),
                        "and not below them");
    }
    rh_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (written.max == 0) {
        rh_buf_init(&written, (size_t) 16 << 20);
    }
    struct rh_span input = {(const char *) data, size};
    struct rh_mp m;
    rh_mp_init(&m, input);
    for (int i = 0; m.left && i < ITEMS_MAX; i++) {
        size_t left = walk(m);
        int rc = rh_mp_skip(&m);
        rh_fuzz_require((rc == 0) == (left != SIZE_MAX), "what can be read can be skipped");
        if (rc != 0) {
            break;
        }
        rh_fuzz_require(m.left == left, "skipping passes over what reading reads");
    }
    read_column(input);
    return 0;
}
