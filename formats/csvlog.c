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
    uint64_t in_quotes; /* all ones while the block before ended within quotes */
    uint64_t marks;     /* quotes, commas and line feeds of the block before */
    uint64_t closes;    /* its closing quotes */
    uint64_t twins;     /* not 0 if a quote was doubled */
    uint32_t columns;
    uint32_t inner_feeds;
};

/* The row begins as behind a comma. */
static const struct split_state split_begin = {.marks = UINT64_C(1) << 63};

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
    uint64_t marks = m->comma | m->feed | m->quote;
    uint64_t before = marks << 1 | s->marks >> 63;
    uint64_t behind = closes << 1 | s->closes >> 63;
    s->marks = marks;
    s->closes = closes;
    s->twins |= behind & m->quote;
    return (opens & ~before) | (behind & ~marks);
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

/* These choose at compile time. */
static inline __attribute__((always_inline)) void make_masks(const char *p, struct rh_csv_masks *m,
                                                             bool avx2)
{
#if defined(__x86_64__)
    if (avx2) {
        rh_csv_masks_make_avx2(p, m);
        return;
    }
#endif
    (void) avx2;
    rh_csv_masks_make(p, m);
}

static inline __attribute__((always_inline)) uint64_t parity(uint64_t x, bool avx2)
{
#if defined(__x86_64__)
    if (avx2) {
        return rh_csv_parity_avx2(x);
    }
#endif
    (void) avx2;
    return rh_csv_parity(x);
}

static inline __attribute__((always_inline)) uint32_t lowest(uint64_t x, bool avx2)
{
#if defined(__x86_64__)
    if (avx2) {
        return rh_csv_lowest_avx2(x);
    }
#endif
    (void) avx2;
    return rh_csv_lowest(x);
}

/* The ends of the fields whose commas are set, eight at a time: what is written too much is
 * overwritten by the next block, and a branch that is never foreseen costs more. */
static inline __attribute__((always_inline)) void put_ends(uint32_t *ends, uint64_t commas,
                                                           uint32_t count, uint32_t base, bool avx2)
{
    for (uint32_t done = 0; done < count; done += RH_CSVLOG_ENDS_STEP) {
#pragma GCC unroll 8
        for (uint32_t i = 0; i < RH_CSVLOG_ENDS_STEP; i++) {
            ends[done + i] = base + lowest(commas, avx2);
            commas &= commas - 1;
        }
    }
}

enum step { STEP_ON, STEP_ROW, STEP_FAIL, STEP_MORE };

struct input {
    const char *data;
    size_t n;
    bool at_end;
};

static enum step __attribute__((noinline))
judge_fault(const struct input *in, size_t at, struct rh_csvlog_row *row)
{
    if (in->data[at] == '\r' && at + 1 == in->n && !in->at_end) {
        return STEP_MORE;
    }
    if (!is_line_end(in->data, in->n, at)) {
        row->fault = RH_CSVLOG_QUOTING;
        return STEP_FAIL;
    }
    return STEP_ON;
}

/* One block of the row: its fields' ends; *feed is where it ends if it does. `valid` are the bytes
 * that count. */
static inline __attribute__((always_inline)) enum step
take_block(const struct input *in, size_t base, const struct rh_csv_masks *m, uint64_t valid,
           struct split_state *s, struct rh_csvlog_row *row, size_t *feed, bool avx2)
{
    uint64_t inside = parity(m->quote, avx2) ^ s->in_quotes;
    uint64_t feeds = m->feed & ~inside;
    uint64_t mine = (feeds ^ (feeds - 1)) & valid; /* up to the first one, or all */
    uint64_t faults = quoting_faults(m, inside, s) & mine;
    if (__builtin_expect(faults != 0, 0)) {
        enum step step = judge_fault(in, base + (unsigned) __builtin_ctzll(faults), row);
        if (step != STEP_ON) {
            return step;
        }
    }
    if (__builtin_expect((m->nul & mine) != 0, 0)) {
        row->fault = RH_CSVLOG_NUL;
        return STEP_FAIL;
    }
    uint64_t commas = m->comma & ~inside & mine;
    uint32_t count = (uint32_t) __builtin_popcountll(commas);
    if (__builtin_expect(s->columns + count > RH_CSVLOG_FIELDS_MAX - 1, 0)) {
        row->fault = RH_CSVLOG_COLUMNS;
        return STEP_FAIL;
    }
    put_ends(row->ends + s->columns, commas, count, (uint32_t) base, avx2);
    s->columns += count;
    uint64_t inner_feeds = m->feed & inside & mine;
    if (__builtin_expect(inner_feeds != 0, 0)) {
        s->inner_feeds += (uint32_t) __builtin_popcountll(inner_feeds);
    }
    if (feeds) {
        *feed = base + (unsigned) __builtin_ctzll(feeds);
        return STEP_ROW;
    }
    s->in_quotes = 0 - (inside >> 63);
    return STEP_ON;
}

/* The last block, made full with commas that then count for nothing. */
static uint64_t last_masks(const char *p, size_t n, struct rh_csv_masks *m)
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

static ptrdiff_t finish_split(struct rh_csvlog_row *row, const struct split_state *s, size_t end,
                              bool has_feed)
{
    row->twins = s->twins != 0;
    row->columns = s->columns;
    row->lines = s->inner_feeds;
    return finish(row, end, has_feed);
}

/* The rest of the input, less than a block, in which a whole row seldom ends. */
static ptrdiff_t __attribute__((noinline))
split_rest(const struct input *in, size_t base, struct split_state s, struct rh_csvlog_row *row)
{
    struct rh_csv_masks m;
    size_t feed = 0;
    if (base < in->n) {
        uint64_t valid = last_masks(in->data + base, in->n - base, &m);
        enum step step = take_block(in, base, &m, valid, &s, row, &feed, false);
        if (step != STEP_ON) {
            return step == STEP_ROW    ? finish_split(row, &s, feed, true)
                   : step == STEP_MORE ? 0
                                       : -1;
        }
    }
    if (in->n > RH_CSVLOG_RECORD_MAX_BYTES) {
        return fail(row, RH_CSVLOG_TOO_LONG);
    }
    if (!in->at_end) {
        return 0;
    }
    /* The bytes behind the end are no quotes, so the last bit tells of the last byte too. */
    return s.in_quotes ? fail(row, RH_CSVLOG_TRUNCATED) : finish_split(row, &s, in->n, false);
}

static inline __attribute__((always_inline)) ptrdiff_t split(const struct input *in,
                                                             struct rh_csvlog_row *row, bool avx2)
{
    struct split_state s = split_begin;
    size_t base = 0, feed = 0;
    for (; in->n - base >= RH_CSV_BLOCK; base += RH_CSV_BLOCK) {
        struct rh_csv_masks m;
        make_masks(in->data + base, &m, avx2);
        enum step step = take_block(in, base, &m, ~UINT64_C(0), &s, row, &feed, avx2);
        if (step == STEP_ON) {
            continue;
        }
        return step == STEP_ROW ? finish_split(row, &s, feed, true) : step == STEP_MORE ? 0 : -1;
    }
    return split_rest(in, base, s, row);
}

#if defined(__x86_64__)
static RH_CSV_TARGET_AVX2 ptrdiff_t split_avx2(const struct input *in, struct rh_csvlog_row *row)
{
    return split(in, row, true);
}
#endif

ptrdiff_t rh_csvlog_split(char *data, size_t n, bool at_end, struct rh_csvlog_row *row)
{
    row->data = data;
    row->columns = 0;
    row->lines = 0;
    const struct input in = {data, n, at_end};
    if (n < STAMP_MIN + 1) {
        return at_end ? fail(row, RH_CSVLOG_TRUNCATED) : 0;
    }
    if (!has_stamp_form(data)) {
        return fail(row, RH_CSVLOG_NO_STAMP);
    }
#if defined(__x86_64__)
    if (rh_csv_has_avx2()) {
        return split_avx2(&in, row);
    }
#endif
    return split(&in, row, false);
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

size_t rh_csvlog_fold_quotes(char *text, size_t len)
{
    return fold(text, len, '"', '"');
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
