#include "replay/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

/* The server ends the query long before we give up the connection. */
#define ANSWER_TIMEOUT_NS (30 * RH_NS_PER_SEC)

enum { SQL_MAX_BYTES = 48 * 1024 };

/*
 * One Query message is one transaction, so that the settings hold for this question and nobody
 * behind a pooler gets them.  A lock that another holds (pg_relation_size() wants one) is not
 * waited for.
 */
#define BEFORE_EACH                                                                                \
    "SET LOCAL search_path = pg_catalog; SET LOCAL lock_timeout = 1000; "                          \
    "SET LOCAL statement_timeout = 10000; "

/* The first column of each row: a server that answers anything to everything does not know it. */
#define WITNESS "pgrehearse asks"

void rh_inquiry_init(struct rh_inquiry *q, struct rh_conn *conn, struct rh_findings *findings)
{
    const char *version = rh_conn_parameter(conn, "server_version");
    *q = (struct rh_inquiry){.findings = findings};
    q->major = version ? (int) strtol(version, NULL, 10) : 0;
    rh_probe_init(&q->probe, conn);
    rh_buf_init(&q->sql, SQL_MAX_BYTES);
}

void rh_inquiry_release(struct rh_inquiry *q)
{
    rh_probe_release(&q->probe);
    rh_buf_release(&q->sql);
}

bool rh_inquiry_ask(struct rh_inquiry *q, const char *what, const char *sql)
{
    if (q->is_lost) {
        return false;
    }
    q->at = 0;
    rh_buf_clear(&q->sql);
    rh_buf_add_cstr(&q->sql, BEFORE_EACH);
    rh_buf_add_cstr(&q->sql, "SELECT '" WITNESS "', q.* FROM (");
    rh_buf_add_cstr(&q->sql, sql);
    rh_buf_add_cstr(&q->sql, ") q");
    if (q->sql.over) {
        rh_findings_add(q->findings, RH_GRADE_NOTE, "not-looked-at",
                        "%s could not be looked at: the names are too many", what);
        return false;
    }
    if (rh_probe_ask(&q->probe, rh_buf_cstr(&q->sql), ANSWER_TIMEOUT_NS, &q->error) != 0) {
        q->is_lost = true;
        return false;
    }
    if (q->probe.exchange.outcome.sqlstate != 0) {
        char text[300];
        rh_probe_describe_error(&q->probe, text, sizeof text);
        rh_findings_add(q->findings, RH_GRADE_NOTE, "not-looked-at",
                        "%s could not be looked at: %s", what, text);
        return false;
    }
    return true;
}

bool rh_inquiry_next(struct rh_inquiry *q, uint32_t columns, struct rh_probe_row *row)
{
    if (!rh_probe_next_row(&q->probe, &q->at, row) || row->count != columns + 1 ||
        !rh_span_is(row->values[0], WITNESS)) {
        return false;
    }
    memmove(row->values, row->values + 1, columns * sizeof row->values[0]);
    row->count = columns;
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
