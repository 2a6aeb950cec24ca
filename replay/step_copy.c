#include "formats/packet_bytes.h"
#include "formats/pg_write.h"
#include "replay/step_parts.h"

/* The CopyDone and CopyFail among whole messages. */
static void ask_ends(struct rh_step_play *p, struct rh_step_flight *f, struct rh_span messages)
{
    const char *at = messages.data;
    size_t left = messages.len;
    while (left >= 5) {
        uint32_t length = rh_be32(at + 1);
        if (length < 4 || length > left - 1) {
            return;
        }
        if (at[0] == 'c' || at[0] == 'f') {
            rh_pg_wire_ask(&p->wire, at[0]);
            if (f) {
                f->copies_ended++;
            }
        }
        at += (size_t) length + 1;
        left -= (size_t) length + 1;
    }
}

static void send_detail(struct rh_step_play *p, struct rh_step_flight *f, const struct rh_record *r)
{
    rh_buf_add_span(&p->session->worker->out, r->detail);
    if (p->in_series || rh_step_outstanding(p) > 1) {
        rh_step_gate_uncover(&p->gate, rh_step_outstanding(p));
    }
    ask_ends(p, f, r->detail);
}

enum fate { WAIT, SEND, DROP };

/*
 * Production's client may have sent data that its server did not want any more, and the server
 * ignores such data.  But where only the candidate fails, its client would have stopped.
 */
static enum fate fate_of(const struct rh_step_play *p, const struct rh_step_flight *f,
                         const struct rh_record *r)
{
    if (!f) {
        return p->done_ordinal == r->ordinal && p->done_failed ? SEND : DROP;
    }
    if (f == p->first && p->wire.copying) {
        return SEND;
    }
    if (!f->settled) {
        return WAIT;
    }
    return f->production_failed ? SEND : DROP;
}

enum rh_step_turn rh_step_send_copy(struct rh_step_play *p, struct rh_record *r)
{
    struct rh_step_flight *f = p->last && p->last->record->ordinal == r->ordinal ? p->last : NULL;
    if (!p->has_begun) {
        enum fate fate = fate_of(p, f, r);
        if (fate == WAIT) {
            return RH_STEP_WAITS;
        }
        if (fate == SEND) {
            send_detail(p, f, r);
        }
        p->has_begun = true;
    }
    if (rh_step_send_steps(p, f, r, &p->step) == RH_STEP_WAITS) {
        return RH_STEP_WAITS;
    }
    rh_step_move_on(p);
    rh_step_settle(p);
    return RH_STEP_GOES_ON;
}

/* A Sync that was sent with the Execute was taken in silence. */
static bool lost_a_sync(const struct rh_step_play *p)
{
    char type;
    for (uint32_t i = 0; (type = rh_pg_wire_queue_at(&p->wire.queue, i)) != '\0'; i++) {
        if (type == RH_PG_WIRE_MUTE) {
            return true;
        }
    }
    return false;
}

static void fail_copy(struct rh_step_play *p, struct rh_step_flight *f)
{
    struct rh_buf *out = &p->session->worker->out;
    bool needs_sync = lost_a_sync(p);
    if (rh_pg_write_copy_fail(out, RH_SPAN_LITERAL("the capture has no COPY data"), NULL) != 0) {
        return;
    }
    f->copy_failed = true;
    f->copies_ended++;
    rh_pg_wire_ask(&p->wire, 'f');
    if (needs_sync && rh_pg_write_sync(out, NULL) == 0) {
        rh_step_gate_note_extra(&p->gate, 'S');
        rh_step_ask(p, f == p->last ? f : NULL, 'S');
    }
}

enum rh_step_turn rh_step_answer_copy(struct rh_step_play *p, bool *answered)
{
    struct rh_step_flight *f = p->first;
    bool at_end = false;
    if (f == p->last) {
        bool is_at_it = p->has_begun && !f->all_sent && p->resume != f;
        struct rh_record *r = is_at_it ? rh_step_peek(p, &at_end) : rh_step_cursor(p, &at_end);
        if (!r && !at_end) {
            return RH_STEP_WAITS;
        }
        if (r && r->kind == RH_KIND_COPY_DATA && r->ordinal == f->record->ordinal) {
            f->has_copy = true;
            return RH_STEP_GOES_ON;
        }
        /* One that ended without CopyDone: a cancel will end it, or its client went away. */
        if (f->has_copy && (at_end || r->kind == RH_KIND_CANCEL)) {
            return RH_STEP_GOES_ON;
        }
    }
    *answered = true;
    fail_copy(p, f);
    return RH_STEP_GOES_ON;
}
