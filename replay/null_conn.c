#include "replay/null_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "formats/record.h"
#include "replay/null_server_parts.h"
#include "replay/null_write.h"

static void on_ready(struct rh_watch *watch, uint32_t events);
static void on_timer(struct rh_timer *timer, int64_t now_ns);

struct rh_null_conn *rh_null_conn_new(int fd, uint64_t serial, bool is_refused)
{
    struct rh_null_conn *c = rh_calloc(1, sizeof *c);
    int on = 1;
    c->fd = fd;
    c->serial = serial;
    c->is_refused = is_refused;
    c->watch = (struct rh_watch){.ready = on_ready, .ctx = c};
    c->timer = (struct rh_timer){.fire = on_timer, .ctx = c};
    c->open_task = (struct rh_task){.run = rh_null_worker_open, .ctx = c};
    rh_buf_init(&c->unsent, RH_NULL_OUT_MAX);
    rh_buf_init(&c->untaken, RH_NULL_INPUT_BYTES);
    /* A Unix socket knows no such option, and needs none. */
    (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return c;
}

/* Give the connection up; its socket stays open. */
static void conn_free(struct rh_null_conn *c)
{
    rh_loop_unwatch(c->worker->loop, &c->watch);
    rh_timer_cancel(c->worker->loop, &c->timer);
    rh_null_worker_forget(c->worker, c);
    rh_null_session_release(&c->session);
    rh_buf_release(&c->unsent);
    rh_buf_release(&c->untaken);
    rh_free(c);
}

static void conn_close(struct rh_null_conn *c)
{
    int fd = c->fd;
    conn_free(c);
    close(fd);
}

/* Send what can be sent; the bytes that went, -1: the client is gone. */
static ssize_t send_some(struct rh_null_conn *c, const char *data, size_t n)
{
    size_t at = 0;
    while (at < n) {
        ssize_t sent = send(c->fd, data + at, n - at, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0) {
            return errno == EAGAIN || errno == EWOULDBLOCK ? (ssize_t) at : -1;
        }
        at += (size_t) sent;
        c->worker->bytes_sent += (uint64_t) sent;
    }
    return (ssize_t) at;
}

/* Send the worker's out; what does not go is kept. */
static int send_out(struct rh_null_conn *c)
{
    struct rh_buf *out = &c->worker->out;
    ssize_t sent = send_some(c, out->data, out->len);
    if (sent >= 0 && (size_t) sent < out->len) {
        rh_buf_add(&c->unsent, out->data + sent, out->len - (size_t) sent);
    }
    rh_buf_clear(out);
    if (out->cap > RH_NULL_OUT_KEEP) {
        rh_buf_release(out);
    }
    return sent < 0 ? -1 : 0;
}

static int send_unsent(struct rh_null_conn *c)
{
    ssize_t sent = send_some(c, c->unsent.data, c->unsent.len);
    if (sent < 0) {
        return -1;
    }
    size_t left = c->unsent.len - (size_t) sent;
    if (left == 0) {
        rh_buf_release(&c->unsent); /* thousands of connections: none keeps what it does not need */
    } else if (sent > 0) {
        memmove(c->unsent.data, c->unsent.data + sent, left);
        c->unsent.len = left;
    }
    return 0;
}

/* Before the callback returns: input that was not taken stays. */
static void keep_input(struct rh_null_conn *c)
{
    bool is_own = c->untaken.data && c->input.data >= c->untaken.data &&
                  c->input.data <= c->untaken.data + c->untaken.len;
    if (c->input.len == 0) {
        rh_buf_release(&c->untaken);
    } else if (is_own) {
        memmove(c->untaken.data, c->input.data, c->input.len);
        c->untaken.len = c->input.len;
    } else {
        rh_buf_clear(&c->untaken);
        rh_buf_add_span(&c->untaken, c->input);
    }
    c->input = c->input.len ? rh_buf_span(&c->untaken) : RH_SPAN_NONE;
}

static void take_input(struct rh_null_conn *c)
{
    size_t used;
    c->turn =
        rh_null_session_take(&c->session, c->input.data, c->input.len, &used, &c->worker->out);
    c->input.data += used;
    c->input.len -= used;
}

/* Go on as far as it goes.  The events to wait for; -1: it is to be closed, -2: it is gone. */
enum { CLOSES = -1, GONE = -2 };

static int advance(struct rh_null_conn *c)
{
    for (;;) {
        if (c->worker->out.len > 0 && send_out(c) != 0) {
            return CLOSES;
        }
        if (c->unsent.len > 0) {
            return RH_LOOP_WRITE;
        }
        switch (c->turn) {
        case RH_NULL_READS:
            if (c->input.len == 0) {
                return RH_LOOP_READ;
            }
            take_input(c);
            break;
        case RH_NULL_WAITS:
            if (!c->is_due) {
                if (!rh_timer_is_armed(&c->timer)) {
                    rh_timer_arm(c->worker->loop, &c->timer,
                                 rh_time_add(rh_clock_mono_ns(), c->session.delay_ns));
                }
                return 0;
            }
            c->is_due = false;
            c->turn = rh_null_session_resume(&c->session, &c->worker->out);
            break;
        case RH_NULL_WRITES:
            c->turn = rh_null_session_resume(&c->session, &c->worker->out);
            break;
        case RH_NULL_CANCELS:
            rh_null_worker_pass_cancel(c->worker, &c->session, c->fd);
            conn_free(c);
            return GONE;
        case RH_NULL_ENDS:
            return CLOSES;
        }
    }
}

static void drive(struct rh_null_conn *c)
{
    struct rh_error err;
    int events = advance(c);
    if (events == GONE) {
        return;
    }
    if (events == CLOSES ||
        rh_loop_watch_change(c->worker->loop, &c->watch, (uint32_t) events, &err) != 0) {
        rh_buf_clear(&c->worker->out);
        conn_close(c);
        return;
    }
    keep_input(c);
}

/* One read a time: it is level-triggered, and others wait too. */
static bool read_input(struct rh_null_conn *c)
{
    ssize_t n = read(c->fd, c->worker->input, RH_NULL_INPUT_BYTES);
    if (n > 0) {
        c->input = rh_span(c->worker->input, (size_t) n);
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void on_ready(struct rh_watch *watch, uint32_t events)
{
    struct rh_null_conn *c = watch->ctx;
    if (events & RH_LOOP_READ) {
        /* If it was not asked for, then it is a hang-up. */
        if (!(watch->events & RH_LOOP_READ) || !read_input(c)) {
            conn_close(c);
            return;
        }
    }
    if (events & RH_LOOP_WRITE && send_unsent(c) != 0) {
        conn_close(c);
        return;
    }
    drive(c);
}

static void on_timer(struct rh_timer *timer, int64_t now_ns)
{
    struct rh_null_conn *c = timer->ctx;
    (void) now_ns;
    c->is_due = true;
    drive(c);
}

void rh_null_conn_start(struct rh_null_conn *c)
{
    struct rh_error err;
    struct rh_null_worker *w = c->worker;
    rh_null_session_init(&c->session, w->options, &w->counts, rh_null_worker_pid(w, c->slot),
                         c->serial);
    c->session.is_refused = c->is_refused;
    if (rh_loop_watch(w->loop, &c->watch, c->fd, RH_LOOP_READ, &err) != 0) {
        conn_close(c);
    }
}

void rh_null_conn_cancel(struct rh_null_conn *c, struct rh_span key)
{
    if (!rh_null_session_has_key(&c->session, key) || !rh_null_session_cancel(&c->session)) {
        return;
    }
    if (c->turn == RH_NULL_WAITS) {
        rh_timer_cancel(c->worker->loop, &c->timer);
        c->is_due = true;
        drive(c);
    }
}

void rh_null_conn_shut(struct rh_null_conn *c)
{
    if (c->unsent.len == 0 && c->session.phase != RH_NULL_STARTUP) {
        const struct rh_null_error error = {
            .severity = "FATAL",
            .sqlstate = rh_sqlstate_pack(RH_SPAN_LITERAL("57P01")),
            .message = "terminating connection due to administrator command",
        };
        rh_null_write_error(&c->worker->out, &error);
        (void) send_some(c, c->worker->out.data, c->worker->out.len);
        rh_buf_clear(&c->worker->out);
    }
    conn_close(c);
}
