#include "replay/show_progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"
#include "replay/engine.h"
#include "replay/worker.h"

void rh_show_progress_init(struct rh_show_progress *p, struct rh_engine *engine)
{
    *p = (struct rh_show_progress){.engine = engine, .last_ns = rh_clock_mono_ns()};
    rh_progress_init(&p->line);
}

struct sums {
    uint64_t sent;
    uint64_t failed;
    uint64_t done;
    uint32_t open;
    int64_t lag_ns; /* the worst worker's */
};

static struct sums add_up(const struct rh_engine *e)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < e->worker_count; i++) {
        struct rh_worker_progress *w = &e->workers[i].progress;
        int64_t lag_ns = atomic_load_explicit(&w->lag_ns, memory_order_relaxed);
        sums.sent += atomic_load_explicit(&w->statements_sent, memory_order_relaxed);
        sums.failed += atomic_load_explicit(&w->statements_failed, memory_order_relaxed);
        sums.done += atomic_load_explicit(&w->records_done, memory_order_relaxed);
        sums.open += atomic_load_explicit(&w->sessions_open, memory_order_relaxed);
        if (lag_ns > sums.lag_ns) {
            sums.lag_ns = lag_ns;
        }
    }
    return sums;
}

/* How much of the replay is over, 0 to 1: of its time, or at --speed max of its statements. */
static double share_done(const struct rh_engine *e, const struct sums *sums, double elapsed_s)
{
    double share;
    if (e->plan->speed_is_max) {
        uint64_t all = e->plan->statement_count;
        share = all ? (double) sums->done / (double) all : 1;
    } else {
        int64_t length_ns = rh_plan_length_ns(e->plan);
        share = length_ns > 0 ? elapsed_s * 1e9 / (double) length_ns : 1;
    }
    return share > 1 ? 1 : share;
}

void rh_show_progress_update(struct rh_show_progress *p)
{
    const struct rh_engine *e = p->engine;
    if (e->options->quiet || !rh_progress_due(&p->line)) {
        return;
    }
    int64_t begin_ns = atomic_load(&p->engine->begin_ns), now_ns = rh_clock_mono_ns();
    struct sums sums = add_up(e);
    if (begin_ns == 0) {
        rh_progress_show(&p->line, "connecting: %" PRIu32 " sessions open", sums.open);
        return;
    }
    double elapsed_s = (double) (now_ns - begin_ns) / 1e9;
    double share = share_done(e, &sums, elapsed_s);
    double rate = (double) (sums.sent - p->last_sent) * 1e9 / (double) (now_ns - p->last_ns);
    double left_s = share > 0 ? elapsed_s / share - elapsed_s : 0;
    p->last_sent = sums.sent;
    p->last_ns = now_ns;
    rh_progress_show(&p->line,
                     "%5.1f %%  %" PRIu64 " statements (%.0f/s), %" PRIu64
                     " failed, lag %.1f ms, %" PRIu32 " sessions, %.0f s left",
                     100 * share, sums.sent, rate, sums.failed, (double) sums.lag_ns / 1e6,
                     sums.open, left_s);
}

void rh_show_progress_end(struct rh_show_progress *p)
{
    rh_progress_end(&p->line);
}
