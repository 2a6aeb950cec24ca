#include "common/wake_lead.h"

/* Steps of four up and one down settle where four of five sleeps end in time, and one long pause of
 * the machine counts no more than a short one. */
#define STEP_UP_NS INT64_C(4000)
#define STEP_DOWN_NS INT64_C(1000)
#define CREDIT_MAX_NS INT64_C(10000000)
enum { AWAKE_SHARE = 10 };

void rh_wake_lead_learn(struct rh_wake_lead *lead, int64_t late_ns)
{
    int64_t next_ns = lead->lead_ns + (late_ns > lead->lead_ns ? STEP_UP_NS : -STEP_DOWN_NS);
    if (next_ns >= 0 && next_ns <= RH_WAKE_LEAD_MAX_NS) {
        lead->lead_ns = next_ns;
    }
}

static void earn(struct rh_wake_lead *lead, int64_t now_ns)
{
    lead->credit_ns += (now_ns - lead->credit_at_ns) / AWAKE_SHARE;
    if (lead->credit_ns > CREDIT_MAX_NS) {
        lead->credit_ns = CREDIT_MAX_NS;
    }
    lead->credit_at_ns = now_ns;
}

int64_t rh_wake_lead_ask(struct rh_wake_lead *lead, int64_t deadline_ns, int64_t now_ns)
{
    earn(lead, now_ns);
    if (deadline_ns <= now_ns || lead->paid_ns == deadline_ns) {
        return now_ns;
    }
    int64_t left_ns = deadline_ns - now_ns;
    if (left_ns > lead->lead_ns) {
        return lead->credit_ns < lead->lead_ns ? deadline_ns : deadline_ns - lead->lead_ns;
    }
    if (lead->credit_ns < left_ns) {
        return deadline_ns;
    }
    lead->credit_ns -= left_ns;
    lead->paid_ns = deadline_ns;
    return now_ns;
}
