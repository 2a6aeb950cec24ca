#include "diff/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff/escape.h"

static char *unknown(char text[RH_HUMAN_SIZE])
{
    text[0] = '-';
    text[1] = '\0';
    return text;
}

char *rh_human_duration(double ns, char text[RH_HUMAN_SIZE])
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}};
    double size = fabs(ns);
    size_t u = 0;

    if (!isfinite(ns)) {
        return unknown(text);
    }
    /* A unit is left where its three digits would round to the next one; seconds go up to 999. */
    while (u < 3 && size >= 999.5 * units[u].ns) {
        u++;
    }
    if (u == 3 && size >= 999.5e9) {
        u = size >= 5940e9 ? 5 : 4;
    }
    double v = ns / units[u].ns;
    int decimals = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
    if (u == 0) {
        decimals = 0;
    }
    snprintf(text, RH_HUMAN_SIZE, "%.*f %s", decimals, v == 0 ? 0 : v, units[u].unit);
    return text;
}

char *rh_human_duration_signed(double ns, char text[RH_HUMAN_SIZE])
{
    char plain[RH_HUMAN_SIZE];
    rh_human_duration(ns, plain);
    snprintf(text, RH_HUMAN_SIZE, "%s%.30s", ns >= 0 ? "+" : "", plain);
    return text;
}

char *rh_human_count(uint64_t n, char text[RH_HUMAN_SIZE])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long) n);
    size_t out = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            text[out++] = ',';
        }
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return text;
}

char *rh_human_ratio(double ratio, char text[RH_HUMAN_SIZE])
{
    if (!isfinite(ratio)) {
        return unknown(text);
    }
    snprintf(text, RH_HUMAN_SIZE, "%.*fx", ratio < 99.995 ? 2 : 0, ratio);
    return text;
}

char *rh_human_share(uint64_t part, uint64_t whole, char text[RH_HUMAN_SIZE])
{
    if (whole == 0) {
        return unknown(text);
    }
    double percent = 100 * ((double) part / (double) whole);
    snprintf(text, RH_HUMAN_SIZE, "%.2f %%", floor(percent * 100 + 1e-9) / 100);
    return text;
}

/* Unassigned or invisible ones that change what the reader sees: C1, direction marks, joiners, BOM.
 */
static bool is_unsafe(int32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static bool is_wide(int32_t c)
{
    return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
           (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
           (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
           (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1f9ff) || c >= 0x20000;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void rh_human_text(struct rh_buf *out, struct rh_span s, unsigned max_columns)
{
    size_t start = out->len;
    size_t fits_dots = out->len; /* where the text may end if "..." has to follow */
    unsigned columns = 0;

    for (size_t i = 0; i < s.len;) {
        size_t len = 1;
        bool blank = is_blank(s.data[i]);
        int32_t c = blank ? ' ' : rh_utf8_next(rh_span(s.data + i, s.len - i), &len);
        if (blank && (out->len == start || out->data[out->len - 1] == ' ')) {
            i++;
            continue;
        }
        unsigned width = is_wide(c) ? 2 : 1;
        if (columns + width > max_columns) {
            out->len = fits_dots;
            rh_buf_add_cstr(out, "...");
            return;
        }
        if (blank || is_unsafe(c)) {
            rh_buf_add_byte(out, blank ? ' ' : '?');
        } else {
            rh_buf_add(out, s.data + i, len);
        }
        columns += width;
        if (columns + 3 <= max_columns) {
            fits_dots = out->len;
        }
        i += len;
    }
    if (out->len > start && out->data[out->len - 1] == ' ') {
        out->len--;
    }
}
