/*
 * The parsers of what stands in a log's fields, each by itself: time stamps, messages, lists of
 * parameters, a csv record.  The first byte of an input says which; the rest is the field.
 */
#include <string.h>

#include "common/alloc.h"
#include "formats/csvlog.h"
#include "formats/log_params.h"
#include "formats/log_time.h"
#include "formats/logmsg.h"
#include "fuzz_target.h"

static void require_inside(struct rh_span part, struct rh_span whole)
{
    rh_fuzz_require(!part.data || (part.data >= whole.data && part.len <= whole.len &&
                                   part.data - whole.data <= (ptrdiff_t) (whole.len - part.len)),
                    "a part lies in its text");
}

/* Two lines: a stamp, and the one of a session's start behind it. */
static void stamps(struct rh_span text)
{
    struct rh_log_clock clock;
    struct rh_log_stamp start;
    struct rh_log_stamp stamp;
    rh_log_clock_init(&clock);
    const char *feed = memchr(text.data, '\n', text.len);
    size_t first = feed ? (size_t) (feed - text.data) : text.len;
    struct rh_span rest = feed ? rh_span(feed + 1, text.len - first - 1) : RH_SPAN_NONE;
    int32_t offset_s = RH_LOG_OFFSET_UNKNOWN;
    if (rest.data && rh_log_stamp_parse(&clock, rest, &start)) {
        offset_s = rh_log_clock_learn(&clock, start, INT64_C(1772359200));
        rh_fuzz_require(offset_s == RH_LOG_OFFSET_UNKNOWN || offset_s % 900 == 0,
                        "an offset is quarters of an hour");
    }
    for (int again = 0; again < 2; again++) {
        if (rh_log_stamp_parse(&clock, rh_span(text.data, first), &stamp)) {
            rh_fuzz_require(stamp.zone < clock.zone_count, "the zone is one of the clock's");
            rh_log_clock_utc(&clock, stamp, stamp.zone, offset_s);
        }
    }
}

static void message(struct rh_span text)
{
    static const char *const tags[] = {"PARSE", "BIND", "SELECT", "idle", ""};
    struct rh_logmsg_reader reader;
    struct rh_logmsg m;
    struct rh_span name;
    struct rh_span body;
    rh_logmsg_reader_init(&reader);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        rh_logmsg_classify(&reader, text, rh_span(tags[i], strlen(tags[i])), &m);
        require_inside(m.body, text);
        rh_fuzz_require(m.timed == (m.duration_ns >= 0), "a duration is known or not");
        if (m.klass >= RH_LOGMSG_PARSE && m.klass <= RH_LOGMSG_FETCH) {
            rh_logmsg_split(&m, RH_SPAN_NONE, &name, &body);
            require_inside(name, text);
            require_inside(body, text);
            rh_logmsg_split(&m, rh_span(text.data + text.len / 2, text.len - text.len / 2), &name,
                            &body);
            require_inside(body, text);
        }
        require_inside(rh_logmsg_application(&reader, text), text);
    }
    require_inside(rh_logmsg_prepare(&reader, text), text);
    require_inside(rh_logmsg_parameters(text), text);
    require_inside(rh_logmsg_context_parameters(text), text);
    require_inside(rh_logmsg_server_version(text), text);
    rh_logmsg_severity(&reader, text, rh_span("42601", 5));
    rh_logmsg_is_cancel(text);
    rh_logmsg_is_statement_timeout(text);
}

static void params(char *text, size_t len)
{
    struct rh_log_params p;
    int64_t whole;
    int64_t dotted;
    rh_log_params_init(&p);
    int rc = rh_log_params_parse(&p, text, len);
    rh_fuzz_require(rc != 0 || p.count > 0, "a list has a value");
    for (uint32_t i = 0; i < p.count; i++) {
        require_inside(rh_span(p.items[i].data, p.items[i].len), rh_span(text, len));
    }
    rh_log_params_lengths(&p, &whole, &dotted);
    rh_fuzz_require(whole <= (int64_t) len && dotted <= (int64_t) len, "a length is of a value");
    rh_log_params_release(&p);
}

static void row(char *text, size_t len)
{
    struct rh_csvlog_row r;
    bool sure = false;
    size_t start = rh_csvlog_find_start(text, len, false, &sure);
    rh_fuzz_require(start <= len, "a start lies in the bytes");
    start = rh_csvlog_find_start(text, len, true, &sure);
    rh_fuzz_require(start <= len && (start == len || sure), "at the end a start is sure");
    rh_fuzz_require(rh_csvlog_split(text, len, false, &r) <= (ptrdiff_t) len,
                    "it uses what is there");
    ptrdiff_t used = rh_csvlog_split(text, len, true, &r);
    rh_fuzz_require(used != 0 || len == 0, "at the end it needs no more");
    for (uint32_t i = 0; used > 0 && i < r.columns; i++) {
        rh_fuzz_require(r.ends[i] <= (size_t) used && (i == 0 || r.ends[i] > r.ends[i - 1]),
                        "fields follow each other");
        struct rh_span raw = rh_csvlog_raw(&r, i);
        struct rh_span folded = rh_csvlog_text(&r, i);
        rh_fuzz_require(folded.len <= raw.len, "folding adds nothing");
        require_inside(folded, rh_span(text, len));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    /* The parsers fold in place, and the input is not theirs. */
    size_t len = size - 1;
    char *text = rh_malloc(len);
    memcpy(text, data + 1, len);
    switch (data[0] & 3) {
    case 0:
        stamps(rh_span(text, len));
        break;
    case 1:
        message(rh_span(text, len));
        break;
    case 2:
        params(text, len);
        break;
    default:
        row(text, len);
    }
    rh_free(text);
    return 0;
}
