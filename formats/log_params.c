/* formats/log_params.c */
#include "formats/log_params.h"

#include <string.h>

#include "common/alloc.h"

void rh_log_params_init(struct rh_log_params *p)
{
    memset(p, 0, sizeof *p);
}

void rh_log_params_release(struct rh_log_params *p)
{
    rh_free(p->items);
    memset(p, 0, sizeof *p);
}

/* "$N = " with the N that is due: how long it is, 0 if it is not there. */
static size_t label_len(const char *text, size_t len, uint32_t number)
{
    if (len < 1 || text[0] != '$') {
        return 0;
    }
    uint32_t v = 0;
    size_t i = 1;
    for (; i < len && text[i] >= '0' && text[i] <= '9' && v < 100000; i++) {
        v = v * 10 + (uint32_t) (text[i] - '0');
    }
    return v == number && len - i >= 3 && memcmp(text + i, " = ", 3) == 0 ? i + 3 : 0;
}

/* A value in quotes from text[0] on, folded in place.  Bytes used, 0 if it does not end. */
static size_t value_fold(char *text, size_t len, uint32_t *folded)
{
    char *from = text + 1, *to = text + 1;
    const char *end = text + len;
    for (;;) {
        char *quote = memchr(from, '\'', (size_t) (end - from));
        if (!quote) {
            return 0;
        }
        size_t piece = (size_t) (quote - from);
        if (to != from) {
            memmove(to, from, piece);
        }
        to += piece;
        if (quote + 1 == end || quote[1] != '\'') {
            *folded = (uint32_t) (to - (text + 1));
            return (size_t) (quote + 1 - text);
        }
        *to++ = '\'';
        from = quote + 2;
    }
}

int rh_log_params_parse(struct rh_log_params *p, char *text, size_t len)
{
    p->count = 0;
    size_t pos = 0;
    while (p->count < RH_LOG_PARAMS_MAX) {
        size_t label = label_len(text + pos, len - pos, p->count + 1);
        if (label == 0) {
            return -1;
        }
        pos += label;
        RH_GROW(p->items, p->count, p->cap);
        struct rh_param *item = &p->items[p->count];
        *item = (struct rh_param){0};
        if (len - pos >= 4 && memcmp(text + pos, "NULL", 4) == 0) {
            pos += 4;
        } else if (pos < len && text[pos] == '\'') {
            size_t used = value_fold(text + pos, len - pos, &item->len);
            if (used == 0) {
                return -1;
            }
            item->data = text + pos + 1;
            pos += used;
        } else {
            return -1;
        }
        p->count++;
        if (pos == len) {
            return 0;
        }
        if (len - pos < 2 || memcmp(text + pos, ", ", 2) != 0) {
            return -1;
        }
        pos += 2;
    }
    return -1;
}

void rh_log_params_lengths(const struct rh_log_params *p, int64_t *whole, int64_t *dotted)
{
    *whole = *dotted = -1;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct rh_param *item = &p->items[i];
        if (!item->data) {
            continue;
        }
        bool dots = item->len >= 3 && memcmp(item->data + item->len - 3, "...", 3) == 0;
        int64_t n = dots ? (int64_t) item->len - 3 : (int64_t) item->len;
        int64_t *longest = dots ? dotted : whole;
        if (n > *longest) {
            *longest = n;
        }
    }
}
