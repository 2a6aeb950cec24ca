#include "replay/explain_sql.h"

#include <stdbool.h>
#include <string.h>

/* Past the quoted name that begins at i. */
static size_t skip_quoted(struct rh_span s, size_t i)
{
    const char *end = memchr(s.data + i + 1, '"', s.len - i - 1);
    return end ? (size_t) (end - s.data) + 1 : s.len;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool begins_planned(struct rh_span s)
{
    static const char *const words[] = {"select", "insert", "update", "delete",
                                        "merge",  "values", "table",  "with"};
    size_t at = 0, len = 0;
    while (at < s.len && s.data[at] == '(') {
        at++;
    }
    while (len < s.len - at && is_letter(s.data[at + len])) {
        len++;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (rh_span_is_nocase(rh_span(s.data + at, len), words[i])) {
            return true;
        }
    }
    return false;
}

/* "?+" stands for a list of constants; one is as good as any number. */
static bool is_list(struct rh_span s, size_t i)
{
    return s.len - i > 2 && s.data[i + 1] == '+' && (s.data[i + 2] == ')' || s.data[i + 2] == ']');
}

/*
 * What begins a string or a comment.  A normalised text has neither, and without them commands are
 * parted by the semicolons that we see: so a report that somebody made up cannot have the server
 * run a second command.
 */
static bool hides_text(struct rh_span s, size_t i)
{
    char next = s.len - i > 1 ? s.data[i + 1] : '\0';
    return s.data[i] == '\'' || s.data[i] == '$' || s.data[i] == '\0' ||
           (s.data[i] == '-' && next == '-') || (s.data[i] == '/' && next == '*');
}

int rh_explain_sql_make(struct rh_buf *out, struct rh_span normalised, uint32_t *params,
                        struct rh_error *err)
{
    struct rh_span s = normalised;
    *params = 0;
    if (!s.data || !begins_planned(s)) {
        return rh_error_set(err, RH_ERR_FORMAT, "no statement of a kind that has a plan");
    }
    for (size_t i = 0; i < s.len;) {
        if (s.data[i] == '"') {
            size_t end = skip_quoted(s, i);
            rh_buf_add(out, s.data + i, end - i);
            i = end;
        } else if (s.data[i] == ';') {
            return rh_error_set(err, RH_ERR_FORMAT, "several commands in one text");
        } else if (hides_text(s, i)) {
            return rh_error_set(err, RH_ERR_FORMAT,
                                "no normalised text: it has a string or a comment");
        } else if (s.data[i] != '?') {
            rh_buf_add_byte(out, (uint8_t) s.data[i++]);
        } else if (s.len - i > 1 && s.data[i + 1] == '?') {
            rh_buf_add_byte(out, '?'); /* of an operator */
            i += 2;
        } else {
            rh_buf_addf(out, "$%u", ++*params);
            i += is_list(s, i) ? 2 : 1;
        }
    }
    if (out->over || *params > RH_EXPLAIN_PARAMS_MAX) {
        return rh_error_set(err, RH_ERR_LIMIT, "the text is too long");
    }
    return 0;
}
