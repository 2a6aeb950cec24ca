/* capture/log_reader.c */
#include "capture/log_reader.h"

#include <string.h>

#include "capture/log_repeat.h"
#include "common/alloc.h"
#include "formats/log_params.h"

enum { WINDOW_BYTES = 512 * 1024 };

void rh_log_reader_init(struct rh_log_reader *r)
{
    memset(r, 0, sizeof *r);
    rh_log_clock_init(&r->clock);
    rh_logmsg_reader_init(&r->messages);
    r->heads = rh_calloc(1, sizeof *r->heads);
    r->cap = WINDOW_BYTES;
    r->window = rh_malloc(r->cap);
}

void rh_log_reader_release(struct rh_log_reader *r)
{
    rh_free(r->window);
    rh_free(r->heads);
    memset(r, 0, sizeof *r);
}

void rh_log_reader_start(struct rh_log_reader *r, const char *file, rh_log_read *read,
                         void *context)
{
    r->file = file;
    r->read = read;
    r->context = context;
    r->pos = r->end = 0;
    r->window_offset = 0;
    r->line = 1;
    r->at_end = false;
    r->failed = false;
    r->skipping = false;
}

uint64_t rh_log_reader_bad(const struct rh_log_reader_counts *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < RH_CSVLOG_FAULT_COUNT; i++) {
        sum += c->bad[i];
    }
    return sum;
}

/* Keep what is behind pos and read more behind it.  The window grows for a record that fills it. */
static void refill(struct rh_log_reader *r)
{
    if (r->pos > 0) {
        memmove(r->window, r->window + r->pos, r->end - r->pos);
        r->window_offset += r->pos;
        r->end -= r->pos;
        r->pos = 0;
    }
    if (r->end > r->cap / 2 && r->cap <= RH_CSVLOG_RECORD_MAX_BYTES) {
        r->cap *= 2;
        r->window = rh_realloc(r->window, r->cap, 1);
    }
    ssize_t n = r->read(r->context, r->window + r->end, r->cap - r->end, &r->failure);
    if (n <= 0) {
        r->at_end = true;
        r->failed = n < 0;
        return;
    }
    r->end += (size_t) n;
    r->counts.bytes += (uint64_t) n;
}

static uint64_t count_feeds(const char *p, size_t n)
{
    uint64_t feeds = 0;
    const char *end = p + n;
    while (p < end && (p = memchr(p, '\n', (size_t) (end - p)))) {
        feeds++;
        p++;
    }
    return feeds;
}

static void skip_begin(struct rh_log_reader *r, enum rh_csvlog_fault fault)
{
    const char *p = r->window + r->pos;
    if (fault == RH_CSVLOG_NO_STAMP && *p == '\0') {
        fault = RH_CSVLOG_NUL;
    }
    r->piece = (struct rh_bad_sample){
        .file = r->file,
        .line = r->line,
        .byte = r->window_offset + r->pos,
        .fault = fault,
    };
    r->skipping = true;
    r->line += *p == '\n';
    r->pos++;
}

static void skip_end(struct rh_log_reader *r)
{
    struct rh_log_reader_counts *c = &r->counts;
    r->piece.bytes = r->window_offset + r->pos - r->piece.byte;
    c->records++;
    c->bad[r->piece.fault]++;
    c->bad_bytes += r->piece.bytes;
    if (c->sample_count < RH_BAD_SAMPLES_MAX) {
        c->samples[c->sample_count++] = r->piece;
    }
    r->skipping = false;
}

/* Pass over what is no record.  True when its end was found. */
static bool skip_on(struct rh_log_reader *r)
{
    bool sure;
    const char *p = r->window + r->pos;
    size_t n = rh_csvlog_find_start(p, r->end - r->pos, r->at_end, &sure);
    r->line += count_feeds(p, n);
    r->pos += n;
    if (!sure && !r->at_end) {
        return false;
    }
    skip_end(r);
    return true;
}

/* A byte order mark at the start of the file, and empty lines. */
static void skip_blank(struct rh_log_reader *r)
{
    if (r->window_offset + r->pos == 0 && r->end >= 3 &&
        memcmp(r->window, "\xef\xbb\xbf", 3) == 0) {
        r->pos = 3;
    }
    while (r->pos < r->end) {
        const char *p = r->window + r->pos;
        size_t used = *p == '\n' ? 1 : 0;
        if (*p == '\r' && r->end - r->pos >= 2 && p[1] == '\n') {
            used = 2;
        }
        if (used == 0) {
            break;
        }
        r->pos += used;
        r->line++;
    }
}

static bool take_row(struct rh_log_reader *r, const struct rh_csvlog_row *row,
                     struct rh_log_entry *e)
{
    enum rh_csvlog_fault fault = rh_log_entry_from_csv(e, row, &r->clock, &r->messages, r->heads);
    if (fault != RH_CSVLOG_OK) {
        skip_begin(r, fault);
        return false;
    }
    r->pos += row->len;
    r->entry_line = r->line;
    r->line += row->lines;
    r->counts.records++;
    r->counts.entries++;
    if (rh_csvlog_is_unknown(row)) {
        r->counts.unknown_columns++;
    }
    return true;
}

/* A record much like others of its session. */
static bool take_repeat(struct rh_log_reader *r, struct rh_log_entry *e)
{
    uint32_t lines;
    size_t used =
        rh_log_repeat_read(r->heads, r->window + r->pos, r->end - r->pos, &r->clock, e, &lines);
    if (used == 0) {
        return false;
    }
    r->pos += used;
    r->entry_line = r->line;
    r->line += lines;
    r->counts.records++;
    r->counts.entries++;
    return true;
}

int rh_log_reader_next(struct rh_log_reader *r, struct rh_log_entry *e, struct rh_error *err)
{
    struct rh_csvlog_row row;
    if (!r->skipping && take_repeat(r, e)) {
        return 1;
    }
    for (;;) {
        bool more = false;
        if (r->skipping) {
            more = !skip_on(r);
        } else {
            skip_blank(r);
            if (r->pos == r->end && r->at_end) {
                break;
            }
            ptrdiff_t used = rh_csvlog_split(r->window + r->pos, r->end - r->pos, r->at_end, &row);
            if (used > 0 && take_row(r, &row, e)) {
                return 1;
            }
            if (used < 0) {
                skip_begin(r, row.fault);
            }
            more = used == 0;
        }
        if (more) {
            refill(r);
        }
    }
    if (r->failed) {
        *err = r->failure;
        return -1;
    }
    return 0;
}

int64_t rh_log_reader_longest_value(const struct rh_log_reader *r)
{
    int64_t longest = -1;
    struct rh_log_params params;
    rh_log_params_init(&params);
    size_t at = r->pos;
    while (at < r->end) {
        struct rh_csvlog_row row;
        ptrdiff_t used = rh_csvlog_split(r->window + at, r->end - at, r->at_end, &row);
        if (used <= 0) {
            break;
        }
        at += (size_t) used;
        struct rh_span list = rh_logmsg_parameters(rh_csvlog_raw(&row, RH_CSVLOG_DETAIL));
        if (!list.data) {
            continue;
        }
        char *copy = rh_memdup(list.data, list.len);
        size_t len = rh_csvlog_fold_quotes(copy, list.len);
        int64_t whole, dotted;
        (void) rh_log_params_parse(&params, copy, len);
        rh_log_params_lengths(&params, &whole, &dotted);
        longest = whole > longest ? whole : longest;
        rh_free(copy);
    }
    rh_log_params_release(&params);
    return longest;
}
