/* capture/log_entry.c */
#include "capture/log_entry.h"

#include <string.h>

#include "capture/log_repeat.h"

static bool read_decimal(struct rh_span s, uint64_t *v)
{
    if (s.len == 0 || s.len > 18) {
        return false;
    }
    uint64_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned char) s.data[i] - '0';
        if (digit > 9) {
            return false;
        }
        n = n * 10 + digit;
    }
    *v = n;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "6b0d2b3f.36e8": seconds since the epoch and process id, both in hexadecimal. */
static bool read_session_id(struct rh_span s, struct rh_log_entry *e)
{
    uint64_t halves[2] = {0, 0};
    int half = 0;
    size_t digits = 0;
    for (size_t i = 0; i < s.len; i++) {
        int v = hex_value(s.data[i]);
        if (v < 0) {
            if (s.data[i] != '.' || half == 1 || digits == 0) {
                return false;
            }
            half = 1;
            digits = 0;
            continue;
        }
        if (++digits > 12) {
            return false;
        }
        halves[half] = halves[half] << 4 | (unsigned) v;
    }
    if (half == 0 || digits == 0 || halves[1] > UINT32_MAX) {
        return false;
    }
    e->session_epoch_s = (int64_t) halves[0];
    e->pid = (uint32_t) halves[1];
    e->session_key = halves[0] << 32 ^ halves[1];
    return true;
}

/* "3/31", with or without a number before the slash; nothing for processes without transactions. */
static bool read_lxid(struct rh_span s, uint64_t *lxid)
{
    *lxid = 0;
    if (s.len == 0) {
        return true;
    }
    const char *slash = memchr(s.data, '/', s.len);
    if (!slash) {
        return false;
    }
    size_t used = (size_t) (slash + 1 - s.data);
    return read_decimal(rh_span(s.data + used, s.len - used), lxid);
}

enum rh_log_idle rh_log_idle_of(struct rh_span tag)
{
    if (tag.len < 4 || memcmp(tag.data, "idle", 4) != 0) {
        return RH_LOG_BUSY;
    }
    if (tag.len == 4) {
        return RH_LOG_IDLE;
    }
    return rh_span_starts(tag, "idle in transaction") ? RH_LOG_IDLE_IN_BLOCK : RH_LOG_BUSY;
}

bool rh_log_entry_may_cut(const struct rh_csvlog_row *row)
{
    return row->columns > RH_CSVLOG_BACKEND_TYPE;
}

static bool is_sqlstate(struct rh_span s)
{
    if (s.len != 5) {
        return false;
    }
    for (size_t i = 0; i < 5; i++) {
        char c = s.data[i];
        if ((c < '0' || c > '9') && (c < 'A' || c > 'Z')) {
            return false;
        }
    }
    return true;
}

/* Longer ones are in damaged logs only; checked before anything is folded in place. */
static bool names_fit(const struct rh_csvlog_row *row)
{
    return rh_csvlog_raw(row, RH_CSVLOG_USER).len <= RH_LOG_NAME_MAX_BYTES &&
           rh_csvlog_raw(row, RH_CSVLOG_DATABASE).len <= RH_LOG_NAME_MAX_BYTES &&
           rh_csvlog_raw(row, RH_CSVLOG_CLIENT).len <= RH_LOG_NAME_MAX_BYTES &&
           rh_csvlog_raw(row, RH_CSVLOG_APPLICATION).len <= RH_LOG_NAME_MAX_BYTES;
}

/* The session's columns, read field by field. */
static bool read_head(struct rh_log_entry *e, const struct rh_csvlog_row *row,
                      struct rh_log_clock *clock)
{
    uint64_t pid;
    if (!read_decimal(rh_csvlog_raw(row, RH_CSVLOG_PID), &pid) || pid > UINT32_MAX ||
        !read_session_id(rh_csvlog_raw(row, RH_CSVLOG_SESSION_ID), e)) {
        return false;
    }
    struct rh_span start = rh_csvlog_raw(row, RH_CSVLOG_SESSION_START);
    e->has_session_start = start.len > 0 && rh_log_stamp_parse(clock, start, &e->session_start);
    e->user = rh_csvlog_text(row, RH_CSVLOG_USER);
    e->database = rh_csvlog_text(row, RH_CSVLOG_DATABASE);
    e->client = rh_csvlog_raw(row, RH_CSVLOG_CLIENT);
    return true;
}

static struct rh_span keep(char **at, struct rh_span s)
{
    if (!s.data) {
        return s;
    }
    memcpy(*at, s.data, s.len);
    struct rh_span kept = rh_span(*at, s.len);
    *at += s.len;
    return kept;
}

void rh_log_entry_use_head(struct rh_log_entry *e, const struct rh_log_head *h)
{
    e->pid = h->pid;
    e->session_key = h->session_key;
    e->session_epoch_s = h->session_epoch_s;
    e->has_session_start = h->has_session_start;
    e->session_start = h->session_start;
    e->user = h->user;
    e->database = h->database;
    e->client = h->client;
}

static void keep_head(struct rh_log_head *h, const struct rh_log_entry *e)
{
    char *at = h->text;
    h->pid = e->pid;
    h->session_key = e->session_key;
    h->session_epoch_s = e->session_epoch_s;
    h->has_session_start = e->has_session_start;
    h->session_start = e->session_start;
    h->user = keep(&at, e->user);
    h->database = keep(&at, e->database);
    h->client = keep(&at, e->client);
}

static bool find_head(struct rh_log_entry *e, const struct rh_csvlog_row *row,
                      struct rh_log_clock *clock, struct rh_log_heads *heads)
{
    size_t from = row->ends[RH_CSVLOG_TIME] + 1, to = row->ends[RH_CSVLOG_SESSION_ID];
    size_t start_from = row->ends[RH_CSVLOG_TAG] + 1, start_to = row->ends[RH_CSVLOG_SESSION_START];
    const char *bytes = row->data + from, *start = row->data + start_from;
    size_t len = to - from, start_len = start_to - start_from;
    if (len < RH_LOG_HEAD_MIN || len > RH_LOG_HEAD_MAX ||
        start_len > sizeof heads->slots[0].start) {
        return read_head(e, row, clock);
    }
    struct rh_log_head *h = rh_log_heads_slot(heads, bytes, len);
    if (h->len == len && h->start_len == start_len && memcmp(h->bytes, bytes, len) == 0 &&
        memcmp(h->start, start, start_len) == 0) {
        rh_log_entry_use_head(e, h);
        rh_log_repeat_learn(heads, h, row);
        return true;
    }
    h->len = h->tail_len = 0;
    memcpy(h->bytes, bytes, len); /* before fields are folded */
    memcpy(h->start, start, start_len);
    if (!read_head(e, row, clock)) {
        return false;
    }
    keep_head(h, e);
    rh_log_entry_use_head(e, h);
    h->len = (uint32_t) len;
    h->start_len = (uint32_t) start_len;
    rh_log_repeat_learn(heads, h, row);
    return true;
}

enum rh_csvlog_fault rh_log_entry_from_csv(struct rh_log_entry *e, const struct rh_csvlog_row *row,
                                           struct rh_log_clock *clock,
                                           struct rh_logmsg_reader *messages,
                                           struct rh_log_heads *heads)
{
    if (!rh_log_stamp_parse(clock, rh_csvlog_raw(row, RH_CSVLOG_TIME), &e->stamp)) {
        return RH_CSVLOG_NO_STAMP;
    }
    struct rh_span severity = rh_csvlog_raw(row, RH_CSVLOG_SEVERITY);
    e->sqlstate = rh_csvlog_raw(row, RH_CSVLOG_SQLSTATE);
    if (!read_decimal(rh_csvlog_raw(row, RH_CSVLOG_LINE), &e->line) ||
        !read_lxid(rh_csvlog_raw(row, RH_CSVLOG_VXID), &e->lxid) || severity.len == 0 ||
        !is_sqlstate(e->sqlstate) || !names_fit(row) || !find_head(e, row, clock, heads)) {
        return RH_CSVLOG_FIELD;
    }
    e->severity = rh_logmsg_severity(messages, severity, e->sqlstate);
    e->tag = rh_csvlog_raw(row, RH_CSVLOG_TAG);
    e->idle = rh_log_idle_of(e->tag);
    e->message = rh_csvlog_text(row, RH_CSVLOG_MESSAGE);
    e->detail = rh_csvlog_text(row, RH_CSVLOG_DETAIL);
    e->context = rh_csvlog_text(row, RH_CSVLOG_CONTEXT);
    e->query = rh_csvlog_text(row, RH_CSVLOG_QUERY);
    e->application = rh_csvlog_text(row, RH_CSVLOG_APPLICATION);
    e->backend_type = rh_csvlog_raw(row, RH_CSVLOG_BACKEND_TYPE);
    e->may_cut = rh_log_entry_may_cut(row);
    return RH_CSVLOG_OK;
}
