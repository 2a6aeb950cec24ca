/*
 * common/buf.h
 *
 * Growable bytes with a maximum that is fixed at init.  An append that would pass the maximum
 * changes nothing, sets `over` for good (until clear) and returns -1, so a long sequence of
 * appends needs one check at its end.
 */
#ifndef RH_COMMON_BUF_H
#define RH_COMMON_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/span.h"

struct rh_buf {
    char *data; /* len bytes used of cap; may be NULL while cap is 0 */
    size_t len;
    size_t cap;
    size_t max;
    bool over;
};

void rh_buf_init(struct rh_buf *b, size_t max);
void rh_buf_release(struct rh_buf *b);
/* Empty, memory kept, `over` reset. */
void rh_buf_clear(struct rh_buf *b);

/* Make room for n more bytes; NULL (and `over`) when that would pass the maximum.  The caller
 * writes at the returned place and then adds to len. */
char *rh_buf_reserve_more(struct rh_buf *b, size_t n);
static inline char *rh_buf_reserve(struct rh_buf *b, size_t n)
{
    bool fits = b->data && !b->over && n <= b->cap - b->len && n <= b->max - b->len;
    return fits ? b->data + b->len : rh_buf_reserve_more(b, n);
}

static inline int rh_buf_add(struct rh_buf *b, const void *data, size_t n)
{
    char *at = rh_buf_reserve(b, n);
    if (!at) {
        return -1;
    }
    if (n) {
        memcpy(at, data, n);
        b->len += n;
    }
    return 0;
}

static inline int rh_buf_add_span(struct rh_buf *b, struct rh_span s)
{
    return rh_buf_add(b, s.data, s.len);
}

int rh_buf_add_cstr(struct rh_buf *b, const char *text);
int rh_buf_add_byte(struct rh_buf *b, uint8_t byte);
/* Big-endian, as the network and msgpack have it. */
int rh_buf_add_be16(struct rh_buf *b, uint16_t v);
int rh_buf_add_be32(struct rh_buf *b, uint32_t v);
int rh_buf_add_be64(struct rh_buf *b, uint64_t v);
int rh_buf_addf(struct rh_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The contents with a NUL behind them (not counted in len); "" for an empty buffer. */
const char *rh_buf_cstr(struct rh_buf *b);

static inline struct rh_span rh_buf_span(const struct rh_buf *b)
{
    return (struct rh_span){b->data ? b->data : "", b->len};
}

#endif
