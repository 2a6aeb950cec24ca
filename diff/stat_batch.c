#include "diff/stat_batch.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "diff/stat_distribution.h"

int64_t rh_batch_add(struct rh_batch *batch, uint64_t base_ns, uint64_t candidate_ns)
{
    double base = base_ns ? (double) base_ns : 1,
           candidate = candidate_ns ? (double) candidate_ns : 1;
    batch->count++;
    batch->base_ns += base_ns;
    batch->candidate_ns += candidate_ns;
    int64_t scaled_log = llround(log(candidate / base) * RH_LOG_SCALE);
    batch->log_sum += scaled_log;
    return scaled_log;
}

void rh_batch_merge(struct rh_batch *into, const struct rh_batch *from)
{
    into->count += from->count;
    into->base_ns += from->base_ns;
    into->candidate_ns += from->candidate_ns;
    into->log_sum += from->log_sum;
}

/* How far each batch pulls the estimate; empty ones are left out.  Returns their number. */
typedef uint32_t influence_of(const struct rh_batch *batches, uint32_t count, double *log_ratio,
                              double *influence);

static uint32_t influence_on_mean(const struct rh_batch *batches, uint32_t count, double *log_ratio,
                                  double *influence)
{
    double base = 0, candidate = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        base += (double) batches[i].base_ns;
        candidate += (double) batches[i].candidate_ns;
    }
    if (base <= 0 || candidate <= 0) {
        return 0;
    }
    *log_ratio = log(candidate / base);
    for (uint32_t i = 0; i < count; i++) {
        if (batches[i].count) {
            influence[used++] =
                (double) batches[i].candidate_ns / candidate - (double) batches[i].base_ns / base;
        }
    }
    return used;
}

static uint32_t influence_on_typical(const struct rh_batch *batches, uint32_t count,
                                     double *log_ratio, double *influence)
{
    double sum = 0, n = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double) batches[i].log_sum / RH_LOG_SCALE;
        n += (double) batches[i].count;
    }
    if (n <= 0) {
        return 0;
    }
    *log_ratio = sum / n;
    for (uint32_t i = 0; i < count; i++) {
        if (batches[i].count) {
            influence[used++] = ((double) batches[i].log_sum / RH_LOG_SCALE -
                                 *log_ratio * (double) batches[i].count) /
                                n;
        }
    }
    return used;
}

static double sum_of_products(const double *v, uint32_t count, uint32_t lag)
{
    double sum = 0;
    for (uint32_t i = 0; i + lag < count; i++) {
        sum += v[i] * v[i + lag];
    }
    return sum;
}

static int estimate(struct rh_estimate *e, const struct rh_batch *batches, uint32_t count,
                    influence_of *influence_fn)
{
    struct rh_batch joined[RH_BATCHES];
    double influence[RH_BATCHES];
    memcpy(joined, batches, count * sizeof *joined);
    for (;;) {
        uint32_t used = influence_fn(joined, count, &e->log_ratio, influence);
        if (used < 2) {
            return -1;
        }
        double squares = sum_of_products(influence, used, 0);
        double k = used;
        e->error = sqrt(k / (k - 1) * squares);
        e->df = k - 1;
        e->batches = used;
        bool go_together = sum_of_products(influence, used, 1) > squares / sqrt(k);
        if (count <= RH_BATCHES_MIN || !go_together) {
            return 0;
        }
        for (uint32_t i = 0; i < count / 2; i++) {
            joined[i] = joined[2 * i];
            rh_batch_merge(&joined[i], &joined[2 * i + 1]);
        }
        count /= 2;
    }
}

int rh_estimate_mean(struct rh_estimate *e, const struct rh_batch *batches, uint32_t count)
{
    return estimate(e, batches, count, influence_on_mean);
}

int rh_estimate_typical(struct rh_estimate *e, const struct rh_batch *batches, uint32_t count)
{
    return estimate(e, batches, count, influence_on_typical);
}

struct rh_interval rh_estimate_interval(const struct rh_estimate *e, double confidence)
{
    double half = rh_t_quantile((1 + confidence) / 2, e->df) * e->error;
    return (struct rh_interval){exp(e->log_ratio - half), exp(e->log_ratio + half)};
}

double rh_estimate_above_p(const struct rh_estimate *e, double ratio)
{
    double distance = e->log_ratio - log(ratio);
    if (e->error <= 0) {
        return distance > 0 ? 0 : 1;
    }
    return rh_t_upper(distance / e->error, e->df);
}

double rh_estimate_below_p(const struct rh_estimate *e, double ratio)
{
    double distance = log(ratio) - e->log_ratio;
    if (e->error <= 0) {
        return distance > 0 ? 0 : 1;
    }
    return rh_t_upper(distance / e->error, e->df);
}
