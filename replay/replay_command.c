#include "replay/replay_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/noun.h"
#include "common/outfile.h"
#include "common/stop.h"
#include "formats/trace_file.h"
#include "formats/trace_index.h"
#include "replay/asker.h"
#include "replay/dry_run.h"
#include "replay/engine.h"
#include "replay/finding.h"
#include "replay/identity.h"
#include "replay/plan.h"
#include "replay/preflight.h"
#include "replay/preflight_host.h"
#include "replay/replay_options.h"
#include "replay/replay_summary.h"
#include "replay/run_header.h"
#include "replay/server_facts.h"
#include "replay/target.h"
#include "replay/target_text.h"
#include "replay/unsent.h"

/* What a replay has open, from the trace to the run. */
struct command {
    struct rh_replay_options *options;
    const char *trace_path;
    struct rh_buf run_path;
    struct rh_trace_file *file;
    struct rh_trace_index *index;
    struct rh_plan *plan;
    struct rh_source_guard guard;
    struct rh_connector *connector;
    struct rh_identities ids;
    struct rh_findings findings;
    struct rh_server_facts facts;
    struct rh_target target;
    bool has_target;
    const struct rh_identity *asker; /* as whom the target was asked; NULL: not */
    uint32_t max_connections;
};

static bool occurs(const struct rh_plan *plan, struct rh_span name, bool is_user)
{
    for (uint32_t i = 0; i < plan->session_count; i++) {
        const struct rh_session *s = plan->sessions[i].session;
        if (rh_span_equal(is_user ? s->user : s->database, name)) {
            return true;
        }
    }
    return false;
}

/* A name that was mistyped would leave the sessions where they were. */
static void warn_unused_maps(const struct rh_plan *plan, const struct rh_str_list *maps,
                             bool is_user)
{
    for (size_t i = 0; i < maps->count; i++) {
        const char *map = maps->items[i];
        struct rh_span name = rh_span(map, (size_t) (strchr(map, '=') - map));
        if (!occurs(plan, name, is_user)) {
            rh_log(RH_LOG_WARNING, "%s=%s changes nothing: no session to replay is %s %.*s",
                   is_user ? "--map-user" : "--map-database", map,
                   is_user ? "of user" : "in database", (int) name.len, name.data);
        }
    }
}

static int open_trace(struct command *c, struct rh_error *err)
{
    if (rh_trace_file_open(&c->file, c->trace_path, err) != 0) {
        return -1;
    }
    if (rh_trace_file_header(c->file)->kind != RH_FILE_WORKLOAD) {
        return rh_error_set(err, RH_ERR_USAGE, "%s is a run: replay the trace that it came from",
                            c->trace_path);
    }
    if (!rh_trace_file_complete(c->file)) {
        rh_log(RH_LOG_WARNING, "%s is incomplete: %s; what is whole is replayed", c->trace_path,
               rh_trace_file_incomplete_reason(c->file));
    }
    if (rh_trace_index_new(&c->index, c->file, err) != 0 ||
        rh_plan_new(&c->plan, c->file, c->index, c->options, err) != 0) {
        return -1;
    }
    if (c->plan->openable_count == 0) {
        return rh_error_set(err, RH_ERR_USAGE, "%s has no session to replay%s", c->trace_path,
                            c->options->from_ns != INT64_MIN || c->options->to_ns != INT64_MAX
                                ? " between --from and --to"
                                : "");
    }
    c->options->jobs = rh_replay_options_jobs(c->options, c->plan->peak_count);
    warn_unused_maps(c->plan, &c->options->map_users, true);
    warn_unused_maps(c->plan, &c->options->map_databases, false);
    return 0;
}

/* Only a file that was named is replaced: the run that is there may have taken hours. */
static int check_run_path(struct command *c, struct rh_error *err)
{
    const char *path = rh_buf_cstr(&c->run_path);
    if (rh_outfile_is_same(path, c->trace_path)) {
        return rh_error_set(err, RH_ERR_USAGE, "the run would replace the trace %s", c->trace_path);
    }
    if (!c->options->output && access(path, F_OK) == 0) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "%s is there already; -o FILE names another run, -o %s replaces it",
                            path, path);
    }
    return 0;
}

/* T.run beside T.trace. */
static int choose_run_path(struct command *c, struct rh_error *err)
{
    static const char suffix[] = ".trace";
    size_t n = strlen(c->trace_path), cut = sizeof suffix - 1;
    if (c->options->output) {
        rh_buf_add_cstr(&c->run_path, c->options->output);
    } else {
        bool has_suffix = n > cut && strcmp(c->trace_path + n - cut, suffix) == 0;
        rh_buf_add(&c->run_path, c->trace_path, has_suffix ? n - cut : n);
        rh_buf_add_cstr(&c->run_path, ".run");
    }
    if (c->run_path.over) {
        return rh_error_set(err, RH_ERR_USAGE, "the run file's name is too long");
    }
    return check_run_path(c, err);
}

static int open_connector(struct command *c, struct rh_error *err)
{
    const struct rh_connector_options options = {
        .dbname = c->options->dbname,
        .host = c->options->host,
        .port = c->options->port,
        .user = c->options->user,
        .timeout_ns = c->options->connect_timeout_ns,
        .read_only = c->options->read_only,
        .guard = c->options->allow_source ? NULL : &c->guard,
    };
    if (!c->options->allow_source) {
        rh_source_guard_init(&c->guard, rh_trace_file_header(c->file)->server_address);
    }
    return rh_connector_new(&c->connector, &options, err);
}

static int print_dry_run(struct command *c, const struct rh_preflight *p, struct rh_error *err)
{
    const struct rh_dry_run dry_run = {
        .trace_path = c->trace_path,
        .trace = rh_trace_file_header(c->file),
        .plan = c->plan,
        .options = c->options,
        .target = c->has_target ? &c->target : NULL,
        .asker = c->has_target ? c->asker : NULL,
        .database_askers = p->database_askers,
        .database_count = p->database_count,
        .preview = p->has_preview ? &p->preview : NULL,
        .max_connections = c->max_connections,
        .findings = &c->findings,
    };
    rh_findings_sort(&c->findings);
    return rh_dry_run_print(&dry_run, err);
}

/* Ask the server that conn leads to, as far as it is to be asked, and close conn. */
static int ask_target(struct command *c, struct rh_conn *conn, struct rh_preflight *p,
                      struct rh_error *err)
{
    struct rh_inquiry inquiry;
    rh_inquiry_init(&inquiry, conn, c->asker->user, &c->findings);
    int rc = rh_target_probe(&c->target, &inquiry, &c->guard, c->options, err);
    if (rc == 0) {
        c->has_target = true;
        rh_server_facts_ask(&c->facts, &inquiry);
        rh_server_facts_ask_database(&c->facts, &inquiry, c->asker->database);
        if (!c->options->no_preflight) {
            rh_preflight_ask(p, &inquiry);
        }
    }
    rh_inquiry_release(&inquiry);
    rh_conn_close(conn);
    return rc;
}

/* Where the server lets nobody in, only the logins are left to look at. */
static int check_target(struct command *c, struct rh_preflight *p, struct rh_error *err)
{
    struct rh_conn *conn = NULL;
    bool refused;
    if (rh_asker_connect(&conn, &c->asker, c->connector, &c->ids, &refused, err) == 0) {
        if (ask_target(c, conn, p, err) != 0) {
            return -1;
        }
    } else if (!refused || err->code != RH_ERR_NET || c->options->no_preflight) {
        return -1;
    }
    if (!c->options->no_preflight && rh_preflight_run(p, err) != 0) {
        return -1;
    }
    if (!c->has_target && c->findings.graded[RH_GRADE_STOP] == 0) {
        return rh_error_set(err, RH_ERR_NET, "no session could be connected to be asked");
    }
    return 0;
}

/* Whoever reads a dry run gets it also where no server answers, or where it is the captured one. */
static bool becomes_finding(struct command *c, const struct rh_error *err)
{
    if (!c->options->dry_run || (err->code != RH_ERR_NET && err->code != RH_ERR_REFUSED)) {
        return false;
    }
    rh_findings_add(&c->findings, RH_GRADE_STOP,
                    err->code == RH_ERR_NET ? "not-connected" : "captured-server", "%s", err->text);
    return true;
}

static int look_before(struct command *c, struct rh_error *err)
{
    struct rh_preflight p;
    if (open_connector(c, err) != 0) {
        return -1;
    }
    c->max_connections = rh_preflight_host_limit(c->plan, c->options, &c->findings);
    rh_preflight_init(&p);
    p.plan = c->plan;
    p.file = c->file;
    p.options = c->options;
    p.connector = &c->connector;
    p.ids = &c->ids;
    p.findings = &c->findings;
    p.target = &c->target;
    p.facts = &c->facts;
    p.read_trace = c->options->dry_run;
    int rc = check_target(c, &p, err);
    if (rc != 0 && becomes_finding(c, err)) {
        rc = 0;
    }
    if (rc == 0 && c->options->dry_run) {
        rc = print_dry_run(c, &p, err);
    } else if (rc == 0) {
        rh_findings_sort(&c->findings);
        rh_findings_log(&c->findings);
    }
    rh_preflight_release(&p);
    return rc;
}

/* Whether a check refuses the replay; said unless the dry run has said it. */
static bool is_refused(const struct command *c)
{
    uint32_t stops = c->findings.graded[RH_GRADE_STOP];
    if (stops > 0 && !c->options->dry_run) {
        rh_log(RH_LOG_ERROR, "nothing was replayed, for the %s above",
               stops == 1 ? "reason" : "reasons");
        if (!c->options->no_preflight) {
            rh_log_hint(
                "--dry-run tells all that was found; --no-preflight replays without looking");
        }
    }
    return stops > 0;
}

/* Complete the run: what was not sent, and what is known only now. */
static int finish_run(struct command *c, struct rh_engine *e, struct rh_engine_result *result,
                      struct rh_error *err)
{
    int64_t begin_ns = atomic_load(&e->begin_ns);
    int64_t begin_wall_ns = (begin_ns ? begin_ns : rh_clock_mono_ns()) + e->wall_offset_ns;
    bool nothing_connected = result->tally.sessions_opened == 0;
    if (rh_recorder_failed(e->recorder, err)) {
        struct rh_error ignored;
        rh_recorder_finish(e->recorder, true, &ignored);
        return -1;
    }
    if (nothing_connected) {
        rh_recorder_discard(e->recorder);
        return 0;
    }
    if (rh_unsent_write(c->plan, c->file, e->recorder, begin_wall_ns, &result->tally, err) != 0) {
        struct rh_error ignored;
        rh_recorder_finish(e->recorder, true, &ignored);
        return -1;
    }
    rh_run_header_note(e->recorder, result, begin_ns ? begin_wall_ns : RH_TIME_UNKNOWN);
    return rh_recorder_finish(e->recorder, result->is_stopped || result->has_failed, err);
}

/* Such a replay ended as it should, and yet it is not the whole workload. */
static void warn_unsent(const struct rh_tally *t)
{
    uint64_t unsent = t->not_sent[RH_REASON_CONNECT_FAILED] + t->not_sent[RH_REASON_SESSION_LOST] +
                      t->not_sent[RH_REASON_TRANSACTION_LOST];
    if (t->sessions_failed > 0 || t->sessions_lost > 0) {
        rh_log(RH_LOG_WARNING, "sessions refused: %" PRIu64 ", lost for good: %" PRIu64,
               t->sessions_failed, t->sessions_lost);
    }
    if (t->reconnects > 0) {
        rh_log(RH_LOG_WARNING,
               "sessions that lost their connection and were connected again: %" PRIu64 ", %" PRIu64
               " time%s in all; look into the target's log",
               t->sessions_reconnected, t->reconnects, rh_plural(t->reconnects));
    }
    if (unsent > 0 || t->statements_lost > 0) {
        rh_log(RH_LOG_WARNING,
               "%" PRIu64 " statement%s not sent and %" PRIu64
               " got no answer, as connections were refused or lost",
               unsent, rh_noun(unsent, " was", "s were"), t->statements_lost);
    }
    if (t->refused_session != 0) {
        rh_log(RH_LOG_WARNING, "one that was refused, session %" PRIu32 ": %s", t->refused_session,
               t->refused_text);
    }
    if (unsent > 0 || t->statements_lost > 0) {
        rh_log_hint(
            "pgrehearse diff --gate missing=0 fails on such a run; -v tells of each session");
    }
}

/* Statements that fail are quick: such a run may look like a good one. */
static void warn_failed(struct command *c, const struct rh_tally *t)
{
    uint64_t count;
    char state[6];
    if (rh_tally_excess(t) == 0) {
        return;
    }
    rh_sqlstate_unpack(rh_tally_top_state(t, &count), state);
    rh_log(RH_LOG_WARNING,
           "%" PRIu64 " of the %" PRIu64 " statements sent failed, in production %" PRIu64
           "; most often with %s (%" PRIu64 " times)",
           t->statements_failed, t->statements_sent, t->production_failed, state, count);
    rh_log_hint(
        "pgrehearse show --sqlstate %s %s tells which, pgrehearse diff %s %s which are new; "
        "is the copy complete, and does each session go to its database (-d)?",
        state, rh_buf_cstr(&c->run_path), c->trace_path, rh_buf_cstr(&c->run_path));
}

/* The sessions that waited are in the run, and their queries met another load than production's. */
static void warn_stretched(const struct command *c, const struct rh_tally *t)
{
    char text[RH_DURATION_TEXT_SIZE];
    uint32_t limit = c->max_connections, peak = c->plan->peak_count;
    if (t->sessions_late > 0 && limit > 0 && limit < peak) {
        rh_log(RH_LOG_WARNING,
               "the timing is stretched: %" PRIu64 " session%s waited for a connection slot, up to "
               "%s; at most %" PRIu32 " may be open at once, and %" PRIu32 " were in the capture",
               t->sessions_late, rh_plural(t->sessions_late),
               rh_duration_text(t->latest_session_ns, text), limit, peak);
        rh_log_hint("raise --max-connections, or ulimit -Hn");
    }
}

static int say_end(struct command *c, struct rh_engine_result *result)
{
    struct rh_replay_summary summary = {
        .plan = c->plan,
        .target = &c->target,
        .result = result,
        .run_path = rh_buf_cstr(&c->run_path),
        .findings = &c->findings,
        .is_checked = !c->options->no_preflight,
    };
    summary.damaged_blocks = rh_trace_index_damaged(c->index, &summary.damaged_records);
    summary.damaged_blocks += result->read.damaged_blocks;
    summary.damaged_records += result->read.damaged_records;
    if (result->tally.sessions_opened == 0) {
        if (result->has_failed) {
            rh_log_error(&result->error);
        }
        rh_log(RH_LOG_ERROR, result->is_stopped ? "stopped before a session was connected"
                                                : "no session could be connected");
        return RH_EXIT_TROUBLE;
    }
    if (!c->options->quiet) {
        rh_replay_summary_print(&summary, stderr);
    }
    warn_unsent(&result->tally);
    warn_failed(c, &result->tally);
    warn_stretched(c, &result->tally);
    if (result->has_failed) {
        rh_log_error(&result->error);
    }
    if (result->is_stopped) {
        rh_log(RH_LOG_WARNING, "stopped early; the run is kept");
    }
    if (result->tally.statements_sent == 0 && result->tally.others_sent == 0 &&
        !result->has_failed && !result->is_stopped) {
        rh_log(RH_LOG_ERROR, "no statement was replayed: see the reasons above");
        return RH_EXIT_TROUBLE;
    }
    bool damaged = !rh_trace_file_complete(c->file) || summary.damaged_blocks > 0;
    return result->has_failed || result->is_stopped || damaged ? RH_EXIT_PARTIAL : RH_EXIT_DONE;
}

static int replay_in_order(struct command *c, struct rh_order *order, struct rh_error *err)
{
    struct rh_engine engine;
    struct rh_engine_result result;
    struct rh_run_header header;
    rh_run_header_init(&header, rh_trace_file_header(c->file), c->options, &c->target, &c->findings,
                       c->trace_path);
    header.header.server_facts = c->facts.items;
    header.header.server_fact_count = c->facts.count;
    const struct rh_engine_setup setup = {
        .plan = c->plan,
        .connector = c->connector,
        .options = c->options,
        .run_path = rh_buf_cstr(&c->run_path),
        .run_header = &header.header,
        .max_connections = c->max_connections,
        .order = order,
    };
    if (rh_engine_init(&engine, &setup, err) != 0) {
        rh_run_header_release(&header);
        return -1;
    }
    rh_engine_run(&engine, &result);
    rh_connector_free(c->connector);
    c->connector = NULL;
    if (finish_run(c, &engine, &result, err) != 0 && !result.has_failed) {
        result.has_failed = true;
        result.error = *err;
    }
    int status = say_end(c, &result);
    rh_tally_release(&result.tally);
    rh_engine_release(&engine);
    rh_run_header_release(&header);
    return status;
}

/* The order of transactions, where it is to be kept. */
static int make_order(struct command *c, struct rh_order *order, struct rh_error *err)
{
    struct rh_order_plan plan;
    if (rh_order_plan_make(&plan, c->plan, c->file, err) != 0) {
        return -1;
    }
    rh_order_init(order, &plan, c->plan->scale);
    return 0;
}

static int replay(struct command *c, struct rh_error *err)
{
    struct rh_order order = {0};
    if (c->options->order_txn && make_order(c, &order, err) != 0) {
        return -1;
    }
    int status = replay_in_order(c, c->options->order_txn ? &order : NULL, err);
    rh_order_release(&order);
    return status;
}

/* A dry run makes no file, but tells that there is one in the way. */
static int check_output(struct command *c, struct rh_error *err)
{
    if (choose_run_path(c, err) == 0) {
        return 0;
    }
    if (!c->options->dry_run) {
        return -1;
    }
    rh_findings_add(&c->findings, RH_GRADE_STOP, "run-file", "%s", err->text);
    return 0;
}

static int replay_trace(struct command *c)
{
    struct rh_error err;
    int status = -1;
    rh_buf_init(&c->run_path, 4096);
    rh_findings_init(&c->findings);
    rh_server_facts_init(&c->facts);
    if (rh_replay_options_check(c->options, &err) == 0 && check_output(c, &err) == 0 &&
        open_trace(c, &err) == 0) {
        rh_identities_init(&c->ids, c->plan, c->options);
        if (look_before(c, &err) == 0) {
            status = is_refused(c)         ? RH_EXIT_TROUBLE
                     : c->options->dry_run ? RH_EXIT_DONE
                                           : replay(c, &err);
        }
    }
    if (status < 0) {
        rh_log_error(&err);
        status = RH_EXIT_TROUBLE;
    }
    rh_connector_free(c->connector);
    rh_identities_release(&c->ids);
    rh_findings_release(&c->findings);
    rh_server_facts_release(&c->facts);
    rh_plan_free(c->plan);
    rh_trace_index_free(c->index);
    if (c->file) {
        rh_trace_file_close(c->file);
    }
    rh_buf_release(&c->run_path);
    return status;
}

static int run(void *options, const struct rh_str_list *operands)
{
    struct command c = {.options = options};
    rh_log_setup("pgrehearse-replay", c.options->quiet ? RH_LOG_WARNING : RH_LOG_INFO);
    if (operands->count != 1) {
        rh_log(RH_LOG_ERROR, operands->count == 0 ? "which trace is to be replayed?"
                                                  : "one trace is replayed at a time");
        rh_log_hint("pgrehearse-replay --help");
        return RH_EXIT_TROUBLE;
    }
    rh_stop_install();
    c.trace_path = operands->items[0];
    return replay_trace(&c);
}

int rh_replay_command_run(int argc, char **argv)
{
    struct rh_replay_options options;
    rh_log_setup("pgrehearse-replay", RH_LOG_INFO);
    rh_replay_options_init(&options);
    int status = rh_opt_run(&rh_replay_command, argc, argv, &options, run);
    rh_replay_options_release(&options);
    return status;
}
