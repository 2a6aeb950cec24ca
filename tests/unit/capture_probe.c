#include "rh_test.h"

#include "capture_probe.h"

#include <stdio.h>
#include <stdlib.h>

#include "capture/assembly.h"
#include "capture/log_files.h"
#include "common/alloc.h"
#include "common/buf.h"

static int keep_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    (void) err;
    struct rh_probe *p = context;
    struct rh_probe_session *kept = NULL;
    for (uint32_t i = 0; i < p->session_count && !kept; i++) {
        kept = p->sessions[i].session.number == session->number ? &p->sessions[i] : NULL;
    }
    if (!kept) {
        RH_GROW(p->sessions, p->session_count, p->session_cap);
        kept = &p->sessions[p->session_count++];
        *kept = (struct rh_probe_session){0};
    }
    assert_false(kept->ended);
    assert_true(session->number > 0);
    kept->session = *session;
    kept->session.user = rh_arena_copy(&p->arena, session->user);
    kept->session.database = rh_arena_copy(&p->arena, session->database);
    kept->session.application = rh_arena_copy(&p->arena, session->application);
    kept->session.client = rh_arena_copy(&p->arena, session->client);
    kept->told++;
    return 0;
}

static int keep_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    (void) err;
    struct rh_probe *p = context;
    RH_GROW(p->records, p->count, p->cap);
    struct rh_record *kept = &p->records[p->count++];
    *kept = *r;
    kept->text = rh_arena_copy(&p->arena, r->text);
    kept->statement_name = rh_arena_copy(&p->arena, r->statement_name);
    kept->portal_name = rh_arena_copy(&p->arena, r->portal_name);
    kept->application = rh_arena_copy(&p->arena, r->application);
    kept->prepare_text = rh_arena_copy(&p->arena, r->prepare_text);
    kept->detail = rh_arena_copy(&p->arena, r->detail);
    if (r->param_count > 0) {
        struct rh_param *params = rh_arena_alloc(&p->arena, r->param_count * sizeof *params);
        for (uint32_t i = 0; i < r->param_count; i++) {
            params[i] = r->params[i];
            params[i].data =
                rh_arena_copy(&p->arena, rh_span(r->params[i].data, r->params[i].len)).data;
        }
        kept->params = params;
    }
    return 0;
}

static void keep_end(void *context, uint32_t number)
{
    struct rh_probe *p = context;
    for (uint32_t i = 0; i < p->session_count; i++) {
        if (p->sessions[i].session.number == number) {
            p->sessions[i].ended = true;
        }
    }
}

void rh_probe_init(struct rh_probe *p)
{
    memset(p, 0, sizeof *p);
    rh_arena_init(&p->arena, 64 * 1024);
    rh_capture_filter_init(&p->filter);
    rh_capture_stats_init(&p->stats);
}

void rh_probe_release(struct rh_probe *p)
{
    rh_arena_release(&p->arena);
    rh_capture_filter_release(&p->filter);
    rh_capture_stats_release(&p->stats);
    rh_free(p->records);
    rh_free(p->sessions);
}

struct bytes {
    const char *data;
    size_t n;
    size_t at;
    size_t chunk;
};

static ssize_t read_bytes(void *context, void *data, size_t n, struct rh_error *err)
{
    (void) err;
    struct bytes *b = context;
    size_t take = b->n - b->at < n ? b->n - b->at : n;
    if (b->chunk && take > b->chunk) {
        take = b->chunk;
    }
    memcpy(data, b->data + b->at, take);
    b->at += take;
    return (ssize_t) take;
}

void rh_probe_run_bytes(struct rh_probe *p, const char *data, size_t n, size_t chunk)
{
    const struct rh_capture_sink sink = {p, keep_session, keep_record, keep_end};
    struct bytes bytes = {data, n, 0, chunk};
    struct rh_log_reader reader;
    struct rh_log_entry e;
    struct rh_error err = {0};
    rh_log_reader_init(&reader);
    struct rh_assembler *a = rh_assembler_new(&sink, &p->filter, &reader, &p->stats);
    if (p->waiting_bytes_max > 0) {
        a->waiting_bytes_max = p->waiting_bytes_max;
    }
    if (p->sessions_max > 0) {
        a->sessions_max = p->sessions_max;
    }
    if (p->redact) {
        rh_assembler_redact(a);
    }
    rh_log_reader_start(&reader, "memory", read_bytes, &bytes);
    while (rh_log_reader_next(&reader, &e, &err) == 1) {
        assert_int_equal(rh_assembler_add(a, &e, &err), 0);
    }
    assert_int_equal(rh_assembler_finish(a, &err), 0);
    rh_assembler_free(a);
    p->counts = reader.counts;
    rh_log_reader_release(&reader);
}

void rh_probe_run_files(struct rh_probe *p, const char *const *paths, size_t count)
{
    const struct rh_capture_sink sink = {p, keep_session, keep_record, keep_end};
    struct rh_log_files *files;
    struct rh_log_entry e;
    struct rh_error err = {0};
    if (rh_log_files_open(&files, paths, count, &err) != 0) {
        snprintf(p->error, sizeof p->error, "%s", err.text);
        return;
    }
    struct rh_assembler *a =
        rh_assembler_new(&sink, &p->filter, rh_log_files_reader(files), &p->stats);
    for (;;) {
        int rc = rh_log_files_next(files, &e, &err);
        if (rc == 0) {
            break;
        }
        if (rc < 0) {
            snprintf(p->error, sizeof p->error, "%s", err.text);
            continue;
        }
        assert_int_equal(rh_assembler_add(a, &e, &err), 0);
    }
    assert_int_equal(rh_assembler_finish(a, &err), 0);
    rh_assembler_free(a);
    p->counts = rh_log_files_reader(files)->counts;
    rh_log_files_close(files);
}

const struct rh_record *rh_probe_statement(const struct rh_probe *p, uint32_t i)
{
    for (uint32_t k = 0; k < p->count; k++) {
        if (rh_kind_has_ordinal(p->records[k].kind) && i-- == 0) {
            return &p->records[k];
        }
    }
    return NULL;
}

uint32_t rh_probe_kind_count(const struct rh_probe *p, enum rh_kind kind)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->count; k++) {
        n += p->records[k].kind == kind;
    }
    return n;
}

const struct rh_probe_session *rh_probe_session(const struct rh_probe *p, uint32_t number)
{
    for (uint32_t i = 0; i < p->session_count; i++) {
        if (p->sessions[i].session.number == number) {
            return &p->sessions[i];
        }
    }
    return NULL;
}

static void print_record(const struct rh_record *r, struct rh_buf *out)
{
    static const char *const kinds[] = {"query", "execute",  "function",
                                        "fetch", "protocol", "cancel"};
    char state[6];
    rh_buf_addf(out, "%u/%u %s [%.*s] [%.*s] | ", r->session, (unsigned) r->ordinal, kinds[r->kind],
                (int) r->statement_name.len, r->statement_name.data, (int) r->portal_name.len,
                r->portal_name.data);
    rh_buf_add_span(out, r->text);
    rh_buf_add_cstr(out, " |");
    for (uint32_t i = 0; i < r->param_count; i++) {
        if (r->params[i].data) {
            rh_buf_addf(out, " <%.*s>", (int) r->params[i].len, r->params[i].data);
        } else {
            rh_buf_add_cstr(out, " NULL");
        }
    }
    rh_buf_addf(out, " | %s |", rh_sqlstate_unpack(r->outcome.sqlstate, state));
    if (r->hold) {
        rh_buf_addf(out, " %s", rh_reason_name(r->hold));
    }
    rh_buf_add_byte(out, '\n');
}

void rh_probe_print(const struct rh_probe *p, struct rh_buf *out)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < p->session_count; i++) {
        last = p->sessions[i].session.number > last ? p->sessions[i].session.number : last;
    }
    for (uint32_t number = 1; number <= last; number++) {
        for (uint32_t k = 0; k < p->count; k++) {
            if (p->records[k].session == number && rh_kind_has_ordinal(p->records[k].kind)) {
                print_record(&p->records[k], out);
            }
        }
    }
}

char *rh_probe_load(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *data = rh_malloc(size > 0 ? (size_t) size : 1);
    *n = fread(data, 1, size > 0 ? (size_t) size : 0, f);
    fclose(f);
    return data;
}
