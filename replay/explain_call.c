#include "replay/explain_call.h"

#include "common/alloc.h"
#include "common/buf.h"
#include "common/stop.h"
#include "formats/record_query.h"
#include "formats/trace_reader.h"

enum { CHECK_EVERY = 4096 };

struct search {
    struct rh_explain_call *const *calls;
    uint32_t count;
    uint32_t part;
    uint32_t left; /* of this part, not found yet */
    struct rh_arena *arena;
    struct rh_buf text;
    struct rh_buf scratch;
};

/* A copy of a session has the same calls, so the trace, which knows none, serves for all. */
static struct rh_explain_call *find(const struct search *s, const struct rh_record *r)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct rh_explain_call *call = s->calls[i];
        if (call->wanted && !call->found && call->part == s->part && call->session == r->session &&
            call->ordinal == r->ordinal) {
            return call;
        }
    }
    return NULL;
}

static uint64_t fingerprint_of(struct search *s, const struct rh_record *r)
{
    struct rh_span text;
    enum rh_query_text kind = rh_record_query(r, &s->text, &text);
    return rh_query_fingerprint(kind, text, &s->scratch);
}

/* Parameters in text are given to libpq as C strings. */
static void take_params(struct rh_explain_call *call, const struct rh_record *r,
                        struct rh_arena *arena)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < r->param_count; i++) {
        bytes += r->params[i].len;
    }
    if (bytes > RH_EXPLAIN_CALL_MAX_BYTES) {
        call->problem = "its values are too long";
        return;
    }
    struct rh_param *params = rh_arena_alloc(arena, (r->param_count + 1) * sizeof *params);
    for (uint32_t i = 0; i < r->param_count; i++) {
        params[i] = r->params[i];
        params[i].data = rh_arena_copy(arena, rh_span(params[i].data, params[i].len)).data;
    }
    call->params = params;
    call->param_count = r->param_count;
}

static void take(struct search *s, struct rh_explain_call *call, struct rh_trace_reader *reader,
                 struct rh_record *r)
{
    call->found = true;
    s->left--;
    if (!rh_trace_reader_complete(reader, r)) {
        call->problem = "its block of the trace is damaged";
    } else if (fingerprint_of(s, r) != call->fingerprint) {
        call->problem = "it is another query in this trace";
    } else if (r->hold != RH_REASON_NONE) {
        call->problem = rh_reason_text(r->hold);
    } else {
        rh_buf_clear(&s->text);
        if (rh_record_text(r, &s->text) != 0) {
            call->problem = "its text is too long";
            return;
        }
        call->text = rh_arena_copy(s->arena, rh_buf_span(&s->text));
        take_params(call, r, s->arena);
    }
}

static int read_records(struct search *s, struct rh_trace_reader *reader, struct rh_error *err)
{
    struct rh_record record;
    uint32_t since_check = 0;
    int rc = 0;
    rh_trace_reader_want(reader, RH_WANT_OUTCOMES);
    while (s->left > 0 && (rc = rh_trace_reader_next(reader, &record, err)) > 0) {
        struct rh_explain_call *call = rh_kind_has_ordinal(record.kind) ? find(s, &record) : NULL;
        if (call) {
            take(s, call, reader, &record);
        }
        if (++since_check == CHECK_EVERY) {
            since_check = 0;
            if (rh_stop_requested()) {
                return rh_error_set(err, RH_ERR_STOPPED, "stopped while the trace was read");
            }
        }
    }
    return rc < 0 ? -1 : 0;
}

static int read_part(struct search *s, const char *path, struct rh_error *err)
{
    struct rh_trace_file *file;
    struct rh_trace_reader *reader;
    if (rh_trace_file_open(&file, path, err) != 0) {
        return -1;
    }
    int rc = rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, err);
    if (rc == 0) {
        rc = read_records(s, reader, err);
        rh_trace_reader_close(reader);
    }
    rh_trace_file_close(file);
    return rc;
}

static uint32_t count_of_part(const struct search *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        count += s->calls[i]->wanted && s->calls[i]->part == s->part;
    }
    return count;
}

static void name_missing(const struct search *s, size_t parts)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct rh_explain_call *call = s->calls[i];
        if (call->wanted && !call->found) {
            call->problem = call->part < parts ? "it is not in this trace"
                                               : "no --trace is given for its part of the base";
        }
    }
}

int rh_explain_calls_read(struct rh_explain_call *const *calls, uint32_t count,
                          const struct rh_str_list *paths, struct rh_arena *arena,
                          struct rh_error *err)
{
    struct search s = {.calls = calls, .count = count, .arena = arena};
    int rc = 0;
    rh_buf_init(&s.text, RH_EXPLAIN_CALL_MAX_BYTES);
    rh_buf_init(&s.scratch, RH_EXPLAIN_CALL_MAX_BYTES);
    for (size_t i = 0; i < paths->count && rc == 0; i++) {
        s.part = (uint32_t) i;
        s.left = count_of_part(&s);
        rc = s.left > 0 ? read_part(&s, paths->items[i], err) : 0;
    }
    name_missing(&s, paths->count);
    rh_buf_release(&s.text);
    rh_buf_release(&s.scratch);
    return rc;
}
