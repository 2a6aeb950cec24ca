/*
 * formats/log_digits.h
 *
 * Decimal digits eight at a time, for the numbers that stand in each record of a log.
 */
#ifndef RH_FORMATS_LOG_DIGITS_H
#define RH_FORMATS_LOG_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Of eight bytes, each less the zero that its place should have: 0x80 in the lowest one that passes
 * its place's largest value (0x7f - value in `room`), anything in those above it. */
static inline uint64_t rh_log_digits_over(uint64_t digits, uint64_t room)
{
    return ((digits + room) | digits) & UINT64_C(0x8080808080808080);
}

/* How many of the eight bytes at p are digits up to the first that is none, and their value. */
static inline uint32_t rh_log_digits8(const char *p, uint64_t *v)
{
    uint64_t w;
    memcpy(&w, p, 8);
    w ^= UINT64_C(0x3030303030303030);
    uint64_t over = rh_log_digits_over(w, UINT64_C(0x7676767676767676));
    uint32_t n = over ? (uint32_t) __builtin_ctzll(over) / 8 : 8;
    *v = 0;
    if (n > 0) {
        w <<= 64 - 8 * n; /* leading zeros */
        w = w * 10 + (w >> 8);
        uint64_t even = (w & UINT64_C(0x000000ff000000ff)) * (100 + (UINT64_C(1000000) << 32));
        uint64_t odd = (w >> 16 & UINT64_C(0x000000ff000000ff)) * (1 + (UINT64_C(10000) << 32));
        *v = (even + odd) >> 32;
    }
    return n;
}

/* ":SS.mmm " at p, in milliseconds; -1 if it is none. */
static inline int64_t rh_log_digits_seconds(const char *p)
{
    uint64_t w, form;
    memcpy(&w, p, 8);
    memcpy(&form, ":00.000 ", 8);
    w ^= form;
    if (rh_log_digits_over(w, UINT64_C(0x7f7676767f76767f))) {
        return -1;
    }
    uint64_t ms = (w >> 8 & 15) * 10000 + (w >> 16 & 15) * 1000 + (w >> 32 & 15) * 100 +
                  (w >> 40 & 15) * 10 + (w >> 48 & 15);
    return (int64_t) ms;
}

#else

static inline uint32_t rh_log_digits8(const char *p, uint64_t *v)
{
    uint32_t n = 0;
    *v = 0;
    for (; n < 8 && p[n] >= '0' && p[n] <= '9'; n++) {
        *v = *v * 10 + (uint64_t) (p[n] - '0');
    }
    return n;
}

static inline int64_t rh_log_digits_seconds(const char *p)
{
    static const uint16_t worth[8] = {0, 10000, 1000, 0, 100, 10, 1, 0};
    int64_t ms = 0;
    for (int i = 0; i < 8; i++) {
        unsigned digit = (unsigned char) p[i] - '0';
        if (worth[i] ? digit > 9 : p[i] != ":00.000 "[i]) {
            return -1;
        }
        ms += worth[i] * (int64_t) digit;
    }
    return ms;
}

#endif

#endif
