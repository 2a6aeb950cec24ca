/*
 * capture/assemble_keep.c
 *
 * What the filters (capture/session_keep.h) leave of a session of a log.
 */
#include "capture/assembly.h"
#include "common/alloc.h"

enum rh_keep rh_assemble_judge(struct rh_assembler *a, struct rh_log_session *s,
                               const struct rh_pending *p, const struct rh_statement_class *c,
                               const struct rh_record *r)
{
    struct rh_keep_question q = {
        .application = p->application.set ? rh_pending_span(p, p->application) : s->application,
        .start_ns = p->start_ns,
        .text = rh_pending_span(p, p->text),
        .klass = c,
        .record = r,
        .is_written = s->written,
    };
    return rh_session_keep_judge(&s->keep, a->filter, &q);
}

static int put_carried(struct rh_assembler *a, struct rh_log_session *s, struct rh_span text,
                       int64_t start_ns, struct rh_error *err)
{
    struct rh_record r;
    rh_session_keep_carried(&r, text, start_ns);
    r.session = s->number;
    r.ordinal = ++s->ordinal;
    rh_assemble_redact(a, &r);
    a->stats->kinds[RH_KIND_QUERY]++;
    a->stats->succeeded++;
    a->stats->carried++;
    a->stats->held[r.hold] += r.hold != RH_REASON_NONE;
    return a->sink->record(a->sink->context, &r, err);
}

int rh_assemble_put_carried(struct rh_assembler *a, struct rh_log_session *s, int64_t start_ns,
                            struct rh_error *err)
{
    struct rh_session_state *state = rh_session_keep_take(&s->keep);
    int rc = 0;
    if (!state) {
        return 0;
    }
    if (state->incomplete) {
        rc = rh_assemble_gap(a, s, "settings made before the first statement that is kept", 1,
                             start_ns, err);
    }
    for (uint32_t i = 0; i < state->count && rc == 0; i++) {
        rc = put_carried(a, s, state->items[i].text, start_ns, err);
    }
    rh_session_state_release(state);
    rh_free(state);
    return rc;
}

void rh_assemble_redact(struct rh_assembler *a, struct rh_record *r)
{
    if (!a->redact) {
        return;
    }
    if (r->text.data) {
        rh_redactor_text(&a->redactor, r->text, &a->redacted);
        r->text = rh_buf_span(&a->redacted);
    }
    if (r->prepare_text.data) {
        rh_redactor_text(&a->redactor, r->prepare_text, &a->redacted_prepare);
        r->prepare_text = rh_buf_span(&a->redacted_prepare);
    }
    rh_redactor_params(a->params.items, r->param_count);
    r->hold = RH_REASON_REDACTED;
}
