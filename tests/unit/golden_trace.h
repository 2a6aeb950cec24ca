/*
 * tests/unit/golden_trace.h
 *
 * The small workload of tests/golden/trace: every kind of record, each form of column, late and
 * outcome blocks, blobs, session state.  It must never change: the stored file was made from it.
 */
#ifndef RH_TESTS_UNIT_GOLDEN_TRACE_H
#define RH_TESTS_UNIT_GOLDEN_TRACE_H

#include "trace_testing.h"

#define GOLDEN_T0 INT64_C(1735689600000000000)

static inline void golden_record(struct rh_record *r, enum rh_kind kind, uint32_t session,
                                 uint64_t ordinal, int64_t offset_us)
{
    rh_record_init(r);
    r->kind = kind;
    r->session = session;
    r->ordinal = ordinal;
    r->start_ns = GOLDEN_T0 + offset_us * 1000;
}

/* The text is given split, so that the rules of splitting may change without a new stored file: a
 * '?' of the template is a literal. */
struct golden_text {
    char tmpl[100];
    struct rh_span literals[2];
    char texts[2][40];
};

static inline void golden_split(struct rh_record *r, struct golden_text *t, const char *tmpl)
{
    uint32_t n = 0;
    snprintf(t->tmpl, sizeof t->tmpl, "%s", tmpl);
    for (char *at = t->tmpl; *at; at++) {
        if (*at == '?') {
            *at = 1; /* a slot byte; the other one, 0, is used below */
            n++;
        }
    }
    r->tmpl = rh_span(t->tmpl, strlen(t->tmpl));
    for (uint32_t i = 0; i < r->tmpl.len; i++) {
        t->tmpl[i] = t->tmpl[i] == 1 ? 0 : t->tmpl[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        t->literals[i] = rh_span_cstr(t->texts[i]);
    }
    r->literals = t->literals;
    r->literal_count = n;
}

/* Like a log's: whole ms at the end, µs durations. */
static inline void golden_statement(struct rh_record *r, uint32_t session, uint64_t ordinal,
                                    int64_t end_ms, int64_t duration_us, const char *text)
{
    golden_record(r, RH_KIND_QUERY, session, ordinal, end_ms * 1000 - duration_us);
    r->outcome.done_ns = r->start_ns + duration_us * 1000;
    r->outcome.sqlstate = 0;
    r->tmpl = rh_span_cstr(text);
}

static inline void golden_session(struct rh_trace_writer *w, uint32_t number)
{
    static const struct rh_setting startup[] = {
        {RH_SPAN_LITERAL("options"), RH_SPAN_LITERAL("-c geqo=off")},
    };
    struct rh_error err = {0};
    struct rh_session s = {
        .number = number,
        .user = RH_SPAN_LITERAL("anna"),
        .database = RH_SPAN_LITERAL("shop"),
        .application = RH_SPAN_LITERAL("till"),
        .client = RH_SPAN_LITERAL("[local]"),
        .opened_ns = GOLDEN_T0 + number * INT64_C(1000000),
        .closed_ns = RH_TIME_UNKNOWN,
        .backend_pid = 4000 + number,
        .startup = startup,
        .startup_count = number % 2,
    };
    assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
}

static inline void golden_many(struct rh_trace_writer *w)
{
    struct rh_record r;
    struct golden_text text;
    for (unsigned i = 0; i < 100; i++) {
        snprintf(text.texts[0], sizeof text.texts[0], "%u", i % 3);
        snprintf(text.texts[1], sizeof text.texts[1], "'item %u'", i * 37 % 100);
        golden_statement(&r, 1 + i % 2, i / 2 + 10, 100 + i * (i % 4 == 0 ? 3 : 1) + i,
                         100 + i * 7919 % 3000, "");
        golden_split(&r, &text, "UPDATE stock SET n = n - ? WHERE item = ?");
        testing_add(w, &r);
    }
}

static inline void golden_extended(struct rh_trace_writer *w)
{
    static const struct rh_param params[] = {
        {"42", 2, 23, 0}, {NULL, 0, 25, 0}, {"\0\0\0\7", 4, 23, 1}, {"it's", 4, 0, 0}};
    static const uint16_t formats[] = {0, 1};
    struct rh_record r;
    struct golden_text text;
    golden_record(&r, RH_KIND_EXECUTE, 1, 70, 900123);
    r.flags = RH_FLAG_HAS_PARSE | RH_FLAG_COMMIT_NOT_TIMED;
    r.txn = RH_TXN_BEGINS | RH_TXN_ENDS;
    snprintf(text.texts[0], sizeof text.texts[0], "5");
    snprintf(text.texts[1], sizeof text.texts[1], "/* comment */");
    golden_split(&r, &text, "INSERT INTO t VALUES ($1, $2, $3, $4, ?) ?");
    r.statement_name = rh_span_cstr("S_1");
    r.portal_name = rh_span_cstr("");
    r.params = params;
    r.param_count = 4;
    r.result_formats = formats;
    r.result_format_count = 2;
    r.row_limit = 50;
    r.steps = rh_span_cstr("PBDES");
    r.outcome = (struct rh_outcome){.first_ns = r.start_ns + 100000,
                                    .done_ns = r.start_ns + 250000,
                                    .parse_ns = 30000,
                                    .bind_ns = 20000,
                                    .execute_ns = 200000,
                                    .sqlstate = 0,
                                    .tag = rh_span_cstr("INSERT"),
                                    .rows = 1,
                                    .bytes = 15,
                                    .results = 1,
                                    .tx_status = 'I'};
    testing_add(w, &r);
    golden_record(&r, RH_KIND_FETCH, 1, 71, 901000);
    r.hold = RH_REASON_NO_ROW_LIMIT;
    r.row_limit = -1;
    testing_add(w, &r);
    golden_record(&r, RH_KIND_FUNCTION, 1, 72, 902000);
    r.function_oid = 1598;
    r.hold = RH_REASON_NO_ARGUMENTS;
    testing_add(w, &r);
    golden_record(&r, RH_KIND_PROTOCOL, 1, 73, 903000);
    r.tmpl = rh_span_cstr("SELECT a");
    r.statement_name = rh_span_cstr("S_2");
    testing_add(w, &r);
    golden_record(&r, RH_KIND_CANCEL, 1, 74, 904000);
    testing_add(w, &r);
}

static inline void golden_errors(struct rh_trace_writer *w)
{
    struct rh_record r;
    golden_statement(&r, 2, 70, 950, 1, "SELEC a");
    r.outcome.sqlstate = rh_sqlstate_pack(rh_span_cstr("42601"));
    testing_add(w, &r);
    golden_statement(&r, 2, 71, 951, 5, "SET search_path TO shop");
    r.application = rh_span_cstr("other");
    testing_add(w, &r);
    golden_statement(&r, 2, 72, 952, 5, "EXECUTE q(NULL)");
    r.flags = RH_FLAG_SQL_EXECUTE;
    r.prepare_text = rh_span_cstr("PREPARE q(int) AS SELECT $1");
    testing_add(w, &r);
    golden_record(&r, RH_KIND_GAP, 2, 0, 953000);
    r.detail = rh_span_cstr("lines missing");
    r.count = 3;
    testing_add(w, &r);
    golden_record(&r, RH_KIND_QUERY, 2, 73, 954000);
    r.tmpl = rh_span_cstr("COPY t FROM STDIN");
    testing_add(w, &r);
    golden_record(&r, RH_KIND_COPY_DATA, 2, 73, 955000);
    r.detail = rh_span_cstr("1\tone\n2\ttwo\n");
    testing_add(w, &r);
}

/* More than an inline value holds, and nearly nothing compressed. */
static inline void golden_blob(struct rh_trace_writer *w)
{
    size_t n = RH_VALUE_INLINE_MAX + 100;
    char *text = rh_malloc(n);
    struct rh_record r;
    struct rh_span literal = rh_span(text, n);
    memset(text, 'x', n);
    golden_record(&r, RH_KIND_QUERY, 3, 1, 960000);
    r.tmpl = rh_span("SELECT \0", 8);
    r.literals = &literal;
    r.literal_count = 1;
    testing_add(w, &r);
    rh_free(text);
}

static inline void golden_write(const char *path)
{
    struct rh_trace_header header = testing_header(RH_FILE_WORKLOAD);
    static const struct rh_setting settings[] = {
        {RH_SPAN_LITERAL("log_statement"), RH_SPAN_LITERAL("all")}};
    struct rh_trace_writer *w;
    struct rh_error err = {0};
    struct rh_record r;
    header.settings = settings;
    header.setting_count = 1;
    assert_int_equal(rh_trace_writer_open(&w, path, &header, NULL, &err), 0);
    for (uint32_t s = 1; s <= 3; s++) {
        golden_session(w, s);
        golden_record(&r, RH_KIND_OPEN, s, 0, s * 1000);
        testing_add(w, &r);
    }
    golden_many(w);
    assert_int_equal(rh_trace_writer_flush(w, &err), 0);
    golden_extended(w);
    golden_errors(w);
    golden_statement(&r, 4, 1, 970, 800000, "SELECT slow()");
    testing_add(w, &r);
    assert_int_equal(rh_trace_writer_flush(w, &err), 0);
    golden_record(&r, RH_KIND_OUTCOME, 2, 73, 954000);
    r.outcome.done_ns = r.start_ns + 5000000;
    r.outcome.sqlstate = 0;
    r.outcome.rows = 2;
    r.outcome.tag = rh_span_cstr("COPY");
    testing_add(w, &r);
    golden_blob(w);
    golden_record(&r, RH_KIND_CLOSE, 1, 0, 999000);
    r.detail = rh_span_cstr("disconnected");
    testing_add(w, &r);
    rh_trace_writer_note(w, "records", rh_span_cstr("many"));
    testing_finish(w);
}

#endif
