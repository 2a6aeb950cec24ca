/* common/loop, common/timer_heap */
#include "rh_test.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/loop.h"
#include "common/timer_heap.h"

static struct rh_loop *loop_make(void)
{
    struct rh_loop *loop;
    struct rh_error err;
    assert_int_equal(rh_loop_new(&loop, &err), 0);
    return loop;
}

static void loop_go(struct rh_loop *loop)
{
    struct rh_error err;
    assert_int_equal(rh_loop_run(loop, &err), 0);
}

/* xorshift; the same numbers in every run. */
static uint32_t random_next(void)
{
    static uint32_t x = 2463534242;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

/* The heap against a plain array, under random puts, moves and removals. */
static void test_heap_gives_the_earliest(void **state)
{
    (void) state;
    enum { N = 300, STEPS = 20000 };
    static struct rh_timer timers[N];
    struct rh_timer_heap heap;
    rh_timer_heap_init(&heap);
    for (int step = 0; step < STEPS; step++) {
        struct rh_timer *t = &timers[random_next() % N];
        if (random_next() % 3 == 0) {
            rh_timer_heap_remove(&heap, t);
            assert_false(rh_timer_is_armed(t));
        } else {
            rh_timer_heap_put(&heap, t, random_next() % 1000);
        }
        int64_t least = INT64_MAX;
        uint32_t armed = 0;
        for (int i = 0; i < N; i++) {
            if (timers[i].place) {
                armed++;
                assert_ptr_equal(heap.cells[timers[i].place - 1].timer, &timers[i]);
                least = timers[i].deadline_ns < least ? timers[i].deadline_ns : least;
            }
        }
        assert_int_equal(heap.count, armed);
        assert_int_equal(rh_timer_heap_first_ns(&heap), least);
    }
    int64_t last = INT64_MIN;
    while (heap.count) {
        struct rh_timer *t = heap.cells[0].timer;
        assert_true(t->deadline_ns >= last);
        last = t->deadline_ns;
        rh_timer_heap_remove(&heap, t);
    }
    rh_timer_heap_put(&heap, &timers[0], 1);
    rh_timer_heap_release(&heap);
    assert_false(rh_timer_is_armed(&timers[0]));
}

struct timing {
    struct rh_loop *loop;
    int fired;
    int wanted;
    int64_t order[64];
};

static void on_timer(struct rh_timer *timer, int64_t now_ns)
{
    struct timing *t = timer->ctx;
    assert_true(now_ns >= timer->deadline_ns);
    assert_true(rh_clock_mono_ns() >= now_ns);
    assert_false(rh_timer_is_armed(timer));
    t->order[t->fired++] = timer->deadline_ns;
    if (t->fired == t->wanted) {
        rh_loop_stop(t->loop);
    }
}

static void test_timers_fire_in_order_and_never_early(void **state)
{
    (void) state;
    enum { N = 40 };
    struct rh_timer timers[N] = {0};
    struct timing t = {.loop = loop_make(), .wanted = N - 1};
    int64_t start_ns = rh_clock_mono_ns();
    for (int i = 0; i < N; i++) {
        timers[i] = (struct rh_timer){.fire = on_timer, .ctx = &t};
        rh_timer_arm(t.loop, &timers[i], start_ns + (i * 7919 % N) * 100 * RH_NS_PER_US);
    }
    rh_timer_cancel(t.loop, &timers[5]);
    rh_timer_cancel(t.loop, &timers[5]);
    rh_timer_arm(t.loop, &timers[6], start_ns - 5); /* moved, and in the past */
    loop_go(t.loop);
    assert_int_equal(t.fired, N - 1);
    assert_int_equal(t.order[0], start_ns - 5);
    for (int i = 1; i < t.fired; i++) {
        assert_true(t.order[i] >= t.order[i - 1]);
    }
    rh_loop_free(t.loop);
}

/* A deadline far away, then a near one armed by a callback, then again: timer_fd must follow. */
static void on_timer_chain(struct rh_timer *timer, int64_t now_ns)
{
    struct timing *t = timer->ctx;
    assert_true(now_ns >= timer->deadline_ns);
    if (++t->fired == t->wanted) {
        rh_loop_stop(t->loop);
    } else {
        rh_timer_arm(t->loop, timer, now_ns + 200 * RH_NS_PER_US);
    }
}

static void test_a_timer_arms_itself_again(void **state)
{
    (void) state;
    struct timing t = {.loop = loop_make(), .wanted = 10};
    struct rh_timer far = {.fire = on_timer_chain, .ctx = &t};
    struct rh_timer near = far;
    rh_timer_arm(t.loop, &far, rh_clock_mono_ns() + 3600 * RH_NS_PER_SEC);
    rh_timer_arm(t.loop, &near, rh_clock_mono_ns() + RH_NS_PER_MS);
    uint64_t allocations = rh_alloc_count();
    loop_go(t.loop);
    assert_int_equal(rh_alloc_count(), allocations);
    assert_int_equal(t.fired, 10);
    /* A second run of the same loop. */
    t.wanted = 15;
    rh_timer_arm(t.loop, &near, rh_clock_mono_ns() + RH_NS_PER_MS);
    loop_go(t.loop);
    assert_int_equal(t.fired, 15);
    rh_loop_free(t.loop);
    assert_false(rh_timer_is_armed(&far));
}

struct pipe_end {
    struct rh_loop *loop;
    struct rh_watch watch;
    struct pipe_end *other;
    int calls;
    uint32_t seen;
    struct rh_timer busy;
};

static void on_busy(struct rh_timer *timer, int64_t now_ns)
{
    struct pipe_end *e = timer->ctx;
    rh_timer_arm(e->loop, timer, now_ns - 1);
}

static void on_read_stop(struct rh_watch *watch, uint32_t events)
{
    struct pipe_end *e = watch->ctx;
    char byte;
    e->seen |= events;
    e->calls++;
    assert_int_equal(read(watch->fd, &byte, 1), 1);
    rh_loop_stop(e->loop);
}

/* Timers that are always due must not keep a descriptor from its turn. */
static void test_busy_timers_do_not_starve_descriptors(void **state)
{
    (void) state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct pipe_end e = {.loop = loop_make()};
    e.watch = (struct rh_watch){.ready = on_read_stop, .ctx = &e};
    e.busy = (struct rh_timer){.fire = on_busy, .ctx = &e};
    rh_timer_arm(e.loop, &e.busy, 1);
    assert_int_equal(rh_loop_watch(e.loop, &e.watch, fds[0], RH_LOOP_READ, NULL), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    loop_go(e.loop);
    assert_int_equal(e.calls, 1);
    assert_int_equal(e.seen, RH_LOOP_READ);
    rh_loop_unwatch(e.loop, &e.watch);
    rh_loop_unwatch(e.loop, &e.watch);
    rh_loop_free(e.loop);
    close(fds[0]);
    close(fds[1]);
}

/* Both ends are ready in one batch; whichever comes first removes and frees the other. */
static void on_ready_remove_other(struct rh_watch *watch, uint32_t events)
{
    (void) events;
    struct pipe_end *e = watch->ctx;
    if (e->other) {
        rh_loop_unwatch(e->loop, &e->other->watch);
        memset(e->other, 0x5a, sizeof *e->other);
        free(e->other);
        e->other = NULL;
    } else if (++e->calls == 3) {
        rh_loop_unwatch(e->loop, watch);
        rh_loop_stop(e->loop);
        free(e);
    }
}

static void test_a_callback_frees_a_watch_that_is_ready(void **state)
{
    (void) state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct rh_loop *loop = loop_make();
    struct pipe_end *ends[2];
    for (int i = 0; i < 2; i++) {
        ends[i] = calloc(1, sizeof *ends[i]);
        ends[i]->loop = loop;
        ends[i]->watch = (struct rh_watch){.ready = on_ready_remove_other, .ctx = ends[i]};
        assert_int_equal(write(fds[i], "x", 1), 1);
        assert_int_equal(rh_loop_watch(loop, &ends[i]->watch, fds[i], RH_LOOP_READ, NULL), 0);
    }
    ends[0]->other = ends[1];
    ends[1]->other = ends[0];
    loop_go(loop); /* a call of the freed one would jump to 0x5a5a... */
    rh_loop_free(loop);
    close(fds[0]);
    close(fds[1]);
}

static void on_hang_up(struct rh_watch *watch, uint32_t events)
{
    struct pipe_end *e = watch->ctx;
    char byte;
    e->seen = events;
    assert_int_equal(read(watch->fd, &byte, 1), 0);
    rh_loop_stop(e->loop);
}

static void test_events_change_and_hang_up_is_readable(void **state)
{
    (void) state;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct pipe_end e = {.loop = loop_make()};
    e.watch = (struct rh_watch){.ready = on_hang_up, .ctx = &e};
    assert_int_equal(rh_loop_watch(e.loop, &e.watch, fds[0], RH_LOOP_WRITE, NULL), 0);
    assert_int_equal(rh_loop_watch_change(e.loop, &e.watch, 0, NULL), 0);
    close(fds[1]);
    loop_go(e.loop);
    assert_int_equal(e.seen, RH_LOOP_READ);
    rh_loop_unwatch(e.loop, &e.watch);

    struct rh_error err;
    assert_int_equal(rh_loop_watch(e.loop, &e.watch, -1, RH_LOOP_READ, &err), -1);
    assert_int_equal(err.code, RH_ERR_IO);
    rh_loop_free(e.loop);
    close(fds[0]);
}

enum { POSTERS = 3, TASKS = 2000 };

struct posting {
    struct rh_loop *loop;
    struct rh_task tasks[POSTERS][TASKS];
    struct rh_task again;
    int next[POSTERS]; /* only the loop's thread writes it */
    int done;
    int repeats;
};

struct poster {
    struct posting *posting;
    int number;
};

enum { REPEATS = 100 };

static void posting_check_end(struct posting *p)
{
    if (p->done == POSTERS * TASKS && p->repeats == REPEATS) {
        rh_loop_stop(p->loop);
    }
}

static void on_task(struct rh_task *task)
{
    struct posting *p = task->ctx;
    for (int i = 0; i < POSTERS; i++) {
        if (task >= p->tasks[i] && task < p->tasks[i] + TASKS) {
            assert_int_equal(task - p->tasks[i], p->next[i]++); /* in the order of posting */
        }
    }
    p->done++;
    posting_check_end(p);
}

static void on_task_again(struct rh_task *task)
{
    struct posting *p = task->ctx;
    if (++p->repeats < REPEATS) {
        rh_loop_post(p->loop, task);
    }
    posting_check_end(p);
}

static void *poster_main(void *arg)
{
    struct poster *me = arg;
    for (int i = 0; i < TASKS; i++) {
        struct rh_task *task = &me->posting->tasks[me->number][i];
        task->run = on_task;
        task->ctx = me->posting;
        rh_loop_post(me->posting->loop, task);
    }
    return NULL;
}

static void test_tasks_come_from_other_threads(void **state)
{
    (void) state;
    struct posting *p = calloc(1, sizeof *p);
    p->loop = loop_make();
    p->again = (struct rh_task){.run = on_task_again, .ctx = p};
    rh_loop_post(p->loop, &p->again);
    pthread_t threads[POSTERS];
    struct poster posters[POSTERS];
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){p, i};
        assert_int_equal(pthread_create(&threads[i], NULL, poster_main, &posters[i]), 0);
    }
    loop_go(p->loop);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(p->done, POSTERS * TASKS);
    assert_int_equal(p->repeats, REPEATS);
    rh_loop_free(p->loop);
    free(p);
}

static void *stopper_main(void *arg)
{
    usleep(2000);
    rh_loop_stop(arg);
    return NULL;
}

static void on_task_stop(struct rh_task *task)
{
    rh_loop_stop(task->ctx);
}

static void on_task_count(struct rh_task *task)
{
    ++*(int *) task->ctx;
}

static void test_stop_from_outside_and_what_it_leaves(void **state)
{
    (void) state;
    struct rh_loop *loop = loop_make();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stopper_main, loop), 0);
    loop_go(loop);
    pthread_join(thread, NULL);

    /* A task behind the one that stops is kept for the next run; so is a stop before the run. */
    int count = 0;
    struct rh_task stop = {.run = on_task_stop, .ctx = loop};
    struct rh_task behind = {.run = on_task_count, .ctx = &count};
    rh_loop_post(loop, &stop);
    rh_loop_post(loop, &behind);
    loop_go(loop);
    assert_int_equal(count, 0);
    rh_loop_post(loop, &stop);
    loop_go(loop);
    assert_int_equal(count, 1);
    rh_loop_stop(loop);
    rh_loop_post(loop, &behind);
    loop_go(loop);
    assert_int_equal(count, 1);
    rh_loop_free(loop);
}

struct turns {
    struct rh_loop *loop;
    struct rh_task tasks[2];
    int gathered;
    int turns;
};

static void on_gather(struct rh_task *task)
{
    struct turns *t = task->ctx;
    t->gathered++;
}

static void on_turn(void *ctx)
{
    struct turns *t = ctx;
    if (t->gathered > 0) {
        assert_int_equal(t->gathered, 2); /* all callbacks have run before */
        t->gathered = 0;
        t->turns++;
        rh_loop_stop(t->loop);
    }
}

static void test_a_turn_follows_what_was_ready(void **state)
{
    (void) state;
    struct turns t = {.loop = loop_make()};
    rh_loop_on_turn(t.loop, on_turn, &t);
    for (int i = 0; i < 2; i++) {
        t.tasks[i] = (struct rh_task){.run = on_gather, .ctx = &t};
        rh_loop_post(t.loop, &t.tasks[i]);
    }
    loop_go(t.loop);
    assert_int_equal(t.turns, 1);
    rh_loop_free(t.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_gives_the_earliest),
        cmocka_unit_test(test_timers_fire_in_order_and_never_early),
        cmocka_unit_test(test_a_timer_arms_itself_again),
        cmocka_unit_test(test_busy_timers_do_not_starve_descriptors),
        cmocka_unit_test(test_a_callback_frees_a_watch_that_is_ready),
        cmocka_unit_test(test_events_change_and_hang_up_is_readable),
        cmocka_unit_test(test_tasks_come_from_other_threads),
        cmocka_unit_test(test_stop_from_outside_and_what_it_leaves),
        cmocka_unit_test(test_a_turn_follows_what_was_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
