#include "replay/request.h"

#include "formats/pg_write.h"

struct builder {
    struct rh_request *request;
    const struct rh_record *r;
    const struct rh_prepared *prepared;
    struct rh_arena *arena;
    struct rh_span text;
    struct rh_buf *out;
};

/* The parameters' types, if any is known; a log knows none. */
static const uint32_t *types_of(struct builder *b, uint32_t *count)
{
    const struct rh_record *r = b->r;
    *count = 0;
    for (uint32_t i = 0; i < r->param_count; i++) {
        if (r->params[i].type != 0) {
            *count = i + 1;
        }
    }
    if (*count == 0) {
        return NULL;
    }
    uint32_t *types = rh_arena_alloc(b->arena, *count * sizeof *types);
    for (uint32_t i = 0; i < *count; i++) {
        types[i] = r->params[i].type;
    }
    return types;
}

static int add_parse(struct builder *b, struct rh_error *err)
{
    uint32_t type_count;
    const uint32_t *types = types_of(b, &type_count);
    return rh_pg_write_parse(b->out, b->r->statement_name, b->text, types, type_count, err);
}

/*
 * An unnamed statement is always parsed: a log with log_statement does not tell a Parse from its
 * absence, and a driver that binds an unnamed statement again is rare.  A named one is parsed when
 * it is new or its text changed, or when the log shows a Parse; closing it first does no harm if
 * the name is free, and what a log does not show (Close, DEALLOCATE in a function) is made up for.
 */
static int add_preparation(struct builder *b, bool always, struct rh_error *err)
{
    const struct rh_record *r = b->r;
    if (r->statement_name.len == 0) {
        return add_parse(b, err);
    }
    b->request->text_hash = rh_prepared_text_hash(b->text);
    if (!always && !(r->flags & RH_FLAG_HAS_PARSE) &&
        rh_prepared_is(b->prepared, r->statement_name, b->request->text_hash)) {
        return 0;
    }
    b->request->parses = true;
    if (rh_pg_write_close(b->out, RH_PG_STATEMENT, r->statement_name, err) != 0) {
        return -1;
    }
    return add_parse(b, err);
}

/* Sync, or Flush after messages whose answers end so. */
static int add_end(struct builder *b, bool with_sync, enum rh_exchange_end flushed,
                   struct rh_error *err)
{
    b->request->extended = true;
    b->request->end = with_sync ? RH_EXCHANGE_READY : flushed;
    return with_sync ? rh_pg_write_sync(b->out, err) : rh_pg_write_flush(b->out, err);
}

static int build_execute(struct builder *b, bool with_sync, struct rh_error *err)
{
    const struct rh_record *r = b->r;
    const struct rh_pg_bind bind = rh_pg_bind_of(r);
    if (add_preparation(b, false, err) != 0) {
        return -1;
    }
    /* A named portal may still be there, since a log does not show that it was closed. */
    if (r->portal_name.len > 0 &&
        rh_pg_write_close(b->out, RH_PG_PORTAL, r->portal_name, err) != 0) {
        return -1;
    }
    int32_t row_limit = r->row_limit > 0 ? r->row_limit : 0;
    if (rh_pg_write_bind(b->out, &bind, err) != 0 ||
        rh_pg_write_execute(b->out, r->portal_name, row_limit, err) != 0) {
        return -1;
    }
    return add_end(b, with_sync, RH_EXCHANGE_EXECUTION, err);
}

static int build(struct builder *b, bool with_sync, struct rh_error *err)
{
    const struct rh_record *r = b->r;
    struct rh_pg_function_call call;
    switch (r->kind) {
    case RH_KIND_QUERY:
        return rh_pg_write_query(b->out, b->text, err);
    case RH_KIND_EXECUTE:
        return build_execute(b, with_sync, err);
    case RH_KIND_FUNCTION:
        call = rh_pg_function_call_of(r);
        return rh_pg_write_function_call(b->out, &call, err);
    case RH_KIND_FETCH:
        if (rh_pg_write_execute(b->out, r->portal_name, r->row_limit, err) != 0) {
            return -1;
        }
        return add_end(b, with_sync, RH_EXCHANGE_EXECUTION, err);
    case RH_KIND_PROTOCOL:
        /* Within a pipeline there must be an answer to wait for. */
        if (add_preparation(b, !with_sync, err) != 0) {
            return -1;
        }
        return add_end(b, with_sync, RH_EXCHANGE_PARSING, err);
    default:
        return rh_error_set(err, RH_ERR_FORMAT, "a record of kind %d cannot be sent",
                            (int) r->kind);
    }
}

int rh_request_build(struct rh_request *request, const struct rh_record *r, bool with_sync,
                     const struct rh_prepared *prepared, struct rh_arena *arena,
                     struct rh_buf *text, struct rh_buf *out, struct rh_error *err)
{
    size_t before = out->len;
    *request = (struct rh_request){.end = RH_EXCHANGE_READY};
    rh_buf_clear(text);
    if (rh_record_text(r, text) != 0) {
        return rh_error_set(err, RH_ERR_LIMIT, "the text is too long");
    }
    struct builder b = {request, r, prepared, arena, rh_buf_span(text), out};
    if (build(&b, with_sync, err) == 0) {
        return 0;
    }
    out->len = before;
    return -1;
}
