/*
 * common/wake_lead.h
 *
 * How long before a deadline a thread has itself woken, so that it runs at the deadline and not
 * after it.  A thread that sleeps until a time runs again some 50 to 100 us later, on virtual
 * machines above all.  So it is woken earlier by what is usual here and waits for the rest awake,
 * for at most a tenth of the time.  A function of the times it is given; it reads no clock.
 */
#ifndef RH_COMMON_WAKE_LEAD_H
#define RH_COMMON_WAKE_LEAD_H

#include <stdint.h>

#define RH_WAKE_LEAD_MAX_NS INT64_C(150000)

/* All zero at first: then it wakes nobody early. */
struct rh_wake_lead {
    int64_t lead_ns;
    int64_t credit_ns; /* how long it may still wait awake, as of credit_at_ns */
    int64_t credit_at_ns;
    int64_t paid_ns; /* the deadline for which it waits awake */
};

/* A sleep ended this much after the time it was to end at. */
void rh_wake_lead_learn(struct rh_wake_lead *lead, int64_t late_ns);

/* Until when to sleep at now_ns for a deadline; now_ns or before: not at all, ask again at once.
 * Never later than the deadline. */
int64_t rh_wake_lead_ask(struct rh_wake_lead *lead, int64_t deadline_ns, int64_t now_ns);

#endif
