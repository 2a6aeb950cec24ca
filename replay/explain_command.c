#include "replay/explain_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/noun.h"
#include "common/opt.h"
#include "common/outfile.h"
#include "common/stop.h"
#include "formats/trace_file.h"
#include "replay/explain_call.h"
#include "replay/explain_report.h"
#include "replay/explain_server.h"
#include "replay/explain_sql.h"

enum {
    BASE,
    CANDIDATE,
    SIDES,
    SQL_MAX_BYTES = 64 * 1024,
    SQL_SHOWN = 60,
    ARENA_CHUNK_BYTES = 64 * 1024
};

struct explain_options {
    const char *conninfo[SIDES];
    const char *output;
    uint32_t limit;
    struct rh_str_list fingerprints;
    struct rh_str_list traces;
    bool with_examples;
    double rate;
    int64_t statement_timeout_ns;
    bool quiet;
};

#define AT(field) offsetof(struct explain_options, field)

static const struct rh_opt options[] = {
    {"base", 'b', RH_OPT_ARG, "CONNINFO", rh_opt_string, AT(conninfo[BASE]),
     "the base's server: a connection string, a URI or a database\n[default: what PG* say]", NULL},
    {"candidate", 'c', RH_OPT_ARG, "CONNINFO", rh_opt_string, AT(conninfo[CANDIDATE]),
     "the candidate's server, likewise", NULL},
    {"output", 'o', RH_OPT_ARG, "FILE", rh_opt_string, AT(output),
     "write the report with the plans to FILE [default: standard\noutput]", NULL},
    {"limit", 'n', RH_OPT_ARG, "N", rh_opt_count, AT(limit),
     "explain the first N queries that regressed [default: 10]", NULL},
    {"fingerprint", 0, RH_OPT_ARG, "FINGERPRINT", rh_opt_list, AT(fingerprints),
     "explain this query instead, whatever became of it (repeatable)", NULL},
    {"trace", 't', RH_OPT_ARG, "FILE", rh_opt_list, AT(traces),
     "the trace that was replayed, or a run of it: plan of each query\nthe call too that became "
     "slower most, by its own values\n(repeatable: FILE by FILE for the parts of the base)",
     NULL, "*.trace *.run"},
    {"with-examples", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(with_examples),
     "write the values into the plans of calls; without it each is \"?\"", NULL},
    {"rate", 0, RH_OPT_ARG, "N", rh_opt_double, AT(rate),
     "at most N queries and calls a second [default: 5]", NULL},
    {"statement-timeout", 0, RH_OPT_ARG, "DURATION", rh_opt_duration, AT(statement_timeout_ns),
     "give up planning a query after this time [default: 10s]", NULL},
    {"quiet", 'q', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(quiet), "warnings and errors only", NULL},
    {0},
};

static const struct rh_opt_command explain_command = {
    .program = "pgrehearse-explain",
    .synopsis = "[OPTION]... REPORT.json",
    .summary = "Fetch the plans of the queries that regressed, from both servers.",
    .options = options,
    .footer =
        "REPORT.json is made by pgrehearse diff --format json.  Nothing is executed: each query "
        "is\n"
        "planned by EXPLAIN in a read-only transaction with timeouts.  The report has no "
        "literals,\n"
        "so the plans are generic ones, for any values of the parameters.  What got slower for "
        "some\n"
        "values only shows with --trace: the values of the slowest call go to both servers.\n"
        "\n"
        "Exit status: 0 done, also where a server refused some queries (it is told); 2 no report,\n"
        "or a server cannot be asked; 3 a connection was lost midway: what is known is written.\n"
        "\n"
        "Examples:\n"
        "  pgrehearse diff --format json -o report.json old.run new.run\n"
        "  pgrehearse explain -b 'host=old dbname=shop' -c 'host=new dbname=shop' \\\n"
        "             -t shop.trace -o plans.json report.json\n"
        "  pgrehearse diff --plans plans.json --format html -o report.html old.run new.run\n",
    .operand_words = "*.json",
};

/* What came of it all. */
struct tally {
    uint32_t explained; /* on both sides */
    uint32_t differ;
    uint32_t refused;
    uint32_t absent; /* of those, for want of a table or a schema */
    uint32_t calls;  /* planned on both sides */
    uint32_t calls_differ;
    uint64_t turns; /* what was asked for so far */
    int64_t begin_ns;
};

static const char *side_name(int side)
{
    return side == BASE ? "base" : "candidate";
}

/* Until its turn comes; a signal ends the wait. */
static void wait_turn(struct tally *t, double rate)
{
    int64_t at_ns = t->begin_ns + (int64_t) ((double) t->turns++ / rate * 1e9);
    int64_t left_ns;
    while ((left_ns = at_ns - rh_clock_mono_ns()) > 0 && !rh_stop_requested()) {
        int64_t nap_ns = left_ns < RH_NS_PER_SEC / 10 ? left_ns : RH_NS_PER_SEC / 10;
        nanosleep(&(struct timespec){.tv_nsec = (long) nap_ns}, NULL);
    }
}

/* undefined_table, invalid_schema_name. */
static bool is_absence(const char *error)
{
    return strncmp(error, "42P01:", 6) == 0 || strncmp(error, "3F000:", 6) == 0;
}

/* True if both sides have a plan. */
static bool say_plans(struct tally *t, const struct rh_explain_query *q,
                      const struct rh_explain_plan plans[SIDES], const char *of, bool differ)
{
    for (int side = 0; side < SIDES; side++) {
        if (plans[side].error) {
            t->refused++;
            t->absent += is_absence(plans[side].error);
            rh_log(RH_LOG_WARNING, "query %s%s, %s: %s", q->fingerprint, of, side_name(side),
                   plans[side].error);
        }
    }
    if (!plans[BASE].json || !plans[CANDIDATE].json) {
        return false;
    }
    rh_log(RH_LOG_INFO, "query %s%s: %s  %.*s", q->fingerprint, of,
           differ ? "the plans DIFFER" : "one plan", SQL_SHOWN, q->sql);
    return true;
}

/* Plans that are not there, for one reason. */
static void add_refusal(struct rh_explain_query *q, const char *why, bool of_call)
{
    char text[sizeof((struct rh_error *) NULL)->text];
    snprintf(text, sizeof text, "%s", why);
    struct rh_explain_plan none = {.error = text};
    const struct rh_explain_plan *const both[SIDES] = {&none, &none};
    if (of_call) {
        rh_explain_report_add_call(q, both, false);
    } else {
        rh_explain_report_add(q, both);
    }
}

/* The call that was slowed most, by its values: a plan may be another for these only. */
static int explain_call(const struct explain_options *o, struct rh_explain_server servers[SIDES],
                        struct rh_explain_query *q, struct tally *t, struct rh_error *err)
{
    struct rh_explain_plan plans[SIDES] = {0};
    char of[80];
    int rc = 0;
    snprintf(of, sizeof of, ", call %" PRIu64 " of session %" PRIu32, q->call.ordinal,
             q->call.session);
    if (q->call.problem) {
        t->refused++;
        rh_log(RH_LOG_WARNING, "query %s%s is not explained by its values: %s", q->fingerprint, of,
               q->call.problem);
        add_refusal(q, q->call.problem, true);
        return 0;
    }
    wait_turn(t, o->rate);
    for (int side = 0; side < SIDES && rc == 0; side++) {
        rc = rh_explain_server_ask_call(&servers[side], &q->call, &plans[side], err);
    }
    const struct rh_explain_plan *const both[SIDES] = {
        &plans[BASE], plans[CANDIDATE].method ? &plans[CANDIDATE] : NULL};
    bool differ = rh_explain_report_add_call(q, both, o->with_examples);
    if (say_plans(t, q, plans, of, differ)) {
        t->calls++;
        t->calls_differ += differ;
    }
    rh_explain_plan_release(&plans[BASE]);
    rh_explain_plan_release(&plans[CANDIDATE]);
    return rc;
}

static int explain_generic(struct rh_explain_server servers[SIDES], struct rh_explain_query *q,
                           const char *sql, uint32_t params, struct tally *t, struct rh_error *err)
{
    struct rh_explain_plan plans[SIDES] = {0};
    int rc = 0;
    for (int side = 0; side < SIDES && rc == 0; side++) {
        rc = rh_explain_server_ask(&servers[side], sql, params, &plans[side], err);
    }
    const struct rh_explain_plan *const both[SIDES] = {
        &plans[BASE], plans[CANDIDATE].method ? &plans[CANDIDATE] : NULL};
    bool differ = rh_explain_report_add(q, both);
    if (say_plans(t, q, plans, "", differ)) {
        t->explained++;
        t->differ += differ;
    }
    rh_explain_plan_release(&plans[BASE]);
    rh_explain_plan_release(&plans[CANDIDATE]);
    return rc;
}

static int explain_query(const struct explain_options *o, struct rh_explain_server servers[SIDES],
                         struct rh_explain_query *q, struct tally *t, struct rh_error *err)
{
    struct rh_error why;
    struct rh_buf sql;
    uint32_t params;
    int rc = 0;
    rh_buf_init(&sql, SQL_MAX_BYTES);
    if (q->is_cut) {
        rh_error_set(&why, RH_ERR_FORMAT, "its text is cut in the report");
    }
    if (q->is_cut || rh_explain_sql_make(&sql, rh_span_cstr(q->sql), &params, &why) != 0) {
        t->refused++;
        rh_log(RH_LOG_WARNING, "query %s is not explained: %s", q->fingerprint, why.text);
        add_refusal(q, why.text, false);
    } else {
        rc = explain_generic(servers, q, rh_buf_cstr(&sql), params, t, err);
        if (rc == 0 && q->call.wanted && params > 0 && !rh_stop_requested()) {
            rc = explain_call(o, servers, q, t, err);
        }
    }
    rh_buf_release(&sql);
    return rc;
}

/* The exit status. */
static int explain_all(const struct explain_options *o, struct rh_explain_report *report,
                       struct rh_explain_server servers[SIDES], struct tally *t)
{
    struct rh_error err;
    t->begin_ns = rh_clock_mono_ns();
    for (uint32_t i = 0; i < report->count; i++) {
        wait_turn(t, o->rate);
        if (rh_stop_requested()) {
            rh_log(RH_LOG_WARNING, "stopped early; the plans so far are kept");
            return RH_EXIT_PARTIAL;
        }
        if (explain_query(o, servers, &report->queries[i], t, &err) != 0) {
            rh_log_error(&err);
            return RH_EXIT_PARTIAL;
        }
    }
    return RH_EXIT_DONE;
}

/* The report does not tell the database of a query. */
static void say_databases(const struct tally *t, const struct rh_explain_server servers[SIDES])
{
    if (t->absent > 0) {
        rh_log(RH_LOG_WARNING,
               "%" PRIu32 " refusal%s for want of a table or a schema; asked were the databases "
               "\"%s\" (base) and \"%s\" (candidate)",
               t->absent, rh_noun(t->absent, " is", "s are"),
               rh_explain_server_database(&servers[BASE]),
               rh_explain_server_database(&servers[CANDIDATE]));
        rh_log_hint("name the database of the queries in CONNINFO (dbname=NAME); one of each side "
                    "is asked, so run explain once for each, with --fingerprint for its queries");
    }
}

static void say_end(const struct rh_explain_report *report, const struct tally *t)
{
    if (report->count == 0) {
        rh_log(RH_LOG_INFO, "no query of the report regressed: there is nothing to explain");
        rh_log_hint("--fingerprint explains any query of it");
        return;
    }
    rh_log(RH_LOG_INFO,
           "%" PRIu32 " of %" PRIu32 " quer%s explained on both sides; of these the plans of "
           "%" PRIu32 " differ",
           t->explained, report->count, rh_noun(report->count, "y", "ies"), t->differ);
    if (t->calls > 0) {
        rh_log(RH_LOG_INFO,
               "%" PRIu32 " of them by the values of %s slowest call%s too; of these the plans of "
               "%" PRIu32 " differ",
               t->calls, t->calls == 1 ? "its" : "their", t->calls == 1 ? "" : "s",
               t->calls_differ);
    }
}

/* The calls that the report refers to, from the traces. */
static int find_calls(const struct explain_options *o, struct rh_explain_report *report,
                      struct rh_arena *arena, struct rh_error *err)
{
    if (o->traces.count == 0 || report->count == 0) {
        return 0;
    }
    if (rh_explain_report_check_trace(report, o->traces.items[0], err) != 0) {
        return -1;
    }
    struct rh_explain_call **calls = rh_calloc(report->count, sizeof(struct rh_explain_call *));
    for (uint32_t i = 0; i < report->count; i++) {
        calls[i] = &report->queries[i].call;
        calls[i]->wanted = calls[i]->ordinal > 0;
    }
    int rc = rh_explain_calls_read(calls, report->count, &o->traces, arena, err);
    rh_free(calls);
    return rc;
}

static int open_servers(const struct explain_options *o, struct rh_explain_server servers[SIDES],
                        struct rh_error *err)
{
    for (int side = 0; side < SIDES; side++) {
        if (rh_explain_server_open(&servers[side], side_name(side), o->conninfo[side],
                                   o->statement_timeout_ns, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int explain(const struct explain_options *o, const char *path)
{
    struct rh_explain_report report;
    struct rh_explain_server servers[SIDES] = {0};
    struct tally tally = {0};
    struct rh_arena arena;
    struct rh_error err;
    int status = RH_EXIT_TROUBLE;
    rh_arena_init(&arena, ARENA_CHUNK_BYTES);
    if (rh_explain_report_read(&report, path, o->limit, &o->fingerprints, &err) != 0 ||
        find_calls(o, &report, &arena, &err) != 0 ||
        (report.count > 0 && open_servers(o, servers, &err) != 0)) {
        rh_log_error(&err);
        goto out;
    }
    status = explain_all(o, &report, servers, &tally);
    if (rh_explain_report_write(&report, o->output, &err) != 0) {
        rh_log_error(&err);
        status = RH_EXIT_TROUBLE;
        goto out;
    }
    say_end(&report, &tally);
    say_databases(&tally, servers);
out:
    rh_explain_server_close(&servers[BASE]);
    rh_explain_server_close(&servers[CANDIDATE]);
    rh_explain_report_release(&report);
    rh_arena_release(&arena);
    return status;
}

/* A trace or a run may have taken hours. */
static int check_output(const struct explain_options *o)
{
    if (!rh_trace_file_is_trace(o->output)) {
        return 0;
    }
    rh_log(RH_LOG_ERROR, "\"%s\" is a trace or a run: a report does not replace it", o->output);
    rh_log_hint("name another file with -o");
    return -1;
}

static int run(void *target, const struct rh_str_list *operands)
{
    const struct explain_options *o = target;
    rh_log_setup("pgrehearse-explain", o->quiet ? RH_LOG_WARNING : RH_LOG_INFO);
    if (operands->count != 1) {
        rh_log(RH_LOG_ERROR, "one report is explained, a file of pgrehearse diff --format json");
        rh_log_hint("pgrehearse-explain --help");
        return RH_EXIT_TROUBLE;
    }
    if (!o->conninfo[BASE] && !o->conninfo[CANDIDATE]) {
        rh_log(RH_LOG_ERROR, "which servers? --base and --candidate name them");
        rh_log_hint("one of the two may be left to PGHOST, PGDATABASE and the like");
        return RH_EXIT_TROUBLE;
    }
    if (o->with_examples && o->traces.count == 0) {
        rh_log(RH_LOG_ERROR, "--with-examples shows values of calls, and only --trace has them");
        return RH_EXIT_TROUBLE;
    }
    if (check_output(o) != 0) {
        return RH_EXIT_TROUBLE;
    }
    rh_stop_install();
    return explain(o, operands->items[0]);
}

int rh_explain_command_run(int argc, char **argv)
{
    struct explain_options o = {
        .output = "-", .limit = 10, .rate = 5, .statement_timeout_ns = 10 * RH_NS_PER_SEC};
    rh_log_setup("pgrehearse-explain", RH_LOG_INFO);
    int status = rh_opt_run(&explain_command, argc, argv, &o, run);
    rh_str_list_release(&o.fingerprints);
    rh_str_list_release(&o.traces);
    return status;
}
