/* capture/log_repeat.c */
#include "capture/log_repeat.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "formats/log_digits.h"

enum { STEP = 16, DIGITS_MAX = 18, DISPLAY_MAX = 64 };

struct cursor {
    char *at;
    const char *end;
};

/* A value in quotes, the cursor on its first quote, up to behind the last one. */
struct quoted {
    char *data;
    size_t len;
    uint32_t feeds;
    bool twins; /* a quote in it is doubled */
};

#if defined(__SSE2__)

/* Bytes of the step that are quotes or NULs (*stops), and line feeds. */
static inline uint32_t look(const char *p, uint32_t *feeds)
{
    const __m128i v = _mm_loadu_si128((const __m128i *) (const void *) p);
    const __m128i quotes = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    const __m128i nuls = _mm_cmpeq_epi8(v, _mm_setzero_si128());
    *feeds = (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
    return (uint32_t) _mm_movemask_epi8(_mm_or_si128(quotes, nuls));
}

#else

static inline uint32_t look(const char *p, uint32_t *feeds)
{
    uint32_t stops = 0;
    *feeds = 0;
    for (uint32_t i = 0; i < STEP; i++) {
        stops |= (uint32_t) (p[i] == '"' || p[i] == '\0') << i;
        *feeds |= (uint32_t) (p[i] == '\n') << i;
    }
    return stops;
}

#endif

/* Up to the next quote or NUL at or behind p; NULL when the input may end before it. */
static inline char *next_stop(char *p, const char *end, uint32_t *feeds)
{
    while (end - p >= STEP) {
        uint32_t here, stops = look(p, &here);
        if (stops) {
            uint32_t first = (uint32_t) __builtin_ctz(stops);
            here &= (UINT32_C(1) << first) - 1;
            *feeds += here ? (uint32_t) __builtin_popcount(here) : 0;
            return p + first;
        }
        *feeds += here ? (uint32_t) __builtin_popcount(here) : 0;
        p += STEP;
    }
    return NULL;
}

static inline bool take_quoted(struct cursor *c, struct quoted *q)
{
    if (*c->at != '"') {
        return false;
    }
    char *p = q->data = c->at + 1;
    q->feeds = 0;
    q->twins = false;
    for (;;) {
        p = next_stop(p, c->end, &q->feeds);
        if (!p || *p != '"' || c->end - p < 2) {
            return false;
        }
        if (p[1] != '"') {
            q->len = (size_t) (p - q->data);
            c->at = p + 1;
            return true;
        }
        q->twins = true;
        p += 2;
    }
}

static inline bool take_bytes(struct cursor *c, const char *bytes, size_t n)
{
    if ((size_t) (c->end - c->at) <= n || memcmp(c->at, bytes, n) != 0) {
        return false;
    }
    c->at += n;
    return true;
}

static inline bool take_byte(struct cursor *c, char byte)
{
    return *c->at++ == byte;
}

/* Digits, of which there may be none, and how many; the caller has looked that the input goes on
 * for DIGITS_MAX bytes and one. */
static inline uint32_t take_digits(struct cursor *c, uint64_t *v)
{
    uint32_t n = rh_log_digits8(c->at, v);
    uint64_t sum = *v;
    unsigned digit;
    if (n == 8) {
        while (n < DIGITS_MAX && (digit = (unsigned char) c->at[n] - '0') <= 9) {
            sum = sum * 10 + digit;
            n++;
        }
        *v = sum;
    }
    c->at += n;
    return n;
}

/* Any digits whose value does not matter. */
static inline uint32_t pass_digits(struct cursor *c)
{
    uint32_t n = 0;
    while (n < DIGITS_MAX && (unsigned char) (c->at[n] - '0') <= 9) {
        n++;
    }
    c->at += n;
    return n;
}

static bool has_room(const struct cursor *c, size_t n)
{
    return (size_t) (c->end - c->at) > n;
}

static inline bool take_display(struct cursor *c, struct rh_log_entry *e)
{
    struct quoted q;
    if (!take_quoted(c, &q) || q.twins || q.feeds > 0) {
        return false;
    }
    e->tag = rh_span(q.data, q.len);
    return take_byte(c, ',');
}

/* Virtual transaction id and transaction id. */
static inline bool take_transaction(struct cursor *c, uint64_t *lxid)
{
    *lxid = 0;
    if (pass_digits(c) > 0) {
        if (!take_byte(c, '/') || take_digits(c, lxid) == 0) {
            return false;
        }
    }
    if (!take_byte(c, ',')) {
        return false;
    }
    (void) pass_digits(c);
    return take_byte(c, ',');
}

/* Their lengths are few: names, hosts and process ids of one or another number of bytes. */
static struct rh_log_head *find(struct rh_log_heads *heads, struct cursor *c)
{
    for (uint32_t i = 0; i < RH_LOG_HEAD_LENS; i++) {
        uint32_t len = heads->lens[i];
        if (!has_room(c, len) || c->at[len] != ',' || len < RH_LOG_HEAD_MIN) {
            continue;
        }
        struct rh_log_head *h = rh_log_heads_slot(heads, c->at, len);
        if (h->len == len && h->tail_len > 0 && memcmp(c->at, h->bytes, len) == 0) {
            if (i > 0) {
                heads->lens[i] = heads->lens[i - 1];
                heads->lens[i - 1] = (uint16_t) len;
            }
            c->at += len + 1;
            return h;
        }
    }
    return NULL;
}

/* What follows the detail, the line end included. */
static inline bool take_tail(struct cursor *c, const struct rh_log_head *h)
{
    if ((size_t) (c->end - c->at) < h->tail_len || memcmp(c->at, h->tail, h->tail_len) != 0) {
        return false;
    }
    c->at += h->tail_len;
    if (!h->has_query_id) {
        return true;
    }
    if (!has_room(c, DIGITS_MAX + 3)) {
        return false;
    }
    c->at += *c->at == '-';
    (void) pass_digits(c);
    c->at += *c->at >= '0' && *c->at <= '9'; /* it has up to 19 */
    return take_byte(c, '\n');
}

static struct rh_span fold(const struct quoted *q)
{
    return rh_span(q->data, q->twins ? rh_csvlog_fold_quotes(q->data, q->len) : q->len);
}

static struct rh_span tail_span(const struct rh_log_piece *piece, const char *tail)
{
    return piece->set ? rh_span(tail + piece->at, piece->len) : RH_SPAN_NONE;
}

size_t rh_log_repeat_read(struct rh_log_heads *heads, char *data, size_t n,
                          const struct rh_log_clock *clock, struct rh_log_entry *e, uint32_t *lines)
{
    static const char level[] = "LOG,00000,";
    enum { LEVEL_LEN = sizeof level - 1, NUMBERS_MAX = 4 * DIGITS_MAX + 8 + LEVEL_LEN };
    struct cursor c = {data, data + n};
    size_t stamp_len = heads->stamp_len;
    if (!has_room(&c, stamp_len) || data[stamp_len] != ',' ||
        !rh_log_stamp_repeat(clock, rh_span(data, stamp_len), &e->stamp)) {
        return 0;
    }
    c.at += stamp_len + 1;
    const struct rh_log_head *h = find(heads, &c);
    if (!h || !has_room(&c, NUMBERS_MAX) || take_digits(&c, &e->line) == 0 || !take_byte(&c, ',') ||
        !take_display(&c, e) || !take_bytes(&c, h->start, h->start_len) ||
        !has_room(&c, NUMBERS_MAX) || !take_byte(&c, ',') || !take_transaction(&c, &e->lxid)) {
        return 0;
    }
    const char *sqlstate = c.at + 4;
    struct quoted message, detail = {0};
    if (memcmp(c.at, level, LEVEL_LEN) != 0) {
        return 0;
    }
    c.at += LEVEL_LEN;
    if (!take_quoted(&c, &message) || !take_byte(&c, ',') || !has_room(&c, 0) ||
        (*c.at == '"' && !take_quoted(&c, &detail))) {
        return 0;
    }
    const char *tail = c.at;
    if (!take_tail(&c, h)) {
        return 0;
    }
    rh_log_entry_use_head(e, h);
    e->severity = RH_LOG_SEVERITY_LOG;
    e->sqlstate = rh_span(sqlstate, 5);
    e->idle = rh_log_idle_of(e->tag);
    e->message = fold(&message);
    e->detail = detail.data ? fold(&detail) : RH_SPAN_NONE;
    e->context = e->query = RH_SPAN_NONE;
    e->application = tail_span(&h->application, tail);
    e->backend_type = tail_span(&h->backend_type, tail);
    e->may_cut = h->may_cut;
    *lines = message.feeds + detail.feeds + 1;
    return (size_t) (c.at - data);
}

/* One line, and no quote that would have to be folded. */
static bool is_plain(const struct rh_csvlog_row *row, uint32_t column)
{
    struct rh_span raw = rh_csvlog_raw(row, column);
    return raw.len == 0 || (!memchr(raw.data, '"', raw.len) && !memchr(raw.data, '\n', raw.len));
}

static struct rh_log_piece piece_of(const struct rh_csvlog_row *row, uint32_t column,
                                    const char *tail)
{
    struct rh_span raw = rh_csvlog_raw(row, column);
    if (!raw.data) {
        return (struct rh_log_piece){0};
    }
    return (struct rh_log_piece){(uint16_t) (raw.data - tail), (uint16_t) raw.len, true};
}

static void see_length(struct rh_log_heads *heads, uint32_t len)
{
    uint32_t i = 0;
    while (i < RH_LOG_HEAD_LENS - 1 && heads->lens[i] != len) {
        i++;
    }
    heads->lens[i] = (uint16_t) len;
}

static bool is_learnable(const struct rh_csvlog_row *row)
{
    static const uint8_t columns[] = {
        RH_CSVLOG_USER,          RH_CSVLOG_DATABASE,    RH_CSVLOG_CLIENT,
        RH_CSVLOG_SESSION_START, RH_CSVLOG_APPLICATION, RH_CSVLOG_BACKEND_TYPE,
        RH_CSVLOG_LEADER_PID,
    };
    for (size_t i = 0; i < sizeof columns; i++) {
        if (!is_plain(row, columns[i])) {
            return false;
        }
    }
    /* Unknown columns are counted, elsewhere. */
    return !row->crlf && row->data[row->len - 1] == '\n' && !rh_csvlog_is_unknown(row) &&
           row->ends[RH_CSVLOG_LOCATION] - row->ends[RH_CSVLOG_DETAIL] ==
               RH_CSVLOG_LOCATION - RH_CSVLOG_DETAIL;
}

void rh_log_repeat_learn(struct rh_log_heads *heads, struct rh_log_head *h,
                         const struct rh_csvlog_row *row)
{
    bool has_query_id = row->columns > RH_CSVLOG_QUERY_ID;
    size_t from = row->ends[RH_CSVLOG_DETAIL];
    size_t to = has_query_id ? row->ends[RH_CSVLOG_LEADER_PID] + 1 : row->len;
    const char *tail = row->data + from;
    heads->stamp_len = row->ends[RH_CSVLOG_TIME];
    see_length(heads, h->len);
    if (to - from > sizeof h->tail ||
        (h->tail_len == to - from && memcmp(h->tail, tail, h->tail_len) == 0)) {
        return;
    }
    h->tail_len = 0;
    if (!is_learnable(row)) {
        return;
    }
    h->has_query_id = has_query_id;
    h->application = piece_of(row, RH_CSVLOG_APPLICATION, tail);
    h->backend_type = piece_of(row, RH_CSVLOG_BACKEND_TYPE, tail);
    h->may_cut = rh_log_entry_may_cut(row);
    h->tail_len = (uint32_t) (to - from);
    memcpy(h->tail, tail, h->tail_len);
}
