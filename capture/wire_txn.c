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
