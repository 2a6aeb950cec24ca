#include "common/fingerprint_writer.h"

#include <assert.h>
#include <string.h>

#include "common/sql_lex.h"

#define CONSTANT ((struct rh_fp_item){.kind = RH_FP_CONSTANT})

void rh_fp_writer_init(struct rh_fp_writer *w, struct rh_buf *out)
{
    w->out = out;
    w->prev = (struct rh_fp_item){.kind = RH_FP_NONE};
    w->pending_semicolon = false;
    w->rows = RH_FP_NO_ROW;
    w->depth = 0;
    w->deeper = 0;
}

bool rh_fp_writer_at_top(const struct rh_fp_writer *w)
{
    return w->depth == 0;
}

static struct rh_fp_frame *top_frame(struct rh_fp_writer *w)
{
    return w->depth && !w->deeper ? &w->frames[w->depth - 1] : NULL;
}

bool rh_fp_writer_in_cast(const struct rh_fp_writer *w)
{
    return w->depth && !w->deeper && w->frames[w->depth - 1].bracket == RH_FP_CASTING;
}

/* A parenthesis behind this is a call's, a column list's or a type's. */
static bool joins_parenthesis(const struct rh_fp_item *item)
{
    if (item->kind != RH_FP_WORD) {
        return item->kind == RH_FP_QUOTED;
    }
    switch (item->word) {
    case RH_W_ANY:
    case RH_W_SOME:
    case RH_W_ALL:
    case RH_W_CAST:
    case RH_W_LEFT:
    case RH_W_RIGHT:
        return true;
    case RH_W_VALUES:
    case RH_W_BETWEEN:
    case RH_W_COPY:
        return false;
    default:
        return !(rh_sql_word_flags(item->word) & (RH_WORD_RESERVED | RH_WORD_TYPE_FUNC));
    }
}

static bool blank_between(const struct rh_fp_item *prev, const struct rh_fp_item *item)
{
    if (prev->kind == RH_FP_NONE) {
        return false;
    }
    if (prev->kind == RH_FP_PUNCT && prev->punct && strchr("([.:CR", prev->punct)) {
        return false;
    }
    if (item->kind != RH_FP_PUNCT) {
        return true;
    }
    switch (item->punct) {
    case '(':
        return !joins_parenthesis(prev);
    case RH_FP_ASSIGN:
        return true;
    default:
        return false;
    }
}

static void write_lower(struct rh_buf *out, struct rh_span text)
{
    char *at = rh_buf_reserve(out, text.len);
    if (!at) {
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        at[i] = (char) (c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    out->len += text.len;
}

/* With the prefix of U&"..." in lower case.  A raw slot byte in a name is the comment's slot in a
 * template. */
static void write_quoted(struct rh_buf *out, struct rh_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (rh_lex_class_of(c) == RH_LEX_SLOT) {
            c = 1;
        } else if (i == 0 && c == 'U') {
            c = 'u';
        }
        rh_buf_add_byte(out, (uint8_t) c);
    }
}

/* An operator's ? is doubled, so that it is no constant's. */
static void write_operator(struct rh_buf *out, struct rh_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        rh_buf_add(out, "??", text.data[i] == '?' ? 2 : 0);
        if (text.data[i] != '?') {
            rh_buf_add_byte(out, (uint8_t) text.data[i]);
        }
    }
}

static void write_item(struct rh_fp_writer *w, const struct rh_fp_item *item)
{
    if (blank_between(&w->prev, item)) {
        rh_buf_add_byte(w->out, ' ');
    }
    switch (item->kind) {
    case RH_FP_CONSTANT:
        rh_buf_add_byte(w->out, '?');
        break;
    case RH_FP_WORD:
        write_lower(w->out, item->text);
        break;
    case RH_FP_QUOTED:
        write_quoted(w->out, item->text);
        break;
    case RH_FP_OPERATOR:
        write_operator(w->out, item->text);
        break;
    default:
        rh_buf_add_span(w->out, item->text);
        break;
    }
    w->prev = *item;
}

static bool is_type_word(const struct rh_fp_item *item)
{
    if (item->kind == RH_FP_WORD) {
        return item->word == RH_W_WITH ||
               !(rh_sql_word_flags(item->word) & (RH_WORD_RESERVED | RH_WORD_TYPE_FUNC));
    }
    return item->kind == RH_FP_QUOTED || rh_fp_is_punct(item, '.');
}

/* What an item that is no bracket makes of the list it stands in. */
static enum rh_fp_list_state next_state(const struct rh_fp_frame *f, const struct rh_fp_item *item)
{
    switch (f->state) {
    case RH_FP_EXPECTS:
        if (item->kind == RH_FP_CONSTANT) {
            return RH_FP_VALUE;
        }
        if (item->kind == RH_FP_WORD &&
            (item->word == RH_W_ARRAY || item->word == RH_W_ROW || item->word == RH_W_CAST)) {
            return RH_FP_EXPECTS;
        }
        return RH_FP_IMPURE;
    case RH_FP_VALUE:
        if (rh_fp_is_punct(item, RH_FP_CAST) ||
            (f->bracket == RH_FP_CASTING && rh_fp_is_word(item, RH_W_AS))) {
            return RH_FP_TYPE;
        }
        return rh_fp_is_punct(item, ',') ? RH_FP_EXPECTS : RH_FP_IMPURE;
    case RH_FP_TYPE:
        if (is_type_word(item) || rh_fp_is_punct(item, RH_FP_CAST)) {
            return RH_FP_TYPE;
        }
        return rh_fp_is_punct(item, ',') ? RH_FP_EXPECTS : RH_FP_IMPURE;
    default:
        return RH_FP_IMPURE;
    }
}

static bool is_pure(const struct rh_fp_frame *f)
{
    return f->state == RH_FP_VALUE || f->state == RH_FP_TYPE;
}

/* The bracket `child` closed within `f`. */
static void take_child(struct rh_fp_frame *f, const struct rh_fp_frame *child)
{
    if (f->state == RH_FP_EXPECTS && is_pure(child) && child->bracket != RH_FP_PLAIN) {
        f->state = RH_FP_VALUE;
        f->elements++;
    } else if (f->state != RH_FP_TYPE || (child->elements && !is_pure(child))) {
        f->state = RH_FP_IMPURE; /* but varchar(10), int[], int[3] are types */
    }
}

static enum rh_fp_bracket bracket_kind(struct rh_fp_writer *w, char punct)
{
    const struct rh_fp_item *prev = &w->prev;
    const struct rh_fp_frame *f = top_frame(w);
    bool in_list =
        f && f->state == RH_FP_EXPECTS &&
        (f->bracket == RH_FP_LIST || f->bracket == RH_FP_ARRAY || f->bracket == RH_FP_SUBLIST);
    if (punct == '[') {
        return rh_fp_is_word(prev, RH_W_ARRAY) ? RH_FP_ARRAY
               : in_list                       ? RH_FP_SUBLIST
                                               : RH_FP_PLAIN;
    }
    if (w->rows == RH_FP_BEHIND_COMMA || rh_fp_is_word(prev, RH_W_VALUES)) {
        return RH_FP_ROW;
    }
    if (prev->kind == RH_FP_WORD) {
        switch (prev->word) {
        case RH_W_IN:
            return RH_FP_LIST;
        case RH_W_ANY:
        case RH_W_ALL:
        case RH_W_SOME:
            return RH_FP_ANY;
        case RH_W_CAST:
            return RH_FP_CASTING;
        case RH_W_ROW:
            return in_list ? RH_FP_SUBLIST : RH_FP_PLAIN;
        default:
            return rh_sql_word_flags(prev->word) & RH_WORD_SIGN ? RH_FP_GROUP : RH_FP_PLAIN;
        }
    }
    if (in_list) {
        return RH_FP_SUBLIST;
    }
    return prev->kind == RH_FP_OPERATOR || rh_fp_is_punct(prev, '(') || rh_fp_is_punct(prev, ',')
               ? RH_FP_GROUP
               : RH_FP_PLAIN;
}

static void open_bracket(struct rh_fp_writer *w, const struct rh_fp_item *item)
{
    struct rh_fp_frame *parent = top_frame(w);
    enum rh_fp_bracket bracket = bracket_kind(w, item->punct);
    write_item(w, item);
    if (w->deeper || w->depth == RH_FP_DEPTH_MAX) {
        if (parent) {
            parent->state = RH_FP_IMPURE;
        }
        w->deeper++;
        return;
    }
    bool follows = bracket == RH_FP_ROW && w->rows == RH_FP_BEHIND_COMMA;
    w->frames[w->depth++] = (struct rh_fp_frame){
        .bracket = bracket,
        .closer = item->punct == '(' ? ')' : ']',
        .start = w->out->len,
        .row_start = w->row_start,
        .row_len = follows ? w->row_len : 0,
    };
    w->rows = RH_FP_NO_ROW;
}

static bool ends_with(const struct rh_fp_writer *w, size_t end, const char *text)
{
    size_t n = strlen(text);
    return end >= n && memcmp(w->out->data + end - n, text, n) == 0;
}

static bool content_is(const struct rh_fp_writer *w, const struct rh_fp_frame *f, const char *text)
{
    size_t n = strlen(text);
    return w->out->len - f->start == n && memcmp(w->out->data + f->start, text, n) == 0;
}

static void cut_back(struct rh_fp_writer *w, size_t len, const char *text)
{
    w->out->len = len;
    rh_buf_add_cstr(w->out, text);
}

/* CAST(? AS t) to ?::t. */
static bool reduce_cast(struct rh_fp_writer *w, const struct rh_fp_frame *f)
{
    static const char BEFORE[] = "cast(";
    static const char INSIDE[] = "? as ";
    size_t before = sizeof BEFORE - 1;
    size_t inside = sizeof INSIDE - 1;
    if (f->state != RH_FP_TYPE || w->out->len - f->start <= inside ||
        memcmp(w->out->data + f->start, INSIDE, inside) != 0 || !ends_with(w, f->start, BEFORE)) {
        return false;
    }
    char *at = w->out->data + f->start - before;
    size_t type_len = w->out->len - f->start - inside;
    at[0] = '?';
    at[1] = at[2] = ':';
    memmove(at + 3, w->out->data + f->start + inside, type_len);
    w->out->len = f->start - before + 3 + type_len;
    w->prev = CONSTANT;
    return true;
}

/* = ANY(ARRAY[...]) to IN (...), <> ALL(ARRAY[...]) to NOT IN (...). */
static bool reduce_any(struct rh_fp_writer *w, const struct rh_fp_frame *f)
{
    static const char ANY[] = " = any(";
    static const char ALL[] = " <> all(";
    if (!content_is(w, f, "array[?+]")) {
        return false;
    }
    if (ends_with(w, f->start, ANY)) {
        cut_back(w, f->start - (sizeof ANY - 1), " in (?+)");
    } else if (ends_with(w, f->start, ALL)) {
        cut_back(w, f->start - (sizeof ALL - 1), " not in (?+)");
    } else {
        return false;
    }
    w->prev = (struct rh_fp_item){.kind = RH_FP_PUNCT, .punct = ')'};
    return true;
}

/* A row that reads like the one before it is that one. */
static void reduce_row(struct rh_fp_writer *w, const struct rh_fp_frame *f)
{
    size_t start = f->start - 1;
    size_t len = w->out->len - start;
    w->row_start = start;
    w->row_len = len;
    if (f->row_len == len && memcmp(w->out->data + start, w->out->data + f->row_start, len) == 0) {
        w->out->len = f->row_start + len;
        w->row_start = f->row_start;
    }
    w->rows = RH_FP_BEHIND_ROW;
}

static void close_bracket(struct rh_fp_writer *w, const struct rh_fp_item *item)
{
    if (w->deeper) {
        w->deeper--;
        write_item(w, item);
        return;
    }
    if (w->depth == 0) {
        write_item(w, item);
        return;
    }
    struct rh_fp_frame *f = &w->frames[--w->depth];
    if (f->closer != item->punct) {
        f->state = RH_FP_IMPURE;
        f->bracket = RH_FP_PLAIN;
        f->elements = 1;
    }
    bool done = false;
    switch (f->bracket) {
    case RH_FP_LIST:
    case RH_FP_ARRAY:
        if (is_pure(f)) {
            cut_back(w, f->start, "?+");
        }
        break;
    case RH_FP_GROUP:
    case RH_FP_SUBLIST:
        if (f->closer == ')' && content_is(w, f, "?")) {
            cut_back(w, f->start - 1, "?");
            w->prev = CONSTANT;
            done = true;
        }
        break;
    case RH_FP_CASTING:
        done = reduce_cast(w, f);
        break;
    case RH_FP_ANY:
        done = reduce_any(w, f);
        break;
    default:
        break;
    }
    if (!done) {
        write_item(w, item);
    }
    if (f->bracket == RH_FP_ROW) {
        reduce_row(w, f);
    }
    struct rh_fp_frame *parent = top_frame(w);
    if (parent) {
        take_child(parent, f);
    }
}

void rh_fp_writer_put(struct rh_fp_writer *w, struct rh_fp_item item)
{
    if (w->out->over) {
        return;
    }
    if (w->pending_semicolon) {
        w->pending_semicolon = false;
        rh_fp_writer_put(w, (struct rh_fp_item){
                                .kind = RH_FP_PUNCT, .punct = ';', .text = RH_SPAN_LITERAL(";")});
    }
    if (w->rows == RH_FP_BEHIND_ROW && rh_fp_is_punct(&item, ',')) {
        w->rows = RH_FP_BEHIND_COMMA;
    } else if (w->rows != RH_FP_BEHIND_COMMA || !rh_fp_is_punct(&item, '(')) {
        w->rows = RH_FP_NO_ROW;
    }
    if (rh_fp_is_punct(&item, '(') || rh_fp_is_punct(&item, '[')) {
        open_bracket(w, &item);
    } else if (rh_fp_is_punct(&item, ')') || rh_fp_is_punct(&item, ']')) {
        close_bracket(w, &item);
    } else {
        struct rh_fp_frame *f = top_frame(w);
        if (f) {
            f->state = next_state(f, &item);
            f->elements += f->state == RH_FP_VALUE || f->state == RH_FP_IMPURE;
        }
        write_item(w, &item);
    }
}

void rh_fp_writer_finish(struct rh_fp_writer *w)
{
    if (w->rows == RH_FP_BEHIND_COMMA && !w->out->over) {
        w->out->len = w->row_start + w->row_len;
        w->rows = RH_FP_NO_ROW;
    }
    while (w->depth && !w->deeper && !w->out->over) {
        struct rh_fp_frame *f = &w->frames[w->depth - 1];
        if (f->bracket == RH_FP_ROW && f->row_len) {
            size_t start = f->start - 1;
            size_t len = w->out->len - start;
            if (len <= f->row_len &&
                memcmp(w->out->data + start, w->out->data + f->row_start, len) == 0) {
                w->out->len = f->row_start + f->row_len;
            }
            return;
        }
        bool is_list =
            f->bracket == RH_FP_LIST || f->bracket == RH_FP_ARRAY || f->bracket == RH_FP_SUBLIST;
        if (!is_list || f->state == RH_FP_IMPURE || f->elements == 0) {
            return;
        }
        f->state = RH_FP_VALUE;
        char closer = f->closer;
        close_bracket(w, &(struct rh_fp_item){.kind = RH_FP_PUNCT,
                                              .punct = closer,
                                              .text = {closer == ')' ? ")" : "]", 1}});
    }
}
