#include "formats/plan_mask.h"

#include "common/sql_literal.h"

/* "SubPlan 1" names a part of the plan. */
static bool numbers_a_part(const struct rh_sql_literals *s, struct rh_sql_token before)
{
    struct rh_span word = rh_span(s->scan.data + before.start, before.len);
    return before.kind == RH_SQL_WORD &&
           (rh_span_is(word, "SubPlan") || rh_span_is(word, "InitPlan"));
}

void rh_plan_expression_mask(struct rh_buf *out, struct rh_span expression)
{
    struct rh_sql_literals s;
    size_t done = 0;
    if (expression.len == 0) {
        return;
    }
    rh_sql_literals_init(&s, expression, false);
    for (;;) {
        struct rh_sql_token before = s.prev;
        struct rh_sql_literal l = rh_sql_literals_next(&s);
        /* A number that the scanner takes for a position of a list may be a value here. */
        bool is_value = l.is_literal || l.token.kind == RH_SQL_NUMBER;
        if (l.token.kind == RH_SQL_END) {
            break;
        }
        if (is_value && !numbers_a_part(&s, before)) {
            rh_buf_add(out, expression.data + done, l.token.start - done);
            rh_buf_add_byte(out, '?');
            done = l.token.start + l.token.len;
        }
    }
    rh_buf_add(out, expression.data + done, expression.len - done);
}

/* A line, and those behind it that belong to a string or a quoted name that it begins. */
static struct rh_span take_line(struct rh_span *text)
{
    char quote = '\0';
    size_t len = 0;
    for (; len < text->len && (quote != '\0' || text->data[len] != '\n'); len++) {
        char c = text->data[len];
        if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        }
    }
    struct rh_span line = rh_span(text->data, len);
    len += len < text->len;
    *text = rh_span(text->data + len, text->len - len);
    return line;
}

static struct rh_span without_indent(struct rh_span line)
{
    while (line.len > 0 && line.data[0] == ' ') {
        line = rh_span(line.data + 1, line.len - 1);
    }
    return line;
}

/* Lines without an expression: nodes, names of what hangs below one, counts, settings. */
static bool is_structure(struct rh_span line)
{
    static const char *const begins[] = {"->  ",
                                         "SubPlan ",
                                         "InitPlan ",
                                         "CTE ",
                                         "Settings: ",
                                         "Workers Planned: ",
                                         "Planned Partitions:",
                                         "Subplans Removed: ",
                                         "Params Evaluated: "};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (rh_span_starts(line, begins[i])) {
            return true;
        }
    }
    return false;
}

/* The first node has no arrow: "Seq Scan on t  (cost=0.00..1.01 rows=1 width=4)". */
static bool is_first_node(struct rh_span line)
{
    size_t label = 0;
    while (label < line.len && line.data[label] != ':' && line.data[label] != '(') {
        label++;
    }
    return label < line.len &&
           rh_span_starts(rh_span(line.data + label, line.len - label), "(cost=");
}

void rh_plan_text_mask(struct rh_buf *out, struct rh_span plan)
{
    while (plan.len > 0) {
        struct rh_span before = plan;
        struct rh_span line = take_line(&plan);
        struct rh_span content = without_indent(line);
        bool ends = before.len - plan.len > line.len;
        rh_buf_add(out, line.data, line.len - content.len);
        if (is_structure(content) || is_first_node(content)) {
            rh_buf_add_span(out, content);
        } else {
            rh_plan_expression_mask(out, content);
        }
        rh_buf_add_cstr(out, ends ? "\n" : "");
    }
}

bool rh_plan_member_is_name(struct rh_span key)
{
    static const char *const names[] = {
        "Node Type",    "Relation Name", "Schema",        "Alias",
        "Index Name",   "Join Type",     "Strategy",      "Parent Relationship",
        "Operation",    "Subplan Name",  "CTE Name",      "Scan Direction",
        "Partial Mode", "Command",       "Function Name", "Custom Plan Provider",
        "Settings"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rh_span_is(key, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_digit_or_capital(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

static bool begins_with_sqlstate(struct rh_span error)
{
    for (size_t i = 0; i < 5; i++) {
        if (i >= error.len || !is_digit_or_capital(error.data[i])) {
            return false;
        }
    }
    return error.len > 5 && error.data[5] == ':';
}

void rh_plan_error_mask(struct rh_buf *out, struct rh_span error)
{
    /* What these quote are names: missing tables, columns and functions, rights, locks, timeouts.
     */
    static const char *const named[] = {"42P01", "42703", "42883", "42501", "3F000", "42704",
                                        "55P03", "57014", "57P01", "57P02", "57P03", "25006"};
    bool keeps = !begins_with_sqlstate(error);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        keeps = keeps || rh_span_starts(error, named[i]);
    }
    if (keeps) {
        rh_buf_add_span(out, error);
    } else {
        rh_buf_add(out, error.data, 5);
        rh_buf_add_cstr(out, ": (the message may hold values: --with-examples)");
    }
}
