#include "common/buf.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"

void rh_buf_init(struct rh_buf *b, size_t max)
{
    *b = (struct rh_buf){.max = max};
}

void rh_buf_release(struct rh_buf *b)
{
    rh_free(b->data);
    *b = (struct rh_buf){.max = b->max};
}

void rh_buf_clear(struct rh_buf *b)
{
    b->len = 0;
    b->over = false;
}

static void buf_grow(struct rh_buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap : 256;
    while (cap < need) {
        cap = cap > b->max / 2 ? b->max : cap * 2;
    }
    b->data = rh_realloc(b->data, cap, 1);
    b->cap = cap;
}

char *rh_buf_reserve_more(struct rh_buf *b, size_t n)
{
    if (b->over || n > b->max - b->len) {
        b->over = true;
        return NULL;
    }
    if (n > b->cap - b->len || !b->data) {
        buf_grow(b, b->len + n);
    }
    return b->data + b->len;
}

int rh_buf_add_cstr(struct rh_buf *b, const char *text)
{
    return rh_buf_add(b, text, strlen(text));
}

int rh_buf_add_byte(struct rh_buf *b, uint8_t byte)
{
    return rh_buf_add(b, &byte, 1);
}

int rh_buf_add_be16(struct rh_buf *b, uint16_t v)
{
    v = htobe16(v);
    return rh_buf_add(b, &v, sizeof v);
}

int rh_buf_add_be32(struct rh_buf *b, uint32_t v)
{
    v = htobe32(v);
    return rh_buf_add(b, &v, sizeof v);
}

int rh_buf_add_be64(struct rh_buf *b, uint64_t v)
{
    v = htobe64(v);
    return rh_buf_add(b, &v, sizeof v);
}

int rh_buf_addf(struct rh_buf *b, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    /* The declaration's format attribute has checked the arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int n = vsnprintf(NULL, 0, format, args);
    char *at = n < 0 ? NULL : rh_buf_reserve(b, (size_t) n + 1);
    if (at) {
        vsnprintf(at, (size_t) n + 1, format, again);
        b->len += (size_t) n;
    }
#pragma GCC diagnostic pop
    va_end(again);
    va_end(args);
    return at ? 0 : -1;
}

const char *rh_buf_cstr(struct rh_buf *b)
{
    if (b->len == b->cap || !b->data) {
        /* The terminator may lie one byte past the maximum. */
        b->data = rh_realloc(b->data, b->len + 1, 1);
        b->cap = b->len + 1;
    }
    b->data[b->len] = '\0';
    return b->data;
}
