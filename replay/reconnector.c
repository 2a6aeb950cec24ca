#include "replay/reconnector.h"

#include <assert.h>
#include <stddef.h>

#include "common/clock.h"

#define PAUSE_FIRST_NS (50 * RH_NS_PER_MS)
#define PAUSE_MAX_NS RH_NS_PER_SEC

static void append(struct rh_reconnector *rc, struct rh_reconnect *r)
{
    assert(!r->is_waiting && !r->is_running);
    r->is_waiting = true;
    r->next = NULL;
    if (rc->last) {
        rc->last->next = r;
    } else {
        rc->first = r;
    }
    rc->last = r;
}

static struct rh_reconnect *take_first(struct rh_reconnector *rc)
{
    struct rh_reconnect *r = rc->first;
    rc->first = r->next;
    if (!rc->first) {
        rc->last = NULL;
    }
    r->is_waiting = false;
    return r;
}

static void pump(struct rh_reconnector *rc)
{
    while (rc->first) {
        uint32_t at_once = rc->pause_ns > 0 ? 1 : RH_RECONNECTS_AT_ONCE;
        if (rc->running_count >= at_once) {
            return;
        }
        if (rc->pause_ns > 0 && rh_clock_mono_ns() < rc->next_ns) {
            rh_timer_arm(rc->loop, &rc->timer, rc->next_ns);
            return;
        }
        struct rh_reconnect *r = take_first(rc);
        r->is_running = true;
        rc->running_count++;
        r->go(r);
    }
}

static void fire(struct rh_timer *timer, int64_t now_ns)
{
    (void) now_ns;
    pump(timer->ctx);
}

void rh_reconnector_init(struct rh_reconnector *rc, struct rh_loop *loop, int64_t patience_ns)
{
    *rc = (struct rh_reconnector){
        .loop = loop, .patience_ns = patience_ns, .timer = {.fire = fire, .ctx = rc}};
}

void rh_reconnector_put(struct rh_reconnector *rc, struct rh_reconnect *r)
{
    append(rc, r);
    pump(rc);
}

/* give_up may end other sessions, which then leave the queue: look at it anew each time. */
static void give_up_late_ones(struct rh_reconnector *rc, int64_t now_ns)
{
    struct rh_reconnect *r = rc->first;
    while (r) {
        if (now_ns - r->since_ns < rc->patience_ns) {
            r = r->next;
            continue;
        }
        rh_reconnector_drop(rc, r);
        r->give_up(r);
        r = rc->first;
    }
}

/* Nobody is taken: from now on one tries for all. */
static void pause_longer(struct rh_reconnector *rc, int64_t now_ns)
{
    /* Those that set out together fail together: that is one failure. */
    if (rc->pause_ns > 0 && now_ns < rc->next_ns) {
        return;
    }
    rc->pause_ns = rc->pause_ns > 0 ? 2 * rc->pause_ns : PAUSE_FIRST_NS;
    rc->pause_ns = rc->pause_ns < PAUSE_MAX_NS ? rc->pause_ns : PAUSE_MAX_NS;
    rc->next_ns = now_ns + rc->pause_ns;
}

void rh_reconnector_put_failed(struct rh_reconnector *rc, struct rh_reconnect *r)
{
    int64_t now_ns = rh_clock_mono_ns();
    pause_longer(rc, now_ns);
    append(rc, r);
    give_up_late_ones(rc, now_ns);
    pump(rc);
}

void rh_reconnector_drop(struct rh_reconnector *rc, struct rh_reconnect *r)
{
    if (!r->is_waiting) {
        return;
    }
    struct rh_reconnect *before = NULL;
    struct rh_reconnect **at = &rc->first;
    while (*at != r) {
        before = *at;
        at = &before->next;
    }
    *at = r->next;
    if (rc->last == r) {
        rc->last = before;
    }
    r->is_waiting = false;
}

void rh_reconnector_end(struct rh_reconnector *rc, struct rh_reconnect *r,
                        enum rh_reconnect_end end)
{
    assert(r->is_running && rc->running_count > 0);
    r->is_running = false;
    rc->running_count--;
    if (end == RH_RECONNECT_FAILED) {
        rh_reconnector_put_failed(rc, r);
        return;
    }
    if (end == RH_RECONNECT_ANSWERED) {
        rc->pause_ns = 0;
        rh_timer_cancel(rc->loop, &rc->timer);
    }
    pump(rc);
}
