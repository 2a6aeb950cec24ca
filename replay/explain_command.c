#include "replay/explain_command.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/noun.h"
#include "common/opt.h"
#include "common/outfile.h"
#include "common/stop.h"
#include "formats/trace_file.h"
#include "replay/explain_report.h"
#include "replay/explain_server.h"
#include "replay/explain_sql.h"

enum { BASE, CANDIDATE, SIDES, SQL_MAX_BYTES = 64 * 1024, SQL_SHOWN = 60 };

struct explain_options {
    const char *conninfo[SIDES];
    const char *output;
    uint32_t limit;
    struct rh_str_list fingerprints;
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
    {"rate", 0, RH_OPT_ARG, "N", rh_opt_double, AT(rate), "at most N queries a second [default: 5]",
     NULL},
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
        "so the plans are generic ones, for any values of the parameters.\n"
        "\n"
        "Exit status: 0 done, also where a server refused some queries (it is told); 2 no report,\n"
        "or a server cannot be asked; 3 a connection was lost midway: what is known is written.\n"
        "\n"
        "Examples:\n"
        "  pgrehearse diff --format json -o report.json old.run new.run\n"
        "  pgrehearse explain -b 'host=old dbname=shop' -c 'host=new dbname=shop' \\\n"
        "             -o plans.json report.json\n"
        "  pgrehearse diff --plans plans.json --format html -o report.html old.run new.run\n",
    .operand_words = "*.json",
};

/* What came of it all. */
struct tally {
    uint32_t explained; /* on both sides */
    uint32_t differ;
    uint32_t refused;
};

static const char *side_name(int side)
{
    return side == BASE ? "base" : "candidate";
}

static void say_refusal(struct tally *t, const struct rh_explain_query *q, int side,
                        const char *why)
{
    t->refused++;
    rh_log(RH_LOG_WARNING, "query %s, %s: %s", q->fingerprint, side_name(side), why);
}

static void say_plans(struct tally *t, const struct rh_explain_query *q,
                      const struct rh_explain_plan plans[SIDES], bool differ)
{
    for (int side = 0; side < SIDES; side++) {
        if (plans[side].error) {
            say_refusal(t, q, side, plans[side].error);
        }
    }
    if (plans[BASE].json && plans[CANDIDATE].json) {
        t->explained++;
        t->differ += differ;
        rh_log(RH_LOG_INFO, "query %s: %s  %.*s", q->fingerprint,
               differ ? "the plans DIFFER" : "one plan", SQL_SHOWN, q->sql);
    }
}

static int explain_query(struct rh_explain_server servers[SIDES], struct rh_explain_query *q,
                         struct tally *t, struct rh_error *err)
{
    struct rh_explain_plan plans[SIDES] = {0};
    struct rh_error why;
    struct rh_buf sql;
    uint32_t params;
    bool differ;
    int rc = 0;
    rh_buf_init(&sql, SQL_MAX_BYTES);
    if (q->is_cut) {
        rh_error_set(&why, RH_ERR_FORMAT, "its text is cut in the report");
    }
    if (q->is_cut || rh_explain_sql_make(&sql, rh_span_cstr(q->sql), &params, &why) != 0) {
        t->refused++;
        rh_log(RH_LOG_WARNING, "query %s is not explained: %s", q->fingerprint, why.text);
        plans[BASE].error = plans[CANDIDATE].error = why.text;
        rh_explain_report_add(q, &plans[BASE], &plans[CANDIDATE], &differ);
        rh_buf_release(&sql);
        return 0;
    }
    for (int side = 0; side < SIDES && rc == 0; side++) {
        rc = rh_explain_server_ask(&servers[side], rh_buf_cstr(&sql), params, &plans[side], err);
    }
    rh_explain_report_add(q, &plans[BASE], plans[CANDIDATE].method ? &plans[CANDIDATE] : NULL,
                          &differ);
    say_plans(t, q, plans, differ);
    rh_explain_plan_release(&plans[BASE]);
    rh_explain_plan_release(&plans[CANDIDATE]);
    rh_buf_release(&sql);
    return rc;
}

/* Until its turn comes; a signal ends the wait. */
static void wait_turn(int64_t at_ns)
{
    int64_t left_ns;
    while ((left_ns = at_ns - rh_clock_mono_ns()) > 0 && !rh_stop_requested()) {
        int64_t nap_ns = left_ns < RH_NS_PER_SEC / 10 ? left_ns : RH_NS_PER_SEC / 10;
        nanosleep(&(struct timespec){.tv_nsec = (long) nap_ns}, NULL);
    }
}

/* The exit status. */
static int explain_all(const struct explain_options *o, struct rh_explain_report *report,
                       struct rh_explain_server servers[SIDES], struct tally *t)
{
    struct rh_error err;
    int64_t begin_ns = rh_clock_mono_ns();
    for (uint32_t i = 0; i < report->count; i++) {
        wait_turn(begin_ns + (int64_t) ((double) i / o->rate * 1e9));
        if (rh_stop_requested()) {
            rh_log(RH_LOG_WARNING, "stopped early; the plans so far are kept");
            return RH_EXIT_PARTIAL;
        }
        if (explain_query(servers, &report->queries[i], t, &err) != 0) {
            rh_log_error(&err);
            return RH_EXIT_PARTIAL;
        }
    }
    return RH_EXIT_DONE;
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
    struct rh_error err;
    int status = RH_EXIT_TROUBLE;
    if (rh_explain_report_read(&report, path, o->limit, &o->fingerprints, &err) != 0 ||
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
out:
    rh_explain_server_close(&servers[BASE]);
    rh_explain_server_close(&servers[CANDIDATE]);
    rh_explain_report_release(&report);
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
    return status;
}
