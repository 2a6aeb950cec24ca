#include <assert.h>
#include <stdio.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "formats/pg_wire_outcome.h"
#include "replay/step_parts.h"

struct rh_step_flight *rh_step_flight_new(struct rh_step_play *p, struct rh_record *r)
{
    struct rh_step_flight *f = p->unused;
    if (f) {
        p->unused = f->next;
    } else {
        f = rh_malloc(sizeof *f);
    }
    uint32_t state = r->outcome.sqlstate;
    *f = (struct rh_step_flight){
        .record = r,
        .captured_ns = r->start_ns,
        .has_copy = rh_step_has(r, 'd'),
        .production_failed = state != 0 && state != RH_SQLSTATE_UNKNOWN,
        .production_canceled = r->flags & RH_FLAG_CANCELED,
    };
    if (p->last) {
        p->last->next = f;
    } else {
        p->first = f;
    }
    p->last = f;
    return f;
}

static void drop_first(struct rh_step_play *p)
{
    struct rh_step_flight *f = p->first;
    p->first = f->next;
    p->last = p->first ? p->last : NULL;
    f->next = p->unused;
    p->unused = f;
}

static void take_answer(struct rh_step_play *p, const struct rh_pg_wire_event *ev)
{
    struct rh_step_flight *f = p->first;
    if (!f || ev->serial < f->first_serial || ev->serial >= f->end_serial) {
        return; /* a Sync that was sent for no record */
    }
    struct rh_record *r = f->record;
    uint32_t marks = rh_pg_wire_outcome_add(&r->outcome, f->tag, r->kind == RH_KIND_PROTOCOL, ev);
    f->settled = f->settled || (marks & RH_PG_WIRE_SETTLED);
    f->not_run = f->not_run || (marks & RH_PG_WIRE_NOT_RUN);
    f->lost = f->lost || (marks & RH_PG_WIRE_LOST);
    rh_step_settle(p);
}

void rh_step_event(void *context, const struct rh_pg_wire_event *ev)
{
    struct rh_step_play *p = context;
    if (ev->type == RH_PG_WIRE_ON_ANSWER) {
        take_answer(p, ev);
    } else if (ev->type == RH_PG_WIRE_ON_FATAL) {
        p->has_fatal = true;
        p->fatal = ev->sqlstate;
    }
}

/* It never ran: as in the replay of a log, where what follows an error is not sent. */
static void mark_not_run(struct rh_record *r)
{
    r->run.fate = RH_FATE_NOT_SENT;
    r->run.reason = RH_REASON_PROTOCOL;
    r->run.sent_ns = r->run.ready_ns = RH_TIME_UNKNOWN;
    r->start_ns = r->run.planned_ns;
    r->flags |= RH_FLAG_SKIPPED;
    rh_outcome_clear(&r->outcome);
}

static void end_record(struct rh_step_play *p, struct rh_step_flight *f)
{
    struct rh_replay_session *s = p->session;
    struct rh_record *r = f->record;
    r->outcome.tag = rh_arena_copy(&s->batch->arena, r->outcome.tag);
    r->run.fate = RH_FATE_DONE;
    if (f->lost) {
        r->run.fate = RH_FATE_LOST;
        r->outcome.sqlstate = RH_SQLSTATE_UNKNOWN;
    } else if (f->copy_failed) {
        r->run.fate = RH_FATE_SKIPPED;
        r->run.reason = RH_REASON_NO_COPY_DATA;
    } else if (f->unmade) {
        r->run.fate = RH_FATE_SKIPPED;
        r->run.reason = RH_REASON_DAMAGED;
    } else if (f->not_run) {
        mark_not_run(r);
    } else if (f->was_cancelled &&
               r->outcome.sqlstate == rh_sqlstate_pack(RH_SPAN_LITERAL("57014"))) {
        r->flags |= RH_FLAG_CANCELED;
    }
    p->done_ordinal = r->ordinal;
    p->done_failed = f->production_failed;
    drop_first(p);
    rh_replay_session_advance(s, r);
}

static bool is_complete(const struct rh_step_play *p, const struct rh_step_flight *f)
{
    return f->all_sent &&
           (f->first_serial == f->end_serial || p->wire.queue.serial >= f->end_serial);
}

void rh_step_settle(struct rh_step_play *p)
{
    struct rh_replay_session *s = p->session;
    while (p->batch && s->batch && !(s->batch == p->batch && s->batch->pos == p->index)) {
        if (s->batch->pos == s->batch->count) {
            rh_replay_session_next_batch(s);
            continue;
        }
        struct rh_record *r = &s->batch->records[s->batch->pos];
        struct rh_step_flight *f = p->first;
        if (!rh_kind_has_ordinal(r->kind)) {
            s->batch->pos++;
        } else if (!f || f->record != r) {
            rh_replay_session_advance(s, r); /* it was passed over */
        } else if (is_complete(p, f)) {
            end_record(p, f);
        } else {
            return;
        }
    }
}

void rh_step_play_lose(struct rh_step_play *p, int64_t now_ns)
{
    int64_t wall_ns = rh_replay_session_wall_ns(p->session, now_ns);
    for (struct rh_step_flight *f = p->first; f; f = f->next) {
        if (!is_complete(p, f)) {
            f->lost = f->all_sent = true;
            f->first_serial = f->end_serial;
            f->record->outcome.done_ns = wall_ns;
        }
    }
    if (p->has_begun) {
        rh_step_move_on(p);
    }
    p->resume = NULL;
    rh_step_settle(p);
    assert(!p->first);
}

/* False: the connection is gone. */
static bool lose(struct rh_step_play *p, const char *how)
{
    rh_replay_session_lose(p->session, how);
    return false;
}

bool rh_step_play_take(struct rh_step_play *p, const struct rh_pg_event *ev, int64_t now_ns)
{
    char how[64];
    char state[6];
    uint64_t strays = p->wire.counts.strays;
    uint64_t unknown = p->wire.counts.unknown;
    bool was_busy = p->first;
    p->wire.time_ns = rh_replay_session_wall_ns(p->session, now_ns);
    if (ev->type != 'W') {
        rh_pg_wire_answer(&p->wire, ev);
    }
    if (was_busy && !p->first) {
        p->session->ready_ns = now_ns;
        p->session->has_answered = true;
    }
    if (ev->type == 'G' && p->first) {
        p->first->copies_begun++;
    }
    if (p->has_fatal) {
        snprintf(how, sizeof how, "the server ended the session (%s)",
                 rh_sqlstate_unpack(p->fatal, state));
        return lose(p, how);
    }
    /* Errors may come at any time, and one Sync more may be answered than the server's rules say
     * when a COPY fails before it has read it. */
    bool is_stray = p->wire.counts.strays > strays && ev->type != 'E' && ev->type != 'Z';
    if (is_stray || p->wire.counts.unknown > unknown || ev->type == 'W') {
        snprintf(how, sizeof how, "unexpected message 0x%02x from the server",
                 (unsigned) (unsigned char) ev->type);
        return lose(p, how);
    }
    return true;
}
