#include "replay/null_server.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/noun.h"
#include "common/stop.h"
#include "replay/null_server_parts.h"

/* Descriptors beside those of the connections; how many connections are accepted at a time; how
 * many may be open by default; how long none is accepted while there is no descriptor for one. */
enum { SPARE_FILES = 64, ACCEPTS_MAX = 64, DEFAULT_CONNECTIONS = 100000 };
#define ACCEPT_PAUSE_NS (100 * RH_NS_PER_MS)

struct rh_null_server {
    struct rh_null_options options;
    struct rh_null_listeners listeners;
    struct rh_loop *loop; /* of the thread that accepts */
    struct rh_watch stop_watch;
    struct rh_timer pause_timer;
    struct rh_null_worker *workers;
    uint32_t worker_count;
    uint32_t next_worker;
    uint64_t accepted;
    uint32_t peak;
    _Atomic uint32_t open_count;
};

/* A CancelRequest on its way to another worker. */
struct cancel {
    struct rh_task task;
    struct rh_null_worker *worker;
    int fd;
    uint32_t pid;
    uint32_t key_len;
    char key[RH_NULL_KEY_MAX];
};

uint32_t rh_null_worker_pid(const struct rh_null_worker *w, uint32_t slot)
{
    return slot * w->server->worker_count + w->number + 1;
}

void rh_null_worker_open(struct rh_task *task)
{
    struct rh_null_conn *c = task->ctx;
    struct rh_null_worker *w = c->worker;
    if (w->free_count > 0) {
        c->slot = w->free_slots[--w->free_count];
    } else {
        if (w->slot_count == w->slot_cap) {
            w->slot_cap = w->slot_cap ? w->slot_cap * 2 : 64;
            w->conns = rh_realloc(w->conns, w->slot_cap, sizeof(struct rh_null_conn *));
            w->free_slots = rh_realloc(w->free_slots, w->slot_cap, sizeof *w->free_slots);
        }
        c->slot = w->slot_count++;
    }
    w->conns[c->slot] = c;
    rh_null_conn_start(c);
}

void rh_null_worker_forget(struct rh_null_worker *w, struct rh_null_conn *c)
{
    w->conns[c->slot] = NULL;
    w->free_slots[w->free_count++] = c->slot;
    atomic_fetch_sub(&w->server->open_count, 1);
}

static void run_cancel(struct rh_task *task)
{
    struct cancel *cancel = task->ctx;
    struct rh_null_worker *w = cancel->worker;
    uint32_t slot = (cancel->pid - 1) / w->server->worker_count;
    struct rh_null_conn *c = slot < w->slot_count ? w->conns[slot] : NULL;
    if (c && cancel->key_len <= RH_NULL_KEY_MAX) {
        rh_null_conn_cancel(c, rh_span(cancel->key, cancel->key_len));
    }
    /* A client may take the end of this connection for the sign that the cancel was served. */
    close(cancel->fd);
    rh_free(cancel);
}

void rh_null_worker_pass_cancel(struct rh_null_worker *w, const struct rh_null_session *from,
                                int fd)
{
    struct rh_null_server *server = w->server;
    struct cancel *cancel = rh_calloc(1, sizeof *cancel);
    cancel->task = (struct rh_task){.run = run_cancel, .ctx = cancel};
    cancel->worker = &server->workers[(from->cancel_pid - 1) % server->worker_count];
    cancel->fd = fd;
    cancel->pid = from->cancel_pid;
    cancel->key_len = from->cancel_key_len;
    memcpy(cancel->key, from->cancel_key, sizeof cancel->key);
    rh_loop_post(cancel->worker->loop, &cancel->task);
}

static void run_stop(struct rh_task *task)
{
    struct rh_null_worker *w = task->ctx;
    for (uint32_t i = 0; i < w->slot_count; i++) {
        if (w->conns[i]) {
            rh_null_conn_shut(w->conns[i]);
        }
    }
    rh_loop_stop(w->loop);
}

static void watch_listeners(struct rh_null_server *s, uint32_t events)
{
    struct rh_error err;
    for (uint32_t i = 0; i < s->listeners.count; i++) {
        if (rh_loop_watch_change(s->loop, &s->listeners.items[i].watch, events, &err) != 0) {
            rh_log_error(&err);
        }
    }
}

static void on_pause_over(struct rh_timer *timer, int64_t now_ns)
{
    (void) now_ns;
    watch_listeners(timer->ctx, RH_LOOP_READ);
}

static void on_connection(struct rh_watch *watch, uint32_t events)
{
    struct rh_null_server *s = watch->ctx;
    (void) events;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            rh_log(RH_LOG_WARNING, "a connection cannot be accepted: %s", strerror(errno));
            watch_listeners(s, 0);
            rh_timer_arm(s->loop, &s->pause_timer, rh_clock_mono_ns() + ACCEPT_PAUSE_NS);
        }
        if (fd < 0) {
            return;
        }
        uint32_t open = atomic_fetch_add(&s->open_count, 1) + 1;
        s->peak = open > s->peak ? open : s->peak;
        struct rh_null_conn *c =
            rh_null_conn_new(fd, s->accepted++, open > s->options.max_connections);
        c->worker = &s->workers[s->next_worker];
        s->next_worker = (s->next_worker + 1) % s->worker_count;
        rh_loop_post(c->worker->loop, &c->open_task);
    }
}

static void on_stop(struct rh_watch *watch, uint32_t events)
{
    struct rh_null_server *s = watch->ctx;
    (void) events;
    rh_loop_stop(s->loop);
}

static int init_workers(struct rh_null_server *s, uint32_t count, struct rh_error *err)
{
    s->workers = rh_calloc(count, sizeof *s->workers);
    for (uint32_t i = 0; i < count; i++) {
        struct rh_null_worker *w = &s->workers[i];
        s->worker_count = i + 1;
        w->server = s;
        w->options = &s->options;
        w->number = i;
        w->stop_task = (struct rh_task){.run = run_stop, .ctx = w};
        w->input = rh_malloc(RH_NULL_INPUT_BYTES);
        rh_buf_init(&w->out, RH_NULL_OUT_MAX);
        if (rh_loop_new(&w->loop, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* How many connections the limit of open files leaves room for. */
static uint32_t room_for_connections(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return RH_NULL_CONNECTIONS_MAX;
    }
    files.rlim_cur = files.rlim_max;
    (void) setrlimit(RLIMIT_NOFILE, &files);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY ||
        files.rlim_cur > RH_NULL_CONNECTIONS_MAX) {
        return RH_NULL_CONNECTIONS_MAX;
    }
    return files.rlim_cur > 2 * SPARE_FILES ? (uint32_t) files.rlim_cur - SPARE_FILES : SPARE_FILES;
}

static void limit_connections(struct rh_null_options *o)
{
    uint32_t room = room_for_connections();
    if (o->max_connections == 0) {
        o->max_connections = room < DEFAULT_CONNECTIONS ? room : DEFAULT_CONNECTIONS;
    } else if (o->max_connections > room) {
        rh_log(RH_LOG_WARNING, "at most %u connection%s can be open here (ulimit -n)", room,
               rh_plural(room));
        o->max_connections = room;
    }
}

int rh_null_server_open(struct rh_null_server **out, const struct rh_null_setup *setup,
                        struct rh_error *err)
{
    struct rh_null_server *s = rh_calloc(1, sizeof *s);
    uint16_t port = setup->port;
    *out = NULL;
    s->options = setup->options;
    s->stop_watch = (struct rh_watch){.ready = on_stop, .ctx = s};
    s->pause_timer = (struct rh_timer){.fire = on_pause_over, .ctx = s};
    if (getrandom(&s->options.seed, sizeof s->options.seed, 0) !=
        (ssize_t) sizeof s->options.seed) {
        s->options.seed = (uint64_t) rh_clock_wall_ns();
    }
    limit_connections(&s->options);
    if (rh_null_options_check(&s->options, err) != 0 || rh_loop_new(&s->loop, err) != 0 ||
        init_workers(s, setup->jobs, err) != 0) {
        goto fail;
    }
    for (size_t i = 0; i < setup->host_count; i++) {
        if (rh_null_listen(&s->listeners, setup->hosts[i], &port, err) != 0) {
            goto fail;
        }
    }
    for (uint32_t i = 0; i < s->listeners.count; i++) {
        struct rh_null_listener *l = &s->listeners.items[i];
        l->watch = (struct rh_watch){.ready = on_connection, .ctx = s};
        if (rh_loop_watch(s->loop, &l->watch, l->fd, RH_LOOP_READ, err) != 0) {
            goto fail;
        }
    }
    *out = s;
    return 0;

fail:
    rh_null_server_close(s);
    return -1;
}

const struct rh_null_listeners *rh_null_server_listeners(const struct rh_null_server *server)
{
    return &server->listeners;
}

static void *run_worker(void *arg)
{
    struct rh_null_worker *w = arg;
    struct rh_error err;
    char name[16];
    snprintf(name, sizeof name, "null %u", w->number % 100);
    pthread_setname_np(pthread_self(), name);
    if (rh_loop_run(w->loop, &err) != 0) {
        rh_log_error(&err);
        rh_stop_request();
    }
    return NULL;
}

static int start_workers(struct rh_null_server *s, struct rh_error *err)
{
    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct rh_null_worker *w = &s->workers[i];
        int rc = pthread_create(&w->thread, NULL, run_worker, w);
        if (rc != 0) {
            return rh_error_set(err, RH_ERR_LIMIT, "cannot make a thread: %s", strerror(rc));
        }
        w->has_thread = true;
    }
    return 0;
}

/*
 * Each worker closes its connections and ends.  Then each loop runs once more, in this thread, for
 * what was posted to it behind its stop: connections just accepted, and cancels from other workers.
 */
static void stop_workers(struct rh_null_server *s)
{
    struct rh_error err;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        if (s->workers[i].has_thread) {
            rh_loop_post(s->workers[i].loop, &s->workers[i].stop_task);
        }
    }
    for (uint32_t i = 0; i < s->worker_count; i++) {
        if (s->workers[i].has_thread) {
            pthread_join(s->workers[i].thread, NULL);
        }
    }
    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct rh_null_worker *w = &s->workers[i];
        if (!w->stop_task.posted) {
            rh_loop_post(w->loop, &w->stop_task);
        }
        if (rh_loop_run(w->loop, &err) != 0) {
            rh_log_error(&err);
        }
    }
}

int rh_null_server_run(struct rh_null_server *s, struct rh_error *err)
{
    if (rh_loop_watch(s->loop, &s->stop_watch, rh_stop_fd(), RH_LOOP_READ, err) != 0) {
        return -1;
    }
    int rc = start_workers(s, err);
    if (rc == 0) {
        rc = rh_loop_run(s->loop, err);
    }
    rh_loop_unwatch(s->loop, &s->stop_watch);
    stop_workers(s);
    return rc;
}

struct rh_null_totals rh_null_server_count(const struct rh_null_server *s)
{
    struct rh_null_totals totals = {.connections = s->accepted, .peak = s->peak};
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct rh_null_worker *w = &s->workers[i];
        totals.counts.statements += w->counts.statements;
        totals.counts.errors += w->counts.errors;
        totals.counts.rows += w->counts.rows;
        totals.bytes_sent += w->bytes_sent;
    }
    return totals;
}

void rh_null_server_close(struct rh_null_server *s)
{
    if (!s) {
        return;
    }
    rh_null_listeners_close(&s->listeners);
    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct rh_null_worker *w = &s->workers[i];
        rh_loop_free(w->loop);
        rh_free(w->conns);
        rh_free(w->free_slots);
        rh_free(w->input);
        rh_buf_release(&w->out);
    }
    rh_free(s->workers);
    rh_loop_free(s->loop);
    rh_free(s);
}
