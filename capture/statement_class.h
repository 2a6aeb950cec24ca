/*
 * capture/statement_class.h
 *
 * What a statement's text says about its session and transaction.  Most texts are told to say
 * nothing by their first letters.
 */
#ifndef RH_CAPTURE_STATEMENT_CLASS_H
#define RH_CAPTURE_STATEMENT_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "common/sql_class.h"

enum rh_txn_effect {
    RH_TXN_STAYS,
    RH_TXN_OPENS,  /* its last transaction command is BEGIN */
    RH_TXN_CLOSES, /* COMMIT or ROLLBACK */
    RH_TXN_CHAINS, /* COMMIT or ROLLBACK AND CHAIN */
};

struct rh_statement_class {
    uint32_t bits; /* 1 << enum rh_sql_class of each command */
    enum rh_txn_effect effect;
    bool other;   /* it also has commands that change neither session nor transaction */
    bool lasting; /* COMMIT or ROLLBACK PREPARED, SET CONSTRAINTS, DISCARD of one kind */
};

void rh_statement_classify(struct rh_span text, struct rh_statement_class *c);
bool rh_statement_has(const struct rh_statement_class *c, enum rh_sql_class klass);
/* It changes only the session or its transaction. */
bool rh_statement_is_control(const struct rh_statement_class *c);
/* It has a command that makes settings or prepared statements, or drops them. */
bool rh_statement_changes_session(const struct rh_statement_class *c);
/* It has a command that means something within a transaction only. */
bool rh_statement_changes_transaction(const struct rh_statement_class *c);
/* Other statements depend on it, so that a filter on texts must not drop it.  is_whole: it is a
 * transaction of its own. */
bool rh_statement_must_stay(const struct rh_statement_class *c, bool is_whole);
/* Its text has $1, $2 ... outside of literals. */
bool rh_statement_has_params(struct rh_span text);
/* The text, as logged, was cut: three dots where SQL cannot have them, or the mark with which a
 * cloud's log transport cuts. */
bool rh_statement_is_cut(struct rh_span text);

#endif
