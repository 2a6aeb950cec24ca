#include "diff/arrivals.h"

#include <math.h>

#include "common/alloc.h"

enum { SECONDS_MIN = 10 };

void rh_arrivals_release(struct rh_arrivals *a)
{
    rh_free(a->counts);
    *a = (struct rh_arrivals){0};
}

void rh_arrivals_add(struct rh_arrivals *a, int64_t start_ns)
{
    int64_t since;
    if (a->seconds == 0) {
        a->first_ns = start_ns;
    }
    if (__builtin_sub_overflow(start_ns, a->first_ns, &since)) {
        return;
    }
    int64_t second = since > 0 ? since / 1000000000 : 0;
    if (second >= RH_ARRIVALS_SECONDS_MAX) {
        return;
    }
    while (a->seconds <= second) {
        RH_GROW(a->counts, a->seconds, a->cap);
        a->counts[a->seconds++] = 0;
    }
    a->counts[second] += a->counts[second] < UINT32_MAX;
}

static double count_at(const struct rh_arrivals *a, uint32_t second)
{
    return second < a->seconds ? a->counts[second] : 0;
}

static double mean_of(const struct rh_arrivals *a, uint32_t seconds)
{
    double sum = 0;
    for (uint32_t i = 0; i < a->seconds; i++) {
        sum += a->counts[i];
    }
    return sum / seconds;
}

double rh_arrivals_correlation(const struct rh_arrivals *a, const struct rh_arrivals *b)
{
    uint32_t seconds = a->seconds > b->seconds ? a->seconds : b->seconds;
    double ab = 0, aa = 0, bb = 0;
    if (seconds < SECONDS_MIN) {
        return NAN;
    }
    double mean_a = mean_of(a, seconds), mean_b = mean_of(b, seconds);
    for (uint32_t i = 0; i < seconds; i++) {
        double x = count_at(a, i) - mean_a, y = count_at(b, i) - mean_b;
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
