#include "replay/exchange.h"

#include <assert.h>
#include <string.h>

#include "formats/pg_message.h"

void rh_exchange_begin(struct rh_exchange *x, enum rh_exchange_end end)
{
    assert(!x->is_active);
    x->is_active = true;
    x->end = end;
    x->parse_done = x->copy_failed = x->needs_sync = false;
    x->fatal[0] = '\0';
    x->data_rows = 0;
    rh_outcome_clear(&x->outcome);
    x->outcome.sqlstate = 0;
    x->outcome.bytes = 0;
}

/* Messages that the server may send at any time and that answer nothing. */
static bool is_unasked(int type)
{
    return type == 'N' || type == 'S' || type == 'A';
}

static void note_first(struct rh_exchange *x, const struct rh_pg_event *ev, int64_t now_ns)
{
    int type = ev->type ? ev->type : ev->partial;
    bool answers = ev->rows > 0 || ev->copies > 0 || (type != 0 && !is_unasked(type));
    if (answers && x->outcome.first_ns == RH_TIME_UNKNOWN) {
        x->outcome.first_ns = now_ns;
    }
}

/* One result ended: its rows are those its tag counts, else those that were seen. */
static void add_result(struct rh_exchange *x, int64_t tag_rows)
{
    int64_t rows = tag_rows;
    if (rows == RH_COUNT_UNKNOWN && x->data_rows > 0) {
        rows = (int64_t) x->data_rows;
    }
    if (rows != RH_COUNT_UNKNOWN) {
        int64_t before = x->outcome.rows == RH_COUNT_UNKNOWN ? 0 : x->outcome.rows;
        if (__builtin_add_overflow(before, rows, &x->outcome.rows)) {
            x->outcome.rows = INT64_MAX;
        }
    }
    x->data_rows = 0;
}

static void take_tag(struct rh_exchange *x, struct rh_span body)
{
    struct rh_pg_tag tag;
    x->outcome.results++;
    if (rh_pg_tag_decode(body, &tag) != 0) {
        add_result(x, RH_COUNT_UNKNOWN);
        return;
    }
    add_result(x, tag.rows);
    size_t n = tag.name.len < sizeof x->tag_text ? tag.name.len : sizeof x->tag_text;
    memcpy(x->tag_text, tag.name.data, n);
    x->outcome.tag = rh_span(x->tag_text, n);
}

static enum rh_exchange_turn end(struct rh_exchange *x, int64_t now_ns)
{
    x->is_active = false;
    x->outcome.done_ns = now_ns;
    return RH_EXCHANGE_ENDED;
}

static enum rh_exchange_turn take_error(struct rh_exchange *x, const struct rh_pg_event *ev,
                                        int64_t now_ns)
{
    struct rh_pg_report report;
    uint32_t sqlstate = RH_SQLSTATE_UNKNOWN;
    bool fatal = false;
    if (rh_pg_report_decode(ev->body, ev->body_cut, &report) == 0) {
        sqlstate = rh_sqlstate_pack(report.sqlstate);
        fatal = rh_pg_report_is_fatal(&report);
    }
    if (x->is_active) {
        x->outcome.sqlstate = sqlstate;
        if (x->data_rows > 0) {
            add_result(x, RH_COUNT_UNKNOWN);
        }
    }
    if (fatal) {
        rh_sqlstate_unpack(sqlstate, x->fatal);
        if (x->is_active) {
            end(x, now_ns);
        }
        return RH_EXCHANGE_FATAL;
    }
    if (!x->is_active || x->end == RH_EXCHANGE_READY) {
        return RH_EXCHANGE_GOES_ON;
    }
    x->needs_sync = true;
    return end(x, now_ns);
}

static enum rh_exchange_turn take_end_of_execution(struct rh_exchange *x, int64_t now_ns)
{
    return x->end == RH_EXCHANGE_EXECUTION ? end(x, now_ns) : RH_EXCHANGE_GOES_ON;
}

enum rh_exchange_turn rh_exchange_take(struct rh_exchange *x, const struct rh_pg_event *ev,
                                       int64_t now_ns)
{
    if (x->is_active) {
        note_first(x, ev, now_ns);
        x->data_rows += ev->rows + ev->copies;
    } else if (ev->rows > 0 || ev->copies > 0) {
        return RH_EXCHANGE_BAD;
    }
    if (ev->type == 'E') {
        return take_error(x, ev, now_ns);
    }
    if (ev->type == 0 || is_unasked(ev->type)) {
        return RH_EXCHANGE_GOES_ON;
    }
    if (!x->is_active) {
        return RH_EXCHANGE_BAD;
    }

    switch (ev->type) {
    case 'C':
        take_tag(x, ev->body);
        return take_end_of_execution(x, now_ns);
    case 'I': /* EmptyQueryResponse */
        x->outcome.results++;
        return take_end_of_execution(x, now_ns);
    case 's': /* PortalSuspended */
        x->outcome.results++;
        add_result(x, RH_COUNT_UNKNOWN);
        return take_end_of_execution(x, now_ns);
    case '1':
        x->parse_done = true;
        return x->end == RH_EXCHANGE_PARSING ? end(x, now_ns) : RH_EXCHANGE_GOES_ON;
    case 'G':
        x->copy_failed = true;
        return RH_EXCHANGE_COPY_IN;
    case 'Z':
        x->outcome.tx_status = rh_pg_ready_decode(ev->body);
        return x->end == RH_EXCHANGE_READY ? end(x, now_ns) : RH_EXCHANGE_BAD;
    case 'W': /* CopyBothResponse: a stream of replication, which is never asked for */
        return RH_EXCHANGE_BAD;
    default:
        return RH_EXCHANGE_GOES_ON;
    }
}
