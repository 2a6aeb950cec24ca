#include "diff/fitness.h"

#include <math.h>

#include "common/alloc.h"
#include "diff/median.h"
#include "diff/noise.h"

/* Of fewer queries, and fewer pairs of one, the median says nothing. */
enum { SHIFT_QUERIES_MIN = 10, SHIFT_PAIRS_MIN = 15 };

/*
 * The limits come from what the verdicts need, not from one workload: a percent of the statements
 * may carry the slowest ones (the limit of gates.h), 10 ms are a hundred short statements, and
 * beyond a second of lag the load is no more what production's was.  What a change may rightly
 * cause, other errors and rows, invalidates only when most of the work was not done.
 */
static const struct {
    const char *name;
    const char *text;
    bool at_most; /* too much is bad; else too little */
    double degraded;
    double invalid;
} checks[RH_CHECKS] = {
    [RH_CHECK_COMPLETE] = {"complete", "both files are whole", false, 1, 1},
    [RH_CHECK_SAME_TRACE] = {"same-trace", "statements have twins", false, 1, NAN},
    [RH_CHECK_SAME_VANTAGE] = {"same-vantage", "times were taken at one kind of place", false, 1,
                               NAN},
    [RH_CHECK_SAME_SPEED] = {"same-speed", "both sides went at one speed", false, 1, 1},
    [RH_CHECK_CONNECTED] = {"connected-pct", "not kept from running by refused or lost sessions",
                            false, 99.9, 99},
    [RH_CHECK_SENT] = {"statements-sent-pct", "of the base's statements that ran", false, 99, 80},
    [RH_CHECK_SESSIONS] = {"sessions-opened-pct", "of the sessions that could connect", false, 100,
                           95},
    [RH_CHECK_ERROR_PARITY] = {"error-parity-pct",
                               "of the pairs with one outcome, success or error", false, 99, 50},
    [RH_CHECK_ROW_PARITY] = {"row-parity-pct", "of the pairs with one number of rows", false, 99,
                             50},
    [RH_CHECK_ARRIVAL_CORRELATION] = {"arrival-correlation", "of statements per second", false, 0.9,
                                      0.5},
    [RH_CHECK_LAG_P99_MS] = {"lag-p99-ms", "how late due statements were sent", true, 10, 1000},
    [RH_CHECK_ORDER_WAIT] = {"order-wait-pct", "of the statements waited for --order", true, 10,
                             NAN},
    [RH_CHECK_SHIFT] = {"median-shift-pct", "how far the median query moved, up or down", true, 5,
                        NAN},
    [RH_CHECK_NOISE] = {"noise-pct", "what runs of one side differ by", true, 25, NAN},
    [RH_CHECK_GAPS] = {"gaps", "places where something is known to be missing", true, 0, NAN},
};

const char *rh_check_name(enum rh_check check)
{
    return checks[check].name;
}

const char *rh_check_text(enum rh_check check)
{
    return checks[check].text;
}

double rh_check_limit(enum rh_check check, enum rh_fit fit)
{
    return fit == RH_FIT_INVALID ? checks[check].invalid : checks[check].degraded;
}

const char *rh_fit_name(enum rh_fit fit)
{
    static const char *const names[] = {"valid", "degraded", "invalid", NULL};
    return names[fit];
}

const char *rh_check_state_name(enum rh_fit fit)
{
    static const char *const names[] = {"ok", "degraded", "invalid", "unknown"};
    return names[fit];
}

static double share_pct(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * ((double) part / (double) whole) : NAN;
}

static bool is_run(const struct rh_comparison *c, enum rh_side side)
{
    return rh_trace_file_header(c->file[side])->kind == RH_FILE_RUN;
}

/* A workload went as fast as production. */
static struct rh_span speed_of(const struct rh_trace_file *file)
{
    const struct rh_trace_header *h = rh_trace_file_header(file);
    struct rh_span speed = rh_trace_header_setting(h, "speed");
    return h->kind == RH_FILE_RUN && speed.len > 0 ? speed : RH_SPAN_LITERAL("1");
}

static double same_speed(const struct rh_comparison *c)
{
    for (uint32_t i = 0; i < c->part_count; i++) {
        struct rh_trace_file *const *file = c->parts[i].file;
        if (!rh_span_equal(speed_of(file[RH_BASE]), speed_of(file[RH_CANDIDATE]))) {
            return 0;
        }
    }
    return 1;
}

static double sent_pct(const struct rh_comparison *c)
{
    const struct rh_side_summary *candidate = &c->side[RH_CANDIDATE];
    uint64_t missing =
        c->paired ? c->pairs.missing : candidate->skipped + candidate->not_sent + candidate->lost;
    uint64_t whole = rh_comparison_in_scope(c);
    return share_pct(missing < whole ? whole - missing : 0, whole);
}

static double error_parity_pct(const struct rh_comparison *c)
{
    uint64_t other = 0;
    for (uint32_t i = 0; i < c->queries.count; i++) {
        other += c->queries.items[i].pairs.broke + c->queries.items[i].pairs.fixed;
    }
    uint64_t ran = c->pairs.paired > c->pairs.missing ? c->pairs.paired - c->pairs.missing : 0;
    return c->paired ? share_pct(ran > other ? ran - other : 0, ran) : NAN;
}

static double lag_p99_ms(const struct rh_comparison *c)
{
    double worst = NAN;
    for (int side = 0; side < RH_SIDES; side++) {
        const struct rh_hist *lag = &c->side[side].lag;
        if (lag->count > 0) {
            worst = fmax(worst, (double) rh_hist_quantile(lag, 0.99) / 1e6);
        }
    }
    return worst;
}

static double arrival_correlation(const struct rh_comparison *c)
{
    return c->paired && same_speed(c) == 1
               ? rh_arrivals_correlation(&c->side[RH_BASE].arrivals,
                                         &c->side[RH_CANDIDATE].arrivals)
               : NAN;
}

/* When all queries move together it is the host, or the server as a whole, and not one of them: two
 * runs of one server on a busy host look like that. */
static double median_shift_pct(const struct rh_comparison *c)
{
    double *ratios = rh_calloc(c->queries.count, sizeof *ratios);
    double shift = NAN;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->queries.count && c->paired && c->same_vantage; i++) {
        const struct rh_query_pairs *p = &c->queries.items[i].pairs;
        if (i != RH_QUERY_OTHER && p->timed >= SHIFT_PAIRS_MIN && p->base_ns && p->candidate_ns) {
            ratios[n++] = (double) p->candidate_ns / (double) p->base_ns;
        }
    }
    if (n >= SHIFT_QUERIES_MIN) {
        rh_doubles_sort(ratios, n);
        double median = sqrt(ratios[(n - 1) / 2] * ratios[n / 2]);
        shift = 100 * (fmax(median, 1 / median) - 1);
    }
    rh_free(ratios);
    return shift;
}

/* Where times are not judged it spoils nothing. */
static double noise_pct(const struct rh_comparison *c, const struct rh_noise *noise)
{
    return noise && noise->pairs > 0 && c->paired && c->same_vantage ? 100 * noise->margin : NAN;
}

static double actual_of(const struct rh_comparison *c, enum rh_check check, uint64_t rows_compared,
                        uint64_t row_mismatches, const struct rh_noise *noise)
{
    const struct rh_side_summary *candidate = &c->side[RH_CANDIDATE];
    uint64_t whole = rh_comparison_in_scope(c);
    uint64_t unconnected = rh_comparison_unconnected(c);
    switch (check) {
    case RH_CHECK_COMPLETE:
        return rh_comparison_is_whole(c);
    case RH_CHECK_SAME_TRACE:
        return c->paired;
    case RH_CHECK_SAME_VANTAGE:
        return c->same_vantage;
    case RH_CHECK_SAME_SPEED:
        return same_speed(c);
    case RH_CHECK_CONNECTED:
        return share_pct(unconnected < whole ? whole - unconnected : 0, whole);
    case RH_CHECK_SENT:
        return sent_pct(c);
    case RH_CHECK_SESSIONS:
        return is_run(c, RH_CANDIDATE)
                   ? share_pct(candidate->sessions - candidate->sessions_refused,
                               candidate->sessions)
                   : NAN;
    case RH_CHECK_ERROR_PARITY:
        return error_parity_pct(c);
    case RH_CHECK_ROW_PARITY:
        return share_pct(rows_compared - row_mismatches, rows_compared);
    case RH_CHECK_ARRIVAL_CORRELATION:
        return arrival_correlation(c);
    case RH_CHECK_LAG_P99_MS:
        return lag_p99_ms(c);
    case RH_CHECK_ORDER_WAIT:
        return is_run(c, RH_CANDIDATE) ? share_pct(candidate->order_waits, candidate->calls) : NAN;
    case RH_CHECK_GAPS:
        return (double) (c->side[RH_BASE].gaps + candidate->gaps);
    case RH_CHECK_SHIFT:
        return median_shift_pct(c);
    case RH_CHECK_NOISE:
        return noise_pct(c, noise);
    case RH_CHECKS:
        break;
    }
    return NAN;
}

static bool passes(enum rh_check check, double actual, double limit)
{
    return isnan(limit) || (checks[check].at_most ? actual <= limit : actual >= limit);
}

/* Between production's log and a replay times judge nothing, so what disturbs them spoils nothing
 * else. */
static enum rh_fit worst_of(const struct rh_comparison *c, enum rh_check check)
{
    bool of_times = check == RH_CHECK_SAME_SPEED || check == RH_CHECK_ARRIVAL_CORRELATION ||
                    check == RH_CHECK_LAG_P99_MS;
    return of_times && !c->same_vantage ? RH_FIT_DEGRADED : RH_FIT_INVALID;
}

void rh_fitness_make(struct rh_fitness *f, const struct rh_comparison *c, uint64_t rows_compared,
                     uint64_t row_mismatches, const struct rh_noise *noise)
{
    f->verdict = RH_FIT_VALID;
    for (int i = 0; i < RH_CHECKS; i++) {
        struct rh_fitness_check *check = &f->checks[i];
        enum rh_check kind = (enum rh_check) i;
        check->actual = actual_of(c, kind, rows_compared, row_mismatches, noise);
        if (isnan(check->actual)) {
            check->state = RH_FIT_UNKNOWN;
            continue;
        }
        check->state =
            passes(kind, check->actual, checks[i].degraded) ? RH_FIT_VALID : RH_FIT_DEGRADED;
        if (!passes(kind, check->actual, checks[i].invalid)) {
            check->state = worst_of(c, kind);
        }
        if (check->state > f->verdict) {
            f->verdict = check->state;
        }
    }
}
