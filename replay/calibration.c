#include "replay/calibration.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/stop.h"
#include "formats/trace_file.h"
#include "formats/trace_index.h"
#include "formats/trace_reader.h"
#include "replay/asker.h"
#include "replay/connector.h"
#include "replay/engine.h"
#include "replay/null_child.h"
#include "replay/plan.h"
#include "replay/run_header.h"
#include "replay/target.h"

/* Flat out a short trace is over too soon to tell anything: it is replayed again. */
#define FLAT_OUT_NS (2 * RH_NS_PER_SEC)
enum { FLAT_OUT_RUNS_MAX = 10, SPARE_FILES = 64 };

/* A trace and what is planned of it. */
struct subject {
    struct rh_trace_file *file;
    struct rh_trace_index *index;
    struct rh_plan *plan;
};

static void subject_close(struct subject *s)
{
    rh_plan_free(s->plan);
    rh_trace_index_free(s->index);
    if (s->file) {
        rh_trace_file_close(s->file);
    }
    *s = (struct subject){0};
}

static int subject_open(struct subject *s, const char *path,
                        const struct rh_replay_options *options, struct rh_error *err)
{
    *s = (struct subject){0};
    if (rh_trace_file_open(&s->file, path, err) != 0) {
        return -1;
    }
    if (rh_trace_file_header(s->file)->kind != RH_FILE_WORKLOAD) {
        return rh_error_set(err, RH_ERR_USAGE, "%s is a run: calibrate takes the trace", path);
    }
    if (rh_trace_index_new(&s->index, s->file, err) != 0 ||
        rh_plan_new(&s->plan, s->file, s->index, options, err) != 0) {
        return -1;
    }
    return s->plan->openable_count > 0
               ? 0
               : rh_error_set(err, RH_ERR_USAGE, "%s has no session to replay", path);
}

/* Records come in the order of their starts, so one second is counted at a time. */
static int find_busiest(struct rh_calibration *c, struct rh_trace_file *file, struct rh_error *err)
{
    struct rh_trace_reader *reader;
    struct rh_record r;
    int64_t second = INT64_MIN;
    uint64_t count = 0;
    int got;
    c->busiest_ns = INT64_MIN;
    if (rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, err) != 0) {
        return -1;
    }
    while ((got = rh_trace_reader_next(reader, &r, err)) == 1) {
        if (!rh_kind_is_statement(r.kind) || r.start_ns == RH_TIME_UNKNOWN) {
            continue;
        }
        int64_t at = r.start_ns / RH_NS_PER_SEC;
        count = at == second ? count + 1 : 1;
        second = at;
        c->statement_count++;
        if (count > c->busiest_count) {
            c->busiest_count = count;
            c->busiest_ns = at * RH_NS_PER_SEC;
        }
        if (rh_stop_requested()) {
            got = rh_error_set(err, RH_ERR_STOPPED, "stopped");
            break;
        }
    }
    rh_trace_reader_close(reader);
    return got < 0 ? -1 : 0;
}

/* The whole trace, and where what is replayed of it ends. */
static int look_at_trace(struct rh_calibration *c, const struct rh_calibration_options *o,
                         struct rh_replay_options *replay, struct rh_error *err)
{
    struct subject s;
    int rc = subject_open(&s, o->trace_path, replay, err);
    if (rc == 0) {
        rc = find_busiest(c, s.file, err);
    }
    if (rc == 0) {
        int64_t origin_ns = s.plan->map.origin_ns;
        c->peak_sessions = s.plan->peak_count;
        c->jobs = replay->jobs = rh_replay_options_jobs(replay, c->peak_sessions);
        c->length_ns = rh_time_sub(s.plan->end_ns, origin_ns);
        c->replayed_ns = c->length_ns;
        if (c->length_ns > o->first_ns) {
            c->replayed_ns = o->first_ns;
            replay->to_ns = rh_time_add(origin_ns, o->first_ns);
        }
    }
    if (rc == 0 && c->statement_count == 0) {
        rc = rh_error_set(err, RH_ERR_USAGE, "%s has no statement", o->trace_path);
    }
    subject_close(&s);
    return rc;
}

/* libpq's variables: one of them (PGHOSTADDR, PGSERVICE) could lead to a server of production. */
static void forget_environment(void)
{
    for (size_t i = 0; environ[i];) {
        char name[64];
        size_t n = strcspn(environ[i], "=");
        if (strncmp(environ[i], "PG", 2) == 0 && n < sizeof name) {
            memcpy(name, environ[i], n);
            name[n] = '\0';
            unsetenv(name);
            i = 0;
        } else {
            i++;
        }
    }
}

static void look_at_host(struct rh_calibration *c)
{
    struct rlimit files;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    c->cores = cores < 1 ? 1 : (uint32_t) cores;
    c->files = UINT64_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &files);
        if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
            c->files =
                files.rlim_cur > 2 * SPARE_FILES ? files.rlim_cur - SPARE_FILES : SPARE_FILES;
        }
    }
    FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    unsigned first, last;
    if (range && fscanf(range, "%u %u", &first, &last) == 2 && last >= first) {
        c->ports = (uint64_t) last - first + 1;
    }
    if (range) {
        (void) fclose(range);
    }
}

static int64_t cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * RH_NS_PER_SEC +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * RH_NS_PER_US;
}

/* Run the engine; its run file is measured with the rest, and removed. */
static int run_engine(struct rh_calibration_run *run, const struct rh_calibration *c,
                      struct subject *s, struct rh_connector *connector,
                      const struct rh_target *target, const struct rh_calibration_options *o,
                      const struct rh_replay_options *replay, struct rh_error *err)
{
    char path[128];
    struct rh_engine engine;
    struct rh_engine_result result;
    struct rh_run_header header;
    uint32_t limit = s->plan->peak_count > c->files ? (uint32_t) c->files : 0;
    snprintf(path, sizeof path, "%s/run", replay->host);
    rh_run_header_init(&header, rh_trace_file_header(s->file), replay, target, NULL, o->trace_path);
    const struct rh_engine_setup setup = {
        .plan = s->plan,
        .connector = connector,
        .options = replay,
        .run_path = path,
        .run_header = &header.header,
        .max_connections = limit,
    };
    if (rh_engine_init(&engine, &setup, err) != 0) {
        rh_run_header_release(&header);
        return -1;
    }
    int64_t begin_ns = cpu_ns();
    rh_engine_run(&engine, &result);
    run->cpu_ns += cpu_ns() - begin_ns;
    run->runs++;
    run->length_ns += result.length_ns;
    run->is_stopped = result.is_stopped;
    rh_tally_merge(&run->tally, &result.tally);
    int rc = 0;
    if (rh_recorder_failed(engine.recorder, err)) {
        rc = -1;
    } else if (result.has_failed) {
        *err = result.error;
        rc = -1;
    }
    rh_recorder_discard(engine.recorder);
    rh_tally_release(&result.tally);
    rh_engine_release(&engine);
    rh_run_header_release(&header);
    return rc;
}

/* The null server is ours, so that what is found there matters to nobody. */
static int probe(struct rh_target *target, struct rh_connector *connector,
                 const struct rh_plan *plan, const struct rh_replay_options *replay,
                 struct rh_error *err)
{
    struct rh_identities ids;
    struct rh_findings findings;
    struct rh_inquiry inquiry;
    struct rh_conn *conn;
    const struct rh_identity *who;
    bool refused;
    int rc = -1;
    rh_identities_init(&ids, plan, replay);
    rh_findings_init(&findings);
    if (rh_asker_connect(&conn, &who, connector, &ids, &refused, err) == 0) {
        rh_inquiry_init(&inquiry, conn, who->user, &findings);
        rc = rh_target_probe(target, &inquiry, NULL, replay, err);
        rh_inquiry_release(&inquiry);
        rh_conn_close(conn);
    }
    rh_findings_release(&findings);
    rh_identities_release(&ids);
    return rc;
}

static int replay_on(struct rh_calibration_run *run, const struct rh_calibration *c,
                     const struct rh_calibration_options *o, struct rh_replay_options *replay,
                     struct rh_error *err)
{
    struct subject s = {0};
    struct rh_connector *connector = NULL;
    struct rh_target target;
    int rc = -1;
    const struct rh_connector_options where = {.host = replay->host, .port = replay->port};
    if (subject_open(&s, o->trace_path, replay, err) == 0 &&
        rh_connector_new(&connector, &where, err) == 0 &&
        probe(&target, connector, s.plan, replay, err) == 0) {
        rc = run_engine(run, c, &s, connector, &target, o, replay, err);
    }
    rh_connector_free(connector);
    subject_close(&s);
    return rc;
}

/* One replay, on a null server of its own. */
static int replay_once(struct rh_calibration_run *run, const struct rh_calibration *c,
                       const struct rh_calibration_options *o, const struct rh_replay_options *base,
                       struct rh_replay_speed speed, struct rh_error *err)
{
    struct rh_null_child child;
    struct rh_null_totals totals;
    struct rh_replay_options replay = *base;
    if (rh_null_child_start(&child, c->jobs, err) != 0) {
        return -1;
    }
    replay.host = child.folder;
    replay.port = child.port;
    replay.speed = speed;
    rh_conninfo_init(&replay.target);
    int rc = rh_conninfo_set_target(&replay.target, NULL, replay.host, replay.port, NULL, err);
    if (rc == 0) {
        rc = replay_on(run, c, o, &replay, err);
    }
    rh_conninfo_release(&replay.target);
    rh_null_child_stop(&child, &totals);
    run->server_statements += totals.counts.statements;
    if (totals.peak > run->peak_sessions) {
        run->peak_sessions = totals.peak;
    }
    return rc;
}

int rh_calibration_measure(struct rh_calibration *c, const struct rh_calibration_options *o,
                           struct rh_error *err)
{
    struct rh_replay_options replay = o->replay;
    *c = (struct rh_calibration){0};
    rh_tally_init(&c->flat_out.tally);
    rh_tally_init(&c->original.tally);
    replay.allow_source = true; /* the null server is neither the source nor in use */
    forget_environment();
    look_at_host(c);
    if (look_at_trace(c, o, &replay, err) != 0) {
        return -1;
    }
    struct rh_calibration_run *run = &c->flat_out;
    while (run->runs == 0 ||
           (run->length_ns < FLAT_OUT_NS && run->runs < FLAT_OUT_RUNS_MAX && !run->is_stopped)) {
        if (replay_once(run, c, o, &replay, (struct rh_replay_speed){.is_max = true, .factor = 1},
                        err) != 0) {
            return -1;
        }
    }
    if (run->is_stopped) {
        return rh_error_set(err, RH_ERR_STOPPED, "stopped before anything was measured");
    }
    if (replay_once(&c->original, c, o, &replay, (struct rh_replay_speed){.factor = 1}, err) != 0) {
        if (err->code != RH_ERR_STOPPED) {
            return -1;
        }
        c->original.is_stopped = true;
    }
    return 0;
}

void rh_calibration_release(struct rh_calibration *c)
{
    rh_tally_release(&c->flat_out.tally);
    rh_tally_release(&c->original.tally);
}

double rh_calibration_capacity(const struct rh_calibration *c)
{
    const struct rh_calibration_run *run = &c->flat_out;
    uint32_t cores = c->jobs < c->cores ? c->jobs : c->cores;
    if (run->tally.statements_sent == 0 || run->cpu_ns <= 0) {
        return 0;
    }
    double cpu_s = (double) run->cpu_ns / 1e9 / (double) run->tally.statements_sent;
    return RH_CALIBRATION_LOAD * cores / cpu_s;
}

uint64_t rh_calibration_hosts(const struct rh_calibration *c, double factor,
                              enum rh_calibration_bound *bound)
{
    double capacity = rh_calibration_capacity(c);
    *bound = RH_BOUND_CPU;
    if (capacity <= 0) {
        return 0;
    }
    double need = ceil(factor * (double) c->busiest_count / capacity);
    double files = ceil((double) c->peak_sessions / (double) c->files);
    double ports = c->ports ? ceil((double) c->peak_sessions / (double) c->ports) : 0;
    need = need < 1 ? 1 : need;
    if (files > need) {
        need = files;
        *bound = RH_BOUND_FILES;
    }
    if (ports > need) {
        need = ports;
        *bound = RH_BOUND_PORTS;
    }
    return (uint64_t) need;
}
