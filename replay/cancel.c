#include "replay/cancel.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

/* A Unix socket whose queue is full refuses at once, without a way to wait for it. */
#define QUEUE_FULL_NS (5 * RH_NS_PER_MS)

static void close_fd(struct rh_cancel *c)
{
    if (c->fd >= 0) {
        rh_loop_unwatch(c->loop, &c->watch);
        close(c->fd);
        c->fd = -1;
    }
}

void rh_cancel_stop(struct rh_cancel *c)
{
    if (c->is_active) {
        close_fd(c);
        rh_timer_cancel(c->loop, &c->timer);
        c->is_active = false;
    }
}

static size_t request_bytes(const struct rh_cancel *c)
{
    return rh_conn_cancel_request(c->conn).len;
}

static void finish(struct rh_cancel *c)
{
    enum rh_cancel_end end = c->sent < request_bytes(c) || c->sent == 0 ? RH_CANCEL_NOT_SENT
                             : c->fd < 0                                ? RH_CANCEL_TAKEN
                                                                        : RH_CANCEL_UNANSWERED;
    rh_cancel_stop(c);
    c->done(c, end);
}

/* It failed: the timer tells, since the caller may be the session itself. */
static void fail(struct rh_cancel *c)
{
    close_fd(c);
    c->sent = 0;
    c->deadline_ns = 0;
    rh_timer_arm(c->loop, &c->timer, 0);
}

static void send_request(struct rh_cancel *c)
{
    struct rh_span request = rh_conn_cancel_request(c->conn);
    struct rh_error err;
    while (c->sent < request.len) {
        ssize_t n =
            send(c->fd, request.data + c->sent, request.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n < 0) {
            fail(c);
            return;
        }
        c->sent += (size_t) n;
    }
    if (rh_loop_watch_change(c->loop, &c->watch, RH_LOOP_READ, &err) != 0) {
        fail(c);
    }
}

/* The server says nothing, it only closes. */
static void await_end(struct rh_cancel *c)
{
    char ignored[256];
    ssize_t n = recv(c->fd, ignored, sizeof ignored, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_fd(c);
        finish(c);
    }
}

static void ready(struct rh_watch *watch, uint32_t events)
{
    struct rh_cancel *c = watch->ctx;
    (void) events;
    if (!c->is_connected) {
        int why = 0;
        socklen_t size = sizeof why;
        if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0 || why != 0) {
            fail(c);
            return;
        }
        c->is_connected = true;
    }
    if (c->sent < request_bytes(c)) {
        send_request(c);
    } else {
        await_end(c);
    }
}

static void begin_connect(struct rh_cancel *c)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    struct rh_error err;
    if (request_bytes(c) == 0 || rh_conn_peer(c->conn, &address, &size) != 0) {
        fail(c);
        return;
    }
    c->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        fail(c);
        return;
    }
    rh_timer_arm(c->loop, &c->timer, c->deadline_ns);
    if (connect(c->fd, (struct sockaddr *) &address, size) != 0 && errno != EINPROGRESS) {
        if (errno != EAGAIN) {
            fail(c);
            return;
        }
        close_fd(c);
        int64_t again_ns = rh_clock_mono_ns() + QUEUE_FULL_NS;
        rh_timer_arm(c->loop, &c->timer, again_ns < c->deadline_ns ? again_ns : c->deadline_ns);
        return;
    }
    if (rh_loop_watch(c->loop, &c->watch, c->fd, RH_LOOP_WRITE, &err) != 0) {
        fail(c);
    }
}

static void fire(struct rh_timer *timer, int64_t now_ns)
{
    struct rh_cancel *c = timer->ctx;
    if (now_ns < c->deadline_ns && c->fd < 0) {
        begin_connect(c);
    } else {
        finish(c);
    }
}

void rh_cancel_start(struct rh_cancel *c, struct rh_loop *loop, const struct rh_conn *conn,
                     int64_t timeout_ns,
                     void (*done)(struct rh_cancel *cancel, enum rh_cancel_end end), void *ctx)
{
    assert(!c->is_active);
    *c = (struct rh_cancel){
        .is_active = true,
        .loop = loop,
        .conn = conn,
        .done = done,
        .ctx = ctx,
        .deadline_ns = rh_clock_mono_ns() + timeout_ns,
        .watch = {.ready = ready, .ctx = c},
        .timer = {.fire = fire, .ctx = c},
        .fd = -1,
    };
    begin_connect(c);
}
