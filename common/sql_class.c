#include "common/sql_class.h"

#include <string.h>

#include "common/sql_lex.h"
#include "common/sql_word.h"

/* A token that is neither blank nor comment, with what the rules below ask about it. */
struct item {
    struct rh_span text;
    enum rh_sql_word word; /* RH_W_UNKNOWN unless an unquoted word that is known */
    enum rh_sql_token_kind kind;
};

/* With `word` not looked up. */
static struct item next_plain(struct rh_sql_scan *scan)
{
    struct rh_sql_token t;
    do {
        t = rh_lex_next(scan);
    } while (t.kind == RH_SQL_SPACE || t.kind == RH_SQL_COMMENT || t.kind == RH_SQL_SLOT_COMMENT ||
             (t.kind == RH_SQL_OTHER && rh_lex_class_of(scan->data[t.start]) == RH_LEX_SLOT));
    return (struct item){{scan->data + t.start, t.len}, RH_W_UNKNOWN, t.kind};
}

static struct item next_item(struct rh_sql_scan *scan)
{
    struct item item = next_plain(scan);
    if (item.kind == RH_SQL_WORD) {
        item.word = rh_sql_word_find(item.text);
    }
    return item;
}

static bool is_byte(struct item item, char byte)
{
    return item.text.len == 1 && item.text.data[0] == byte && item.kind != RH_SQL_END;
}

static bool is_name(struct item item)
{
    return item.kind == RH_SQL_WORD || item.kind == RH_SQL_QUOTED_WORD;
}

/* A template does not tell a number from a string. */
static bool is_constant(struct item item)
{
    return item.kind == RH_SQL_STRING || item.kind == RH_SQL_NUMBER ||
           item.kind == RH_SQL_SLOT_CONSTANT;
}

static enum rh_sql_class with_name(struct rh_sql_command *c, enum rh_sql_class klass,
                                   struct item name)
{
    if (!is_name(name)) {
        return RH_SQL_CLASS_OTHER;
    }
    c->name = name.text;
    return klass;
}

/* What stands behind COMMIT or ROLLBACK. */
static enum rh_sql_class classify_end(struct rh_sql_scan *scan, enum rh_sql_class klass)
{
    struct item item = next_item(scan);
    if (item.word == RH_W_WORK || item.word == RH_W_TRANSACTION) {
        item = next_item(scan);
    }
    switch (item.word) {
    case RH_W_PREPARED:
        return RH_SQL_CLASS_OTHER;
    case RH_W_TO:
        return RH_SQL_CLASS_SAVEPOINT;
    case RH_W_AND:
        return next_item(scan).word == RH_W_CHAIN ? RH_SQL_CLASS_CHAIN : klass;
    default:
        return klass;
    }
}

/* A setting's name, with its dots; *item is its first part and becomes what follows it. */
static struct rh_span setting_name(struct rh_sql_scan *scan, struct item *item)
{
    struct rh_span name = item->text;
    for (*item = next_item(scan); is_byte(*item, '.'); *item = next_item(scan)) {
        struct item part = next_item(scan);
        if (!is_name(part)) {
            break;
        }
        name.len = (size_t) (part.text.data + part.text.len - name.data);
    }
    return name;
}

static bool is_client_encoding(struct rh_span name)
{
    if (name.len >= 2 && name.data[0] == '"') {
        name = (struct rh_span){name.data + 1, name.len - 2};
    }
    return rh_sql_word_find(name) == RH_W_CLIENT_ENCODING;
}

static enum rh_sql_class fixed_name(struct rh_sql_command *c, enum rh_sql_class klass,
                                    struct rh_span name)
{
    c->name = name;
    return klass;
}

/* SET with the spellings that have no `name =` (gram.y, set_rest); OTHER: it is none of them. */
static enum rh_sql_class classify_special_set(struct rh_sql_scan scan, struct item item,
                                              enum rh_sql_class klass, struct rh_sql_command *c)
{
    struct item after = next_item(&scan);
    switch (item.word) {
    case RH_W_TRANSACTION:
        return RH_SQL_CLASS_SET_LOCAL;
    case RH_W_NAMES:
        return RH_SQL_CLASS_SET_ENCODING;
    case RH_W_TIME:
        return after.word == RH_W_ZONE ? fixed_name(c, klass, RH_SPAN_LITERAL("timezone"))
                                       : RH_SQL_CLASS_OTHER;
    case RH_W_SCHEMA:
        return fixed_name(c, klass, RH_SPAN_LITERAL("search_path"));
    case RH_W_SEED:
        return fixed_name(c, klass, RH_SPAN_LITERAL("seed"));
    case RH_W_XML:
        return after.word == RH_W_OPTION ? fixed_name(c, klass, RH_SPAN_LITERAL("xmloption"))
                                         : RH_SQL_CLASS_OTHER;
    case RH_W_ROLE:
        return RH_SQL_CLASS_SESSION_AUTH;
    case RH_W_SESSION:
        return after.word == RH_W_AUTHORIZATION ? RH_SQL_CLASS_SESSION_AUTH : RH_SQL_CLASS_OTHER;
    default:
        return RH_SQL_CLASS_OTHER;
    }
}

static enum rh_sql_class classify_set(struct rh_sql_scan *scan, struct rh_sql_command *c)
{
    enum rh_sql_class klass = RH_SQL_CLASS_SET;
    struct item item = next_item(scan);
    if (item.word == RH_W_LOCAL || item.word == RH_W_SESSION) {
        struct rh_sql_scan ahead = *scan;
        struct item after = next_item(&ahead);
        if (item.word == RH_W_LOCAL) {
            klass = RH_SQL_CLASS_SET_LOCAL;
        }
        if (item.word == RH_W_SESSION && after.word == RH_W_CHARACTERISTICS) {
            return fixed_name(c, klass, RH_SPAN_LITERAL("session characteristics"));
        }
        if (item.word == RH_W_LOCAL || after.word != RH_W_AUTHORIZATION) {
            item = next_item(scan);
        }
    }
    struct rh_sql_scan behind = *scan;
    struct item after = item;
    struct rh_span name = setting_name(&behind, &after);
    if (is_name(item) &&
        (is_byte(after, '=') || after.word == RH_W_TO || after.word == RH_W_FROM)) {
        if (item.word == RH_W_ROLE) {
            return RH_SQL_CLASS_SESSION_AUTH;
        }
        if (is_client_encoding(name)) {
            return RH_SQL_CLASS_SET_ENCODING;
        }
        return fixed_name(c, klass, name);
    }
    return classify_special_set(*scan, item, klass, c);
}

static enum rh_sql_class classify_reset(struct rh_sql_scan *scan, struct rh_sql_command *c)
{
    struct item item = next_item(scan);
    switch (item.word) {
    case RH_W_ALL:
        return RH_SQL_CLASS_RESET_ALL;
    case RH_W_ROLE:
        return RH_SQL_CLASS_SESSION_AUTH;
    case RH_W_SESSION:
        return next_item(scan).word == RH_W_AUTHORIZATION ? RH_SQL_CLASS_SESSION_AUTH
                                                          : RH_SQL_CLASS_OTHER;
    case RH_W_TIME:
        return fixed_name(c, RH_SQL_CLASS_RESET, RH_SPAN_LITERAL("timezone"));
    case RH_W_TRANSACTION:
        return fixed_name(c, RH_SQL_CLASS_RESET, RH_SPAN_LITERAL("transaction_isolation"));
    default:
        if (!is_name(item)) {
            return RH_SQL_CLASS_OTHER;
        }
        return fixed_name(c, RH_SQL_CLASS_RESET, setting_name(scan, &item));
    }
}

static enum rh_sql_class classify_deallocate(struct rh_sql_scan *scan, struct rh_sql_command *c)
{
    struct item item = next_item(scan);
    if (item.word == RH_W_PREPARE) {
        struct item name = next_item(scan);
        if (name.kind != RH_SQL_END) {
            item = name;
        }
    }
    return item.word == RH_W_ALL ? RH_SQL_CLASS_DEALLOCATE_ALL
                                 : with_name(c, RH_SQL_CLASS_DEALLOCATE, item);
}

/* The first FROM or TO outside parentheses says which way; what is behind it, whether the client
 * has the data. */
static enum rh_sql_class classify_copy(struct rh_sql_scan *scan)
{
    size_t depth = 0;
    struct item item;
    while ((item = next_item(scan)).kind != RH_SQL_END) {
        if (is_byte(item, '(')) {
            depth++;
        } else if (is_byte(item, ')') && depth > 0) {
            depth--;
        } else if (depth == 0 && (item.word == RH_W_FROM || item.word == RH_W_TO)) {
            enum rh_sql_word where = next_item(scan).word;
            if (where != RH_W_STDIN && where != RH_W_STDOUT) {
                return RH_SQL_CLASS_OTHER;
            }
            return item.word == RH_W_FROM ? RH_SQL_CLASS_COPY_IN : RH_SQL_CLASS_COPY_OUT;
        }
    }
    return RH_SQL_CLASS_OTHER;
}

static enum rh_sql_class classify_command(struct rh_sql_scan *scan, struct rh_sql_command *c)
{
    struct rh_sql_scan behind;
    struct item first = next_item(scan);
    switch (first.word) {
    case RH_W_BEGIN:
        return RH_SQL_CLASS_BEGIN;
    case RH_W_START:
        return next_item(scan).word == RH_W_TRANSACTION ? RH_SQL_CLASS_BEGIN : RH_SQL_CLASS_OTHER;
    case RH_W_COMMIT:
    case RH_W_END:
        return classify_end(scan, RH_SQL_CLASS_COMMIT);
    case RH_W_ROLLBACK:
    case RH_W_ABORT:
        return classify_end(scan, RH_SQL_CLASS_ROLLBACK);
    case RH_W_SAVEPOINT:
    case RH_W_RELEASE:
        return RH_SQL_CLASS_SAVEPOINT;
    case RH_W_SET:
        return classify_set(scan, c);
    case RH_W_RESET:
        return classify_reset(scan, c);
    case RH_W_DISCARD:
        return next_item(scan).word == RH_W_ALL ? RH_SQL_CLASS_DISCARD_ALL : RH_SQL_CLASS_OTHER;
    case RH_W_PREPARE:
        behind = *scan;
        if (next_item(&behind).word == RH_W_TRANSACTION && is_constant(next_item(&behind))) {
            return RH_SQL_CLASS_COMMIT;
        }
        return with_name(c, RH_SQL_CLASS_PREPARE, next_item(scan));
    case RH_W_DEALLOCATE:
        return classify_deallocate(scan, c);
    case RH_W_COPY:
        return classify_copy(scan);
    default:
        return RH_SQL_CLASS_OTHER;
    }
}

/* Where the semicolons of a command's own body are told from the one that ends it. */
struct body {
    bool is_create;
    size_t parens;
    size_t blocks; /* BEGIN ATOMIC and CASE without their END */
    enum rh_sql_word prev;
};

/* True for a semicolon that ends the command. */
static bool body_take(struct body *b, struct item item)
{
    if (item.kind == RH_SQL_PUNCT) {
        if (is_byte(item, '(')) {
            b->parens++;
        } else if (is_byte(item, ')') && b->parens > 0) {
            b->parens--;
        } else if (is_byte(item, ';') && b->parens == 0 && b->blocks == 0) {
            return true;
        }
    } else if (b->is_create) {
        bool begins = item.word == RH_W_ATOMIC && b->prev == RH_W_BEGIN;
        if (begins || (item.word == RH_W_CASE && b->blocks > 0)) {
            b->blocks++;
        } else if (item.word == RH_W_END && b->blocks > 0) {
            b->blocks--;
        }
    }
    b->prev = item.word;
    return false;
}

/* Read on behind the command's first item to its semicolon or the end, and give where that is. */
static const char *command_end(struct rh_sql_scan *scan, struct item item)
{
    struct body body = {.is_create = item.word == RH_W_CREATE};
    while (item.kind != RH_SQL_END && !body_take(&body, item)) {
        item = body.is_create ? next_item(scan) : next_plain(scan);
    }
    return item.text.data;
}

static struct rh_span trim(const char *start, const char *end)
{
    while (start < end && rh_lex_class_of(*start) == RH_LEX_SPACE) {
        start++;
    }
    while (end > start && rh_lex_class_of(end[-1]) == RH_LEX_SPACE) {
        end--;
    }
    return (struct rh_span){start, (size_t) (end - start)};
}

void rh_sql_commands_init(struct rh_sql_commands *c, struct rh_span text, bool is_template)
{
    rh_sql_scan_init(&c->scan, text, is_template);
}

int rh_sql_commands_next(struct rh_sql_commands *c, struct rh_sql_command *command)
{
    for (;;) {
        struct rh_sql_scan begin = c->scan;
        struct item item = next_item(&c->scan);
        if (item.kind == RH_SQL_END) {
            return 0;
        }
        if (is_byte(item, ';')) {
            continue;
        }
        const char *end = c->scan.data + c->scan.len;
        if (!memchr(c->scan.data + c->scan.pos, ';', c->scan.len - c->scan.pos)) {
            c->scan.pos = c->scan.len; /* the last one: most texts are a single command */
        } else {
            end = command_end(&c->scan, item);
        }
        *command = (struct rh_sql_command){
            .text = trim(begin.data + begin.pos, end),
            .name = RH_SPAN_NONE,
        };
        /* The same bytes again, up to the end found. */
        begin.len = (size_t) (end - begin.data);
        command->klass = classify_command(&begin, command);
        return 1;
    }
}

enum rh_sql_class rh_sql_classify(struct rh_span text, bool is_template, uint32_t *all)
{
    struct rh_sql_commands commands;
    rh_sql_commands_init(&commands, text, is_template);
    struct rh_sql_command command;
    enum rh_sql_class klass = RH_SQL_CLASS_EMPTY;
    uint32_t seen = 0;
    while (rh_sql_commands_next(&commands, &command)) {
        klass = seen ? RH_SQL_CLASS_OTHER : command.klass;
        seen |= UINT32_C(1) << command.klass;
    }
    if (all) {
        *all = seen;
    }
    return klass;
}

void rh_sql_name_fold(struct rh_span name, struct rh_buf *out)
{
    bool quoted = false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        if (c == '"' && !quoted && memchr(name.data + i + 1, '"', name.len - i - 1)) {
            quoted = true;
        } else if (c == '"' && quoted) {
            if (i + 1 < name.len && name.data[i + 1] == '"') {
                rh_buf_add_byte(out, '"');
                i++;
            } else {
                quoted = false;
            }
        } else if (quoted) {
            rh_buf_add_byte(out, (uint8_t) c);
        } else if (rh_lex_class_of(c) != RH_LEX_SPACE) {
            rh_buf_add_byte(out, (uint8_t) (c >= 'A' && c <= 'Z' ? c | 0x20 : c));
        }
    }
}
