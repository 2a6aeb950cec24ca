/*
 * capture/wire_txn.c
 *
 * Transaction marks from command tags within a pipeline and from ReadyForQuery behind it, which is
 * right where they differ.
 */
#include "capture/statement_class.h"
#include "capture/wire_session.h"

static bool tag_is(const struct rh_wire_group *g, const char *tag)
{
    return rh_span_is(g->outcome.tag, tag);
}

/* ROLLBACK is the tag of ROLLBACK TO SAVEPOINT too, and COMMIT AND CHAIN goes on. */
static enum rh_txn_effect effect_of(const struct rh_wire_group *g)
{
    if (g->outcome.sqlstate != 0) {
        return RH_TXN_STAYS;
    }
    if (tag_is(g, "BEGIN") || tag_is(g, "START TRANSACTION")) {
        return RH_TXN_OPENS;
    }
    if (!tag_is(g, "COMMIT") && !tag_is(g, "ROLLBACK") && !tag_is(g, "PREPARE TRANSACTION")) {
        return RH_TXN_STAYS;
    }
    struct rh_statement_class c;
    struct rh_span text = rh_wire_group_span(g, g->text);
    if (!text.data) {
        return RH_TXN_CLOSES;
    }
    rh_statement_classify(text, &c);
    return c.effect;
}

/* What a group says of the transaction that was open before it. */
enum before { BEFORE_UNKNOWN, BEFORE_NONE, BEFORE_OPEN };

static enum before tell_before(const struct rh_wire_group *g)
{
    static const char in_failed_block[] = "25P02";
    struct rh_statement_class c;
    struct rh_span text = rh_wire_group_span(g, g->text);
    if (g->kind == RH_KIND_CANCEL || g->stray || g->skipped) {
        return BEFORE_UNKNOWN;
    }
    if (g->outcome.sqlstate == rh_sqlstate_pack(rh_span_cstr(in_failed_block))) {
        return BEFORE_OPEN;
    }
    if (!text.data) {
        enum rh_txn_effect effect = effect_of(g);
        return effect == RH_TXN_OPENS    ? BEFORE_NONE
               : effect == RH_TXN_CLOSES ? BEFORE_OPEN
                                         : BEFORE_UNKNOWN;
    }
    rh_statement_classify(text, &c);
    if (rh_statement_has(&c, RH_SQL_CLASS_BEGIN)) {
        return BEFORE_NONE;
    }
    return c.effect == RH_TXN_CLOSES || c.effect == RH_TXN_CHAINS ? BEFORE_OPEN : BEFORE_UNKNOWN;
}

void rh_wire_txn_join(struct rh_wire_session *s, uint64_t answered, char ready)
{
    enum before before = BEFORE_UNKNOWN;
    const struct rh_wire_group *g = s->first;
    for (; g && g->next_serial <= answered && before == BEFORE_UNKNOWN; g = g->next) {
        before = tell_before(g);
    }
    if (before == BEFORE_UNKNOWN) {
        before = ready == 'T' || ready == 'E' ? BEFORE_OPEN : BEFORE_NONE;
    }
    s->in_transaction = s->in_block = before == BEFORE_OPEN;
}

uint8_t rh_wire_txn(struct rh_wire_session *s, const struct rh_wire_group *g, char ready)
{
    enum rh_txn_effect effect = effect_of(g);
    uint8_t marks = s->in_transaction ? 0 : RH_TXN_BEGINS;
    bool closes = effect == RH_TXN_CLOSES || effect == RH_TXN_CHAINS;
    bool block = s->in_block || effect == RH_TXN_OPENS || ready == 'T' || ready == 'E';
    bool ends = closes || (ready == 'I');
    s->in_transaction = !ends;
    s->in_block = ready ? ready != 'I' : block && (!closes || effect == RH_TXN_CHAINS);
    return (uint8_t) (marks | (ends ? RH_TXN_ENDS : 0) | (block ? RH_TXN_BLOCK : 0));
}
