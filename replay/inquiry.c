#include "replay/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

/* The server ends the query long before we give up the connection. */
#define ANSWER_TIMEOUT_NS (30 * RH_NS_PER_SEC)

enum { SQL_MAX_BYTES = 48 * 1024, ODD_MAX_BYTES = 600, ASKER_SHOWN = 60 };

/*
 * One Query message is one transaction, so that the settings hold for this question and nobody
 * behind a pooler gets them.  A lock that another holds (pg_relation_size() wants one) is not
 * waited for.
 */
#define BEFORE_EACH                                                                                \
    "SET LOCAL search_path = pg_catalog; SET LOCAL lock_timeout = 1000; "                          \
    "SET LOCAL statement_timeout = 10000; "

/* The first column's name, and its value in each row: a server that answers anything to everything
 * knows neither, also where it has no rows. */
#define WITNESS "pgrehearse_asks"

void rh_inquiry_init(struct rh_inquiry *q, struct rh_conn *conn, struct rh_span asker,
                     struct rh_findings *findings)
{
    const char *version = rh_conn_parameter(conn, "server_version");
    *q = (struct rh_inquiry){.findings = findings, .asker = asker, .timeout_ns = ANSWER_TIMEOUT_NS};
    q->major = version ? (int) strtol(version, NULL, 10) : 0;
    rh_probe_init(&q->probe, conn);
    rh_buf_init(&q->sql, SQL_MAX_BYTES);
    rh_buf_init(&q->odd, ODD_MAX_BYTES);
}

void rh_inquiry_release(struct rh_inquiry *q)
{
    if (q->odd.len > 0) {
        rh_findings_add(
            q->findings, RH_GRADE_NOTE, "not-judged",
            "what the server answered is no answer of PostgreSQL's catalogues, so these "
            "could not be judged: %.*s%s",
            (int) q->odd.len, q->odd.data, q->odd.over ? ", ..." : "");
        rh_findings_advise(q->findings, "look at them by hand; if a pooler or a proxy answers, "
                                        "connect to the server itself");
    }
    rh_probe_release(&q->probe);
    rh_buf_release(&q->sql);
    rh_buf_release(&q->odd);
}

void rh_inquiry_doubt(struct rh_inquiry *q, const char *what)
{
    if (q->odd.len > 0) {
        rh_buf_add_cstr(&q->odd, ", ");
    }
    rh_buf_add_cstr(&q->odd, what);
}

static void note_unlooked(struct rh_inquiry *q, const char *what, const char *why)
{
    int len = (int) (q->asker.len < ASKER_SHOWN ? q->asker.len : ASKER_SHOWN);
    rh_findings_add(q->findings, RH_GRADE_NOTE, "not-looked-at",
                    "%s could not be looked at%s%.*s%s: %s", what, len ? " as user \"" : "", len,
                    len ? q->asker.data : "", len ? "\"" : "", why);
}

static bool is_integer(struct rh_span value)
{
    bool is_negative = value.len > 1 && value.data[0] == '-';
    return rh_inquiry_int(is_negative ? rh_span(value.data + 1, value.len - 1) : value) >= 0;
}

static bool fits(char column, struct rh_span value)
{
    switch (column) {
    case 'b':
        return rh_span_is(value, "t") || rh_span_is(value, "f");
    case 'i':
        return rh_inquiry_int(value) >= 0;
    case 'I':
        return !value.data || rh_inquiry_int(value) >= 0;
    case 'n':
        return is_integer(value);
    default:
        return true;
    }
}

static bool row_fits(const struct rh_probe_row *row, const char *columns)
{
    if (row->count != strlen(columns) + 1 || !rh_span_is(row->values[0], WITNESS)) {
        return false;
    }
    for (uint32_t i = 1; i < row->count; i++) {
        if (!fits(columns[i - 1], row->values[i])) {
            return false;
        }
    }
    return true;
}

/* Whether all of the answer is of that shape. */
static bool answer_fits(const struct rh_inquiry *q, const char *columns, bool one_row)
{
    struct rh_span first;
    struct rh_probe_row row;
    size_t at = 0;
    uint32_t rows = 0;
    if (rh_probe_columns(&q->probe, &first) != (int) strlen(columns) + 1 ||
        !rh_span_is(first, WITNESS)) {
        return false;
    }
    for (; rh_probe_next_row(&q->probe, &at, &row); rows++) {
        if (!row_fits(&row, columns)) {
            return false;
        }
    }
    return !one_row || rows == 1;
}

static void note_lost(struct rh_inquiry *q, const char *what)
{
    q->is_lost = true;
    q->has_timed_out = q->probe.has_timed_out;
    if (q->has_timed_out) {
        note_unlooked(q, what, q->error.text);
    }
}

bool rh_inquiry_ask(struct rh_inquiry *q, const char *what, const char *columns, const char *sql)
{
    bool one_row = columns[0] == '=';
    columns += one_row;
    if (q->is_lost) {
        return false;
    }
    q->at = 0;
    q->columns = (uint32_t) strlen(columns);
    rh_buf_clear(&q->sql);
    rh_buf_add_cstr(&q->sql, BEFORE_EACH);
    rh_buf_add_cstr(&q->sql, "SELECT '" WITNESS "' AS " WITNESS ", q.* FROM (");
    rh_buf_add_cstr(&q->sql, sql);
    rh_buf_add_cstr(&q->sql, ") q");
    if (q->sql.over) {
        note_unlooked(q, what, "the names are too many");
        return false;
    }
    if (rh_probe_ask(&q->probe, rh_buf_cstr(&q->sql), q->timeout_ns, &q->error) != 0) {
        note_lost(q, what);
        return false;
    }
    if (q->probe.exchange.outcome.sqlstate != 0) {
        char text[300];
        rh_probe_describe_error(&q->probe, text, sizeof text);
        note_unlooked(q, what, text);
        return false;
    }
    if (!answer_fits(q, columns, one_row)) {
        rh_inquiry_doubt(q, what);
        return false;
    }
    return true;
}

bool rh_inquiry_next(struct rh_inquiry *q, struct rh_probe_row *row)
{
    if (!rh_probe_next_row(&q->probe, &q->at, row)) {
        return false;
    }
    row->count = q->columns;
    memmove(row->values, row->values + 1, row->count * sizeof row->values[0]);
    return true;
}

int64_t rh_inquiry_int(struct rh_span value)
{
    int64_t n = 0;
    if (!value.data || value.len == 0 || value.len > 18) {
        return -1;
    }
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] < '0' || value.data[i] > '9') {
            return -1;
        }
        n = n * 10 + (value.data[i] - '0');
    }
    return n;
}

bool rh_inquiry_bool(struct rh_span value)
{
    return rh_span_is(value, "t");
}

static void add_literal(struct rh_buf *sql, struct rh_span name)
{
    rh_buf_add_cstr(sql, " E'");
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        if (c == '\'' || c == '\\') {
            rh_buf_add_byte(sql, (uint8_t) c);
        }
        rh_buf_add_byte(sql, (uint8_t) c);
    }
    rh_buf_add_byte(sql, '\'');
}

void rh_inquiry_add_list(struct rh_buf *sql, const struct rh_span *names, uint32_t count)
{
    rh_buf_add_byte(sql, '(');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            rh_buf_add_byte(sql, ',');
        }
        add_literal(sql, names[i]);
    }
    rh_buf_add_cstr(sql, count == 0 ? "NULL)" : ")");
}
