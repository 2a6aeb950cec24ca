#include <string.h>

#include "formats/record.h"
#include "replay/null_session_parts.h"

void rh_null_session_ready(struct rh_null_session *s, struct rh_buf *out)
{
    if (s->status == 'I') {
        rh_null_portals_forget_all(s);
    }
    rh_null_write_ready(out, s->status);
}

void rh_null_session_error(struct rh_null_session *s, const char *sqlstate, const char *message,
                           struct rh_buf *out)
{
    const struct rh_null_error error = {
        .severity = "ERROR",
        .sqlstate = rh_sqlstate_pack(rh_span_cstr(sqlstate)),
        .message = message,
    };
    rh_null_write_error(out, &error);
    s->counts->errors++;
    s->work.stage = RH_NULL_IDLE;
    if (s->phase == RH_NULL_COPYING) {
        s->phase = RH_NULL_COMMANDS;
    }
    if (s->status == 'T') {
        s->status = 'E';
    }
    if (s->in_query) {
        s->in_query = false;
        rh_null_session_ready(s, out);
    } else {
        s->skipping = true;
    }
}

enum rh_null_turn rh_null_session_fatal(struct rh_null_session *s, const char *sqlstate,
                                        const char *message, struct rh_buf *out)
{
    const struct rh_null_error error = {
        .severity = "FATAL",
        .sqlstate = rh_sqlstate_pack(rh_span_cstr(sqlstate)),
        .message = message,
    };
    rh_null_write_error(out, &error);
    s->counts->errors++;
    s->phase = RH_NULL_ENDED;
    return RH_NULL_ENDS;
}

bool rh_null_session_is_failed(const struct rh_null_session *s, const struct rh_null_answer *a)
{
    return s->status == 'E' && !a->is_rollback_to && a->klass != RH_SQL_CLASS_COMMIT &&
           a->klass != RH_SQL_CLASS_ROLLBACK && a->klass != RH_SQL_CLASS_CHAIN &&
           a->reply != RH_NULL_EMPTY;
}

struct rh_null_shape rh_null_session_shape(const struct rh_null_session *s,
                                           const struct rh_null_answer *a, uint64_t binary_mask)
{
    return (struct rh_null_shape){
        .columns = s->options->columns,
        .width = a->width,
        .value = a->value,
        .binary_mask = binary_mask,
    };
}

/* Every 1/fraction-th statement of a session fails, so that a test can count on it. */
static bool fails_by_chance(struct rh_null_session *s, const struct rh_null_answer *a)
{
    if (!a->may_fail || s->options->error_fraction <= 0) {
        return false;
    }
    s->error_debt += s->options->error_fraction;
    if (s->error_debt < 1) {
        return false;
    }
    s->error_debt -= 1;
    return true;
}

/* What the command does to the transaction and to what is prepared. */
static void follow(struct rh_null_session *s, const struct rh_null_answer *a)
{
    switch (a->klass) {
    case RH_SQL_CLASS_BEGIN:
        s->status = 'T';
        break;
    case RH_SQL_CLASS_COMMIT:
    case RH_SQL_CLASS_ROLLBACK:
        s->status = 'I';
        break;
    case RH_SQL_CLASS_CHAIN:
    case RH_SQL_CLASS_SAVEPOINT:
        s->status = s->status == 'E' ? 'T' : s->status;
        break;
    case RH_SQL_CLASS_DEALLOCATE:
        rh_null_prepared_forget(s, a->name_hash);
        break;
    case RH_SQL_CLASS_DEALLOCATE_ALL:
    case RH_SQL_CLASS_DISCARD_ALL:
        rh_null_prepared_forget_all(s);
        break;
    default:
        break;
    }
}

static void finish(struct rh_null_session *s, struct rh_buf *out)
{
    struct rh_null_work *w = &s->work;
    const struct rh_null_answer *a = &w->answer;
    w->stage = RH_NULL_IDLE;
    if (a->reply == RH_NULL_EMPTY) {
        rh_null_write_empty(out, 'I');
        return;
    }
    if (w->suspends) {
        rh_null_write_empty(out, 's');
        return;
    }
    if (w->portal) {
        w->portal->is_done = true;
    }
    bool rolls_back = a->klass == RH_SQL_CLASS_COMMIT && s->status == 'E';
    follow(s, a);
    if (rolls_back) {
        rh_null_write_tag(out, "ROLLBACK", -1);
    } else {
        rh_null_write_tag(out, a->tag, a->has_count ? (int64_t) w->count : -1);
    }
}

/* The answer begins, or is an error. */
static enum rh_null_turn answer(struct rh_null_session *s, struct rh_buf *out)
{
    struct rh_null_work *w = &s->work;
    const struct rh_null_answer *a = &w->answer;
    char state[6];
    if (a->end == RH_NULL_END_CLOSE) {
        s->phase = RH_NULL_ENDED;
        return RH_NULL_ENDS;
    }
    if (rh_null_session_is_failed(s, a)) {
        rh_null_session_error(s, "25P02", RH_NULL_FAILED_TEXT, out);
        return RH_NULL_READS;
    }
    if (a->sqlstate) {
        rh_sqlstate_unpack(a->sqlstate, state);
        if (a->end == RH_NULL_END_FATAL) {
            return rh_null_session_fatal(s, state, a->why, out);
        }
        rh_null_session_error(s, state, a->why, out);
        return RH_NULL_READS;
    }
    if (fails_by_chance(s, a)) {
        rh_null_session_error(s, rh_sqlstate_unpack(s->options->error_state, state),
                              "it was this statement's turn to fail", out);
        return RH_NULL_READS;
    }
    const struct rh_null_shape shape = rh_null_session_shape(s, a, 0);
    w->stage = RH_NULL_SENDING;
    if (a->reply == RH_NULL_ROWS && !w->portal) {
        rh_null_write_description(out, &shape);
    } else if (a->reply == RH_NULL_COPY_OUT) {
        rh_null_write_copy(out, 'H', shape.columns);
    } else if (a->reply == RH_NULL_COPY_IN) {
        rh_null_write_copy(out, 'G', shape.columns);
        w->stage = RH_NULL_TAKING;
        s->phase = RH_NULL_COPYING;
        s->copy_head_len = 0;
        s->copy_left = 0;
    }
    return RH_NULL_READS;
}

/* All rows are the same: the second and later ones are copies of the first in out. */
static void send_rows(struct rh_null_session *s, struct rh_buf *out)
{
    struct rh_null_work *w = &s->work;
    const struct rh_null_shape shape =
        rh_null_session_shape(s, &w->answer, w->portal ? w->portal->binary_mask : 0);
    size_t first = 0, size = 0;
    while (w->left > 0 && out->len < RH_NULL_OUT_HIGH) {
        if (size > 0) {
            char *at = rh_buf_reserve(out, size);
            memcpy(at, out->data + first, size);
            out->len += size;
        } else {
            first = out->len;
            if (w->answer.reply == RH_NULL_COPY_OUT) {
                rh_null_write_copy_row(out, &shape);
            } else {
                rh_null_write_row(out, &shape);
            }
            size = out->len - first;
        }
        w->left--;
        w->count++;
        s->counts->rows++;
    }
}

/* Whether the command gives rows that have to be sent. */
static bool has_rows(const struct rh_null_answer *a)
{
    return a->reply == RH_NULL_ROWS || a->reply == RH_NULL_COPY_OUT;
}

/* Go on with the command until it ends (RH_NULL_IDLE), takes COPY data, or has to stop. */
static enum rh_null_turn work(struct rh_null_session *s, struct rh_buf *out)
{
    struct rh_null_work *w = &s->work;
    if (w->stage == RH_NULL_BEGUN) {
        s->counts->statements++;
        w->stage = RH_NULL_DUE;
        if (w->answer.delay_ns > 0) {
            s->delay_ns = w->answer.delay_ns;
            return RH_NULL_WAITS;
        }
    }
    if (w->is_cancelled) {
        rh_null_session_error(s, "57014", "canceling statement due to user request", out);
        return RH_NULL_READS;
    }
    if (w->stage == RH_NULL_DUE) {
        enum rh_null_turn turn = answer(s, out);
        if (turn != RH_NULL_READS || w->stage != RH_NULL_SENDING) {
            return turn;
        }
    }
    if (has_rows(&w->answer)) {
        send_rows(s, out);
        if (w->left > 0) {
            return RH_NULL_WRITES;
        }
        if (w->answer.reply == RH_NULL_COPY_OUT) {
            rh_null_write_empty(out, 'c');
        }
    }
    finish(s, out);
    return RH_NULL_READS;
}

static void work_begin(struct rh_null_session *s, struct rh_null_portal *portal, uint64_t rows,
                       bool suspends)
{
    struct rh_null_work *w = &s->work;
    w->stage = RH_NULL_BEGUN;
    w->portal = portal;
    w->suspends = suspends;
    w->is_cancelled = false;
    w->left = has_rows(&w->answer) ? rows : 0;
    w->count = w->answer.reply == RH_NULL_TAG ? w->answer.rows : 0;
}

/* The text of a query that stops is the caller's, and gone by the time it goes on. */
static void keep_rest(struct rh_null_session *s)
{
    struct rh_sql_scan *scan = &s->commands.scan;
    struct rh_span rest = rh_span(scan->data + scan->pos, scan->len - scan->pos);
    if (s->rest.data && scan->data == s->rest.data) {
        return;
    }
    rh_buf_clear(&s->rest);
    rh_buf_add_span(&s->rest, rest);
    rh_sql_commands_init(&s->commands, rh_buf_span(&s->rest), false);
}

/* Go on with a simple query. */
static enum rh_null_turn query(struct rh_null_session *s, struct rh_buf *out)
{
    enum rh_null_turn turn = RH_NULL_READS;
    while (turn == RH_NULL_READS && s->in_query) {
        struct rh_sql_command command;
        if (s->work.stage == RH_NULL_IDLE && out->len >= RH_NULL_OUT_HIGH) {
            turn = RH_NULL_WRITES;
        } else if (s->work.stage != RH_NULL_IDLE) {
            turn = work(s, out);
        } else if (rh_sql_commands_next(&s->commands, &command) == 1) {
            s->is_empty = false;
            rh_null_answer_make(&s->work.answer, &command, s->options);
            work_begin(s, NULL, s->work.answer.rows, false);
        } else {
            s->in_query = false;
            if (s->is_empty) {
                rh_null_write_empty(out, 'I');
            }
            rh_null_session_ready(s, out);
        }
        if (s->phase == RH_NULL_COPYING) {
            break;
        }
    }
    if (s->in_query) {
        keep_rest(s);
    } else {
        rh_buf_release(&s->rest);
    }
    return turn;
}

enum rh_null_turn rh_null_query_begin(struct rh_null_session *s, struct rh_span text,
                                      struct rh_buf *out)
{
    s->in_query = true;
    s->is_empty = true;
    s->work.stage = RH_NULL_IDLE;
    rh_sql_commands_init(&s->commands, text, false);
    return query(s, out);
}

enum rh_null_turn rh_null_portal_run(struct rh_null_session *s, struct rh_null_portal *portal,
                                     uint32_t limit, struct rh_buf *out)
{
    bool is_limited = limit > 0 && portal->answer.reply == RH_NULL_ROWS && limit <= portal->left;
    uint64_t rows = is_limited ? limit : portal->left;
    if (portal->is_done && portal->answer.reply != RH_NULL_ROWS) {
        rh_null_session_error(s, "55000", "portal cannot be run", out);
        return RH_NULL_READS;
    }
    s->work.answer = portal->answer;
    if (portal->is_begun) {
        s->work.answer.delay_ns = 0;
        s->work.answer.may_fail = false;
    }
    portal->is_begun = true;
    portal->left -= rows;
    work_begin(s, portal, rows, is_limited);
    return work(s, out);
}

enum rh_null_turn rh_null_work_resume(struct rh_null_session *s, struct rh_buf *out)
{
    if (s->in_query) {
        return s->work.stage == RH_NULL_TAKING ? RH_NULL_READS : query(s, out);
    }
    bool runs = s->work.stage != RH_NULL_IDLE && s->work.stage != RH_NULL_TAKING;
    return runs ? work(s, out) : RH_NULL_READS;
}

enum rh_null_turn rh_null_work_copied(struct rh_null_session *s, bool failed, struct rh_buf *out)
{
    s->phase = RH_NULL_COMMANDS;
    if (failed || s->work.is_cancelled) {
        rh_null_session_error(s, "57014", "COPY from stdin failed", out);
    } else {
        finish(s, out);
    }
    return rh_null_work_resume(s, out);
}
