#include "replay/explain_server.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "common/clock.h"

enum {
    /* EXPLAIN (GENERIC_PLAN); plan_cache_mode (src/backend/commands/explain.c, guc_tables.c). */
    GENERIC_PLAN_SINCE = 160000,
    PLAN_CACHE_MODE_SINCE = 120000,
    SETTINGS_SINCE = 120000,
    SQL_MAX = 1 << 20,
    PLAN_MAX_BYTES = 1 << 20,
    SQL_MARGIN = 100,
    /* FirstNormalObjectId (src/include/access/transam.h). */
    FIRST_OWN_OID = 16384,
};

static char *copy_text(const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' ')) {
        len--;
    }
    char *copy = rh_memdup(text, len + 1);
    copy[len] = '\0';
    return copy;
}

int rh_explain_server_open(struct rh_explain_server *s, const char *name, const char *conninfo,
                           int64_t statement_timeout_ns, struct rh_error *err)
{
    /* What the connection string has stands behind, and wins. */
    const char *keywords[] = {"connect_timeout", "dbname", "fallback_application_name", NULL};
    const char *values[] = {"10", conninfo ? conninfo : "", "pgrehearse-explain", NULL};
    *s = (struct rh_explain_server){.name = name, .statement_timeout_ns = statement_timeout_ns};
    s->pg = PQconnectdbParams(keywords, values, 1);
    if (PQstatus(s->pg) != CONNECTION_OK) {
        char *why = copy_text(PQerrorMessage(s->pg));
        rh_error_set(err, RH_ERR_NET, "the %s server cannot be asked: %s", name,
                     *why ? why : "no memory for a connection");
        rh_free(why);
        rh_explain_server_close(s);
        return -1;
    }
    PQsetClientEncoding(s->pg, "UTF8");
    s->version = PQserverVersion(s->pg);
    return 0;
}

const char *rh_explain_server_database(const struct rh_explain_server *s)
{
    return PQdb(s->pg);
}

void rh_explain_server_close(struct rh_explain_server *s)
{
    PQfinish(s->pg);
    s->pg = NULL;
}

void rh_explain_plan_release(struct rh_explain_plan *plan)
{
    rh_free(plan->json);
    rh_free(plan->text);
    rh_free(plan->error);
    *plan = (struct rh_explain_plan){0};
}

static void keep_error(struct rh_explain_plan *plan, const PGresult *result, PGconn *pg)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    char text[1000];
    if (plan->error) {
        return;
    }
    if (state && message) {
        snprintf(text, sizeof text, "%s: %s", state, message);
        plan->error = copy_text(text);
    } else {
        plan->error = copy_text(PQerrorMessage(pg));
    }
}

/* True if the command succeeded.  Its rows, joined by line breaks, go to *rows where it is given.
 * *result is cleared. */
static bool take_result(struct rh_explain_server *s, PGresult *result, struct rh_explain_plan *plan,
                        char **rows)
{
    ExecStatusType status = PQresultStatus(result);
    bool is_done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!is_done) {
        keep_error(plan, result, s->pg);
    } else if (rows) {
        struct rh_buf text;
        rh_buf_init(&text, PLAN_MAX_BYTES);
        for (int i = 0; i < PQntuples(result); i++) {
            rh_buf_add_cstr(&text, i > 0 ? "\n" : "");
            rh_buf_add_cstr(&text, PQgetvalue(result, i, 0));
        }
        is_done = !text.over;
        if (is_done) {
            *rows = copy_text(rh_buf_cstr(&text));
        } else {
            plan->error = copy_text("the plan is too long");
        }
        rh_buf_release(&text);
    }
    PQclear(result);
    return is_done;
}

static bool command(struct rh_explain_server *s, const char *sql, struct rh_explain_plan *plan,
                    char **rows)
{
    return take_result(s, PQexec(s->pg, sql), plan, rows);
}

/* EXPLAIN of what is prepared, or of the text where the server plans that without values. */
static void add_explain(const struct rh_explain_server *s, struct rh_buf *out, const char *format,
                        const char *sql, uint32_t params)
{
    bool by_text = params == 0 || s->version >= GENERIC_PLAN_SINCE;
    rh_buf_addf(out, "EXPLAIN (FORMAT %s%s%s) ", format,
                s->version >= SETTINGS_SINCE ? ", SETTINGS" : "",
                params > 0 && by_text ? ", GENERIC_PLAN" : "");
    if (by_text) {
        rh_buf_add_cstr(out, sql);
        return;
    }
    rh_buf_add_cstr(out, "EXECUTE pgrehearse_explain (");
    for (uint32_t i = 0; i < params; i++) {
        rh_buf_add_cstr(out, i > 0 ? ", NULL" : "NULL");
    }
    rh_buf_add_byte(out, ')');
}

static bool begin(struct rh_explain_server *s, struct rh_explain_plan *plan)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = %" PRId64
             "; SET LOCAL lock_timeout = 1000",
             s->statement_timeout_ns / RH_NS_PER_MS);
    return command(s, sql, plan, NULL);
}

static bool prepare(struct rh_explain_server *s, const char *sql, struct rh_buf *text,
                    struct rh_explain_plan *plan)
{
    if (s->version < PLAN_CACHE_MODE_SINCE) {
        plan->error = copy_text("a plan without values needs PostgreSQL 12 or later");
        return false;
    }
    rh_buf_add_cstr(text, "PREPARE pgrehearse_explain AS ");
    rh_buf_add_cstr(text, sql);
    bool is_done = command(s, "SET LOCAL plan_cache_mode = force_generic_plan", plan, NULL) &&
                   command(s, rh_buf_cstr(text), plan, NULL);
    rh_buf_clear(text);
    return is_done;
}

static bool fetch(struct rh_explain_server *s, struct rh_buf *text, const char *format,
                  const char *sql, uint32_t params, struct rh_explain_plan *plan, char **rows)
{
    rh_buf_clear(text);
    add_explain(s, text, format, sql, params);
    return command(s, rh_buf_cstr(text), plan, rows);
}

/* Roll back, and tell whether the connection still stands. */
static int finish(struct rh_explain_server *s, bool is_done, struct rh_explain_plan *plan,
                  struct rh_error *err)
{
    struct rh_explain_plan ignored = {0};
    if (!is_done) {
        rh_free(plan->json);
        plan->json = NULL;
    }
    command(s, "ROLLBACK", &ignored, NULL);
    rh_explain_plan_release(&ignored);
    if (PQstatus(s->pg) != CONNECTION_OK) {
        return rh_error_set(err, RH_ERR_NET, "the connection to the %s server is lost: %s", s->name,
                            plan->error ? plan->error : "no reason was told");
    }
    return 0;
}

int rh_explain_server_ask(struct rh_explain_server *s, const char *sql, uint32_t params,
                          struct rh_explain_plan *plan, struct rh_error *err)
{
    struct rh_explain_plan ignored = {0};
    struct rh_buf text;
    bool prepares = params > 0 && s->version < GENERIC_PLAN_SINCE;
    *plan = (struct rh_explain_plan){.method = params > 0 ? "generic" : "plain"};
    rh_buf_init(&text, SQL_MAX);
    bool is_done = begin(s, plan) && (!prepares || prepare(s, sql, &text, plan)) &&
                   fetch(s, &text, "JSON", sql, params, plan, &plan->json) &&
                   fetch(s, &text, "TEXT", sql, params, plan, &plan->text);
    rh_buf_release(&text);
    int rc = finish(s, is_done, plan, err);
    if (prepares) { /* it outlives its transaction, and there may be none after an error */
        command(s, "DEALLOCATE ALL", &ignored, NULL);
        rh_explain_plan_release(&ignored);
    }
    return rc;
}

/* What libpq's PQexecParams() takes, each an array of a call's parameters. */
struct values {
    Oid *types;
    const char **data;
    int *lengths;
    int *formats;
};

static void values_make(struct values *v, const struct rh_explain_call *call)
{
    size_t n = call->param_count + 1;
    *v = (struct values){.types = rh_calloc(n, sizeof *v->types),
                         .data = rh_calloc(n, sizeof *v->data),
                         .lengths = rh_calloc(n, sizeof *v->lengths),
                         .formats = rh_calloc(n, sizeof *v->formats)};
    for (uint32_t i = 0; i < call->param_count; i++) {
        const struct rh_param *p = &call->params[i];
        /* Types that a user made have other numbers on a server that was not copied byte by byte.
         */
        v->types[i] = p->type < FIRST_OWN_OID ? p->type : 0;
        v->data[i] = p->data;
        v->lengths[i] = (int) p->len;
        v->formats[i] = p->format;
    }
}

static void values_release(struct values *v)
{
    rh_free(v->types);
    rh_free(v->data);
    rh_free(v->lengths);
    rh_free(v->formats);
}

/* By the extended protocol, which takes one command only, whatever the text says; what is bound is
 * known to the planner (exec_bind_message: PARAM_FLAG_CONST). */
static bool fetch_call(struct rh_explain_server *s, const char *format,
                       const struct rh_explain_call *call, const struct values *v,
                       struct rh_explain_plan *plan, char **rows)
{
    struct rh_buf sql;
    rh_buf_init(&sql, RH_EXPLAIN_CALL_MAX_BYTES + SQL_MARGIN);
    rh_buf_addf(&sql, "EXPLAIN (FORMAT %s%s) ", format,
                s->version >= SETTINGS_SINCE ? ", SETTINGS" : "");
    rh_buf_add_span(&sql, call->text);
    bool is_done = take_result(s,
                               PQexecParams(s->pg, rh_buf_cstr(&sql), (int) call->param_count,
                                            v->types, v->data, v->lengths, v->formats, 0),
                               plan, rows);
    rh_buf_release(&sql);
    return is_done;
}

int rh_explain_server_ask_call(struct rh_explain_server *s, const struct rh_explain_call *call,
                               struct rh_explain_plan *plan, struct rh_error *err)
{
    struct values v;
    *plan = (struct rh_explain_plan){.method = "custom"};
    values_make(&v, call);
    bool is_done = begin(s, plan) && fetch_call(s, "JSON", call, &v, plan, &plan->json) &&
                   fetch_call(s, "TEXT", call, &v, plan, &plan->text);
    values_release(&v);
    return finish(s, is_done, plan, err);
}
