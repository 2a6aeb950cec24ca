/*
 * Two runs of one trace for the tests of reports, always the same:
 *
 *     report_files BASE CANDIDATE QUERIES [CALLS]
 *
 * writes runs of QUERIES queries (at least 12) with CALLS calls each (default: 60).  The first ones
 * are what a report has to tell or to survive: the candidate takes three times as long for query 0,
 * half for query 1, ten times for every eighth call of query 2; query 3 fails in it with 42703 and
 * query 4 with 40001, a transaction of query 5 with 25P02 after it; query 6 has other rows.  Names
 * in queries 7 to 11 try to break out of HTML, Markdown, XML, CSV and a terminal.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_pair.h"

enum {
    SESSIONS = 8,
    QUERIES_MAX = 200000,
    SQL_SIZE = 4096,
    WIDE_FROM = 100, /* of the queries beyond, each tenth has a long text */
    WIDE_COLUMNS = 100,
};

static const char *const hostile[] = {
    "select 'x' as \"</script><script>alert(1)</script><!-- ]]> <img src=x onerror=alert(2)>\"",
    "select a as \"`tick` | pipe \\| @everyone #1 **bold** [l](http://example.com) &amp; \\\\\" "
    "from t where id = 1",
    "=cmd|' /C calc'!A0 \"quoted, \"\"twice\"\"\"",
    "select b as \"\xe2\x80\xa8\xe2\x80\xa9 \xe2\x80\xae"
    "dehcated \x1b[31mred \x07\" from t where id = 1",
    "select c as \"\xff\xfe not utf-8 \xed\xa0\x80 caf\xc3\xa9 \xf0\x9f\x90\x98 "
    "\xe6\x97\xa5\xe6\x9c\xac\" from t where id = 1",
};
enum { HOSTILE_FIRST = 7, HOSTILE = sizeof hostile / sizeof hostile[0] };

static bool is_hostile(unsigned query)
{
    return query >= HOSTILE_FIRST && query < HOSTILE_FIRST + HOSTILE;
}

/* A list as a program that maps objects to tables writes it. */
static void wide_sql(unsigned query, unsigned value, char text[SQL_SIZE])
{
    int len = snprintf(text, SQL_SIZE, "select");
    for (unsigned i = 0; i < WIDE_COLUMNS; i++) {
        len += snprintf(text + len, SQL_SIZE - (size_t) len, "%s \"t%u\".\"column_%u\" as \"c%u\"",
                        i ? "," : "", query, i, i);
    }
    snprintf(text + len, SQL_SIZE - (size_t) len, " from \"table_%u\" t%u where id = %u", query,
             query, value);
}

static void sql_of(unsigned query, unsigned value, char text[SQL_SIZE])
{
    if (is_hostile(query)) {
        snprintf(text, SQL_SIZE, "%s", hostile[query - HOSTILE_FIRST]);
    } else if (query >= WIDE_FROM && query % 10 == 0) {
        wide_sql(query, value, text);
    } else if (query % 3 == 2) {
        snprintf(
            text, SQL_SIZE,
            "update stock_%u set quantity = quantity - %u, changed_at = now() where product_id "
            "= %u and warehouse = 'w%u' returning quantity, reserved, changed_at",
            query, value % 7, value, value % 3);
    } else {
        snprintf(
            text, SQL_SIZE,
            "select id, customer_id, status, total_cents from orders_%u where customer_id = %u "
            "and status = 'secret-%u' order by ordered_at desc limit 20",
            query, value, value);
    }
}

/* xorshift64*: 0 <= x < 1. */
static double chance(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double) (*state * UINT64_C(2685821657736338717) >> 11) / 9007199254740992.0;
}

static double candidate_factor(unsigned query, unsigned call)
{
    switch (query) {
    case 0:
        return 3;
    case 1:
        return 0.5;
    case 2:
        return call % 8 == 0 ? 10 : 1;
    default:
        return is_hostile(query) ? 1.5 : 1;
    }
}

static void fail_some(struct rh_record *r, unsigned query, unsigned call, bool candidate)
{
    const char *state = NULL;
    if (query == 3 && candidate) {
        state = "42703";
    } else if (query == 4 && call % (candidate ? 9 : 11) == 3) {
        state = "40001";
    } else if (query == 5 && candidate && call % 4 == 0) {
        state = "25P02";
    }
    if (state) {
        r->outcome.sqlstate = rh_sqlstate_pack(rh_span_cstr(state));
        r->outcome.rows = RH_COUNT_UNKNOWN;
    }
}

static void set_times(struct rh_record *r, unsigned query, unsigned call, bool candidate,
                      uint64_t *noise)
{
    uint64_t own = (query + 1) * UINT64_C(0x9e3779b97f4a7c15) + call;
    chance(&own);
    double base_us = (200 + 90 * (query % 40)) * (0.6 + chance(&own));
    double us =
        base_us * (candidate ? candidate_factor(query, call) : 1) * (0.97 + 0.06 * chance(noise));
    int64_t lag_ns = (int64_t) (40000 + 60000 * chance(noise));
    int64_t rows = query == 6 && candidate && call % 5 == 0 ? 3 : 2;
    run_pair_done(r, r->start_ns, r->start_ns + lag_ns, (int64_t) (us * 1000), rows);
}

/* A call of each query a second, in waves. */
static double start_seconds(double call)
{
    return call + 3 * sin(call / 5);
}

static int put_statements(struct rh_trace_writer *w, unsigned queries, unsigned calls,
                          bool candidate, struct rh_error *err)
{
    uint64_t ordinals[SESSIONS + 1] = {0};
    uint64_t noise = candidate ? 77 : 11;
    char text[SQL_SIZE];
    for (unsigned call = 0; call < calls; call++) {
        for (unsigned query = 0; query < queries; query++) {
            struct rh_record r;
            rh_record_init(&r);
            r.kind = RH_KIND_QUERY;
            r.session = 1 + query % SESSIONS;
            r.ordinal = ++ordinals[r.session];
            r.start_ns = RUN_PAIR_EPOCH_NS +
                         (int64_t) (1e9 * start_seconds(call + query / (double) queries));
            sql_of(query, call * 31 + query, text);
            r.text = rh_span_cstr(text);
            set_times(&r, query, call, candidate, &noise);
            fail_some(&r, query, call, candidate);
            if (rh_trace_writer_add(w, &r, err) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int write_run(const char *path, unsigned queries, unsigned calls, bool candidate,
                     struct rh_error *err)
{
    struct rh_trace_writer *w;
    const struct run_pair_side side = {
        .is_candidate = candidate,
        .server_version =
            candidate ? RH_SPAN_LITERAL("18.1 <b>|new|</b>") : RH_SPAN_LITERAL("15.18"),
        .server_address =
            candidate ? RH_SPAN_LITERAL("candidate:5432") : RH_SPAN_LITERAL("base:5432"),
        .name = RH_SPAN_LITERAL("shop"),
        .sessions = SESSIONS,
        .applications = {"<i>batch</i>", "web"},
    };
    if (run_pair_open(&w, path, &side, err) != 0 ||
        put_statements(w, queries, calls, candidate, err) != 0) {
        return -1;
    }
    return rh_trace_writer_finish(w, false, err);
}

int main(int argc, char **argv)
{
    struct rh_error err = {0};
    unsigned long queries = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    unsigned long calls = argc > 4 ? strtoul(argv[4], NULL, 10) : 60;
    if (queries < HOSTILE_FIRST + HOSTILE || queries > QUERIES_MAX || calls < 1 || calls > 100000) {
        fprintf(stderr, "usage: report_files BASE CANDIDATE QUERIES [CALLS]\n");
        return 2;
    }
    for (int side = 0; side < 2; side++) {
        if (write_run(argv[1 + side], (unsigned) queries, (unsigned) calls, side == 1, &err) != 0) {
            fprintf(stderr, "report_files: %s: %s\n", argv[1 + side], err.text);
            return 1;
        }
    }
    return 0;
}
