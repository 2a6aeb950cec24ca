#include "formats/pg_write.h"

#include <string.h>

/* Every writer notes where the message begins and appends without looking back: rh_buf remembers an
 * append that did not fit, so message_end() decides once and takes all of it back if anything was
 * wrong. */
struct message {
    struct rh_buf *b;
    size_t start;
    size_t length_at;  /* of the length word */
    const char *wrong; /* the first thing that was */
    char type;         /* 0: none */
    bool over_before;
};

static struct message message_begin(struct rh_buf *b, char type)
{
    struct message m = {.b = b, .start = b->len, .type = type, .over_before = b->over};
    if (type) {
        rh_buf_add_byte(b, (uint8_t) type);
    }
    m.length_at = b->len;
    rh_buf_add_be32(b, 0);
    return m;
}

static int message_end(struct message *m, uint32_t limit, struct rh_error *err)
{
    struct rh_buf *b = m->b;
    size_t length = b->over ? 0 : b->len - m->length_at;
    if (!m->wrong && b->over) {
        m->wrong = "the buffer is full";
    } else if (!m->wrong && length > limit) {
        m->wrong = "it is longer than the server reads";
    }
    if (m->wrong) {
        b->len = m->start;
        b->over = m->over_before;
        return rh_error_set(err, RH_ERR_LIMIT, "protocol message %s%c%s cannot be made: %s",
                            m->type ? "'" : "", m->type ? m->type : '-', m->type ? "'" : "",
                            m->wrong);
    }
    char *at = b->data + m->length_at;
    at[0] = (char) (length >> 24);
    at[1] = (char) (length >> 16);
    at[2] = (char) (length >> 8);
    at[3] = (char) length;
    return 0;
}

static void message_string(struct message *m, struct rh_span s)
{
    if (s.len && memchr(s.data, '\0', s.len)) {
        m->wrong = "a string holds a NUL byte";
        return;
    }
    rh_buf_add_span(m->b, s);
    rh_buf_add_byte(m->b, 0);
}

static bool message_count(struct message *m, uint32_t count)
{
    if (count > RH_PG_COUNT_MAX) {
        m->wrong = "more than 65,535 of a kind";
        return false;
    }
    rh_buf_add_be16(m->b, (uint16_t) count);
    return true;
}

/* How many formats the shortest form has. */
static uint32_t shortest_formats(const struct rh_param *params, uint32_t count)
{
    uint32_t same = 1;
    while (same < count && params[same].format == params[0].format) {
        same++;
    }
    if (same < count) {
        return count;
    }
    return count == 0 || params[0].format == 0 ? 0 : 1;
}

static void message_formats(struct message *m, enum rh_pg_formats how,
                            const struct rh_param *params, uint32_t count)
{
    uint32_t formats = how == RH_PG_FORMATS_SHORTEST ? shortest_formats(params, count)
                       : how == RH_PG_FORMATS_ONE    ? 1
                                                     : count;
    if (!message_count(m, formats)) {
        return;
    }
    for (uint32_t i = 0; i < formats; i++) {
        rh_buf_add_be16(m->b, i < count ? params[i].format : 0);
    }
}

static void message_params(struct message *m, const struct rh_param *params, uint32_t count)
{
    if (!message_count(m, count)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_param *p = &params[i];
        if (!p->data) {
            rh_buf_add_be32(m->b, UINT32_MAX);
        } else if (p->len > RH_PG_LARGE_MAX) {
            m->wrong = "it is longer than the server reads";
            return;
        } else {
            rh_buf_add_be32(m->b, p->len);
            rh_buf_add(m->b, p->data, p->len);
        }
    }
}

static int write_empty(struct rh_buf *b, char type, struct rh_error *err)
{
    struct message m = message_begin(b, type);
    return message_end(&m, RH_PG_SMALL_MAX, err);
}

static int write_object(struct rh_buf *b, char type, enum rh_pg_object object, struct rh_span name,
                        struct rh_error *err)
{
    struct message m = message_begin(b, type);
    rh_buf_add_byte(b, (uint8_t) object);
    message_string(&m, name);
    return message_end(&m, RH_PG_SMALL_MAX, err);
}

int rh_pg_write_query(struct rh_buf *b, struct rh_span sql, struct rh_error *err)
{
    struct message m = message_begin(b, 'Q');
    message_string(&m, sql);
    return message_end(&m, RH_PG_LARGE_MAX, err);
}

int rh_pg_write_parse(struct rh_buf *b, struct rh_span name, struct rh_span sql,
                      const uint32_t *types, uint32_t type_count, struct rh_error *err)
{
    struct message m = message_begin(b, 'P');
    message_string(&m, name);
    message_string(&m, sql);
    if (message_count(&m, type_count)) {
        for (uint32_t i = 0; i < type_count; i++) {
            rh_buf_add_be32(b, types[i]);
        }
    }
    return message_end(&m, RH_PG_LARGE_MAX, err);
}

int rh_pg_write_bind(struct rh_buf *b, const struct rh_pg_bind *bind, struct rh_error *err)
{
    struct message m = message_begin(b, 'B');
    message_string(&m, bind->portal);
    message_string(&m, bind->statement);
    message_formats(&m, bind->formats, bind->params, bind->param_count);
    message_params(&m, bind->params, bind->param_count);
    if (message_count(&m, bind->result_format_count)) {
        for (uint32_t i = 0; i < bind->result_format_count; i++) {
            rh_buf_add_be16(b, bind->result_formats[i]);
        }
    }
    return message_end(&m, RH_PG_LARGE_MAX, err);
}

int rh_pg_write_describe(struct rh_buf *b, enum rh_pg_object object, struct rh_span name,
                         struct rh_error *err)
{
    return write_object(b, 'D', object, name, err);
}

int rh_pg_write_execute(struct rh_buf *b, struct rh_span portal, int32_t max_rows,
                        struct rh_error *err)
{
    struct message m = message_begin(b, 'E');
    message_string(&m, portal);
    rh_buf_add_be32(b, (uint32_t) max_rows);
    return message_end(&m, RH_PG_SMALL_MAX, err);
}

int rh_pg_write_close(struct rh_buf *b, enum rh_pg_object object, struct rh_span name,
                      struct rh_error *err)
{
    return write_object(b, 'C', object, name, err);
}

int rh_pg_write_flush(struct rh_buf *b, struct rh_error *err)
{
    return write_empty(b, 'H', err);
}

int rh_pg_write_sync(struct rh_buf *b, struct rh_error *err)
{
    return write_empty(b, 'S', err);
}

int rh_pg_write_copy_data(struct rh_buf *b, struct rh_span data, struct rh_error *err)
{
    struct message m = message_begin(b, 'd');
    rh_buf_add_span(b, data);
    return message_end(&m, RH_PG_LARGE_MAX, err);
}

int rh_pg_write_copy_done(struct rh_buf *b, struct rh_error *err)
{
    return write_empty(b, 'c', err);
}

int rh_pg_write_copy_fail(struct rh_buf *b, struct rh_span reason, struct rh_error *err)
{
    struct message m = message_begin(b, 'f');
    message_string(&m, reason);
    return message_end(&m, RH_PG_SMALL_MAX, err);
}

int rh_pg_write_function_call(struct rh_buf *b, const struct rh_pg_function_call *call,
                              struct rh_error *err)
{
    struct message m = message_begin(b, 'F');
    rh_buf_add_be32(b, call->function_oid);
    message_formats(&m, call->formats, call->params, call->param_count);
    message_params(&m, call->params, call->param_count);
    rh_buf_add_be16(b, call->result_format);
    return message_end(&m, RH_PG_LARGE_MAX, err);
}

int rh_pg_write_terminate(struct rh_buf *b, struct rh_error *err)
{
    return write_empty(b, 'X', err);
}

int rh_pg_write_cancel(struct rh_buf *b, uint32_t pid, struct rh_span key, struct rh_error *err)
{
    enum { CANCEL_REQUEST = 80877102, KEY_MIN = 4, KEY_MAX = 256 };
    struct message m = message_begin(b, 0);
    rh_buf_add_be32(b, CANCEL_REQUEST);
    rh_buf_add_be32(b, pid);
    if (key.len < KEY_MIN || key.len > KEY_MAX) {
        m.wrong = "a cancel key has 4 to 256 bytes";
    } else {
        rh_buf_add_span(b, key);
    }
    return message_end(&m, RH_PG_SMALL_MAX, err);
}
