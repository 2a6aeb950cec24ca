/*
 * tests/unit/tpcb.h
 *
 * A made-up server log of pgbench's TPC-B: what capture would hand to the trace writer.  The same
 * seed gives the same records.
 */
#ifndef RH_TESTS_UNIT_TPCB_H
#define RH_TESTS_UNIT_TPCB_H

#include <math.h>
#include <stdio.h>

#include "formats/record.h"

enum { TPCB_STATEMENTS = 7, TPCB_SESSIONS_MAX = 64 };

struct tpcb_session {
    int64_t now_us; /* true time at which its next statement starts */
    int step;
    uint64_t ordinal;
    int aid, tid, bid, delta;
    int64_t last_start_us;
    int64_t last_end_us;
};

struct tpcb {
    uint64_t seed;
    int sessions;
    int scale;
    struct tpcb_session s[TPCB_SESSIONS_MAX];
    char text[256];
};

static inline uint64_t tpcb_random(struct tpcb *t)
{
    t->seed ^= t->seed << 13;
    t->seed ^= t->seed >> 7;
    t->seed ^= t->seed << 17;
    return t->seed * UINT64_C(2685821657736338717);
}

static inline double tpcb_uniform(struct tpcb *t)
{
    return (double) (tpcb_random(t) >> 11) / 9007199254740992.0 + 1e-12;
}

/* Log-normal around a median. */
static inline int64_t tpcb_duration(struct tpcb *t, double median_us, double sigma)
{
    double n = sqrt(-2 * log(tpcb_uniform(t))) * cos(6.283185307179586 * tpcb_uniform(t));
    return (int64_t) (median_us * exp(sigma * n)) + 1;
}

static inline void tpcb_init(struct tpcb *t, int sessions, uint64_t seed)
{
    *t = (struct tpcb){.seed = seed, .sessions = sessions, .scale = 10};
    for (int i = 0; i < sessions; i++) {
        t->s[i].now_us = INT64_C(1735689600000000) + i * 1300;
        t->s[i].last_start_us = INT64_MIN;
    }
}

/*
 * The next record in the order a log has them (by end).  Stamps are whole ms, start is stamp minus
 * duration and never goes back in its session, as from log_min_duration_statement = 0.
 */
static inline void tpcb_next(struct tpcb *t, struct rh_record *r)
{
    static const double median_us[TPCB_STATEMENTS] = {35, 260, 150, 230, 240, 130, 900};
    int best = 0;
    for (int i = 1; i < t->sessions; i++) {
        best = t->s[i].now_us < t->s[best].now_us ? i : best;
    }
    struct tpcb_session *s = &t->s[best];
    if (s->step == 0) {
        s->aid = 1 + (int) (tpcb_random(t) % (uint64_t) (100000 * t->scale));
        s->bid = 1 + (int) (tpcb_random(t) % (uint64_t) t->scale);
        s->tid = 1 + (int) (tpcb_random(t) % (uint64_t) (10 * t->scale));
        s->delta = (int) (tpcb_random(t) % 10001) - 5000;
    }
    switch (s->step) {
    case 0:
        snprintf(t->text, sizeof t->text, "BEGIN;");
        break;
    case 1:
        snprintf(t->text, sizeof t->text,
                 "UPDATE pgbench_accounts SET abalance = abalance + %d WHERE aid = %d;", s->delta,
                 s->aid);
        break;
    case 2:
        snprintf(t->text, sizeof t->text, "SELECT abalance FROM pgbench_accounts WHERE aid = %d;",
                 s->aid);
        break;
    case 3:
        snprintf(t->text, sizeof t->text,
                 "UPDATE pgbench_tellers SET tbalance = tbalance + %d WHERE tid = %d;", s->delta,
                 s->tid);
        break;
    case 4:
        snprintf(t->text, sizeof t->text,
                 "UPDATE pgbench_branches SET bbalance = bbalance + %d WHERE bid = %d;", s->delta,
                 s->bid);
        break;
    case 5:
        snprintf(t->text, sizeof t->text,
                 "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (%d, %d, %d, "
                 "%d, CURRENT_TIMESTAMP);",
                 s->tid, s->bid, s->aid, s->delta);
        break;
    default:
        snprintf(t->text, sizeof t->text, "END;");
        break;
    }
    int64_t duration_us = tpcb_duration(t, median_us[s->step], 0.6);
    int64_t end_us = s->now_us + duration_us + 12;
    int64_t start_us = end_us / 1000 * 1000 - duration_us;
    start_us = start_us < s->last_start_us ? s->last_start_us : start_us;
    rh_record_init(r);
    r->session = (uint32_t) best + 1;
    r->ordinal = ++s->ordinal;
    r->start_ns = start_us * 1000;
    r->outcome.done_ns = (start_us + duration_us) * 1000;
    r->outcome.sqlstate = 0;
    r->txn = (uint8_t) (s->step == 0                     ? RH_TXN_BEGINS | RH_TXN_BLOCK
                        : s->step == TPCB_STATEMENTS - 1 ? RH_TXN_ENDS | RH_TXN_BLOCK
                                                         : RH_TXN_BLOCK);
    r->text = rh_span_cstr(t->text);
    s->last_start_us = start_us;
    s->now_us = end_us + 60 + (int64_t) (tpcb_random(t) % 40);
    s->step = (s->step + 1) % TPCB_STATEMENTS;
    if (s->step == 0) {
        s->now_us += tpcb_duration(t, 20000, 0.8);
    }
}

#endif
