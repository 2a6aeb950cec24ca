/* formats/csvlog.c */
#include "formats/csvlog.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    BLOCK = 64,
    HEAD_MAX = 4096, /* bytes of a record up to its line number that find_start() looks at */
    STAMP_MIN = 19,
};

const char *rh_csvlog_fault_text(enum rh_csvlog_fault fault)
{
    switch (fault) {
    case RH_CSVLOG_OK:
        return "no fault";
    case RH_CSVLOG_NO_STAMP:
        return "no time stamp at its start";
    case RH_CSVLOG_QUOTING:
        return "a quote in the wrong place";
    case RH_CSVLOG_COLUMNS:
        return "too few or too many columns";
    case RH_CSVLOG_NUL:
        return "NUL bytes";
    case RH_CSVLOG_TRUNCATED:
        return "cut at the end of the input";
    case RH_CSVLOG_TOO_LONG:
        return "longer than 64 MiB";
    case RH_CSVLOG_FIELD:
        return "a field that cannot be";
    case RH_CSVLOG_FAULT_COUNT:
        break;
    }
    return "unknown";
}

/* One bit a byte of a block, the lowest for the first byte. */
struct masks {
    uint64_t quote;
    uint64_t comma;
    uint64_t feed;
    uint64_t nul;
};

#if defined(__SSE2__)

static uint64_t mask_of(const __m128i v[4], char byte)
{
    const __m128i want = _mm_set1_epi8(byte);
    uint64_t m0 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[0], want));
    uint64_t m1 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[1], want));
    uint64_t m2 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[2], want));
    uint64_t m3 = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v[3], want));
    return m0 | m1 << 16 | m2 << 32 | m3 << 48;
}

static void masks_make(const char *p, struct masks *m)
{
    __m128i v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = _mm_loadu_si128((const __m128i *) (const void *) (p + 16 * i));
    }
    m->quote = mask_of(v, '"');
    m->comma = mask_of(v, ',');
    m->feed = mask_of(v, '\n');
    m->nul = mask_of(v, '\0');
}

#else

/* The eight bytes of a word that equal `byte`, as eight bits. */
static uint64_t mask_of_word(uint64_t word, unsigned char byte)
{
    uint64_t x = word ^ (UINT64_C(0x0101010101010101) * byte);
    uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t zero = ~(((x & low7) + low7) | x | low7); /* 0x80 in each byte that is zero */
    return (zero * UINT64_C(0x0002040810204081)) >> 56;
}

static void masks_make(const char *p, struct masks *m)
{
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < BLOCK / 8; i++) {
        uint64_t word = 0;
        for (unsigned j = 0; j < 8; j++) {
            word |= (uint64_t) (unsigned char) p[8 * i + j] << (8 * j);
        }
        m->quote |= mask_of_word(word, '"') << (8 * i);
        m->comma |= mask_of_word(word, ',') << (8 * i);
        m->feed |= mask_of_word(word, '\n') << (8 * i);
        m->nul |= mask_of_word(word, '\0') << (8 * i);
    }
}

#endif

/* Each bit becomes the parity of itself and all lower ones. */
static uint64_t parity_below(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    x ^= x << 32;
    return x;
}

/* Bits 0 .. last. */
static uint64_t bits_through(unsigned last)
{
    return ~UINT64_C(0) >> (63 - last);
}

struct split_state {
    uint64_t in_quotes;   /* all ones while the block before ended within quotes */
    uint64_t after_close; /* 1 if its last byte was a closing quote */
    uint64_t may_open;    /* 1 if a quote may open on the first byte of this block */
};

/*
 * A quote opens a field only behind a comma or at the start, or goes on behind a closing one (a
 * doubled quote); a closing quote is followed by a comma, the line end or another quote. Everything
 * else means that the record is damaged; a lost quote shows at the next quote at the latest, which
 * keeps the damage from eating its neighbours.
 */
static uint64_t quoting_faults(const struct masks *m, uint64_t inside, struct split_state *s)
{
    uint64_t opens = m->quote & inside, closes = m->quote & ~inside;
    uint64_t before = ((m->comma | m->feed | m->quote) << 1) | s->may_open;
    uint64_t behind = (closes << 1) | s->after_close;
    s->may_open = (m->comma | m->feed | m->quote) >> 63;
    s->after_close = closes >> 63;
    return (opens & ~before) | (behind & ~(m->comma | m->feed | m->quote));
}

/* A CR between a closing quote and the line feed is no fault. */
static bool is_line_end(const char *data, size_t n, size_t at, bool at_end)
{
    return data[at] == '\r' && (at + 1 == n ? true : data[at + 1] == '\n') &&
           (at + 1 < n || at_end);
}

static ptrdiff_t fail(struct rh_csvlog_row *row, enum rh_csvlog_fault fault)
{
    row->fault = fault;
    return -1;
}

static ptrdiff_t finish(struct rh_csvlog_row *row, size_t end, bool has_feed)
{
    size_t text_end = end;
    row->crlf = text_end > 0 && row->data[text_end - 1] == '\r';
    if (row->crlf) {
        text_end--;
    }
    if (row->columns == RH_CSVLOG_FIELDS_MAX) {
        return fail(row, RH_CSVLOG_COLUMNS);
    }
    row->ends[row->columns++] = (uint32_t) text_end;
    row->len = end + has_feed;
    row->lines += has_feed;
    if (row->columns < RH_CSVLOG_COLUMNS_MIN || row->columns > RH_CSVLOG_COLUMNS_MAX) {
        return fail(row, has_feed ? RH_CSVLOG_COLUMNS : RH_CSVLOG_TRUNCATED);
    }
    row->fault = RH_CSVLOG_OK;
    return (ptrdiff_t) row->len;
}

/* By four bytes: the fields are looked at later, this only keeps garbage from being cut as a
 * record. */
static bool has_stamp_form(const char *p)
{
    p += *p == '"';
    return p[4] == '-' && p[7] == '-' && p[13] == ':' && p[16] == ':';
}

ptrdiff_t rh_csvlog_split(char *data, size_t n, bool at_end, struct rh_csvlog_row *row)
{
    struct split_state s = {.may_open = 1};
    char padded[BLOCK];
    row->data = data;
    row->columns = 0;
    row->lines = 0;
    if (n < STAMP_MIN + 1) {
        if (!at_end) {
            return 0;
        }
        return fail(row, RH_CSVLOG_TRUNCATED);
    }
    if (!has_stamp_form(data)) {
        return fail(row, RH_CSVLOG_NO_STAMP);
    }
    for (size_t base = 0; base < n; base += BLOCK) {
        struct masks m;
        uint64_t valid = ~UINT64_C(0);
        if (n - base >= BLOCK) {
            masks_make(data + base, &m);
        } else {
            memset(padded, ',', sizeof padded);
            memcpy(padded, data + base, n - base);
            masks_make(padded, &m);
            valid = bits_through((unsigned) (n - base - 1));
            m.quote &= valid;
            m.comma &= valid;
        }
        uint64_t inside = parity_below(m.quote) ^ s.in_quotes;
        uint64_t feeds = m.feed & ~inside;
        unsigned last = feeds ? (unsigned) __builtin_ctzll(feeds) : 63;
        uint64_t mine = bits_through(last) & valid;
        uint64_t faults = quoting_faults(&m, inside, &s) & mine;
        if (faults && !is_line_end(data, n, base + (unsigned) __builtin_ctzll(faults), at_end)) {
            size_t at = base + (unsigned) __builtin_ctzll(faults);
            if (data[at] == '\r' && at + 1 == n) {
                return 0;
            }
            return fail(row, RH_CSVLOG_QUOTING);
        }
        if (m.nul & mine) {
            return fail(row, RH_CSVLOG_NUL);
        }
        for (uint64_t c = m.comma & ~inside & mine; c; c &= c - 1) {
            if (row->columns == RH_CSVLOG_FIELDS_MAX - 1) {
                return fail(row, RH_CSVLOG_COLUMNS);
            }
            row->ends[row->columns++] = (uint32_t) base + (unsigned) __builtin_ctzll(c);
        }
        uint64_t inner_feeds = m.feed & inside & mine;
        if (inner_feeds) {
            row->lines += (uint32_t) __builtin_popcountll(inner_feeds);
        }
        if (feeds) {
            return finish(row, base + last, true);
        }
        s.in_quotes =
            valid == ~UINT64_C(0) ? 0 - (inside >> 63) : 0 - (inside >> (n - base - 1) & 1);
    }
    if (n > RH_CSVLOG_RECORD_MAX_BYTES) {
        return fail(row, RH_CSVLOG_TOO_LONG);
    }
    if (!at_end) {
        return 0;
    }
    return s.in_quotes ? fail(row, RH_CSVLOG_TRUNCATED) : finish(row, n, false);
}

struct rh_span rh_csvlog_raw(const struct rh_csvlog_row *row, uint32_t column)
{
    if (column >= row->columns) {
        return RH_SPAN_NONE;
    }
    size_t start = column ? row->ends[column - 1] + 1 : 0;
    size_t len = row->ends[column] - start;
    const char *p = row->data + start;
    if (len == 0) {
        return RH_SPAN_NONE;
    }
    return *p == '"' && len >= 2 ? rh_span(p + 1, len - 2) : rh_span(p, len);
}

/* Fold a doubled `twin` into one, or drop a CR before a line feed. */
static size_t fold(char *text, size_t len, char first, char second)
{
    char *from = memchr(text, first, len), *to = from;
    const char *end = text + len;
    while (from) {
        /* *from is `first`, and everything before it has its place. */
        if (from + 1 < end && from[1] == second) {
            from++;
        }
        *to++ = *from++;
        char *next = memchr(from, first, (size_t) (end - from));
        size_t gap = (size_t) ((next ? next : end) - from);
        memmove(to, from, gap);
        to += gap;
        from = next;
    }
    return to ? (size_t) (to - text) : len;
}

struct rh_span rh_csvlog_text(const struct rh_csvlog_row *row, uint32_t column)
{
    struct rh_span raw = rh_csvlog_raw(row, column);
    if (raw.len == 0) {
        return raw;
    }
    char *text = row->data + (raw.data - row->data);
    size_t len = raw.len;
    if (text > row->data && text[-1] == '"') {
        len = fold(text, len, '"', '"');
    }
    if (row->crlf && row->lines > 1) {
        len = fold(text, len, '\r', '\n');
    }
    return rh_span(text, len);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "2026-01-31 13:05:09" by its punctuation and digits. */
static bool is_stamp(const char *p)
{
    static const char form[] = "dddd-dd-dd dd:dd:dd";
    for (size_t i = 0; i < STAMP_MIN; i++) {
        if (form[i] == 'd' ? !is_digit(p[i]) : p[i] != form[i]) {
            return false;
        }
    }
    return true;
}

/* The field at *pos: past its comma in *pos.  0 done, 1 the input ends in it, -1 not a field. */
static int head_field(const char *p, size_t n, size_t *pos, struct rh_span *field)
{
    size_t at = *pos;
    if (at < n && p[at] == '"') {
        size_t start = ++at;
        for (;; at++) {
            const char *quote = at < n ? memchr(p + at, '"', n - at) : NULL;
            if (!quote || quote + 1 == p + n) {
                return 1;
            }
            at = (size_t) (quote - p);
            if (p[at + 1] != '"') {
                break;
            }
            at++;
        }
        *field = rh_span(p + start, at - start);
        *pos = at + 2;
        return p[at + 1] == ',' ? 0 : -1;
    }
    size_t start = at;
    while (at < n && p[at] != ',' && p[at] != '"' && p[at] != '\n') {
        at++;
    }
    if (at == n) {
        return 1;
    }
    *field = rh_span(p + start, at - start);
    *pos = at + 1;
    return p[at] == ',' ? 0 : -1;
}

static bool all_in(struct rh_span s, const char *set)
{
    size_t i = 0;
    while (i < s.len && strchr(set, s.data[i]) && s.data[i] != '\0') {
        i++;
    }
    return s.len > 0 && i == s.len;
}

/* 1 a record's head, 0 not one, -1 the input ends within what may be one. */
static int head_check(const char *p, size_t n)
{
    size_t pos = 0;
    size_t quoted = n > 0 && p[0] == '"';
    if (n < quoted + STAMP_MIN) {
        return -1;
    }
    if (!is_stamp(p + quoted)) {
        return 0;
    }
    if (n > HEAD_MAX) {
        n = HEAD_MAX;
    }
    for (unsigned column = RH_CSVLOG_TIME; column <= RH_CSVLOG_LINE; column++) {
        struct rh_span field;
        int rc = head_field(p, n, &pos, &field);
        if (rc != 0) {
            return rc < 0 || n == HEAD_MAX ? 0 : -1;
        }
        bool bad = false;
        if (column == RH_CSVLOG_TIME) {
            bad = field.len > 48;
        } else if (column == RH_CSVLOG_PID || column == RH_CSVLOG_LINE) {
            bad = !all_in(field, "0123456789");
        } else if (column == RH_CSVLOG_SESSION_ID) {
            bad = !all_in(field, "0123456789abcdef.");
        }
        if (bad) {
            return 0;
        }
    }
    return 1;
}

size_t rh_csvlog_find_start(const char *data, size_t n, bool at_end, bool *sure)
{
    *sure = false;
    /* Every stamp has a '-' on its fifth byte. */
    size_t pos = 0;
    for (;;) {
        const char *dash = n - pos > 4 ? memchr(data + pos + 4, '-', n - pos - 4) : NULL;
        if (!dash) {
            size_t tail = n - pos < STAMP_MIN + 1 ? n - pos : STAMP_MIN + 1;
            return at_end ? n : n - tail;
        }
        size_t start = (size_t) (dash - data) - 4;
        for (size_t quoted = start > 0 && data[start - 1] == '"' ? 2 : 1; quoted-- > 0;) {
            int rc = head_check(data + start - quoted, n - start + quoted);
            if (rc == 1 || (rc < 0 && !at_end)) {
                *sure = rc == 1;
                return start - quoted;
            }
        }
        pos = start + 1;
    }
}
