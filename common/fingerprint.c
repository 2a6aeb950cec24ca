#include "common/fingerprint.h"

#include <string.h>
#include <xxhash.h>

#include "common/fingerprint_writer.h"
#include "common/sql_literal.h"

/* What the first word of a command makes of those behind it. */
enum verb {
    VERB_NONE,
    VERB_FIRST,       /* no word yet */
    VERB_TRANSACTION, /* BEGIN, COMMIT, ROLLBACK: WORK may follow */
    VERB_ROLLBACK,
    VERB_NAME,     /* SAVEPOINT, RELEASE, ROLLBACK TO, DEALLOCATE: a name that is a value */
    VERB_SET,      /* the setting's name */
    VERB_VALUE,    /* SET ... TO */
    VERB_VALUE_ON, /* the rest of its value */
};

struct normaliser {
    struct rh_sql_literals scan;
    struct rh_fp_writer writer;
    struct rh_fp_item next; /* the item behind the current one */
    enum verb verb;
    bool skip_next;
    uint64_t blocks; /* BEGIN ATOMIC of a function's body, and CASE in it, without their END */
    struct rh_fp_item literal_type;              /* DATE of DATE '...', put behind its constant */
    enum { NO_FIELD, FIELD, FIELD_TO } interval; /* INTERVAL '1' DAY TO HOUR: where we are */
};

static char punct_of(struct rh_span text)
{
    if (text.len == 1) {
        return text.data[0];
    }
    if (text.data[0] == '.') {
        return RH_FP_RANGE;
    }
    return text.data[1] == ':' ? RH_FP_CAST : RH_FP_ASSIGN;
}

static bool is_simple_name(struct rh_span name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        uint8_t about = rh_lex_table[(uint8_t) c];
        bool first = (about & RH_LEX_CLASS_MASK) == RH_LEX_WORD ||
                     (about & RH_LEX_CLASS_MASK) == RH_LEX_PREFIX;
        if ((c >= 'A' && c <= 'Z') || !(about & RH_LEX_IN_WORD) || (i == 0 && !first)) {
            return false;
        }
    }
    return name.len > 0 && !(rh_sql_word_flags(rh_sql_word_find(name)) & RH_WORD_KEYWORD);
}

static struct rh_fp_item name_item(struct rh_span text, bool broken)
{
    struct rh_fp_item item = {.kind = RH_FP_QUOTED, .text = text};
    if (text.data[0] == '"' && !broken) {
        struct rh_span inner = {text.data + 1, text.len - 2};
        if (is_simple_name(inner)) {
            item.kind = RH_FP_WORD;
            item.text = inner;
        }
    }
    return item;
}

/* The next token that means something. */
static struct rh_fp_item read_item(struct normaliser *n)
{
    for (;;) {
        struct rh_sql_token prior = n->scan.prior;
        struct rh_sql_token prev = n->scan.prev;
        struct rh_sql_literal l = rh_sql_literals_next(&n->scan);
        struct rh_span text = {n->scan.scan.data + l.token.start, l.token.len};
        struct rh_fp_item item = {.text = text};
        switch (l.token.kind) {
        case RH_SQL_END:
            return item;
        case RH_SQL_SPACE:
        case RH_SQL_COMMENT:
        case RH_SQL_SLOT_COMMENT:
            continue;
        case RH_SQL_WORD:
            item.kind = RH_FP_WORD;
            item.word = rh_sql_word_find(text);
            return item;
        case RH_SQL_QUOTED_WORD:
            return name_item(text, l.token.broken);
        case RH_SQL_STRING:
        case RH_SQL_PARAM:
        case RH_SQL_SLOT_CONSTANT:
            item.kind = RH_FP_CONSTANT;
            return item;
        case RH_SQL_NUMBER:
            item.kind = l.is_literal ? RH_FP_CONSTANT : RH_FP_OTHER;
            return item;
        case RH_SQL_OPERATOR:
            item.kind = RH_FP_OPERATOR;
            item.is_sign = text.len == 1 && (text.data[0] == '-' || text.data[0] == '+') &&
                           rh_sql_sign_may_follow(n->scan.scan.data, prior, prev);
            return item;
        case RH_SQL_PUNCT:
            item.kind = RH_FP_PUNCT;
            item.punct = punct_of(text);
            return item;
        case RH_SQL_OTHER:
            if (rh_lex_class_of(text.data[0]) == RH_LEX_SLOT) {
                continue;
            }
            item.kind = RH_FP_OTHER;
            return item;
        }
    }
}

static void put(struct normaliser *n, struct rh_fp_item item)
{
    rh_fp_writer_put(&n->writer, item);
}

static void put_word(struct normaliser *n, const char *text)
{
    struct rh_span span = rh_span_cstr(text);
    put(n, (struct rh_fp_item){.kind = RH_FP_WORD, .word = rh_sql_word_find(span), .text = span});
}

static void put_constant(struct normaliser *n)
{
    put(n, (struct rh_fp_item){.kind = RH_FP_CONSTANT});
}

static bool is_name(const struct rh_fp_item *item)
{
    return item->kind == RH_FP_WORD || item->kind == RH_FP_QUOTED;
}

static void take_first(struct normaliser *n, const struct rh_fp_item *item)
{
    n->verb = VERB_NONE;
    if (item->kind != RH_FP_WORD) {
        put(n, *item);
        return;
    }
    switch (item->word) {
    case RH_W_BEGIN:
        n->verb = VERB_TRANSACTION;
        put(n, *item);
        break;
    case RH_W_COMMIT:
    case RH_W_END:
        n->verb = VERB_TRANSACTION;
        put_word(n, "commit");
        break;
    case RH_W_ROLLBACK:
    case RH_W_ABORT:
        n->verb = VERB_ROLLBACK;
        put_word(n, "rollback");
        break;
    case RH_W_SAVEPOINT:
    case RH_W_RELEASE:
    case RH_W_DEALLOCATE:
        n->verb = VERB_NAME;
        put(n, *item);
        break;
    case RH_W_SET:
        n->verb = VERB_SET;
        put(n, *item);
        break;
    default:
        put(n, *item);
        break;
    }
}

static void take_name_of_verb(struct normaliser *n, const struct rh_fp_item *item)
{
    if ((rh_fp_is_word(item, RH_W_SAVEPOINT) || rh_fp_is_word(item, RH_W_PREPARE)) &&
        is_name(&n->next)) {
        return;
    }
    n->verb = VERB_NONE;
    if (is_name(item) && !rh_fp_is_word(item, RH_W_ALL)) {
        put_constant(n);
    } else {
        put(n, *item);
    }
}

static bool take_set(struct normaliser *n, const struct rh_fp_item *item)
{
    if (rh_fp_is_word(item, RH_W_SESSION) && rh_fp_is_word(&n->writer.prev, RH_W_SET)) {
        return !rh_fp_is_word(&n->next, RH_W_CHARACTERISTICS) &&
               !rh_fp_is_word(&n->next, RH_W_AUTHORIZATION);
    }
    if (rh_fp_is_word(item, RH_W_TO) ||
        (item->kind == RH_FP_OPERATOR && rh_span_is(item->text, "="))) {
        put_word(n, "to");
        n->verb = VERB_VALUE;
        return true;
    }
    if (!is_name(item) && !rh_fp_is_punct(item, '.')) {
        n->verb = VERB_NONE;
    }
    return false;
}

/* Rules of the command; false: the item is not theirs. */
static bool take_by_verb(struct normaliser *n, const struct rh_fp_item *item)
{
    switch (n->verb) {
    case VERB_NONE:
        return false;
    case VERB_FIRST:
        take_first(n, item);
        return true;
    case VERB_TRANSACTION:
        n->verb = VERB_NONE;
        return rh_fp_is_word(item, RH_W_WORK) || rh_fp_is_word(item, RH_W_TRANSACTION);
    case VERB_ROLLBACK:
        if (rh_fp_is_word(item, RH_W_TO)) {
            n->verb = VERB_NAME;
            return false;
        }
        return rh_fp_is_word(item, RH_W_WORK) || rh_fp_is_word(item, RH_W_TRANSACTION);
    case VERB_NAME:
        take_name_of_verb(n, item);
        return true;
    case VERB_SET:
        return take_set(n, item);
    case VERB_VALUE:
        if (rh_fp_is_word(item, RH_W_DEFAULT)) {
            n->verb = VERB_NONE;
            return false;
        }
        n->verb = VERB_VALUE_ON;
        put_constant(n);
        return true;
    case VERB_VALUE_ON:
        return true;
    }
    return false;
}

static bool is_interval_field(const struct rh_fp_item *item)
{
    if (item->kind != RH_FP_WORD) {
        return false;
    }
    switch (item->word) {
    case RH_W_YEAR:
    case RH_W_MONTH:
    case RH_W_DAY:
    case RH_W_HOUR:
    case RH_W_MINUTE:
    case RH_W_SECOND:
        return true;
    default:
        return false;
    }
}

/* The fields behind INTERVAL '...' are part of the value. */
static bool take_interval_field(struct normaliser *n, const struct rh_fp_item *item)
{
    if (n->interval == FIELD && is_interval_field(item)) {
        n->interval = rh_fp_is_word(&n->next, RH_W_TO) ? FIELD_TO : NO_FIELD;
        return true;
    }
    if (n->interval == FIELD_TO && rh_fp_is_word(item, RH_W_TO)) {
        n->interval = FIELD;
        return true;
    }
    n->interval = NO_FIELD;
    return false;
}

static void take_constant(struct normaliser *n)
{
    put_constant(n);
    if (n->literal_type.kind == RH_FP_WORD) {
        struct rh_fp_item type = n->literal_type;
        n->literal_type.kind = RH_FP_NONE;
        n->interval = type.word == RH_W_INTERVAL ? FIELD : NO_FIELD;
        put(n, (struct rh_fp_item){
                   .kind = RH_FP_PUNCT, .punct = RH_FP_CAST, .text = RH_SPAN_LITERAL("::")});
        put(n, type);
    }
}

/* TRUE, FALSE and NULL are values, except in IS NULL, NOT NULL, SET NULL and as names. */
static bool is_value_word(const struct rh_fp_item *prev)
{
    if (rh_fp_is_punct(prev, '.') || rh_fp_is_punct(prev, RH_FP_CAST)) {
        return false;
    }
    return !rh_fp_is_word(prev, RH_W_IS) && !rh_fp_is_word(prev, RH_W_NOT) &&
           !rh_fp_is_word(prev, RH_W_AS) && !rh_fp_is_word(prev, RH_W_SET);
}

/* One spelling for the types that have several of one word. */
static const char *type_spelling(enum rh_sql_word word)
{
    switch (word) {
    case RH_W_INT4:
    case RH_W_INTEGER:
        return "int";
    case RH_W_INT8:
        return "bigint";
    case RH_W_INT2:
        return "smallint";
    case RH_W_FLOAT4:
        return "real";
    case RH_W_BOOLEAN:
        return "bool";
    case RH_W_DEC:
    case RH_W_DECIMAL:
        return "numeric";
    default:
        return NULL;
    }
}

/* Words that say nothing, or less than their neighbours; true if the word is dropped or held back.
 */
static bool drop_word(struct normaliser *n, const struct rh_fp_item *item)
{
    const struct rh_fp_item *prev = &n->writer.prev;
    const struct rh_fp_item *next = &n->next;
    if (rh_fp_is_punct(prev, '.')) {
        return false;
    }
    switch (item->word) {
    case RH_W_AS: {
        bool names =
            next->kind == RH_FP_QUOTED ||
            (next->kind == RH_FP_WORD && !(rh_sql_word_flags(next->word) & RH_WORD_RESERVED));
        return names && !rh_fp_writer_in_cast(&n->writer);
    }
    case RH_W_INNER:
    case RH_W_OUTER:
        return rh_fp_is_word(next, RH_W_JOIN);
    case RH_W_ASC:
        return !rh_fp_is_word(prev, RH_W_AS);
    case RH_W_PG_CATALOG:
        n->skip_next = rh_fp_is_punct(next, '.');
        return n->skip_next;
    case RH_W_UESCAPE:
        n->skip_next = next->kind == RH_FP_CONSTANT &&
                       (prev->kind == RH_FP_CONSTANT || prev->kind == RH_FP_QUOTED);
        return n->skip_next;
    case RH_W_DATE:
    case RH_W_TIME:
    case RH_W_TIMETZ:
    case RH_W_TIMESTAMP:
    case RH_W_TIMESTAMPTZ:
    case RH_W_INTERVAL:
        if (next->kind == RH_FP_CONSTANT && !rh_fp_is_punct(prev, RH_FP_CAST)) {
            n->literal_type = *item;
            return true;
        }
        return false;
    default:
        return false;
    }
}

static void take_word(struct normaliser *n, const struct rh_fp_item *item)
{
    const struct rh_fp_item *prev = &n->writer.prev;
    if (drop_word(n, item)) {
        return;
    }
    if ((item->word == RH_W_TRUE || item->word == RH_W_FALSE || item->word == RH_W_NULL) &&
        is_value_word(prev)) {
        take_constant(n);
        return;
    }
    const char *type = NULL;
    if (rh_fp_is_punct(prev, RH_FP_CAST) ||
        (rh_fp_is_word(prev, RH_W_AS) && rh_fp_writer_in_cast(&n->writer))) {
        type = type_spelling(item->word);
    }
    if (type) {
        put_word(n, type);
    } else {
        put(n, *item);
    }
}

static void take_operator(struct normaliser *n, struct rh_fp_item *item)
{
    static const struct {
        const char *symbol;
        const char *words[2];
    } SPELLINGS[] = {
        {"~~", {"like", NULL}},
        {"!~~", {"not", "like"}},
        {"~~*", {"ilike", NULL}},
        {"!~~*", {"not", "ilike"}},
    };
    if (item->is_sign && n->next.kind == RH_FP_CONSTANT) {
        return;
    }
    if (rh_span_is(item->text, "!=")) {
        item->text = RH_SPAN_LITERAL("<>");
    }
    for (size_t i = 0; i < sizeof SPELLINGS / sizeof SPELLINGS[0]; i++) {
        if (rh_span_is(item->text, SPELLINGS[i].symbol)) {
            put_word(n, SPELLINGS[i].words[0]);
            if (SPELLINGS[i].words[1]) {
                put_word(n, SPELLINGS[i].words[1]);
            }
            return;
        }
    }
    put(n, *item);
}

/* The semicolons of a body end no command. */
static void track_blocks(struct normaliser *n, const struct rh_fp_item *item)
{
    bool body = rh_fp_is_word(item, RH_W_ATOMIC) && rh_fp_is_word(&n->writer.prev, RH_W_BEGIN);
    if (body || (n->blocks && rh_fp_is_word(item, RH_W_CASE))) {
        n->blocks++;
    } else if (n->blocks && rh_fp_is_word(item, RH_W_END)) {
        n->blocks--;
    }
}

static void take_item(struct normaliser *n, struct rh_fp_item *item)
{
    track_blocks(n, item);
    if (rh_fp_is_punct(item, ';')) {
        n->writer.pending_semicolon = n->writer.prev.kind != RH_FP_NONE;
        if (rh_fp_writer_at_top(&n->writer) && n->blocks == 0) {
            n->verb = VERB_FIRST;
        }
        return;
    }
    if (n->skip_next) {
        n->skip_next = false;
        return;
    }
    if (take_by_verb(n, item) || take_interval_field(n, item)) {
        return;
    }
    switch (item->kind) {
    case RH_FP_WORD:
        take_word(n, item);
        break;
    case RH_FP_CONSTANT:
        take_constant(n);
        break;
    case RH_FP_OPERATOR:
        take_operator(n, item);
        break;
    default:
        put(n, *item);
        break;
    }
}

int rh_fingerprint_normalise(struct rh_span text, bool is_template, struct rh_buf *out)
{
    struct normaliser n;
    rh_sql_literals_init(&n.scan, text, is_template);
    rh_fp_writer_init(&n.writer, out);
    n.verb = VERB_FIRST;
    n.skip_next = false;
    n.blocks = 0;
    n.literal_type = (struct rh_fp_item){.kind = RH_FP_NONE};
    n.interval = NO_FIELD;
    struct rh_fp_item item = read_item(&n);
    while (item.kind != RH_FP_NONE && !out->over) {
        n.next = read_item(&n);
        take_item(&n, &item);
        item = n.next;
    }
    rh_fp_writer_finish(&n.writer);
    return out->over ? -1 : 0;
}

uint64_t rh_fingerprint(struct rh_span text, bool is_template, struct rh_buf *scratch)
{
    rh_buf_clear(scratch);
    rh_fingerprint_normalise(text, is_template, scratch);
    return XXH64(scratch->len ? scratch->data : "", scratch->len, 0);
}
