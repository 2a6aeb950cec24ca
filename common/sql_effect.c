#include "common/sql_effect.h"

#include <string.h>

#include "common/sql_class.h"

/* A token that is neither blank nor comment. */
struct item {
    struct rh_span text;
    enum rh_sql_token_kind kind;
};

static struct item next_item(struct rh_sql_scan *scan)
{
    struct rh_sql_token t;
    do {
        t = rh_sql_scan_next(scan);
    } while (t.kind == RH_SQL_SPACE || t.kind == RH_SQL_COMMENT || t.kind == RH_SQL_SLOT_COMMENT);
    return (struct item){{scan->data + t.start, t.len}, t.kind};
}

static bool is_word(struct item item, const char *word)
{
    return item.kind == RH_SQL_WORD && rh_span_is_nocase(item.text, word);
}

/* A function's name is often quoted by programs. */
static struct item unquoted(struct item item)
{
    if (item.kind == RH_SQL_QUOTED_WORD && item.text.len > 2 && item.text.data[0] == '"') {
        item.kind = RH_SQL_WORD;
        item.text = rh_span(item.text.data + 1, item.text.len - 2);
    }
    return item;
}

static bool is_one_of(struct item item, const char *const *words)
{
    for (; *words; words++) {
        if (is_word(item, *words)) {
            return true;
        }
    }
    return false;
}

static bool is_byte(struct item item, char byte)
{
    return item.text.len == 1 && item.text.data[0] == byte && item.kind == RH_SQL_PUNCT;
}

/* Functions of the server, and of contrib, that act beyond their database (system_functions.sql,
 * pg_proc.dat), and the texts for them. */
static const struct {
    const char *name;
    const char *text;
} reaching[] = {
    {"dblink", "dblink()"},
    {"dblink_connect", "dblink_connect()"},
    {"dblink_exec", "dblink_exec()"},
    {"dblink_send_query", "dblink_send_query()"},
    {"lo_export", "lo_export()"},
    {"lo_import", "lo_import()"},
    {"pg_backup_start", "pg_backup_start()"},
    {"pg_backup_stop", "pg_backup_stop()"},
    {"pg_cancel_backend", "pg_cancel_backend()"},
    {"pg_copy_logical_replication_slot", "pg_copy_logical_replication_slot()"},
    {"pg_copy_physical_replication_slot", "pg_copy_physical_replication_slot()"},
    {"pg_create_logical_replication_slot", "pg_create_logical_replication_slot()"},
    {"pg_create_physical_replication_slot", "pg_create_physical_replication_slot()"},
    {"pg_create_restore_point", "pg_create_restore_point()"},
    {"pg_drop_replication_slot", "pg_drop_replication_slot()"},
    {"pg_file_rename", "pg_file_rename()"},
    {"pg_file_sync", "pg_file_sync()"},
    {"pg_file_unlink", "pg_file_unlink()"},
    {"pg_file_write", "pg_file_write()"},
    {"pg_logical_slot_get_binary_changes", "pg_logical_slot_get_binary_changes()"},
    {"pg_logical_slot_get_changes", "pg_logical_slot_get_changes()"},
    {"pg_promote", "pg_promote()"},
    {"pg_reload_conf", "pg_reload_conf()"},
    {"pg_replication_slot_advance", "pg_replication_slot_advance()"},
    {"pg_rotate_logfile", "pg_rotate_logfile()"},
    {"pg_start_backup", "pg_start_backup()"},
    {"pg_stat_reset", "pg_stat_reset()"},
    {"pg_stat_reset_shared", "pg_stat_reset_shared()"},
    {"pg_stat_statements_reset", "pg_stat_statements_reset()"},
    {"pg_stop_backup", "pg_stop_backup()"},
    {"pg_switch_wal", "pg_switch_wal()"},
    {"pg_switch_xlog", "pg_switch_xlog()"},
    {"pg_terminate_backend", "pg_terminate_backend()"},
    {"pg_wal_replay_pause", "pg_wal_replay_pause()"},
    {"pg_wal_replay_resume", "pg_wal_replay_resume()"},
};

static const char *reaching_function(struct item item)
{
    item = unquoted(item);
    for (size_t i = 0; i < sizeof reaching / sizeof reaching[0]; i++) {
        if (is_word(item, reaching[i].name)) {
            return reaching[i].text;
        }
    }
    return NULL;
}

/* CREATE, ALTER and DROP of what all databases share. */
static const char *reach_of_definition(struct item verb, struct item object, struct item after)
{
    static const struct {
        const char *verb;
        const char *object;
        const char *text;
    } shared[] = {
        {"alter", "database", "ALTER DATABASE"},
        {"alter", "group", "ALTER GROUP"},
        {"alter", "role", "ALTER ROLE"},
        {"alter", "subscription", "ALTER SUBSCRIPTION"},
        {"alter", "system", "ALTER SYSTEM"},
        {"alter", "tablespace", "ALTER TABLESPACE"},
        {"alter", "user", "ALTER USER"},
        {"create", "database", "CREATE DATABASE"},
        {"create", "group", "CREATE GROUP"},
        {"create", "role", "CREATE ROLE"},
        {"create", "subscription", "CREATE SUBSCRIPTION"},
        {"create", "tablespace", "CREATE TABLESPACE"},
        {"create", "user", "CREATE USER"},
        {"drop", "database", "DROP DATABASE"},
        {"drop", "group", "DROP GROUP"},
        {"drop", "role", "DROP ROLE"},
        {"drop", "subscription", "DROP SUBSCRIPTION"},
        {"drop", "tablespace", "DROP TABLESPACE"},
        {"drop", "user", "DROP USER"},
    };
    if (is_word(verb, "checkpoint")) {
        return "CHECKPOINT";
    }
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        if (is_word(verb, shared[i].verb) && is_word(object, shared[i].object)) {
            return is_word(object, "user") && is_word(after, "mapping") ? NULL : shared[i].text;
        }
    }
    return NULL;
}

static bool is_copy_beyond_client(const struct rh_sql_command *command, struct item verb)
{
    return is_word(verb, "copy") && command->klass == RH_SQL_CLASS_OTHER;
}

static const char *command_reach(const struct rh_sql_command *command, bool is_template)
{
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, command->text, is_template);
    struct item verb = next_item(&scan), object = next_item(&scan);
    struct rh_sql_scan behind = scan;
    const char *reach = reach_of_definition(verb, object, next_item(&behind));
    if (!reach && is_copy_beyond_client(command, verb)) {
        reach = "COPY with a file or program of the server";
    }
    struct item item = verb, after = object;
    while (!reach && item.kind != RH_SQL_END) {
        reach = is_byte(after, '(') ? reaching_function(item) : NULL;
        item = after;
        after = next_item(&scan);
    }
    return reach;
}

const char *rh_sql_reach(struct rh_span text, bool is_template)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    const char *reach = NULL;
    rh_sql_commands_init(&commands, text, is_template);
    while (!reach && rh_sql_commands_next(&commands, &command)) {
        reach = command_reach(&command, is_template);
    }
    return reach;
}

/* Functions that write data of their database, or may undo the protection. */
static bool is_writing_function(struct item item)
{
    static const char *const names[] = {"nextval",
                                        "setval",
                                        "lo_create",
                                        "lo_creat",
                                        "lo_unlink",
                                        "lo_put",
                                        "lowrite",
                                        "lo_truncate",
                                        "lo_from_bytea",
                                        "lo_truncate64",
                                        "set_config",
                                        "pg_notify",
                                        "pg_logical_emit_message",
                                        NULL};
    return is_one_of(unquoted(item), names) || reaching_function(item) != NULL;
}

/* Whether a word says that something is written, by the word before it and the token behind it. */
static bool word_writes(struct item before, struct item item, struct item after)
{
    static const char *const verbs[] = {"insert", "update", "delete", "merge", NULL};
    static const char *const locks[] = {"update", "share", "no", "key", NULL};
    if (is_byte(after, '(') && is_writing_function(item)) {
        return true;
    }
    if (is_byte(before, '.') || is_byte(after, '.')) {
        return false;
    }
    if (is_word(item, "into")) {
        return true;
    }
    if (is_word(before, "for") && is_one_of(item, locks)) {
        return true;
    }
    bool may_begin = is_byte(before, '(') || is_byte(before, ')');
    return may_begin && is_one_of(item, verbs) && after.kind != RH_SQL_PUNCT;
}

/* A query, or what embeds one: its data-modifying parts, its locks and its functions. */
static bool query_writes(struct rh_sql_scan scan)
{
    struct item before = {.kind = RH_SQL_END}, item = next_item(&scan);
    while (item.kind != RH_SQL_END) {
        struct item after = next_item(&scan);
        if (word_writes(before, item, after)) {
            return true;
        }
        before = item;
        item = after;
    }
    return false;
}

/* "READ WRITE" in what begins or sets a transaction. */
static bool asks_to_write(struct rh_sql_scan scan)
{
    struct item before = next_item(&scan);
    while (before.kind != RH_SQL_END) {
        struct item item = next_item(&scan);
        if (is_word(before, "read") && is_word(item, "write")) {
            return true;
        }
        before = item;
    }
    return false;
}

/* Nobody undoes it by the settings that make a transaction read-only. */
static bool sets_read_only(const struct rh_sql_command *command)
{
    struct rh_buf name;
    rh_buf_init(&name, 1000);
    rh_sql_name_fold(command->name, &name);
    bool sets = strstr(rh_buf_cstr(&name), "transaction_read_only") != NULL;
    rh_buf_release(&name);
    return sets;
}

/* Commands that embed another one: what is behind their own words. */
static bool explain_writes(struct rh_sql_scan scan);

static bool verb_writes(struct rh_sql_scan scan, struct item verb)
{
    static const char *const queries[] = {"select", "with", "values", "table", "declare", NULL};
    static const char *const harmless[] = {"show",   "fetch",    "move",    "close",
                                           "listen", "unlisten", "execute", NULL};
    if (is_byte(verb, '(') || is_one_of(verb, queries)) {
        return query_writes(scan);
    }
    if (is_word(verb, "explain")) {
        return explain_writes(scan);
    }
    return !is_one_of(verb, harmless);
}

/* Behind EXPLAIN and its options.  It runs the statement with ANALYZE only; what comes first of the
 * words that begin statements is that statement. */
static bool explain_writes(struct rh_sql_scan scan)
{
    static const char *const options[] = {"analyze", "analyse", "verbose", NULL};
    struct item item = next_item(&scan);
    bool runs = false;
    size_t depth = 0;
    while (item.kind != RH_SQL_END) {
        runs = runs || is_word(item, "analyze") || is_word(item, "analyse");
        if (is_byte(item, '(')) {
            depth++;
        } else if (is_byte(item, ')') && depth > 0) {
            depth--;
        } else if (depth == 0 && !is_one_of(item, options)) {
            break;
        }
        item = next_item(&scan);
    }
    /* Not twice: nothing is nested as deep as a text likes. */
    return runs && (is_word(item, "explain") || verb_writes(scan, item));
}

/* PREPARE name (types) AS: only what is prepared counts. */
static bool prepared_writes(struct rh_sql_scan scan)
{
    struct item item;
    do {
        item = next_item(&scan);
    } while (item.kind != RH_SQL_END && !is_word(item, "as"));
    item = next_item(&scan);
    return verb_writes(scan, item);
}

static bool command_writes(const struct rh_sql_command *command)
{
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, command->text, false);
    struct item verb = next_item(&scan);
    switch (command->klass) {
    case RH_SQL_CLASS_BEGIN:
    case RH_SQL_CLASS_SET_LOCAL:
    case RH_SQL_CLASS_SET:
        return asks_to_write(scan) || sets_read_only(command);
    case RH_SQL_CLASS_COMMIT: /* PREPARE TRANSACTION leaves something behind */
        return is_word(verb, "prepare");
    case RH_SQL_CLASS_PREPARE:
        return prepared_writes(scan);
    case RH_SQL_CLASS_COPY_OUT:
        return query_writes(scan);
    case RH_SQL_CLASS_COPY_IN:
        return true;
    case RH_SQL_CLASS_OTHER:
        /* SET CONSTRAINTS, DISCARD PLANS, SEQUENCES and TEMP. */
        return !is_word(verb, "set") && !is_word(verb, "discard") && verb_writes(scan, verb);
    default:
        return false;
    }
}

bool rh_sql_may_write(struct rh_span text)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    bool writes = false;
    rh_sql_commands_init(&commands, text, false);
    while (!writes && rh_sql_commands_next(&commands, &command)) {
        writes = command_writes(&command);
    }
    return writes;
}
