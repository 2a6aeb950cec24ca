#include "common/loop.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/timer_heap.h"
#include "common/wake_lead.h"

enum { BATCH_MAX = 64 };

struct rh_loop {
    int epoll_fd;
    int timer_fd;
    int wake_fd;
    struct rh_timer_heap timers;
    int64_t timer_fd_ns; /* what timer_fd is set to, INT64_MAX: nothing */
    struct rh_wake_lead lead;
    bool has_slept; /* before what is in the batch */
    bool running;
    void (*turn)(void *ctx); /* NULL: nothing */
    void *turn_ctx;

    /* What epoll_wait() gave; the entries behind batch_at are still to be dispatched. */
    struct epoll_event batch[BATCH_MAX];
    int batch_at;
    int batch_count;

    struct rh_task *taken; /* tasks that this thread took off `posted` and has not run yet */

    atomic_bool stop;
    pthread_mutex_t lock; /* of what follows */
    struct rh_task *posted;
    struct rh_task **posted_end;
};

static int loop_open(struct rh_loop *loop, struct rh_error *err)
{
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->epoll_fd < 0 || loop->timer_fd < 0 || loop->wake_fd < 0) {
        return rh_error_set_errno(err, "an event loop cannot be made");
    }
    /* Edge-triggered: an expiry wakes once, so timer_fd is never read; setting it again rearms it.
     */
    struct epoll_event on_timer = {.events = EPOLLIN | EPOLLET, .data.ptr = &loop->timers};
    struct epoll_event on_wake = {.events = EPOLLIN, .data.ptr = &loop->lock};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->timer_fd, &on_timer) ||
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &on_wake)) {
        return rh_error_set_errno(err, "an event loop cannot be made");
    }
    return 0;
}

int rh_loop_new(struct rh_loop **out, struct rh_error *err)
{
    struct rh_loop *loop = rh_calloc(1, sizeof *loop);
    loop->timer_fd_ns = INT64_MAX;
    loop->posted_end = &loop->posted;
    rh_timer_heap_init(&loop->timers);
    pthread_mutex_init(&loop->lock, NULL);
    if (loop_open(loop, err)) {
        rh_loop_free(loop);
        *out = NULL;
        return -1;
    }
    *out = loop;
    return 0;
}

void rh_loop_free(struct rh_loop *loop)
{
    if (!loop) {
        return;
    }
    assert(!loop->running);
    /* Who posted or stopped last may still be on its way out: both wake the loop under the lock. */
    pthread_mutex_lock(&loop->lock);
    pthread_mutex_unlock(&loop->lock);
    int fds[] = {loop->epoll_fd, loop->timer_fd, loop->wake_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    rh_timer_heap_release(&loop->timers);
    pthread_mutex_destroy(&loop->lock);
    rh_free(loop);
}

static void loop_wake(struct rh_loop *loop)
{
    uint64_t one = 1;
    /* It can only fail when the counter is full, and then the loop wakes anyway. */
    ssize_t written = write(loop->wake_fd, &one, sizeof one);
    (void) written;
}

void rh_loop_on_turn(struct rh_loop *loop, void (*turn)(void *ctx), void *ctx)
{
    assert(!loop->running);
    loop->turn = turn;
    loop->turn_ctx = ctx;
}

void rh_loop_stop(struct rh_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    atomic_store(&loop->stop, true);
    loop_wake(loop);
    pthread_mutex_unlock(&loop->lock);
}

void rh_loop_post(struct rh_loop *loop, struct rh_task *task)
{
    pthread_mutex_lock(&loop->lock);
    assert(!task->posted);
    task->posted = true;
    task->next = NULL;
    bool was_empty = loop->posted == NULL;
    *loop->posted_end = task;
    loop->posted_end = &task->next;
    if (was_empty) {
        loop_wake(loop);
    }
    pthread_mutex_unlock(&loop->lock);
}

static bool stop_wanted(struct rh_loop *loop)
{
    return atomic_load_explicit(&loop->stop, memory_order_relaxed);
}

static void run_taken(struct rh_loop *loop)
{
    while (loop->taken && !stop_wanted(loop)) {
        struct rh_task *task = loop->taken;
        loop->taken = task->next;
        task->posted = false;
        task->run(task);
    }
}

static void take_posted(struct rh_loop *loop)
{
    uint64_t count;
    ssize_t got = read(loop->wake_fd, &count, sizeof count);
    (void) got; /* what it counts is in the list */
    assert(!loop->taken);
    pthread_mutex_lock(&loop->lock);
    loop->taken = loop->posted;
    loop->posted = NULL;
    loop->posted_end = &loop->posted;
    pthread_mutex_unlock(&loop->lock);
}

/* Fire what is due, at most once a timer, so that timers that are armed again for the past cannot
 * keep descriptors waiting for ever. */
static void run_timers(struct rh_loop *loop)
{
    uint32_t budget = loop->timers.count;
    if (budget == 0) {
        return;
    }
    int64_t now_ns = rh_clock_mono_ns();
    while (budget-- > 0 && rh_timer_heap_first_ns(&loop->timers) <= now_ns && !stop_wanted(loop)) {
        struct rh_timer *timer = loop->timers.cells[0].timer;
        rh_timer_heap_remove(&loop->timers, timer);
        timer->fire(timer, now_ns);
        now_ns = rh_clock_mono_ns();
    }
}

static void dispatch(struct rh_loop *loop, const struct epoll_event *event)
{
    if (event->data.ptr == &loop->timers) {
        if (loop->has_slept && loop->batch_at == 0) { /* else it waited for callbacks too */
            rh_wake_lead_learn(&loop->lead, rh_clock_mono_ns() - loop->timer_fd_ns);
        }
        loop->timer_fd_ns = INT64_MAX; /* it has gone off; run_timers() comes next */
    } else if (event->data.ptr == &loop->lock) {
        take_posted(loop);
        run_taken(loop);
    } else if (event->data.ptr) {
        struct rh_watch *watch = event->data.ptr;
        uint32_t ready = 0;
        if (event->events & EPOLLIN) {
            ready |= RH_LOOP_READ;
        }
        if (event->events & EPOLLOUT) {
            ready |= RH_LOOP_WRITE;
        }
        ready &= watch->events; /* an earlier callback may have changed them */
        if (event->events & (EPOLLERR | EPOLLHUP)) {
            ready |= RH_LOOP_READ;
        }
        if (ready) {
            watch->ready(watch, ready);
        }
    }
}

/* One that is set too early is left: it costs one idle wake-up, setting it would cost a system call
 * each time. */
static int timer_fd_set(struct rh_loop *loop, int64_t wake_ns, struct rh_error *err)
{
    if (wake_ns >= loop->timer_fd_ns) {
        return 0;
    }
    struct itimerspec spec = {
        .it_value = {.tv_sec = wake_ns / RH_NS_PER_SEC, .tv_nsec = wake_ns % RH_NS_PER_SEC}};
    if (timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL)) {
        return rh_error_set_errno(err, "timerfd_settime");
    }
    loop->timer_fd_ns = wake_ns;
    return 0;
}

static int loop_wait(struct rh_loop *loop, struct rh_error *err)
{
    int timeout_ms = -1;
    if (loop->timers.count > 0) {
        int64_t now_ns = rh_clock_mono_ns();
        int64_t wake_ns =
            rh_wake_lead_ask(&loop->lead, rh_timer_heap_first_ns(&loop->timers), now_ns);
        if (wake_ns <= now_ns) {
            timeout_ms = 0;
        } else if (timer_fd_set(loop, wake_ns, err)) {
            return -1;
        }
    }
    loop->has_slept = timeout_ms < 0;
    int n = epoll_wait(loop->epoll_fd, loop->batch, BATCH_MAX, timeout_ms);
    if (n < 0 && errno != EINTR) {
        return rh_error_set_errno(err, "epoll_wait");
    }
    loop->batch_count = n < 0 ? 0 : n;
    return 0;
}

int rh_loop_run(struct rh_loop *loop, struct rh_error *err)
{
    assert(!loop->running);
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    loop->running = true;
    loop->timer_fd_ns = INT64_MAX; /* a stop may have left its event undispatched */
    int result = 0;
    while (!stop_wanted(loop)) {
        run_taken(loop); /* those that a stop left over */
        if (loop->turn) {
            loop->turn(loop->turn_ctx);
        }
        run_timers(loop);
        if (stop_wanted(loop)) {
            break;
        }
        result = loop_wait(loop, err);
        if (result) {
            break;
        }
        for (loop->batch_at = 0; loop->batch_at < loop->batch_count; loop->batch_at++) {
            if (stop_wanted(loop)) {
                break;
            }
            dispatch(loop, &loop->batch[loop->batch_at]);
            run_timers(loop); /* a deadline does not wait for the whole batch */
        }
        loop->batch_count = 0;
    }
    loop->running = false;
    atomic_store(&loop->stop, false);
    return result;
}

static uint32_t epoll_mask(uint32_t events)
{
    return (events & RH_LOOP_READ ? EPOLLIN : 0U) | (events & RH_LOOP_WRITE ? EPOLLOUT : 0U);
}

int rh_loop_watch(struct rh_loop *loop, struct rh_watch *watch, int fd, uint32_t events,
                  struct rh_error *err)
{
    assert(!watch->added);
    struct epoll_event event = {.events = epoll_mask(events), .data.ptr = watch};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
        return rh_error_set_errno(err, "epoll_ctl: descriptor %d cannot be watched", fd);
    }
    watch->fd = fd;
    watch->events = events;
    watch->added = true;
    return 0;
}

int rh_loop_watch_change(struct rh_loop *loop, struct rh_watch *watch, uint32_t events,
                         struct rh_error *err)
{
    assert(watch->added);
    if (watch->events == events) {
        return 0;
    }
    struct epoll_event event = {.events = epoll_mask(events), .data.ptr = watch};
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event)) {
        return rh_error_set_errno(err, "epoll_ctl: descriptor %d", watch->fd);
    }
    watch->events = events;
    return 0;
}

void rh_loop_unwatch(struct rh_loop *loop, struct rh_watch *watch)
{
    if (!watch->added) {
        return;
    }
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->added = false;
    /* The watch may be freed now, and its event may be in the batch already. */
    for (int i = loop->batch_at + 1; i < loop->batch_count; i++) {
        if (loop->batch[i].data.ptr == watch) {
            loop->batch[i].data.ptr = NULL;
        }
    }
}

void rh_timer_arm(struct rh_loop *loop, struct rh_timer *timer, int64_t deadline_ns)
{
    rh_timer_heap_put(&loop->timers, timer, deadline_ns);
}

void rh_timer_cancel(struct rh_loop *loop, struct rh_timer *timer)
{
    rh_timer_heap_remove(&loop->timers, timer);
}
