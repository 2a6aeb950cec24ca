/* formats/csvlog.c */
#include "formats/csvlog.h"

#include <string.h>

#include "formats/csv_masks.h"

enum {
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

struct split_state {
    uint64_t in_quotes;   /* all ones while the block before ended within quotes */
    uint64_t after_close; /* 1 if its last byte was a closing quote */
    uint64_t may_open;    /* 1 if a quote may open on the first byte of this block */
    uint64_t twins;       /* not 0 if a quote was doubled */
};

/*
 * A quote opens a field only behind a comma or at the start, or goes on behind a closing one (a
 * doubled quote); a closing quote is followed by a comma, the line end or another quote. Everything
 * else means that the record is damaged; a lost quote shows at the next quote at the latest, which
 * keeps the damage from eating its neighbours.
 */
static inline uint64_t quoting_faults(const struct rh_csv_masks *m, uint64_t inside,
                                      struct split_state *s)
{
    uint64_t opens = m->quote & inside, closes = m->quote & ~inside;
    uint64_t before = ((m->comma | m->feed | m->quote) << 1) | s->may_open;
    uint64_t behind = (closes << 1) | s->after_close;
    s->may_open = (m->comma | m->feed | m->quote) >> 63;
    s->after_close = closes >> 63;
    s->twins |= behind & m->quote;
    return (opens & ~before) | (behind & ~(m->comma | m->feed | m->quote));
}

/* A CR between a closing quote and the line feed, or the end of the input, is no fault. */
static bool is_line_end(const char *data, size_t n, size_t at)
{
    return data[at] == '\r' && (at + 1 == n || data[at + 1] == '\n');
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

/* The last block, made full with commas that then count for nothing. */
static uint64_t last_block(const char *p, size_t n, struct rh_csv_masks *m)
{
    char padded[RH_CSV_BLOCK];
    memset(padded, ',', sizeof padded);
    memcpy(padded, p, n);
    rh_csv_masks_make(padded, m);
    uint64_t valid = rh_csv_bits_through((unsigned) (n - 1));
    m->quote &= valid;
    m->comma &= valid;
    return valid;
}

static inline __attribute__((always_inline)) ptrdiff_t split(char *data, size_t n, bool at_end,
                                                             struct rh_csvlog_row *row, bool avx2)
{
    struct split_state s = {.may_open = 1};
    uint32_t columns = 0;
    for (size_t base = 0; base < n; base += RH_CSV_BLOCK) {
        struct rh_csv_masks m;
        uint64_t valid = ~UINT64_C(0);
        unsigned tail = 63;
        if (n - base < RH_CSV_BLOCK) {
            tail = (unsigned) (n - base - 1);
            valid = last_block(data + base, n - base, &m);
        } else if (avx2) {
            rh_csv_masks_make_avx2(data + base, &m);
        } else {
            rh_csv_masks_make(data + base, &m);
        }
        uint64_t inside = rh_csv_parity(m.quote) ^ s.in_quotes;
        uint64_t feeds = m.feed & ~inside;
        unsigned last = feeds ? (unsigned) __builtin_ctzll(feeds) : 63;
        uint64_t mine = rh_csv_bits_through(last) & valid;
        uint64_t faults = quoting_faults(&m, inside, &s) & mine;
        if (faults) {
            size_t at = base + (unsigned) __builtin_ctzll(faults);
            if (data[at] == '\r' && at + 1 == n && !at_end) {
                return 0;
            }
            if (!is_line_end(data, n, at)) {
                return fail(row, RH_CSVLOG_QUOTING);
            }
        }
        if (m.nul & mine) {
            return fail(row, RH_CSVLOG_NUL);
        }
        for (uint64_t c = m.comma & ~inside & mine; c; c &= c - 1) {
            if (columns == RH_CSVLOG_FIELDS_MAX - 1) {
                return fail(row, RH_CSVLOG_COLUMNS);
            }
            row->ends[columns++] = (uint32_t) base + (unsigned) __builtin_ctzll(c);
        }
        uint64_t inner_feeds = m.feed & inside & mine;
        if (inner_feeds) {
            row->lines += (uint32_t) __builtin_popcountll(inner_feeds);
        }
        if (feeds) {
            row->twins = s.twins != 0;
            row->columns = columns;
            return finish(row, base + last, true);
        }
        s.in_quotes = 0 - (inside >> tail & 1);
    }
    if (n > RH_CSVLOG_RECORD_MAX_BYTES) {
        return fail(row, RH_CSVLOG_TOO_LONG);
    }
    if (!at_end) {
        return 0;
    }
    row->twins = s.twins != 0;
    row->columns = columns;
    return s.in_quotes ? fail(row, RH_CSVLOG_TRUNCATED) : finish(row, n, false);
}

#if defined(__x86_64__)
static __attribute__((target("avx2,bmi"))) ptrdiff_t split_avx2(char *data, size_t n, bool at_end,
                                                                struct rh_csvlog_row *row)
{
    return split(data, n, at_end, row, true);
}
#endif

ptrdiff_t rh_csvlog_split(char *data, size_t n, bool at_end, struct rh_csvlog_row *row)
{
    row->data = data;
    row->columns = 0;
    row->lines = 0;
    if (n < STAMP_MIN + 1) {
        return at_end ? fail(row, RH_CSVLOG_TRUNCATED) : 0;
    }
    if (!has_stamp_form(data)) {
        return fail(row, RH_CSVLOG_NO_STAMP);
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return split_avx2(data, n, at_end, row);
    }
#endif
    return split(data, n, at_end, row, false);
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
    if (row->twins && text > row->data && text[-1] == '"') {
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

/* The closing quote of a field whose text begins at p[at]; n if it may lie behind the input. */
static size_t closing_quote(const char *p, size_t n, size_t at)
{
    while (at < n) {
        const char *quote = memchr(p + at, '"', n - at);
        if (!quote || quote + 1 == p + n) {
            break;
        }
        at = (size_t) (quote - p);
        if (p[at + 1] != '"') {
            return at;
        }
        at += 2;
    }
    return n;
}

/* The field at *pos: past its comma in *pos.  0 done, 1 the input ends in it, -1 not a field. */
static int head_field(const char *p, size_t n, size_t *pos, struct rh_span *field)
{
    size_t at = *pos;
    if (at < n && p[at] == '"') {
        size_t start = at + 1, end = closing_quote(p, n, at + 1);
        if (end == n) {
            return 1;
        }
        *field = rh_span(p + start, end - start);
        *pos = end + 2;
        return p[end + 1] == ',' ? 0 : -1;
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
