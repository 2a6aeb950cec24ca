/*
 * formats/mp.h
 *
 * MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md), as much as a trace needs:
 * nil, booleans, integers of 64 bits, str, bin, array, map.  The writer takes the shortest form.
 * The reader never allocates and never believes a count: an array or map that announces more items
 * than bytes are left is refused.
 */
#ifndef RH_FORMATS_MP_H
#define RH_FORMATS_MP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

int rh_mp_put_nil(struct rh_buf *b);
int rh_mp_put_bool(struct rh_buf *b, bool v);
int rh_mp_put_int(struct rh_buf *b, int64_t v);
int rh_mp_put_bin(struct rh_buf *b, struct rh_span s);
/* The head only; the caller appends exactly n bytes. */
int rh_mp_put_bin_head(struct rh_buf *b, uint32_t n);
int rh_mp_put_str(struct rh_buf *b, struct rh_span s);
int rh_mp_put_array(struct rh_buf *b, uint32_t n);
int rh_mp_put_map(struct rh_buf *b, uint32_t n);
/* A map whose count (up to 65,535) is not known yet: begin it, and with what that returned end it.
 */
size_t rh_mp_begin_map(struct rh_buf *b);
void rh_mp_end_map(struct rh_buf *b, size_t begin, uint32_t n);

/* What is left to read. */
struct rh_mp {
    const uint8_t *data;
    size_t left;
};

enum rh_mp_type {
    RH_MP_END, /* nothing left */
    RH_MP_NIL,
    RH_MP_BOOL,
    RH_MP_INT,
    RH_MP_STR,
    RH_MP_BIN,
    RH_MP_ARRAY,
    RH_MP_MAP,
    RH_MP_OTHER, /* floats, ext: valid, but only to be skipped */
};

void rh_mp_init(struct rh_mp *m, struct rh_span s);
enum rh_mp_type rh_mp_peek(const struct rh_mp *m);

/* 0, or -1 when the next value is of another type, does not fit, or is cut. */
int rh_mp_get_nil(struct rh_mp *m);
int rh_mp_get_bool(struct rh_mp *m, bool *v);
int rh_mp_get_int(struct rh_mp *m, int64_t *v);
/* Within min..max. */
int rh_mp_get_int_in(struct rh_mp *m, int64_t min, int64_t max, int64_t *v);
/* Spans point into the input. */
int rh_mp_get_bin(struct rh_mp *m, struct rh_span *s);
int rh_mp_get_str(struct rh_mp *m, struct rh_span *s);
/* n items follow; a map has n pairs. */
int rh_mp_get_array(struct rh_mp *m, uint32_t *n);
int rh_mp_get_map(struct rh_mp *m, uint32_t *n);
/* Pass over one value of any type and depth, without recursion. */
int rh_mp_skip(struct rh_mp *m);

#endif
