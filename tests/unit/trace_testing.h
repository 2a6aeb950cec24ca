/*
 * tests/unit/trace_testing.h
 *
 * What the tests of the trace share: files in a folder of their own, records made at random with
 * every field, and comparison of all of them.
 */
#ifndef RH_TESTS_UNIT_TRACE_TESTING_H
#define RH_TESTS_UNIT_TRACE_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "formats/record.h"
#include "formats/trace_file.h"
#include "formats/trace_layout.h"
#include "formats/trace_reader.h"
#include "formats/trace_writer.h"

/* A path that no other test run uses; the caller unlinks it. */
static inline char *testing_path(const char *name)
{
    const char *folder = getenv("TMPDIR");
    char *path = rh_malloc(512);
    snprintf(path, 512, "%s/rh-test-%d-%s", folder ? folder : "/tmp", (int) getpid(), name);
    return path;
}

static inline void testing_remove(char *path)
{
    unlink(path);
    rh_free(path);
}

static inline uint64_t testing_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * UINT64_C(2685821657736338717) >> 11;
}

static inline uint64_t testing_below(uint64_t *seed, uint64_t n)
{
    return testing_random(seed) % n;
}

static inline bool testing_chance(uint64_t *seed, unsigned percent)
{
    return testing_below(seed, 100) < percent;
}

/* Random bytes, NULs and slot bytes among them. */
static inline struct rh_span testing_bytes(uint64_t *seed, struct rh_arena *arena, size_t max)
{
    size_t n = testing_below(seed, max + 1);
    char *data = rh_arena_alloc(arena, n + 1);
    for (size_t i = 0; i < n; i++) {
        data[i] = (char) testing_random(seed);
    }
    data[n] = '\0';
    return rh_span(data, n);
}

static inline struct rh_span testing_pick(uint64_t *seed, const char *const *texts, size_t n)
{
    return rh_span_cstr(texts[testing_below(seed, n)]);
}

static inline struct rh_trace_header testing_header(enum rh_file_kind kind)
{
    return (struct rh_trace_header){
        .kind = kind,
        .uuid = {1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16},
        .vantage = kind == RH_FILE_RUN ? RH_VANTAGE_CLIENT : RH_VANTAGE_SERVER_LOG,
        .source = RH_SPAN_LITERAL("csvlog"),
        .tool = RH_SPAN_LITERAL("test 1"),
        .server_version = RH_SPAN_LITERAL("15.4"),
        .created_ns = INT64_C(1735689600000000000),
    };
}

static inline struct rh_trace_writer *testing_open(const char *path, enum rh_file_kind kind,
                                                   uint32_t window_records)
{
    struct rh_trace_header header = testing_header(kind);
    struct rh_trace_writer_options options = {.window_records = window_records};
    struct rh_trace_writer *w = NULL;
    struct rh_error err = {0};
    if (rh_trace_writer_open(&w, path, &header, &options, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return w;
}

static inline void testing_add(struct rh_trace_writer *w, const struct rh_record *r)
{
    struct rh_error err = {0};
    if (rh_trace_writer_add(w, r, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static inline void testing_finish(struct rh_trace_writer *w)
{
    struct rh_error err = {0};
    if (rh_trace_writer_finish(w, false, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static inline struct rh_trace_file *testing_open_file(const char *path)
{
    struct rh_trace_file *file = NULL;
    struct rh_error err = {0};
    if (rh_trace_file_open(&file, path, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return file;
}

static inline void testing_assert_span(struct rh_span a, struct rh_span b, const char *what)
{
    if (!rh_span_equal(a, b)) {
        fail_msg("%s differs: %zu bytes \"%.*s\" and %zu bytes \"%.*s\"", what, a.len,
                 (int) (a.len < 60 ? a.len : 60), a.data ? a.data : "(none)", b.len,
                 (int) (b.len < 60 ? b.len : 60), b.data ? b.data : "(none)");
    }
}

static inline void testing_assert_text(const struct rh_record *got, const struct rh_record *want)
{
    struct rh_buf a;
    struct rh_buf b;
    rh_buf_init(&a, (size_t) 2 << 30);
    rh_buf_init(&b, (size_t) 2 << 30);
    assert_int_equal(rh_record_text(got, &a), 0);
    assert_int_equal(rh_record_text(want, &b), 0);
    assert_int_equal(!got->tmpl.data, !want->tmpl.data && !want->text.data);
    testing_assert_span(rh_buf_span(&a), rh_buf_span(&b), "text");
    rh_buf_release(&a);
    rh_buf_release(&b);
}

static inline void testing_assert_outcome(const struct rh_outcome *a, const struct rh_outcome *b)
{
    assert_int_equal(a->first_ns, b->first_ns);
    assert_int_equal(a->done_ns, b->done_ns);
    assert_int_equal(a->parse_ns, b->parse_ns);
    assert_int_equal(a->bind_ns, b->bind_ns);
    assert_int_equal(a->execute_ns, b->execute_ns);
    assert_int_equal(a->sqlstate, b->sqlstate);
    testing_assert_span(a->tag, b->tag, "tag");
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->results, b->results);
    assert_int_equal(a->tx_status, b->tx_status);
}

static inline void testing_assert_record(const struct rh_record *got, const struct rh_record *want)
{
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->session, want->session);
    assert_int_equal(got->copy, want->copy);
    assert_int_equal(got->start_ns, want->start_ns);
    if (rh_kind_has_ordinal(want->kind) || want->kind == RH_KIND_COPY_DATA) {
        assert_int_equal(got->ordinal, want->ordinal);
    }
    assert_int_equal(got->flags, want->flags);
    assert_int_equal(got->txn, want->txn);
    assert_int_equal(got->hold, want->hold);
    testing_assert_text(got, want);
    testing_assert_span(got->statement_name, want->statement_name, "statement name");
    testing_assert_span(got->portal_name, want->portal_name, "portal name");
    testing_assert_span(got->application, want->application, "application");
    testing_assert_span(got->prepare_text, want->prepare_text, "prepare text");
    testing_assert_span(got->steps, want->steps, "steps");
    testing_assert_span(got->detail, want->detail, "detail");
    assert_int_equal(got->param_count, want->param_count);
    for (uint32_t i = 0; i < want->param_count; i++) {
        const struct rh_param *a = &got->params[i];
        const struct rh_param *b = &want->params[i];
        testing_assert_span(rh_span(a->data, a->len), rh_span(b->data, b->len), "parameter");
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->format, b->format);
    }
    assert_int_equal(got->result_format_count, want->result_format_count);
    for (uint32_t i = 0; i < want->result_format_count; i++) {
        assert_int_equal(got->result_formats[i], want->result_formats[i]);
    }
    assert_int_equal(got->row_limit, want->row_limit);
    assert_int_equal(got->function_oid, want->function_oid);
    assert_int_equal(got->count, want->count);
    testing_assert_outcome(&got->outcome, &want->outcome);
    assert_int_equal(got->run.fate, want->run.fate);
    assert_int_equal(got->run.reason, want->run.reason);
    assert_int_equal(got->run.planned_ns, want->run.planned_ns);
    assert_int_equal(got->run.sent_ns, want->run.sent_ns);
    assert_int_equal(got->run.wait_ns, want->run.wait_ns);
    assert_int_equal(got->run.ready_ns, want->run.ready_ns);
}

/* Times are multiples of unit_ns, so that they come back exactly. */
static inline void testing_random_outcome(uint64_t *seed, struct rh_record *r, int64_t unit_ns)
{
    static const char *const tags[] = {"SELECT", "INSERT", "UPDATE", "COPY", ""};
    struct rh_outcome *o = &r->outcome;
    if (testing_chance(seed, 80)) {
        o->done_ns = r->start_ns + (int64_t) testing_below(seed, 3000000) * unit_ns;
    }
    if (testing_chance(seed, 30)) {
        o->first_ns = r->start_ns + (int64_t) testing_below(seed, 3000) * unit_ns;
    }
    if (testing_chance(seed, 30)) {
        o->parse_ns = (int64_t) testing_below(seed, 1000) * unit_ns;
        o->bind_ns = testing_chance(seed, 50) ? (int64_t) testing_below(seed, 100) * unit_ns : -1;
        o->execute_ns =
            testing_chance(seed, 80) ? (int64_t) testing_below(seed, 10000) * unit_ns : -1;
    }
    if (testing_chance(seed, 80)) {
        o->sqlstate = testing_chance(seed, 90) ? 0 : (uint32_t) testing_below(seed, 60466176);
        o->rows = (int64_t) testing_below(seed, testing_chance(seed, 90) ? 3 : 1u << 30);
        o->bytes = (int64_t) testing_below(seed, 100000);
        o->results = (uint32_t) testing_below(seed, 3);
        o->tx_status = "ITE"[testing_below(seed, 3)];
        o->tag = testing_pick(seed, tags, 5);
    }
}

static inline void testing_random_params(uint64_t *seed, struct rh_record *r,
                                         struct rh_arena *arena)
{
    r->param_count = (uint32_t) testing_below(seed, 6);
    struct rh_param *params = rh_arena_alloc(arena, (r->param_count + 1) * sizeof *params);
    for (uint32_t i = 0; i < r->param_count; i++) {
        params[i] = (struct rh_param){0};
        if (testing_chance(seed, 60)) {
            char *text = rh_arena_alloc(arena, 24);
            params[i].len = (uint32_t) snprintf(text, 24, "%lld",
                                                (long long) testing_below(seed, 1u << 20) - 1000);
            params[i].data = text;
        } else if (testing_chance(seed, 70)) {
            struct rh_span s = testing_bytes(seed, arena, 30);
            params[i].data = s.data;
            params[i].len = (uint32_t) s.len;
            params[i].format = (uint8_t) testing_below(seed, 2);
        }
        params[i].type = testing_chance(seed, 30) ? (uint32_t) testing_below(seed, 3000) : 0;
    }
    r->params = params;
    r->result_format_count = testing_chance(seed, 20) ? (uint32_t) testing_below(seed, 4) : 0;
    uint16_t *formats = rh_arena_alloc(arena, 8);
    for (uint32_t i = 0; i < r->result_format_count; i++) {
        formats[i] = (uint16_t) testing_below(seed, 2);
    }
    r->result_formats = formats;
}

static inline void testing_random_rare(uint64_t *seed, struct rh_record *r, struct rh_arena *arena)
{
    static const char *const names[] = {"S_1", "S_2", "", "a name: with colons", "p0"};
    if (testing_chance(seed, 20)) {
        r->statement_name = testing_pick(seed, names, 5);
        r->portal_name = testing_chance(seed, 30) ? testing_pick(seed, names, 5) : RH_SPAN_NONE;
    }
    r->application = testing_chance(seed, 5) ? testing_pick(seed, names, 5) : RH_SPAN_NONE;
    r->steps = testing_chance(seed, 10) ? testing_bytes(seed, arena, 8) : RH_SPAN_NONE;
    r->row_limit = testing_chance(seed, 5) ? (int32_t) testing_below(seed, 1000) - 1 : 0;
    r->function_oid = testing_chance(seed, 2) ? (uint32_t) testing_below(seed, UINT32_MAX) : 0;
    r->count = testing_chance(seed, 2) ? testing_random(seed) : 0;
    r->detail = testing_chance(seed, 5) ? testing_bytes(seed, arena, 40) : RH_SPAN_NONE;
    if (testing_chance(seed, 3)) {
        r->flags |= RH_FLAG_SQL_EXECUTE;
        r->prepare_text = rh_span_cstr("PREPARE q AS SELECT 1");
    }
    r->hold = testing_chance(seed, 5) ? (enum rh_reason) testing_below(seed, 13) : RH_REASON_NONE;
}

static inline void testing_random_text(uint64_t *seed, struct rh_record *r, struct rh_arena *arena)
{
    char *text = rh_arena_alloc(arena, 200);
    unsigned shape = (unsigned) testing_below(seed, 12);
    unsigned a = (unsigned) testing_below(seed, 1000000);
    if (shape < 8) {
        int n = snprintf(text, 200, "SELECT c%u FROM t WHERE id = %u AND note = '%u it''s' -- x%u",
                         shape, a, a / 7, shape);
        r->text = rh_span(text, (size_t) n);
    } else if (shape == 8) {
        int n = snprintf(text, 200, "SELECT x%u FROM unique_%u", a, a);
        r->text = rh_span(text, (size_t) n);
    } else if (shape == 9) {
        r->text = testing_bytes(seed, arena, 80);
    } else if (shape == 10) {
        r->text = rh_span_cstr("");
    }
}

/* A run's own part too, when unit_ns is 1. */
static inline void testing_random_record(uint64_t *seed, struct rh_record *r,
                                         struct rh_arena *arena, int64_t unit_ns)
{
    static const enum rh_kind kinds[] = {RH_KIND_QUERY,    RH_KIND_QUERY,  RH_KIND_EXECUTE,
                                         RH_KIND_FUNCTION, RH_KIND_FETCH,  RH_KIND_PROTOCOL,
                                         RH_KIND_CANCEL,   RH_KIND_EXECUTE};
    r->kind = kinds[testing_below(seed, 8)];
    r->flags = (uint32_t) testing_below(seed, 64);
    r->txn = (uint8_t) testing_below(seed, 8);
    testing_random_text(seed, r, arena);
    testing_random_outcome(seed, r, unit_ns);
    if (testing_chance(seed, 40)) {
        testing_random_params(seed, r, arena);
    }
    testing_random_rare(seed, r, arena);
    if (unit_ns == 1) {
        r->run.fate = (enum rh_fate)(1 + testing_below(seed, 4));
        r->run.reason = (enum rh_reason)(testing_chance(seed, 10) ? 33 : 0);
        r->run.planned_ns = r->start_ns - (int64_t) testing_below(seed, 1000000);
        r->run.sent_ns = testing_chance(seed, 90) ? r->start_ns : RH_TIME_UNKNOWN;
        r->run.wait_ns = testing_chance(seed, 10) ? (int64_t) testing_below(seed, 10000) : 0;
        r->run.ready_ns = testing_chance(seed, 50) ? r->start_ns - 10 : RH_TIME_UNKNOWN;
    }
}

#endif
