#include "replay/null_tag.h"

#include "common/sql_scan.h"

enum flag { COUNT = 1, ROWS = 2, RETURNS = 4, ROLLBACK = 8, SHOW = 16 };

struct command {
    const char *word;
    const char *tag;
    unsigned flags;
};

/* Those that are met most come first. */
static const struct command commands[] = {
    {"select", "SELECT", COUNT | ROWS},
    {"update", "UPDATE", COUNT | RETURNS},
    {"insert", "INSERT 0", COUNT | RETURNS},
    {"delete", "DELETE", COUNT | RETURNS},
    {"begin", "BEGIN", 0},
    {"commit", "COMMIT", 0},
    {"end", "COMMIT", 0},
    {"rollback", "ROLLBACK", ROLLBACK},
    {"set", "SET", 0},
    {"with", "SELECT", COUNT | ROWS},
    {"fetch", "FETCH", COUNT | ROWS},
    {"execute", "SELECT", COUNT | ROWS},
    {"copy", "COPY", COUNT},
    {"merge", "MERGE", COUNT | RETURNS},
    {"values", "SELECT", COUNT | ROWS},
    {"table", "SELECT", COUNT | ROWS},
    {"show", "SHOW", ROWS | SHOW},
    {"explain", "EXPLAIN", ROWS},
    {"start", "START TRANSACTION", 0},
    {"abort", "ROLLBACK", ROLLBACK},
    {"savepoint", "SAVEPOINT", 0},
    {"release", "RELEASE", 0},
    {"prepare", "PREPARE", 0},
    {"deallocate", "DEALLOCATE", 0},
    {"declare", "DECLARE CURSOR", 0},
    {"close", "CLOSE CURSOR", 0},
    {"move", "MOVE", COUNT},
    {"reset", "RESET", 0},
    {"discard", "DISCARD ALL", 0},
    {"call", "CALL", 0},
    {"do", "DO", 0},
    {"lock", "LOCK TABLE", 0},
    {"truncate", "TRUNCATE TABLE", 0},
    {"analyze", "ANALYZE", 0},
    {"analyse", "ANALYZE", 0},
    {"vacuum", "VACUUM", 0},
    {"listen", "LISTEN", 0},
    {"unlisten", "UNLISTEN", 0},
    {"notify", "NOTIFY", 0},
    {"grant", "GRANT", 0},
    {"revoke", "REVOKE", 0},
    {"comment", "COMMENT", 0},
    {"refresh", "REFRESH MATERIALIZED VIEW", 0},
    {"reindex", "REINDEX", 0},
    {"cluster", "CLUSTER", 0},
    {"checkpoint", "CHECKPOINT", 0},
    {"load", "LOAD", 0},
    {"security", "SECURITY LABEL", 0},
    {"reassign", "REASSIGN OWNED", 0},
    {"import", "IMPORT FOREIGN SCHEMA", 0},
};

struct object {
    const char *word;
    const char *tags[3]; /* CREATE, ALTER, DROP */
};

#define OBJECT(word, name)                                                                         \
    {                                                                                              \
        word,                                                                                      \
        {                                                                                          \
            "CREATE " name, "ALTER " name, "DROP " name                                            \
        }                                                                                          \
    }

static const struct object objects[] = {
    OBJECT("table", "TABLE"),
    OBJECT("index", "INDEX"),
    OBJECT("view", "VIEW"),
    OBJECT("sequence", "SEQUENCE"),
    OBJECT("function", "FUNCTION"),
    OBJECT("procedure", "PROCEDURE"),
    OBJECT("routine", "ROUTINE"),
    OBJECT("aggregate", "AGGREGATE"),
    OBJECT("trigger", "TRIGGER"),
    OBJECT("schema", "SCHEMA"),
    OBJECT("type", "TYPE"),
    OBJECT("domain", "DOMAIN"),
    OBJECT("database", "DATABASE"),
    OBJECT("role", "ROLE"),
    OBJECT("user", "ROLE"),
    OBJECT("group", "ROLE"),
    OBJECT("extension", "EXTENSION"),
    OBJECT("policy", "POLICY"),
    OBJECT("rule", "RULE"),
    OBJECT("materialized", "MATERIALIZED VIEW"),
    OBJECT("foreign", "FOREIGN TABLE"),
    OBJECT("server", "SERVER"),
    OBJECT("statistics", "STATISTICS"),
    OBJECT("publication", "PUBLICATION"),
    OBJECT("subscription", "SUBSCRIPTION"),
    OBJECT("tablespace", "TABLESPACE"),
    OBJECT("event", "EVENT TRIGGER"),
    OBJECT("collation", "COLLATION"),
    OBJECT("conversion", "CONVERSION"),
    OBJECT("cast", "CAST"),
    OBJECT("operator", "OPERATOR"),
    OBJECT("language", "LANGUAGE"),
    OBJECT("transform", "TRANSFORM"),
    OBJECT("text", "TEXT SEARCH CONFIGURATION"),
    OBJECT("access", "ACCESS METHOD"),
    OBJECT("system", "SYSTEM"),
    OBJECT("default", "DEFAULT PRIVILEGES"),
    OBJECT("owned", "OWNED"),
    OBJECT("large", "LARGE OBJECT"),
};

static const char *const verbs[] = {"create", "alter", "drop"};

/* What may stand between the verb and the object. */
static const char *const modifiers[] = {
    "or",        "replace", "temp", "temporary", "local",  "global",     "unique",    "unlogged",
    "recursive", "trusted", "if",   "not",       "exists", "procedural", "constraint"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* The next word, behind blanks, comments and opening parentheses; none: something else. */
static struct rh_span next_word(struct rh_sql_scan *scan)
{
    for (;;) {
        struct rh_sql_token token = rh_sql_scan_next(scan);
        bool is_paren = token.kind == RH_SQL_PUNCT && scan->data[token.start] == '(';
        if (token.kind == RH_SQL_WORD) {
            return rh_span(scan->data + token.start, token.len);
        }
        if (token.kind != RH_SQL_SPACE && token.kind != RH_SQL_COMMENT && !is_paren) {
            return RH_SPAN_NONE;
        }
    }
}

static bool is_modifier(struct rh_span word)
{
    for (size_t i = 0; i < COUNT_OF(modifiers); i++) {
        if (rh_span_is_nocase(word, modifiers[i])) {
            return true;
        }
    }
    return false;
}

static const char *object_tag(struct rh_sql_scan *scan, size_t verb)
{
    struct rh_span word = next_word(scan);
    while (word.data && is_modifier(word)) {
        word = next_word(scan);
    }
    for (size_t i = 0; i < COUNT_OF(objects) && word.data; i++) {
        if (rh_span_is_nocase(word, objects[i].word)) {
            return objects[i].tags[verb];
        }
    }
    return NULL;
}

struct rh_null_tag rh_null_tag_find(struct rh_span command)
{
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, command, false);
    struct rh_span word = next_word(&scan);
    for (size_t i = 0; i < COUNT_OF(commands) && word.data; i++) {
        if (rh_span_is_nocase(word, commands[i].word)) {
            unsigned flags = commands[i].flags;
            return (struct rh_null_tag){
                .tag = commands[i].tag,
                .has_count = flags & COUNT,
                .gives_rows = flags & ROWS,
                .may_return = flags & RETURNS,
                .is_rollback = flags & ROLLBACK,
                .is_show = flags & SHOW,
                .rest = rh_span(command.data + scan.pos, command.len - scan.pos),
            };
        }
    }
    for (size_t i = 0; i < COUNT_OF(verbs) && word.data; i++) {
        if (rh_span_is_nocase(word, verbs[i])) {
            return (struct rh_null_tag){.tag = object_tag(&scan, i)};
        }
    }
    return (struct rh_null_tag){0};
}
