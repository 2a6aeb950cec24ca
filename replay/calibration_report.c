#include "replay/calibration_report.h"

#include <inttypes.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/noun.h"

enum { JSON_BYTES_MAX = 64 * 1024 };

static const double factors[] = {1, 2, 4};
enum { FACTOR_COUNT = sizeof factors / sizeof factors[0] };

static const char *const bound_names[] = {
    [RH_BOUND_CPU] = "cpu", [RH_BOUND_FILES] = "files", [RH_BOUND_PORTS] = "ports"};

static const char *duration(double ns, char text[32])
{
    if (ns < 1e3) {
        snprintf(text, 32, "%.0f ns", ns);
    } else if (ns < 1e6) {
        snprintf(text, 32, "%.3g us", ns / 1e3);
    } else if (ns < 1e9) {
        snprintf(text, 32, "%.3g ms", ns / 1e6);
    } else {
        snprintf(text, 32, "%.3g s", ns / 1e9);
    }
    return text;
}

static double rate(const struct rh_calibration_run *run)
{
    return run->length_ns > 0 ? (double) run->tally.statements_sent * 1e9 / (double) run->length_ns
                              : 0;
}

static double cpu_ns_each(const struct rh_calibration_run *run)
{
    return run->tally.statements_sent ? (double) run->cpu_ns / (double) run->tally.statements_sent
                                      : 0;
}

/* Of the time of all cores. */
static double cpu_share(const struct rh_calibration *c, const struct rh_calibration_run *run)
{
    return run->length_ns > 0 ? (double) run->cpu_ns / (double) run->length_ns / c->cores : 0;
}

static uint64_t unsent(const struct rh_tally *t)
{
    uint64_t n = t->statements_lost;
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (i != RH_REASON_OUTSIDE_WINDOW) {
            n += t->not_sent[i];
        }
    }
    return n;
}

static void print_run(const struct rh_calibration *c, const struct rh_calibration_run *run,
                      const char *name, FILE *out)
{
    char each[32];
    const struct rh_tally *t = &run->tally;
    if (run->runs == 0) {
        fprintf(out, "%-12s not measured: stopped\n", name);
        return;
    }
    fprintf(out, "%-12s %" PRIu64 " statement%s in %.2f s: %.0f/s", name, t->statements_sent,
            rh_plural(t->statements_sent), (double) run->length_ns / 1e9, rate(run));
    if (run->runs > 1) {
        fprintf(out, " (%" PRIu32 " replays)", run->runs);
    }
    fprintf(out, "%s\n", run->is_stopped ? ", then stopped" : "");
    fprintf(out, "             %s of client CPU a statement, %.1f %% of all cores\n",
            duration(cpu_ns_each(run), each), 100 * cpu_share(c, run));
    fprintf(out, "             %" PRIu32 " connection%s open at once on the null server%s\n",
            run->peak_sessions, rh_plural(run->peak_sessions),
            run->peak_sessions > c->peak_sessions
                ? ": one counts there until its end was seen, and the next may be open by then"
                : "");
    if (unsent(t) + t->sessions_failed + t->sessions_lost > 0) {
        fprintf(out,
                "             %" PRIu64 " session%s refused, %" PRIu64 " lost; %" PRIu64
                " statement%s not sent or not answered\n",
                t->sessions_failed, rh_plural(t->sessions_failed), t->sessions_lost, unsent(t),
                rh_plural(unsent(t)));
    }
}

static void print_lag(const struct rh_calibration_run *run, FILE *out)
{
    const struct rh_hist *lag = &run->tally.lag_ns;
    char p50[32], p95[32], p99[32], max[32];
    if (lag->count > 0) {
        fprintf(out, "             lag p50 %s, p95 %s, p99 %s, max %s\n",
                duration((double) rh_hist_quantile(lag, 0.50), p50),
                duration((double) rh_hist_quantile(lag, 0.95), p95),
                duration((double) rh_hist_quantile(lag, 0.99), p99),
                duration((double) lag->max, max));
    }
}

static void print_limits(const struct rh_calibration *c, FILE *out)
{
    fprintf(out, "this host    %" PRIu32 " core%s, %" PRIu32 " worker thread%s", c->cores,
            rh_plural(c->cores), c->jobs, rh_plural(c->jobs));
    if (c->files != UINT64_MAX) {
        fprintf(out, "; files for %" PRIu64 " sessions (ulimit -n)", c->files);
    }
    if (c->ports) {
        fprintf(out, "; %" PRIu64 " TCP ports to one address", c->ports);
    }
    fprintf(out, "\n");
}

static void print_hosts(const struct rh_calibration *c, FILE *out)
{
    double capacity = rh_calibration_capacity(c);
    if (capacity <= 0) {
        return;
    }
    fprintf(out,
            "hosts        at %.0f %% of the CPU of its threads a host like this drives %.0f/s\n",
            100 * RH_CALIBRATION_LOAD, capacity);
    for (int i = 0; i < FACTOR_COUNT; i++) {
        enum rh_calibration_bound bound;
        uint64_t hosts = rh_calibration_hosts(c, factors[i], &bound);
        fprintf(out, "             %.0fx the busiest second (%.0f/s): %" PRIu64 "%s%s\n",
                factors[i], factors[i] * (double) c->busiest_count, hosts,
                bound == RH_BOUND_CPU ? "" : ", for want of ",
                bound == RH_BOUND_CPU ? "" : bound_names[bound]);
    }
}

void rh_calibration_print_text(const struct rh_calibration *c, const char *trace_path, FILE *out)
{
    char when[RH_TIME_TEXT_SIZE], length[32], part[32];
    fprintf(out,
            "trace        %s: %" PRIu64 " statement%s in %s, at most %" PRIu32
            " session%s at once\n",
            trace_path, c->statement_count, rh_plural(c->statement_count),
            duration((double) c->length_ns, length), c->peak_sessions, rh_plural(c->peak_sessions));
    fprintf(out, "             busiest second %" PRIu64 " statement%s, at %s\n", c->busiest_count,
            rh_plural(c->busiest_count), rh_time_format(c->busiest_ns, when));
    if (c->replayed_ns < c->length_ns) {
        fprintf(out, "             its first %s were replayed (--first)\n",
                duration((double) c->replayed_ns, part));
    }
    print_limits(c, out);
    print_run(c, &c->flat_out, "flat out", out);
    print_run(c, &c->original, "at 1x", out);
    print_lag(&c->original, out);
    print_hosts(c, out);
    fprintf(out, "The null server ran on this host too and took its share of the cores.\n");
}

static void json_run(struct rh_json *j, const struct rh_calibration *c,
                     const struct rh_calibration_run *run, const char *key)
{
    const struct rh_tally *t = &run->tally;
    const struct rh_hist *lag = &t->lag_ns;
    rh_json_key(j, key);
    if (run->runs == 0) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_key(j, "replays");
    rh_json_int(j, run->runs);
    rh_json_key(j, "complete");
    rh_json_bool(j, !run->is_stopped);
    rh_json_key(j, "statements");
    rh_json_int(j, (int64_t) t->statements_sent);
    rh_json_key(j, "failed");
    rh_json_int(j, (int64_t) t->statements_failed);
    rh_json_key(j, "unsent");
    rh_json_int(j, (int64_t) unsent(t));
    rh_json_key(j, "duration_s");
    rh_json_double(j, (double) run->length_ns / 1e9, 6);
    rh_json_key(j, "statements_per_s");
    rh_json_double(j, rate(run), 1);
    rh_json_key(j, "cpu_us_per_statement");
    rh_json_double(j, cpu_ns_each(run) / 1e3, 3);
    rh_json_key(j, "cpu_share");
    rh_json_double(j, cpu_share(c, run), 4);
    rh_json_key(j, "sessions_peak");
    rh_json_int(j, run->peak_sessions);
    rh_json_key(j, "sessions_refused");
    rh_json_int(j, (int64_t) t->sessions_failed);
    rh_json_key(j, "sessions_lost");
    rh_json_int(j, (int64_t) t->sessions_lost);
    rh_json_key(j, "server_statements");
    rh_json_int(j, (int64_t) run->server_statements);
    static const struct {
        const char *key;
        double q;
    } quantiles[] = {{"lag_p50_us", 0.5}, {"lag_p95_us", 0.95}, {"lag_p99_us", 0.99}};
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        rh_json_key(j, quantiles[i].key);
        if (lag->count > 0) {
            rh_json_double(j, (double) rh_hist_quantile(lag, quantiles[i].q) / 1e3, 3);
        } else {
            rh_json_null(j);
        }
    }
    rh_json_close(j);
}

static void json_hosts(struct rh_json *j, const struct rh_calibration *c)
{
    rh_json_key(j, "hosts");
    rh_json_open(j, '[');
    for (int i = 0; i < FACTOR_COUNT; i++) {
        enum rh_calibration_bound bound;
        uint64_t hosts = rh_calibration_hosts(c, factors[i], &bound);
        rh_json_open(j, '{');
        rh_json_key(j, "factor");
        rh_json_double(j, factors[i], 0);
        rh_json_key(j, "statements_per_s");
        rh_json_double(j, factors[i] * (double) c->busiest_count, 0);
        rh_json_key(j, "hosts");
        if (hosts > 0) {
            rh_json_int(j, (int64_t) hosts);
        } else {
            rh_json_null(j);
        }
        rh_json_key(j, "bound");
        rh_json_cstr(j, hosts > 0 ? bound_names[bound] : NULL);
        rh_json_close(j);
    }
    rh_json_close(j);
}

static void json_trace(struct rh_json *j, const struct rh_calibration *c, const char *trace_path)
{
    rh_json_key(j, "trace");
    rh_json_cstr(j, trace_path);
    rh_json_key(j, "statements");
    rh_json_int(j, (int64_t) c->statement_count);
    rh_json_key(j, "duration_s");
    rh_json_double(j, (double) c->length_ns / 1e9, 6);
    rh_json_key(j, "replayed_s");
    rh_json_double(j, (double) c->replayed_ns / 1e9, 6);
    rh_json_key(j, "sessions_peak");
    rh_json_int(j, c->peak_sessions);
    rh_json_key(j, "busiest_second");
    rh_json_open(j, '{');
    rh_json_key(j, "at");
    rh_json_time(j, c->busiest_ns);
    rh_json_key(j, "statements");
    rh_json_int(j, (int64_t) c->busiest_count);
    rh_json_close(j);
}

static void json_host(struct rh_json *j, const struct rh_calibration *c)
{
    rh_json_key(j, "host");
    rh_json_open(j, '{');
    rh_json_key(j, "cores");
    rh_json_int(j, c->cores);
    rh_json_key(j, "jobs");
    rh_json_int(j, c->jobs);
    rh_json_key(j, "files");
    if (c->files != UINT64_MAX) {
        rh_json_int(j, (int64_t) c->files);
    } else {
        rh_json_null(j);
    }
    rh_json_key(j, "ports");
    if (c->ports) {
        rh_json_int(j, (int64_t) c->ports);
    } else {
        rh_json_null(j);
    }
    rh_json_key(j, "planned_load");
    rh_json_double(j, RH_CALIBRATION_LOAD, 2);
    rh_json_key(j, "capacity_per_s");
    rh_json_double(j, rh_calibration_capacity(c), 1);
    rh_json_close(j);
}

void rh_calibration_print_json(const struct rh_calibration *c, const char *trace_path, FILE *out)
{
    struct rh_buf text;
    struct rh_json j;
    rh_buf_init(&text, JSON_BYTES_MAX);
    rh_json_init(&j, &text, true);
    rh_json_open(&j, '{');
    json_trace(&j, c, trace_path);
    json_host(&j, c);
    json_run(&j, c, &c->flat_out, "flat_out");
    json_run(&j, c, &c->original, "original");
    json_hosts(&j, c);
    rh_json_close(&j);
    fprintf(out, "%s\n", rh_buf_cstr(&text));
    rh_buf_release(&text);
}
