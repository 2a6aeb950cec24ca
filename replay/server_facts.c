#include "replay/server_facts.h"

#include "common/alloc.h"

/*
 * reset_val is what a new session has; setting would show what the inquiry set for itself, as does
 * its source.  Categories are translated (guc.c), so settings are told by their names.
 */
#define MATTERS                                                                                    \
    "name ~ '^(enable_|cpu_|jit|geqo|from_collapse|join_collapse|default_statistics|constraint_"   \
    "excl|cursor_tuple|plan_cache|recursive_worktable|effective_|random_page|seq_page|parallel_|"  \
    "max_parallel|min_parallel|work_mem|hash_mem|maintenance_work|logical_decoding_work|"          \
    "autovacuum|vacuum_|shared_buffers|temp_buffers|huge_pages$|wal_|max_wal|min_wal|checkpoint_|" \
    "commit_|fsync|synchronous_commit|full_page|bgwriter_|backend_flush|io_|max_worker|"           \
    "max_connections|track_|default_toast|statement_timeout|lock_timeout|deadlock_timeout)'"

/* Where a server lies and how it is reached tells nothing of how it works; the rest are of a
 * session, or follow from others. */
#define NOISE                                                                                      \
    "name ~ '^(transaction_|ssl_|recovery_target|unix_socket|bonjour|syslog_|tcp_|"                \
    "shared_memory_size)' OR name IN ('data_directory', 'config_file', 'hba_file', 'ident_file', " \
    "'external_pid_file', 'port', 'listen_addresses', 'cluster_name', 'event_source', "            \
    "'log_directory', 'log_filename', 'log_file_mode', 'primary_slot_name', 'is_superuser', "      \
    "'session_authorization', 'role', 'seed', 'application_name', 'client_encoding', "             \
    "'server_version', 'server_version_num', 'num_os_semaphores', 'promote_trigger_file', "        \
    "'krb_server_keyfile')"

/* Commands and connection strings may hold passwords, and so may any text of an extension. */
#define SECRET(name, type)                                                                         \
    "(" name " ~* '(conninfo|passphrase|password$|passwd|secret|token|credential|_key$|_command$)" \
    "' OR (" name " LIKE '%.%' AND coalesce(" type ", 'string') = 'string'))"

#define VALUE(name, type, value)                                                                   \
    "CASE WHEN coalesce(" value                                                                    \
    ", '') = '' THEN '' WHEN " SECRET(name, type) " THEN '(set)' ELSE left(" value ", 1000) END"

#define SETTINGS                                                                                   \
    "SELECT 'setting', NULL, name, " VALUE(                                                        \
        "name", "vartype",                                                                         \
        "reset_val") ", unit, "                                                                    \
                     "CASE WHEN source <> 'session' THEN source END FROM pg_settings "             \
                     "WHERE (reset_val IS DISTINCT FROM boot_val OR " MATTERS ") AND NOT (" NOISE  \
                     ") ORDER BY name"

#define OVERRIDES                                                                                  \
    "SELECT 'override', d.datname, o.name, " VALUE(                                                \
        "o.name", "s.vartype",                                                                     \
        "o.value") ", NULL, "                                                                      \
                   "r.rolname FROM (SELECT setdatabase, setrole, split_part(c, '=', 1) AS name, "  \
                   "substr(c, strpos(c, '=') + 1) AS value FROM pg_db_role_setting, "              \
                   "unnest(setconfig) c) o "                                                       \
                   "LEFT JOIN pg_database d ON d.oid = o.setdatabase LEFT JOIN pg_roles r ON "     \
                   "r.oid = o.setrole "                                                            \
                   "LEFT JOIN pg_settings s ON s.name = o.name WHERE o.name <> 'role' ORDER BY "   \
                   "2, 6, 3"

#define DATABASES_FROM_15                                                                          \
    "SELECT 'database', d.datname, v.name, left(v.value, 1000), NULL, NULL FROM pg_database d, "   \
    "LATERAL (VALUES ('encoding', pg_encoding_to_char(d.encoding)), "                              \
    "('collate', d.datcollate::text), ('ctype', d.datctype::text), "                               \
    "('provider', CASE d.datlocprovider WHEN 'c' THEN 'libc' WHEN 'i' THEN 'icu' "                 \
    "WHEN 'b' THEN 'builtin' END), ('collation_version', d.datcollversion)) v (name, value) "      \
    "WHERE d.datallowconn AND NOT d.datistemplate AND v.value IS NOT NULL ORDER BY 2, 3 LIMIT 500"

#define DATABASES_BEFORE                                                                           \
    "SELECT 'database', d.datname, v.name, left(v.value, 1000), NULL, NULL FROM pg_database d, "   \
    "LATERAL (VALUES ('encoding', pg_encoding_to_char(d.encoding)), "                              \
    "('collate', d.datcollate::text), ('ctype', d.datctype::text)) v (name, value) "               \
    "WHERE d.datallowconn AND NOT d.datistemplate ORDER BY 2, 3 LIMIT 500"

#define EXTENSIONS                                                                                 \
    "SELECT 'extension', current_database(), extname, extversion, NULL, NULL FROM pg_extension "   \
    "ORDER BY 3"

/* A table without statistics: see UNANALYZED in preflight_database.c, which names them. */
#define STATISTICS                                                                                 \
    "SELECT 'statistics', current_database(), v.name, v.value, NULL, NULL FROM (SELECT count(*) "  \
    "AS tables, count(*) FILTER (WHERE c.reltuples < 0 OR (c.reltuples = 0 AND c.relpages = 0)) "  \
    "AS without, max(greatest(s.last_analyze, s.last_autoanalyze)) AS last FROM pg_class c JOIN "  \
    "pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid "  \
    "WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND "       \
    "n.nspname <> 'information_schema') t, LATERAL (VALUES ('tables', t.tables::text), "           \
    "('tables_without_statistics', t.without::text), ('last_analyzed', to_char(t.last AT TIME "    \
    "ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'))) v (name, value) WHERE v.value IS NOT NULL"

void rh_server_facts_init(struct rh_server_facts *f)
{
    *f = (struct rh_server_facts){0};
    rh_arena_init(&f->arena, 16 * 1024);
}

void rh_server_facts_release(struct rh_server_facts *f)
{
    rh_free(f->items);
    rh_arena_release(&f->arena);
}

static void add(struct rh_server_facts *f, const struct rh_probe_row *row)
{
    struct rh_server_fact fact = {0};
    struct rh_span *texts[RH_SERVER_FACT_TEXTS];
    size_t bytes = 0;
    rh_server_fact_texts(&fact, texts);
    for (uint32_t i = 0; i < RH_SERVER_FACT_TEXTS; i++) {
        *texts[i] = row->values[i];
        bytes += row->values[i].len;
    }
    if (f->count == RH_SERVER_FACTS_MAX || bytes > RH_SERVER_FACTS_BYTES_MAX - f->bytes) {
        return;
    }
    f->bytes += bytes;
    RH_GROW(f->items, f->count, f->cap);
    f->items[f->count++] = rh_server_fact_copy(&fact, &f->arena);
}

static void ask(struct rh_server_facts *f, struct rh_inquiry *q, const char *what, const char *sql)
{
    struct rh_probe_row row;
    if (rh_inquiry_ask(q, what, "tttttt", sql)) {
        while (rh_inquiry_next(q, &row)) {
            add(f, &row);
        }
    }
}

void rh_server_facts_ask(struct rh_server_facts *f, struct rh_inquiry *q)
{
    if (q->major < 10) {
        return; /* a note of the preflight says so */
    }
    ask(f, q, "the server's settings", SETTINGS);
    ask(f, q, "the settings of roles and databases", OVERRIDES);
    ask(f, q, "the encodings of the databases",
        q->major >= 15 ? DATABASES_FROM_15 : DATABASES_BEFORE);
}

void rh_server_facts_ask_database(struct rh_server_facts *f, struct rh_inquiry *q,
                                  struct rh_span database)
{
    if (q->major >= 10 && !rh_server_facts_cover(f->items, f->count, database)) {
        ask(f, q, "the extensions", EXTENSIONS);
        ask(f, q, "the age of the statistics", STATISTICS);
    }
}
