#include <assert.h>
#include <stdio.h>

#include "common/clock.h"
#include "formats/pg_write.h"
#include "replay/session_parts.h"
#include "replay/step_play.h"

/* Reads before other sessions of the worker have their turn. */
enum { READS_MAX = 16 };

static void answer_copy_in(struct rh_replay_session *s)
{
    struct rh_buf *out = &s->worker->out;
    rh_buf_clear(out);
    int rc = rh_pg_write_copy_fail(out, RH_SPAN_LITERAL("the capture has no COPY data"), NULL);
    /* The Sync that was sent with the Execute was read and ignored as part of the COPY. */
    if (s->request.extended && s->exchange.end == RH_EXCHANGE_READY) {
        rc |= rh_pg_write_sync(out, NULL);
    }
    assert(rc == 0);
    (void) rc;
    rh_replay_session_send(s);
}

static void lose_by_fatal(struct rh_replay_session *s)
{
    char how[64];
    snprintf(how, sizeof how, "the server ended the session (%s)", s->exchange.fatal);
    rh_replay_session_lose(s, how);
}

/* False: the connection is gone. */
static bool take_event(struct rh_replay_session *s, const struct rh_pg_event *ev, int64_t now_ns)
{
    char how[64];
    bool was_active = s->exchange.is_active;
    if (s->steps && !was_active) {
        return rh_step_play_take(s->steps, ev, now_ns);
    }
    switch (rh_exchange_take(&s->exchange, ev, now_ns)) {
    case RH_EXCHANGE_GOES_ON:
        break;
    case RH_EXCHANGE_ENDED:
        rh_replay_session_finish_exchange(s, now_ns);
        break;
    case RH_EXCHANGE_COPY_IN:
        answer_copy_in(s);
        break;
    case RH_EXCHANGE_FATAL:
        if (was_active) {
            rh_replay_session_finish_exchange(s, now_ns);
        }
        lose_by_fatal(s);
        break;
    case RH_EXCHANGE_BAD:
        snprintf(how, sizeof how, "unexpected message 0x%02x from the server",
                 (unsigned) (unsigned char) ev->type);
        rh_replay_session_lose(s, how);
        break;
    }
    return s->conn != NULL;
}

/* Scan what was read.  False: the connection is gone. */
static bool scan(struct rh_replay_session *s, const char *data, size_t n, int64_t now_ns)
{
    struct rh_error err;
    while (n > 0) {
        struct rh_pg_event ev;
        ptrdiff_t used = rh_pg_scan_next(&s->scan, data, n, &ev, &err);
        if (used < 0) {
            rh_replay_session_lose(s, err.text);
            return false;
        }
        if (s->exchange.is_active) {
            s->exchange.outcome.bytes += used;
        }
        if (!take_event(s, &ev, now_ns)) {
            return false;
        }
        data += used;
        n -= (size_t) used;
    }
    return true;
}

/* Read while there is more.  False: the connection is gone. */
static bool read_on(struct rh_replay_session *s)
{
    struct rh_worker *w = s->worker;
    struct rh_error err;
    bool again = true;
    size_t total = 0;
    for (int i = 0; again && i < READS_MAX; i++) {
        ssize_t n = rh_conn_read(s->conn, w->input, RH_WORKER_INPUT_BYTES, &again, &err);
        if (n < 0) {
            rh_replay_session_lose(s, err.text);
            return false;
        }
        if (!scan(s, w->input, (size_t) n, rh_clock_mono_ns())) {
            return false;
        }
        total += (size_t) n;
    }
    s->reads_much = total >= RH_ROUND_INPUT_BYTES;
    if (again && !s->again.posted) {
        rh_loop_post(w->loop, &s->again);
    }
    return true;
}

/* What was read has been scanned. */
static void go_on(struct rh_replay_session *s)
{
    if (s->state == RH_REPLAY_IDLE || (s->steps && s->state == RH_REPLAY_BUSY)) {
        rh_replay_session_step(s);
    } else if (s->state == RH_REPLAY_RESTORING && !s->exchange.is_active) {
        rh_replay_session_restore(s, rh_clock_mono_ns());
    }
}

/* Wait for what the connection wants now. */
static void change_watch(struct rh_replay_session *s)
{
    struct rh_error err;
    if (s->conn &&
        rh_loop_watch_change(s->worker->loop, &s->watch, rh_conn_interest(s->conn), &err) != 0) {
        rh_replay_session_lose(s, err.text);
    }
}

static void ready(struct rh_watch *watch, uint32_t events)
{
    struct rh_replay_session *s = watch->ctx;
    struct rh_error err;
    (void) events;
    if (!s->reads_much && rh_round_read(&s->worker->round, s)) {
        return;
    }
    if (rh_conn_pending(s->conn) > 0 && rh_conn_flush(s->conn, &err) != 0) {
        rh_replay_session_lose(s, err.text);
        return;
    }
    rh_replay_session_read(s);
}

void rh_replay_session_read(struct rh_replay_session *s)
{
    if (read_on(s)) {
        go_on(s);
    }
    change_watch(s);
}

void rh_replay_session_received(struct rh_replay_session *s, const char *data, ssize_t result,
                                int64_t now_ns)
{
    struct rh_error err;
    bool again;
    ssize_t n = rh_conn_received(s->conn, result, RH_ROUND_INPUT_BYTES, &again, &err);
    if (n < 0) {
        rh_replay_session_lose(s, err.text);
        return;
    }
    if (scan(s, data, (size_t) n, now_ns) && (!again || read_on(s))) {
        go_on(s);
    }
    change_watch(s);
}

void rh_replay_session_sent(struct rh_replay_session *s, struct rh_span bytes, ssize_t result)
{
    rh_conn_sent(s->conn, bytes, result);
    change_watch(s);
}

int rh_replay_session_watch(struct rh_replay_session *s, struct rh_error *err)
{
    s->watch = (struct rh_watch){.ready = ready, .ctx = s};
    return rh_loop_watch(s->worker->loop, &s->watch, rh_conn_fd(s->conn), rh_conn_interest(s->conn),
                         err);
}

int rh_replay_session_send(struct rh_replay_session *s)
{
    struct rh_error err;
    if (rh_round_send(&s->worker->round, s, rh_buf_span(&s->worker->out))) {
        rh_buf_clear(&s->worker->out);
        return 0;
    }
    if (!s->conn) {
        return -1;
    }
    int rc = rh_conn_send_buf(s->conn, &s->worker->out, &err);
    rh_worker_trim(s->worker);
    if (rc != 0) {
        rh_replay_session_lose(s, err.text);
        return -1;
    }
    change_watch(s);
    return s->conn ? 0 : -1;
}
