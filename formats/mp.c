#include "formats/mp.h"

#include <string.h>

static int put_be(struct rh_buf *b, uint8_t head, uint64_t v, size_t bytes)
{
    char *at = rh_buf_reserve(b, 1 + bytes);
    if (!at) {
        return -1;
    }
    at[0] = (char) head;
    for (size_t i = 0; i < bytes; i++) {
        at[1 + i] = (char) (v >> (8 * (bytes - 1 - i)));
    }
    b->len += 1 + bytes;
    return 0;
}

int rh_mp_put_nil(struct rh_buf *b)
{
    return rh_buf_add_byte(b, 0xc0);
}

int rh_mp_put_bool(struct rh_buf *b, bool v)
{
    return rh_buf_add_byte(b, v ? 0xc3 : 0xc2);
}

static int put_unsigned(struct rh_buf *b, uint64_t v)
{
    if (v < 0x80) {
        return rh_buf_add_byte(b, (uint8_t) v);
    }
    if (v <= UINT8_MAX) {
        return put_be(b, 0xcc, v, 1);
    }
    if (v <= UINT16_MAX) {
        return put_be(b, 0xcd, v, 2);
    }
    return v <= UINT32_MAX ? put_be(b, 0xce, v, 4) : put_be(b, 0xcf, v, 8);
}

int rh_mp_put_int(struct rh_buf *b, int64_t v)
{
    if (v >= 0) {
        return put_unsigned(b, (uint64_t) v);
    }
    if (v >= -32) {
        return rh_buf_add_byte(b, (uint8_t) v);
    }
    if (v >= INT8_MIN) {
        return put_be(b, 0xd0, (uint64_t) v, 1);
    }
    if (v >= INT16_MIN) {
        return put_be(b, 0xd1, (uint64_t) v, 2);
    }
    return v >= INT32_MIN ? put_be(b, 0xd2, (uint64_t) v, 4) : put_be(b, 0xd3, (uint64_t) v, 8);
}

int rh_mp_put_bin_head(struct rh_buf *b, uint32_t n)
{
    if (n <= UINT8_MAX) {
        return put_be(b, 0xc4, n, 1);
    }
    return n <= UINT16_MAX ? put_be(b, 0xc5, n, 2) : put_be(b, 0xc6, n, 4);
}

int rh_mp_put_bin(struct rh_buf *b, struct rh_span s)
{
    if (s.len > UINT32_MAX || rh_mp_put_bin_head(b, (uint32_t) s.len) != 0) {
        return -1;
    }
    return rh_buf_add_span(b, s);
}

int rh_mp_put_str(struct rh_buf *b, struct rh_span s)
{
    int result;
    if (s.len < 32) {
        result = rh_buf_add_byte(b, (uint8_t) (0xa0 | s.len));
    } else if (s.len <= UINT8_MAX) {
        result = put_be(b, 0xd9, s.len, 1);
    } else if (s.len <= UINT16_MAX) {
        result = put_be(b, 0xda, s.len, 2);
    } else if (s.len <= UINT32_MAX) {
        result = put_be(b, 0xdb, s.len, 4);
    } else {
        result = -1;
    }
    return result == 0 ? rh_buf_add_span(b, s) : -1;
}

int rh_mp_put_array(struct rh_buf *b, uint32_t n)
{
    if (n < 16) {
        return rh_buf_add_byte(b, (uint8_t) (0x90 | n));
    }
    return n <= UINT16_MAX ? put_be(b, 0xdc, n, 2) : put_be(b, 0xdd, n, 4);
}

int rh_mp_put_map(struct rh_buf *b, uint32_t n)
{
    if (n < 16) {
        return rh_buf_add_byte(b, (uint8_t) (0x80 | n));
    }
    return n <= UINT16_MAX ? put_be(b, 0xde, n, 2) : put_be(b, 0xdf, n, 4);
}

size_t rh_mp_begin_map(struct rh_buf *b)
{
    put_be(b, 0xde, 0, 2);
    return b->len - 2;
}

void rh_mp_end_map(struct rh_buf *b, size_t begin, uint32_t n)
{
    if (!b->over) {
        b->data[begin] = (char) (n >> 8);
        b->data[begin + 1] = (char) n;
    }
}

void rh_mp_init(struct rh_mp *m, struct rh_span s)
{
    m->data = (const uint8_t *) s.data;
    m->left = s.len;
}

/* One head: its type, how many bytes of it (0: cut or a reserved byte), and its number. */
struct head {
    enum rh_mp_type type;
    size_t bytes;
    int64_t
        number; /* INT: the value; BOOL; STR, BIN, OTHER: bytes that follow; ARRAY, MAP: items */
};

/* Bytes 0xc0 to 0xdf: the type, how many bytes of number follow, and what to add to the number. */
struct wide_head {
    enum rh_mp_type type;
    uint8_t number_bytes;
    uint8_t extra;
    bool is_signed;
};

static const struct wide_head wide_heads[32] = {
    [0x00] = {RH_MP_NIL, 0, 0, false},   [0x02] = {RH_MP_BOOL, 0, 0, false},
    [0x03] = {RH_MP_BOOL, 0, 0, false},  [0x04] = {RH_MP_BIN, 1, 0, false},
    [0x05] = {RH_MP_BIN, 2, 0, false},   [0x06] = {RH_MP_BIN, 4, 0, false},
    [0x07] = {RH_MP_OTHER, 1, 1, false}, [0x08] = {RH_MP_OTHER, 2, 1, false},
    [0x09] = {RH_MP_OTHER, 4, 1, false}, [0x0a] = {RH_MP_OTHER, 0, 4, false},
    [0x0b] = {RH_MP_OTHER, 0, 8, false}, [0x0c] = {RH_MP_INT, 1, 0, false},
    [0x0d] = {RH_MP_INT, 2, 0, false},   [0x0e] = {RH_MP_INT, 4, 0, false},
    [0x0f] = {RH_MP_INT, 8, 0, false},   [0x10] = {RH_MP_INT, 1, 0, true},
    [0x11] = {RH_MP_INT, 2, 0, true},    [0x12] = {RH_MP_INT, 4, 0, true},
    [0x13] = {RH_MP_INT, 8, 0, true},    [0x14] = {RH_MP_OTHER, 0, 2, false},
    [0x15] = {RH_MP_OTHER, 0, 3, false}, [0x16] = {RH_MP_OTHER, 0, 5, false},
    [0x17] = {RH_MP_OTHER, 0, 9, false}, [0x18] = {RH_MP_OTHER, 0, 17, false},
    [0x19] = {RH_MP_STR, 1, 0, false},   [0x1a] = {RH_MP_STR, 2, 0, false},
    [0x1b] = {RH_MP_STR, 4, 0, false},   [0x1c] = {RH_MP_ARRAY, 2, 0, false},
    [0x1d] = {RH_MP_ARRAY, 4, 0, false}, [0x1e] = {RH_MP_MAP, 2, 0, false},
    [0x1f] = {RH_MP_MAP, 4, 0, false},
};

static struct head read_wide_head(const struct rh_mp *m)
{
    const struct wide_head *w = &wide_heads[m->data[0] & 0x1f];
    struct head h = {w->type, (size_t) 1 + w->number_bytes, 0};
    if (w->type == RH_MP_END || w->number_bytes > m->left - 1) {
        return (struct head){RH_MP_END, 0, 0};
    }
    uint64_t v = 0;
    for (size_t i = 0; i < w->number_bytes; i++) {
        v = v << 8 | m->data[1 + i];
    }
    if (w->type == RH_MP_BOOL) {
        v = m->data[0] & 1;
    } else if (w->is_signed && w->number_bytes > 0 && w->number_bytes < 8) {
        unsigned shift = 64 - 8 * w->number_bytes;
        v = (uint64_t) ((int64_t) (v << shift) >> shift);
    } else if (w->type == RH_MP_INT && !w->is_signed && v > INT64_MAX) {
        h.type = RH_MP_OTHER;
        v = 0;
    }
    h.number = (int64_t) v + w->extra;
    return h;
}

static struct head read_head(const struct rh_mp *m)
{
    if (m->left == 0) {
        return (struct head){RH_MP_END, 0, 0};
    }
    uint8_t b = m->data[0];
    if (b < 0x80) {
        return (struct head){RH_MP_INT, 1, b};
    }
    if (b < 0x90) {
        return (struct head){RH_MP_MAP, 1, b & 0x0f};
    }
    if (b < 0xa0) {
        return (struct head){RH_MP_ARRAY, 1, b & 0x0f};
    }
    if (b < 0xc0) {
        return (struct head){RH_MP_STR, 1, b & 0x1f};
    }
    if (b >= 0xe0) {
        return (struct head){RH_MP_INT, 1, (int64_t) b - 256};
    }
    return read_wide_head(m);
}

static void pass(struct rh_mp *m, size_t n)
{
    m->data += n;
    m->left -= n;
}

enum rh_mp_type rh_mp_peek(const struct rh_mp *m)
{
    return read_head(m).type;
}

int rh_mp_get_nil(struct rh_mp *m)
{
    struct head h = read_head(m);
    if (h.type != RH_MP_NIL) {
        return -1;
    }
    pass(m, h.bytes);
    return 0;
}

int rh_mp_get_bool(struct rh_mp *m, bool *v)
{
    struct head h = read_head(m);
    if (h.type != RH_MP_BOOL) {
        return -1;
    }
    pass(m, h.bytes);
    *v = h.number != 0;
    return 0;
}

int rh_mp_get_int(struct rh_mp *m, int64_t *v)
{
    struct head h = read_head(m);
    if (h.type != RH_MP_INT) {
        return -1;
    }
    pass(m, h.bytes);
    *v = h.number;
    return 0;
}

int rh_mp_get_int_in(struct rh_mp *m, int64_t min, int64_t max, int64_t *v)
{
    return rh_mp_get_int(m, v) == 0 && *v >= min && *v <= max ? 0 : -1;
}

static int get_bytes(struct rh_mp *m, enum rh_mp_type type, struct rh_span *s)
{
    struct head h = read_head(m);
    if (h.type != type || (uint64_t) h.number > m->left - h.bytes) {
        return -1;
    }
    *s = rh_span((const char *) m->data + h.bytes, (size_t) h.number);
    pass(m, h.bytes + (size_t) h.number);
    return 0;
}

int rh_mp_get_bin(struct rh_mp *m, struct rh_span *s)
{
    return get_bytes(m, RH_MP_BIN, s);
}

int rh_mp_get_str(struct rh_mp *m, struct rh_span *s)
{
    return get_bytes(m, RH_MP_STR, s);
}

static int get_count(struct rh_mp *m, enum rh_mp_type type, size_t item_bytes, uint32_t *n)
{
    struct head h = read_head(m);
    if (h.type != type || (uint64_t) h.number > (m->left - h.bytes) / item_bytes) {
        return -1;
    }
    pass(m, h.bytes);
    *n = (uint32_t) h.number;
    return 0;
}

int rh_mp_get_array(struct rh_mp *m, uint32_t *n)
{
    return get_count(m, RH_MP_ARRAY, 1, n);
}

int rh_mp_get_map(struct rh_mp *m, uint32_t *n)
{
    return get_count(m, RH_MP_MAP, 2, n);
}

int rh_mp_skip(struct rh_mp *m)
{
    /* Values still to pass; every one takes a byte, so more than what is left is refused. */
    uint64_t todo = 1;
    while (todo > 0) {
        struct head h = read_head(m);
        if (h.bytes == 0 || todo > m->left) {
            return -1;
        }
        pass(m, h.bytes);
        todo--;
        switch (h.type) {
        case RH_MP_STR:
        case RH_MP_BIN:
        case RH_MP_OTHER:
            if ((uint64_t) h.number > m->left) {
                return -1;
            }
            pass(m, (size_t) h.number);
            break;
        case RH_MP_ARRAY:
            todo += (uint64_t) h.number;
            break;
        case RH_MP_MAP:
            todo += 2 * (uint64_t) h.number;
            break;
        default:
            break;
        }
    }
    return 0;
}
