/*
 * replay/null_answer.h
 *
 * What the null server answers to one SQL command.  No SQL is parsed: the first words tell the kind
 * and the tag, and a comment may ask for more:
 *
 *     / * null: rows 100, width 20, delay 5ms * /     (without the blanks within the marks)
 *     error 40001    the answer is this error
 *     fatal 57P01    the same, and the connection ends
 *     close          the connection ends without a word
 *     rows N, width N, delay TIME    in place of the options of the same name
 *
 * Queries on the catalogues (pg_catalog., information_schema.) give no row, except those that ask
 * for a setting.
 */
#ifndef RH_REPLAY_NULL_ANSWER_H
#define RH_REPLAY_NULL_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "common/sql_class.h"
#include "replay/null_options.h"

enum rh_null_reply {
    RH_NULL_EMPTY, /* EmptyQueryResponse */
    RH_NULL_TAG,   /* CommandComplete alone */
    RH_NULL_ROWS,
    RH_NULL_COPY_IN,
    RH_NULL_COPY_OUT,
};

enum rh_null_end {
    RH_NULL_END_NONE,
    RH_NULL_END_FATAL, /* the error is FATAL */
    RH_NULL_END_CLOSE, /* closed without an answer */
};

struct rh_null_answer {
    enum rh_null_reply reply;
    enum rh_sql_class klass;
    enum rh_null_end end;
    bool is_rollback_to; /* allowed in a failed transaction */
    bool has_count;      /* the tag ends with the number of rows */
    bool may_fail;       /* by the options' error_fraction */
    const char *tag;     /* "INSERT 0", "CREATE TABLE"; static */
    const char *value;   /* of the first column, static or the options'; NULL: filled to width */
    uint64_t rows;
    uint32_t width;
    uint32_t sqlstate;  /* packed; 0: it succeeds */
    const char *why;    /* the error's message, static */
    uint64_t name_hash; /* RH_SQL_CLASS_DEALLOCATE: rh_hash() of the name */
    int64_t delay_ns;
};

/* The options stay as long as the answer. */
void rh_null_answer_make(struct rh_null_answer *a, const struct rh_sql_command *command,
                         const struct rh_null_options *options);

/* The value that SHOW gives; "" for a setting that is not known. */
const char *rh_null_setting(struct rh_span name, const struct rh_null_options *options);

#endif
