/*
 * common/loop.h
 *
 * Event loop of one thread: file descriptors (epoll), deadlines in nanoseconds (timerfd and an
 * indexed heap), and tasks that other threads post.  Watches, timers and tasks are embedded in what
 * they belong to: adding, arming and posting allocates nothing.  The loop may wait awake for a
 * deadline that is very near (common/wake_lead.h).
 *
 * Everything is called from the loop's thread except rh_loop_post() and rh_loop_stop().  A callback
 * may change, remove and free any watch and timer, its own included.
 */
#ifndef RH_COMMON_LOOP_H
#define RH_COMMON_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

enum rh_loop_events { RH_LOOP_READ = 1, RH_LOOP_WRITE = 2 };

struct rh_loop;
struct rh_watch;
struct rh_timer;
struct rh_task;

/* events: those of the watch that are ready.  An error or a hang-up of the peer is given as
 * RH_LOOP_READ, whether asked for or not, so that a read finds out. */
typedef void rh_watch_callback(struct rh_watch *watch, uint32_t events);
typedef void rh_timer_callback(struct rh_timer *timer, int64_t now_ns);
typedef void rh_task_callback(struct rh_task *task);

/* Zero one before its first use; then its fields are the loop's, except ctx and the callback. */
struct rh_watch {
    rh_watch_callback *ready;
    void *ctx;
    int fd;
    uint32_t events;
    bool added;
};

struct rh_timer {
    rh_timer_callback *fire;
    void *ctx;
    int64_t deadline_ns; /* CLOCK_MONOTONIC */
    uint32_t place;      /* in the heap, from 1; 0: not armed */
};

struct rh_task {
    rh_task_callback *run;
    void *ctx;
    struct rh_task *next;
    bool posted;
};

int rh_loop_new(struct rh_loop **out, struct rh_error *err);
/* Closes nothing that was watched.  No other thread may post any more. */
void rh_loop_free(struct rh_loop *loop);

/* Run callbacks in this thread until rh_loop_stop(); 0 then, -1 when the kernel refuses.  Sets the
 * thread's timer slack to 1 ns.  May be called again. */
int rh_loop_run(struct rh_loop *loop, struct rh_error *err);
/* Have `turn` called once after the callbacks of what was ready at one time, before the loop
 * sleeps: for what they gathered to be done together.  At most one; before rh_loop_run(). */
void rh_loop_on_turn(struct rh_loop *loop, void (*turn)(void *ctx), void *ctx);
/* Let rh_loop_run() return after the callback that runs.  From any thread; sticks until a run took
 * it. */
void rh_loop_stop(struct rh_loop *loop);

/* Level-triggered.  ready and ctx are set by the caller. */
int rh_loop_watch(struct rh_loop *loop, struct rh_watch *watch, int fd, uint32_t events,
                  struct rh_error *err);
/* No call into the kernel when nothing changes. */
int rh_loop_watch_change(struct rh_loop *loop, struct rh_watch *watch, uint32_t events,
                         struct rh_error *err);
/* Before the descriptor is closed.  Does nothing for one that is not added. */
void rh_loop_unwatch(struct rh_loop *loop, struct rh_watch *watch);

/* Fire once, at or after deadline_ns (never before); one that is armed moves.  Timers fire in order
 * of their deadlines, ties in any order, and before descriptors that are ready at the same time. */
void rh_timer_arm(struct rh_loop *loop, struct rh_timer *timer, int64_t deadline_ns);
void rh_timer_cancel(struct rh_loop *loop, struct rh_timer *timer);
static inline bool rh_timer_is_armed(const struct rh_timer *timer)
{
    return timer->place != 0;
}

/* Run task->run in the loop's thread, in the order of posting.  From any thread.  A task may be
 * posted again (also by itself) once it runs; it must not be posted twice before. */
void rh_loop_post(struct rh_loop *loop, struct rh_task *task);

#endif
