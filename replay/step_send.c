#include "common/clock.h"
#include "formats/pg_write.h"
#include "replay/step_parts.h"

bool rh_step_flush(struct rh_step_play *p)
{
    struct rh_replay_session *s = p->session;
    return s->worker->out.len == 0 || rh_replay_session_send(s) == 0;
}

void rh_step_ask(struct rh_step_play *p, struct rh_step_flight *f, char type)
{
    if (f) {
        if (f->first_serial == f->end_serial) {
            f->first_serial = p->wire.queue.next_serial;
        }
        /* The answer may be told at once: that the server skips it. */
        f->end_serial = p->wire.queue.next_serial + 1;
    }
    rh_pg_wire_ask(&p->wire, type);
}

static void note_sent(struct rh_step_play *p, char letter)
{
    char type = rh_step_type(letter);
    rh_step_gate_note(&p->gate, letter, true);
    if (type == 'S' || type == 'Q' || type == 'F') {
        p->in_series = false;
    } else if (type != 'H') {
        p->in_series = true;
    }
}

/* A connection that is not the session's first has no unnamed statement, though the capture's had
 * one. */
static bool lacks_parse(const struct rh_step_play *p, const struct rh_record *r, char letter)
{
    return p->is_fresh && rh_step_type(letter) == 'B' && r->statement_name.len == 0 &&
           (r->text.data || r->tmpl.data);
}

static int write_step(struct rh_step_play *p, struct rh_step_flight *f, const struct rh_record *r,
                      char letter)
{
    struct rh_worker *w = p->session->worker;
    struct rh_arena *arena = &p->batch->arena;
    struct rh_error err;
    bool parse = lacks_parse(p, r, letter);
    if (rh_step_has_text(letter) || parse) {
        rh_buf_clear(&w->text);
        if (rh_record_text(r, &w->text) != 0) {
            return -1;
        }
    }
    if (parse && rh_step_write('P', r, rh_buf_span(&w->text), arena, &w->out, &err) == 0) {
        rh_step_gate_note_extra(&p->gate, 'P');
        rh_step_ask(p, f, 'P');
        p->is_fresh = false;
    }
    if (rh_step_write(letter, r, rh_buf_span(&w->text), arena, &w->out, &err) != 0) {
        return -1;
    }
    if (rh_step_type(letter) == 'P' && r->statement_name.len == 0) {
        p->is_fresh = false;
    }
    return 0;
}

enum rh_step_turn rh_step_send_steps(struct rh_step_play *p, struct rh_step_flight *f,
                                     struct rh_record *r, uint32_t *step)
{
    for (; *step < rh_step_count(r); (*step)++) {
        char letter = rh_step_letter(r, *step);
        if (letter == 'd' && r->kind != RH_KIND_COPY_DATA) {
            p->resume = f;
            p->resume_step = *step + 1;
            return RH_STEP_GOES_ON;
        }
        if (letter == 'd') {
            continue; /* it was sent before the steps */
        }
        if (!rh_step_gate_is_open(&p->gate, rh_step_awaits(r, *step), rh_step_outstanding(p))) {
            return RH_STEP_WAITS;
        }
        if (write_step(p, f, r, letter) != 0) {
            /* Only bytes that no client can have sent end here. */
            if (f) {
                f->unmade = true;
            }
            rh_step_gate_note(&p->gate, letter, false);
            continue;
        }
        note_sent(p, letter);
        if (rh_step_is_answered(letter)) {
            rh_step_ask(p, f, rh_step_type(letter));
        }
    }
    return RH_STEP_GOES_ON;
}

/* False: it waits.  Sets when it could have been sent. */
static bool is_due(struct rh_step_play *p, const struct rh_record *r, int64_t now_ns)
{
    struct rh_replay_session *s = p->session;
    bool is_max = s->worker->engine->plan->speed_is_max;
    if (rh_step_count(r) > 0 &&
        !rh_step_gate_is_open(&p->gate, rh_step_awaits(r, 0), rh_step_outstanding(p))) {
        p->is_blocked = true;
        return false;
    }
    if ((p->is_blocked || is_max) && s->order_since_ns == 0) {
        s->ready_ns = now_ns;
        s->has_answered = s->has_answered || p->is_blocked;
        p->is_blocked = false;
    }
    int64_t planned_ns = rh_replay_session_planned_ns(s, r);
    if (!is_max && planned_ns > now_ns) {
        rh_timer_arm(s->worker->loop, &s->timer, planned_ns);
        return false;
    }
    return true;
}

static void begin(struct rh_step_play *p, struct rh_record *r, int64_t now_ns)
{
    struct rh_replay_session *s = p->session;
    struct rh_step_flight *f = rh_step_flight_new(p, r);
    f->sent_ns = now_ns;
    rh_replay_session_stamp(s, r, now_ns);
    s->has_sent = true;
    s->state = RH_REPLAY_BUSY;
    s->purpose = RH_PURPOSE_RECORD;
    p->has_begun = true;
    p->cancel_tries = 0;
}

enum rh_step_turn rh_step_send_record(struct rh_step_play *p, struct rh_record *r)
{
    if (!p->has_begun) {
        struct rh_replay_session *s = p->session;
        int64_t now_ns = rh_clock_mono_ns();
        if (!is_due(p, r, now_ns) ||
            (s->worker->engine->order && !rh_replay_session_may_begin(s, r))) {
            return RH_STEP_WAITS;
        }
        begin(p, r, now_ns);
    }
    struct rh_step_flight *f = p->last;
    if (rh_step_send_steps(p, f, r, &p->step) == RH_STEP_WAITS) {
        return RH_STEP_WAITS;
    }
    f->all_sent = p->resume != f;
    rh_step_move_on(p);
    rh_step_settle(p);
    return RH_STEP_GOES_ON;
}

void rh_step_pass_record(struct rh_step_play *p, struct rh_record *r)
{
    struct rh_error err;
    for (size_t i = 0; i < rh_step_count(r); i++) {
        char letter = rh_step_letter(r, i);
        bool ends =
            letter == 'S' && p->in_series && rh_pg_write_sync(&p->session->worker->out, &err) == 0;
        if (ends) {
            note_sent(p, 'S');
            rh_step_ask(p, NULL, 'S');
        } else {
            rh_step_gate_note(&p->gate, letter, false);
        }
    }
    rh_replay_session_stamp_passed(p->session, r);
    rh_step_move_on(p);
    rh_step_settle(p);
}
