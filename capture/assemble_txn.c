/*
 * capture/assemble_txn.c
 *
 * Transaction marks.  A virtual transaction id stays the same from BEGIN to COMMIT, and through one
 * implicit transaction up to Sync; what is logged after the commit carries 0; an aborted block has
 * lost its id, but the process display says that it is still in one.  Where none of these is
 * logged, the commands in the text decide.
 */
#include "capture/assembly.h"

/* Before the statement: is a transaction open to which it belongs? */
static bool continues(const struct rh_log_session *s, const struct rh_pending *p,
                      const struct rh_statement_class *c)
{
    if (!s->txn_open || p->idle == RH_LOG_IDLE) {
        return false;
    }
    if (p->lxid != 0 && s->txn_lxid != 0 && p->lxid != s->txn_lxid) {
        return false; /* the end of the last one was not logged */
    }
    /* A simple command that is no COMMIT cannot end a block: the block had ended unseen. */
    if (p->ended_known && p->end_lxid == 0 && p->sqlstate == 0 && c->effect == RH_TXN_STAYS) {
        return false;
    }
    return true;
}

static bool ends_by_text(const struct rh_pending *p, const struct rh_statement_class *c,
                         bool in_block)
{
    bool failed = p->sqlstate != 0 && p->sqlstate != RH_SQLSTATE_UNKNOWN;
    switch (c->effect) {
    case RH_TXN_OPENS:
        return false; /* a block that fails stays open until it is rolled back */
    case RH_TXN_CLOSES:
    case RH_TXN_CHAINS:
        return !failed || !rh_statement_has(c, RH_SQL_CLASS_BEGIN);
    case RH_TXN_STAYS:
        break;
    }
    return !in_block;
}

static bool ends(const struct rh_pending *p, const struct rh_statement_class *c,
                 const struct rh_follow *follow, uint64_t lxid, bool in_block)
{
    if (c->effect == RH_TXN_CHAINS) {
        return true;
    }
    if (p->ended_known && p->sqlstate == 0) {
        return p->end_lxid == 0;
    }
    if (follow->known && follow->lxid != 0 && lxid != 0) {
        return follow->lxid != lxid;
    }
    if (follow->known && follow->idle != RH_LOG_BUSY) {
        return follow->idle == RH_LOG_IDLE;
    }
    return ends_by_text(p, c, in_block);
}

uint8_t rh_assemble_txn(struct rh_log_session *s, const struct rh_pending *p,
                        const struct rh_statement_class *c, const struct rh_follow *follow)
{
    bool within = continues(s, p, c);
    uint64_t lxid = p->lxid ? p->lxid : within ? s->txn_lxid : 0;
    bool block = (within && s->in_block) || p->idle == RH_LOG_IDLE_IN_BLOCK ||
                 rh_statement_has(c, RH_SQL_CLASS_BEGIN) ||
                 (p->ended_known && p->end_lxid != 0 && p->sqlstate == 0) ||
                 (follow->known && follow->idle == RH_LOG_IDLE_IN_BLOCK &&
                  (follow->lxid == lxid || follow->lxid == 0 || lxid == 0));
    bool over = ends(p, c, follow, lxid, block);
    uint8_t marks = (uint8_t) ((within ? 0 : RH_TXN_BEGINS) | (over ? RH_TXN_ENDS : 0) |
                               (block ? RH_TXN_BLOCK : 0));
    s->txn_open = !over;
    s->in_block = block && (!over || c->effect == RH_TXN_CHAINS);
    if (!over) {
        s->txn_lxid = lxid ? lxid : p->end_lxid;
    } else {
        s->txn_lxid = 0;
    }
    return marks;
}
