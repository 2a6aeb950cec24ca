/*
 * common/span.h
 *
 * Bytes that somebody else owns.  Not terminated; may hold NULs.
 */
#ifndef RH_COMMON_SPAN_H
#define RH_COMMON_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct rh_span {
    const char *data; /* NULL: no value at all (SQL NULL, unknown), where that is told apart */
    size_t len;
};

#define RH_SPAN_NONE ((struct rh_span){NULL, 0})
#define RH_SPAN_LITERAL(s) ((struct rh_span){"" s "", sizeof(s) - 1})

static inline struct rh_span rh_span(const char *data, size_t len)
{
    return (struct rh_span){data, len};
}

static inline struct rh_span rh_span_cstr(const char *text)
{
    return text ? (struct rh_span){text, strlen(text)} : RH_SPAN_NONE;
}

/* Same bytes; no value equals only no value. */
static inline bool rh_span_equal(struct rh_span a, struct rh_span b)
{
    return a.len == b.len && !a.data == !b.data &&
           (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool rh_span_is(struct rh_span a, const char *text)
{
    return a.data && a.len == strlen(text) && memcmp(a.data, text, a.len) == 0;
}

/* The same, whatever the case of ASCII's letters. */
static inline bool rh_span_is_nocase(struct rh_span a, const char *text)
{
    return a.data && a.len == strlen(text) && strncasecmp(a.data, text, a.len) == 0;
}

static inline bool rh_span_starts(struct rh_span a, const char *text)
{
    size_t n = strlen(text);
    return a.len >= n && memcmp(a.data, text, n) == 0;
}

#endif
