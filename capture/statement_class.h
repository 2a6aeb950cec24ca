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
};

void rh_statement_classify(struct rh_span text, struct rh_statement_class *c);
bool rh_statement_has(const struct rh_statement_class *c, enum rh_sql_class klass);
/* It changes only the session or its transaction. */
bool rh_statement_is_control(const struct rh_statement_class *c);
/* Its text has $1, $2 ... outside of literals. */
bool rh_statement_has_params(struct rh_span text);
/* The text, as logged, was cut: three dots where SQL cannot have them, or the mark with which a
 * cloud's log transport cuts. */
bool rh_statement_is_cut(struct rh_span text);

#endif
