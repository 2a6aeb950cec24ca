#include "replay/probe.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/loop.h"
#include "common/stop.h"
#include "formats/pg_message.h"
#include "formats/pg_write.h"

enum { QUERY_MAX_BYTES = 64 * 1024, INPUT_BYTES = 8192, ANSWER_MAX_BYTES = 256 * 1024 };

void rh_probe_init(struct rh_probe *p, struct rh_conn *conn)
{
    *p = (struct rh_probe){.conn = conn};
    rh_pg_scan_init(&p->scan, RH_PG_BACKEND, RH_PG_BODY_MAX);
    rh_buf_init(&p->out, QUERY_MAX_BYTES);
    rh_buf_init(&p->answer, ANSWER_MAX_BYTES);
}

void rh_probe_release(struct rh_probe *p)
{
    rh_pg_scan_release(&p->scan);
    rh_buf_release(&p->out);
    rh_buf_release(&p->answer);
}

static int wait_for(struct rh_probe *p, int64_t until_ns, struct rh_error *err)
{
    uint32_t interest = rh_conn_interest(p->conn);
    int64_t left_ns = until_ns - rh_clock_mono_ns();
    short events =
        (short) ((interest & RH_LOOP_READ ? POLLIN : 0) | (interest & RH_LOOP_WRITE ? POLLOUT : 0));
    struct pollfd fds[] = {{.fd = rh_conn_fd(p->conn), .events = events},
                           {.fd = rh_stop_fd(), .events = POLLIN}};
    if (left_ns <= 0) {
        p->has_timed_out = true;
        return rh_error_set(err, RH_ERR_NET, "the server does not answer");
    }
    poll(fds, 2, (int) (left_ns / RH_NS_PER_MS) + 1);
    if (rh_stop_requested()) {
        return rh_error_set(err, RH_ERR_STOPPED, "stopped");
    }
    return 0;
}

static int scan_answers(struct rh_probe *p, const char *data, size_t n, struct rh_error *err)
{
    int64_t now_ns = rh_clock_mono_ns();
    if (!p->answer.over) {
        rh_buf_add(&p->answer, data, n);
    }
    while (n > 0) {
        struct rh_pg_event ev;
        ptrdiff_t used = rh_pg_scan_next(&p->scan, data, n, &ev, err);
        if (used < 0) {
            return -1;
        }
        enum rh_exchange_turn turn = rh_exchange_take(&p->exchange, &ev, now_ns);
        if (turn != RH_EXCHANGE_GOES_ON && turn != RH_EXCHANGE_ENDED) {
            return rh_error_set(err, RH_ERR_NET, "the server ended the connection (%s)",
                                p->exchange.fatal);
        }
        data += used;
        n -= (size_t) used;
    }
    return 0;
}

int rh_probe_ask(struct rh_probe *p, const char *sql, int64_t timeout_ns, struct rh_error *err)
{
    rh_buf_clear(&p->out);
    rh_buf_clear(&p->answer);
    p->has_timed_out = false;
    if (rh_pg_write_query(&p->out, rh_span_cstr(sql), err) != 0) {
        return -1;
    }
    rh_exchange_begin(&p->exchange, RH_EXCHANGE_READY);
    p->asked_ns = rh_clock_mono_ns();
    int64_t until_ns = p->asked_ns + timeout_ns;
    if (rh_conn_send(p->conn, rh_buf_span(&p->out), err) != 0) {
        return -1;
    }
    while (p->exchange.is_active) {
        char input[INPUT_BYTES];
        bool again;
        if (rh_conn_pending(p->conn) > 0 && rh_conn_flush(p->conn, err) != 0) {
            return -1;
        }
        ssize_t n = rh_conn_read(p->conn, input, sizeof input, &again, err);
        if (n < 0 || scan_answers(p, input, (size_t) n, err) != 0) {
            return -1;
        }
        if (n == 0 && !again && wait_for(p, until_ns, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The next message of this type that is there whole; the scanner has found the lengths sound. */
static bool next_message(const struct rh_probe *p, size_t *at, char type, struct rh_span *body)
{
    enum { HEAD = 5 };
    while (p->answer.len - *at >= HEAD) {
        const uint8_t *head = (const uint8_t *) p->answer.data + *at;
        size_t length = (size_t) head[1] << 24 | (size_t) head[2] << 16 | (size_t) head[3] << 8 |
                        (size_t) head[4]; /* with its own four bytes */
        if (length < 4 || length > p->answer.len - *at - 1) {
            return false;
        }
        *at += 1 + length;
        if (head[0] == (uint8_t) type) {
            *body = rh_span((const char *) head + HEAD, length - 4);
            return true;
        }
    }
    return false;
}

int rh_probe_columns(const struct rh_probe *p, struct rh_span *first)
{
    struct rh_span body;
    size_t at = 0;
    *first = RH_SPAN_NONE;
    if (!next_message(p, &at, 'T', &body) || body.len < 2) {
        return -1;
    }
    const uint8_t *count = (const uint8_t *) body.data;
    *first = rh_span(body.data + 2, strnlen(body.data + 2, body.len - 2));
    return count[0] << 8 | count[1];
}

bool rh_probe_next_row(const struct rh_probe *p, size_t *at, struct rh_probe_row *row)
{
    struct rh_span body;
    while (next_message(p, at, 'D', &body)) {
        int columns = rh_pg_row_decode(body, row->values, RH_PROBE_COLUMNS_MAX);
        if (columns >= 0) {
            row->count = (uint32_t) columns;
            return true;
        }
    }
    return false;
}

void rh_probe_describe_error(const struct rh_probe *p, char *text, size_t size)
{
    struct rh_span body;
    struct rh_pg_report report;
    size_t at = 0;
    text[0] = '\0';
    if (next_message(p, &at, 'E', &body) && rh_pg_report_decode(body, false, &report) == 0) {
        snprintf(text, size, "%.*s: %.*s", (int) report.sqlstate.len, report.sqlstate.data,
                 (int) report.message.len, report.message.data);
    }
}
