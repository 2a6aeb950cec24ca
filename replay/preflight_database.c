/* What one database of the replay holds that could spoil it. */
#include <inttypes.h>
#include <stdio.h>

#include "common/noun.h"
#include "replay/asker.h"
#include "replay/preflight.h"

enum { TABLES_SHOWN = 3, NAMES_SHOWN = 3, TEXT_SIZE = 600 };

/*
 * A table without statistics gets plans that production's never had.  The statistics are what
 * counts, not pg_stat_user_tables.last_analyze: the latter is lost by a crash, and so by many ways
 * of copying a server.  pg_stats shows them for what the user may read.  Where it does not,
 * pg_class tells of a table that was never analysed unless an index was built on it since:
 * reltuples is -1 (before 14: 0, and no pages).  Small tables are passed over: autovacuum
 * leaves them alone in production too.
 */
#define UNANALYZED                                                                                 \
    "SELECT n.nspname, c.relname, pg_relation_size(c.oid) / 1024, count(*) OVER () "               \
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "                               \
    "WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' "                                   \
    "AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' "                               \
    "AND (c.reltuples < 0 OR (c.reltuples = 0 AND c.relpages = 0) "                                \
    "OR (c.reltuples > 0 AND NOT c.relrowsecurity AND has_table_privilege(c.oid, 'SELECT') "       \
    "AND NOT EXISTS (SELECT FROM pg_stats s "                                                      \
    "WHERE s.schemaname = n.nspname AND s.tablename = c.relname))) "                               \
    "AND pg_relation_size(c.oid) >= 131072 ORDER BY 3 DESC, 1, 2 LIMIT 3"

static void check_tables(struct rh_preflight *p, struct rh_inquiry *q, const char *database)
{
    struct rh_probe_row row;
    char text[TEXT_SIZE] = "";
    int64_t count = 0;
    size_t used = 0;
    if (!rh_inquiry_ask(q, "tables without statistics", "ttii", UNANALYZED)) {
        return;
    }
    for (int shown = 0; shown < TABLES_SHOWN && rh_inquiry_next(q, &row); shown++) {
        count = rh_inquiry_int(row.values[3]);
        int n =
            snprintf(text + used, sizeof text - used, "%s%.*s.%.*s (%" PRId64 " kB)",
                     used ? ", " : "", (int) row.values[0].len, row.values[0].data,
                     (int) row.values[1].len, row.values[1].data, rh_inquiry_int(row.values[2]));
        used += n > 0 && (size_t) n < sizeof text - used ? (size_t) n : 0;
    }
    if (count > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "never-analyzed",
                        "%" PRId64 " table%s of database \"%s\" %s no statistics: %s%s", count,
                        rh_plural((uint64_t) count), database,
                        rh_noun((uint64_t) count, "has", "have"), text,
                        count > TABLES_SHOWN ? ", ..." : "");
        rh_findings_advise(p->findings, "ANALYZE there (vacuumdb --analyze-only \"%s\")", database);
    }
}

/* Whoever may not see all jobs sees his own. */
static void check_cron(struct rh_preflight *p, struct rh_inquiry *q, const char *database)
{
    struct rh_probe_row row;
    if (!rh_inquiry_ask(q, "pg_cron", "b",
                        "SELECT relrowsecurity AND NOT (SELECT rolsuper FROM pg_roles WHERE "
                        "rolname = current_user) FROM pg_class c JOIN pg_namespace n ON n.oid = "
                        "c.relnamespace WHERE n.nspname = 'cron' AND c.relname = 'job'") ||
        !rh_inquiry_next(q, &row)) {
        return;
    }
    bool sees_own = rh_inquiry_bool(row.values[0]);
    if (!rh_inquiry_ask(q, "the jobs of pg_cron", "=i",
                        "SELECT count(*) FROM cron.job WHERE active") ||
        !rh_inquiry_next(q, &row)) {
        return;
    }
    int64_t jobs = rh_inquiry_int(row.values[0]);
    if (jobs > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "cron-jobs",
                        "%" PRId64 " job%s of pg_cron %s active in database \"%s\" and %s during "
                        "the replay%s",
                        jobs, rh_plural((uint64_t) jobs), rh_noun((uint64_t) jobs, "is", "are"),
                        database, rh_noun((uint64_t) jobs, "runs", "run"),
                        sees_own ? ", and there may be others' jobs" : "");
        rh_findings_advise(p->findings, "UPDATE cron.job SET active = false on a clone");
    } else if (sees_own) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "cron-jobs",
                        "pg_cron is in database \"%s\", and this user sees no jobs but its own",
                        database);
        rh_findings_advise(p->findings, "look at cron.job as a superuser");
    }
}

/* The first column's texts in quotes, how many there are. */
static uint32_t read_names(struct rh_inquiry *q, char text[TEXT_SIZE])
{
    struct rh_probe_row row;
    uint32_t count = 0;
    size_t used = 0;
    text[0] = '\0';
    while (rh_inquiry_next(q, &row)) {
        if (row.values[0].data && count++ < NAMES_SHOWN) {
            int n = snprintf(text + used, TEXT_SIZE - used, "%s%.*s", used ? ", " : "",
                             (int) (row.values[0].len < 150 ? row.values[0].len : 150),
                             row.values[0].data);
            used += n > 0 && (size_t) n < TEXT_SIZE - used ? (size_t) n : 0;
        }
    }
    if (count > NAMES_SHOWN) {
        snprintf(text + used, TEXT_SIZE - used, " and %" PRIu32 " more", count - NAMES_SHOWN);
    }
    return count;
}

/* A clone's foreign tables still lead to production's other servers. */
static void check_foreign_servers(struct rh_preflight *p, struct rh_inquiry *q,
                                  const char *database)
{
    char names[TEXT_SIZE];
    if (rh_inquiry_ask(q, "the foreign servers", "t",
                       "SELECT quote_ident(s.srvname) || coalesce((SELECT ' (' || "
                       "string_agg(o, ' ') || ')' FROM unnest(s.srvoptions) o WHERE o ~ "
                       "'^(host|hostaddr|port|dbname)='), '') FROM pg_foreign_server s JOIN "
                       "pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE w.fdwname <> "
                       "'file_fdw' ORDER BY 1") &&
        read_names(q, names) > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "foreign-servers",
                        "database \"%s\" reaches foreign servers, and so will the replay: %s",
                        database, names);
        rh_findings_advise(p->findings, "ALTER SERVER ... OPTIONS (SET host ...) on a clone");
    }
}

static void check_event_triggers(struct rh_preflight *p, struct rh_inquiry *q, const char *database)
{
    char names[TEXT_SIZE];
    if (rh_inquiry_ask(q, "the event triggers", "t",
                       "SELECT quote_ident(evtname) FROM pg_event_trigger WHERE evtenabled NOT IN "
                       "('D', 'R') ORDER BY 1") &&
        read_names(q, names) > 0) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "event-triggers",
                        "event triggers of database \"%s\" fire in the replay too: %s", database,
                        names);
        rh_findings_advise(p->findings, "look at what they reach outside the server");
    }
}

static void ask_database(struct rh_preflight *p, struct rh_conn *conn,
                         const struct rh_identity *who)
{
    struct rh_inquiry q;
    char name[200];
    snprintf(name, sizeof name, "%.*s", (int) who->database.len,
             who->database.data ? who->database.data : "");
    rh_inquiry_init(&q, conn, who->user, p->findings);
    if (q.major >= 10) {
        check_tables(p, &q, name);
        check_cron(p, &q, name);
        check_foreign_servers(p, &q, name);
        check_event_triggers(p, &q, name);
        if (p->facts) {
            rh_server_facts_ask_database(p->facts, &q, who->database);
        }
    }
    if (q.is_lost && q.error.code == RH_ERR_NET) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "checks-ended",
                        "the checks of database \"%s\" ended early: %s", name, q.error.text);
    }
    rh_inquiry_release(&q);
}

static int look_at_database(struct rh_preflight *p, const struct rh_identity *who,
                            struct rh_error *err)
{
    struct rh_connect_request request = {.user = who->user, .database = who->database};
    if (rh_connector_connect(*p->connector, &request) == 0) {
        ask_database(p, request.conn, who);
        rh_conn_close(request.conn);
        return 0;
    }
    if (request.error.code != RH_ERR_NET) {
        *err = request.error;
        return -1;
    }
    rh_findings_add(p->findings, RH_GRADE_NOTE, "not-looked-at",
                    "database \"%.*s\" could not be looked at: %s", (int) who->database.len,
                    who->database.data ? who->database.data : "", request.error.text);
    return 0;
}

static bool is_looked_at(const struct rh_preflight *p, struct rh_span database)
{
    for (uint32_t i = 0; i < p->database_count; i++) {
        if (rh_span_equal(p->database_askers[i]->database, database)) {
            return true;
        }
    }
    return false;
}

int rh_preflight_databases(struct rh_preflight *p, struct rh_error *err)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < p->ids->leader_count; i++) {
        const struct rh_identity *id = &p->ids->items[p->ids->leaders[i]];
        if (id->login != RH_LOGIN_DONE || is_looked_at(p, id->database)) {
            continue;
        }
        if (p->database_count == RH_PREFLIGHT_DATABASES) {
            left_out++;
            continue;
        }
        const struct rh_identity *who = rh_asker_of_database(p->ids, id->database);
        p->database_askers[p->database_count++] = who;
        if (look_at_database(p, who, err) != 0) {
            return -1;
        }
    }
    if (left_out > 0) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "not-looked-at",
                        "only the %d databases with most sessions were looked at",
                        RH_PREFLIGHT_DATABASES);
    }
    return 0;
}
