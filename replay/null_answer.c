#include "replay/null_answer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/opt.h"
#include "formats/record.h"
#include "replay/null_tag.h"

/* A word or a number of a directive is no longer than this. */
enum { WORD_MAX = 40 };

static void fail(struct rh_null_answer *a, const char *sqlstate, const char *why)
{
    a->sqlstate = rh_sqlstate_pack(rh_span_cstr(sqlstate));
    a->why = why;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

/* Whether `word` (in lower case) stands in the text as a word of its own, whatever its case. */
static bool has_word(struct rh_span text, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; text.len >= n && at <= text.len - n; at++) {
        if ((text.data[at] | 0x20) == word[0] && strncasecmp(text.data + at, word, n) == 0 &&
            (at == 0 || !is_name_byte(text.data[at - 1])) &&
            (at + n == text.len || !is_name_byte(text.data[at + n]))) {
            return true;
        }
    }
    return false;
}

static const char *find(struct rh_span text, const char *what)
{
    return memmem(text.data, text.len, what, strlen(what));
}

/* The next word of a directive: without blanks and commas; empty at its end. */
static void take_word(struct rh_span *rest, char word[WORD_MAX])
{
    size_t n = 0;
    while (rest->len > 0 && (rest->data[0] == ' ' || rest->data[0] == ',')) {
        rest->data++;
        rest->len--;
    }
    while (rest->len > 0 && rest->data[0] != ' ' && rest->data[0] != ',') {
        if (n < WORD_MAX - 1) {
            word[n++] = rest->data[0];
        }
        rest->data++;
        rest->len--;
    }
    word[n] = '\0';
}

static bool read_whole(const char *word, uint64_t max, uint64_t *value)
{
    char *end;
    if (word[0] < '0' || word[0] > '9') {
        return false;
    }
    unsigned long long v = strtoull(word, &end, 10);
    *value = v;
    return *end == '\0' && v <= max;
}

static bool read_state(const char *word, uint32_t *sqlstate)
{
    bool is_state = strlen(word) == 5 &&
                    strspn(word, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 &&
                    strcmp(word, "00000") != 0;
    if (is_state) {
        *sqlstate = rh_sqlstate_pack(rh_span_cstr(word));
    }
    return is_state;
}

static bool take_directive(struct rh_null_answer *a, const char *key, struct rh_span *rest)
{
    char value[WORD_MAX];
    uint64_t number;
    struct rh_error ignored;
    if (strcmp(key, "close") == 0) {
        a->end = RH_NULL_END_CLOSE;
        return true;
    }
    take_word(rest, value);
    if (strcmp(key, "error") == 0 || strcmp(key, "fatal") == 0) {
        a->end = key[0] == 'f' ? RH_NULL_END_FATAL : RH_NULL_END_NONE;
        a->why = "this error was asked for";
        return read_state(value, &a->sqlstate);
    }
    if (strcmp(key, "delay") == 0) {
        return rh_opt_duration(value, &a->delay_ns, &ignored) == 0;
    }
    if (strcmp(key, "rows") == 0 && read_whole(value, INT64_MAX, &number)) {
        a->rows = number;
        return true;
    }
    if (strcmp(key, "width") == 0 && read_whole(value, RH_NULL_WIDTH_MAX, &number)) {
        a->width = (uint32_t) number;
        return true;
    }
    return false;
}

/* What a comment asks for. */
static void take_directives(struct rh_null_answer *a, struct rh_span text,
                            const struct rh_null_options *options)
{
    const char *open = find(text, "/* null:");
    if (!open) {
        return;
    }
    struct rh_span rest = {open + strlen("/* null:"), 0};
    rest.len = text.len - (size_t) (rest.data - text.data);
    const char *close = find(rest, "*/");
    rest.len = close ? (size_t) (close - rest.data) : rest.len;
    char key[WORD_MAX];
    for (take_word(&rest, key); key[0]; take_word(&rest, key)) {
        if (!take_directive(a, key, &rest)) {
            fail(a, "42601",
                 "the null server does not understand this comment: rows N, width N, delay TIME, "
                 "error SQLSTATE, fatal SQLSTATE and close are known");
            return;
        }
    }
    if ((uint64_t) a->width * options->columns > RH_NULL_ROW_BYTES_MAX) {
        fail(a, "54000", "such a row is too long for the null server");
    }
}

const char *rh_null_setting(struct rh_span name, const struct rh_null_options *options)
{
    const struct {
        const char *name;
        const char *value;
    } known[] = {
        {"server_version", options->server_version},
        {"server_version_num", options->version_number_text},
        {"max_connections", options->max_connections_text},
        {"superuser_reserved_connections", "0"},
        {"transaction_isolation", "read committed"},
        {"transaction", "read committed"}, /* SHOW TRANSACTION ISOLATION LEVEL */
        {"transaction_read_only", "off"},
        {"in_hot_standby", "off"},
        {"server_encoding", "UTF8"},
        {"client_encoding", "UTF8"},
        {"standard_conforming_strings", "on"},
        {"datestyle", "ISO, MDY"},
        {"timezone", "UTC"},
        {"search_path", "\"$user\", public"},
        {"max_identifier_length", "63"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (rh_span_is_nocase(name, known[i].name)) {
            return known[i].value;
        }
    }
    return "";
}

/* The name at the front of the text, behind blanks and a quote. */
static struct rh_span name_at(struct rh_span text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\'')) {
        text.data++;
        text.len--;
    }
    size_t n = 0;
    while (n < text.len && is_name_byte(text.data[n])) {
        n++;
    }
    return rh_span(text.data, n);
}

/*
 * Queries on the catalogues: there is nothing in them.  What asks for a setting gets it, a question
 * about a privilege is answered with yes, and pgbench, which wants to know how its table is
 * partitioned, hears what a server before version 10 says.
 */
static void answer_catalogue(struct rh_null_answer *a, struct rh_span text,
                             const struct rh_null_options *options)
{
    static const char setting[] = "current_setting(";
    const char *at = find(text, setting);
    a->may_fail = false;
    if (at) {
        at += strlen(setting);
        a->value =
            rh_null_setting(name_at(rh_span(at, text.len - (size_t) (at - text.data))), options);
        /* generate_series(1, a setting): the number is read from the count of rows. */
        a->rows = find(text, "generate_series(1") ? strtoull(a->value, NULL, 10) : 1;
    } else if (find(text, "pg_partitioned_table")) {
        fail(a, "42P01", "relation \"pg_catalog.pg_partitioned_table\" does not exist");
    } else {
        a->rows = find(text, "pg_has_role(") != NULL;
    }
}

static bool is_catalogue(struct rh_span text)
{
    return find(text, "pg_catalog.") || find(text, "information_schema.");
}

static void answer_rows(struct rh_null_answer *a, const struct rh_null_tag *tag,
                        struct rh_span text, const struct rh_null_options *options)
{
    a->reply = RH_NULL_ROWS;
    if (tag->is_show) {
        a->value = rh_null_setting(name_at(tag->rest), options);
        a->rows = 1;
    } else if (is_catalogue(text)) {
        answer_catalogue(a, text, options);
    }
}

static uint64_t hash_name(struct rh_span name)
{
    struct rh_buf folded;
    rh_buf_init(&folded, name.len);
    rh_sql_name_fold(name, &folded);
    uint64_t hash = rh_hash(rh_buf_span(&folded));
    rh_buf_release(&folded);
    return hash;
}

static bool is_control(enum rh_sql_class klass)
{
    return klass == RH_SQL_CLASS_BEGIN || klass == RH_SQL_CLASS_COMMIT ||
           klass == RH_SQL_CLASS_ROLLBACK || klass == RH_SQL_CLASS_CHAIN ||
           klass == RH_SQL_CLASS_SAVEPOINT || klass == RH_SQL_CLASS_EMPTY;
}

void rh_null_answer_make(struct rh_null_answer *a, const struct rh_sql_command *command,
                         const struct rh_null_options *options)
{
    struct rh_null_tag tag = rh_null_tag_find(command->text);
    *a = (struct rh_null_answer){
        .reply = RH_NULL_TAG,
        .klass = command->klass,
        .is_rollback_to = command->klass == RH_SQL_CLASS_SAVEPOINT && tag.is_rollback,
        .has_count = tag.has_count,
        .may_fail = !is_control(command->klass),
        .tag = tag.tag,
        .rows = options->rows,
        .width = options->width,
        .delay_ns = options->delay_ns,
    };
    if (!tag.tag) {
        fail(a, "42601", "the null server knows no command that begins like this");
        return;
    }
    if (command->klass == RH_SQL_CLASS_COPY_IN) {
        a->reply = RH_NULL_COPY_IN;
    } else if (command->klass == RH_SQL_CLASS_COPY_OUT) {
        a->reply = RH_NULL_COPY_OUT;
    } else if (tag.gives_rows) {
        answer_rows(a, &tag, command->text, options);
    } else if (tag.has_count) {
        a->rows = 1;
        a->reply =
            tag.may_return && has_word(command->text, "returning") ? RH_NULL_ROWS : RH_NULL_TAG;
    }
    if (command->klass == RH_SQL_CLASS_COMMIT && tag.tag[0] == 'P') {
        a->tag = "PREPARE TRANSACTION";
    }
    if (command->klass == RH_SQL_CLASS_DEALLOCATE) {
        a->name_hash = hash_name(command->name);
    }
    take_directives(a, command->text, options);
}
