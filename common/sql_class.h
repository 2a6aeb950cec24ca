/*
 * common/sql_class.h
 *
 * What the commands of a query string do to their session, as far as the first words tell.
 */
#ifndef RH_COMMON_SQL_CLASS_H
#define RH_COMMON_SQL_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/sql_scan.h"

enum rh_sql_class {
    RH_SQL_CLASS_OTHER, /* also SET CONSTRAINTS, DISCARD PLANS, COMMIT PREPARED, COPY with a file */
    RH_SQL_CLASS_EMPTY, /* nothing but blanks, comments and semicolons */
    RH_SQL_CLASS_BEGIN, /* BEGIN, START TRANSACTION */
    RH_SQL_CLASS_COMMIT,       /* COMMIT, END, without AND CHAIN; PREPARE TRANSACTION */
    RH_SQL_CLASS_ROLLBACK,     /* ROLLBACK, ABORT of the whole transaction, without AND CHAIN */
    RH_SQL_CLASS_CHAIN,        /* COMMIT or ROLLBACK AND CHAIN */
    RH_SQL_CLASS_SAVEPOINT,    /* SAVEPOINT, RELEASE, ROLLBACK TO */
    RH_SQL_CLASS_SET,          /* SET [SESSION] name, and the special spellings below */
    RH_SQL_CLASS_SET_LOCAL,    /* SET LOCAL name; SET TRANSACTION (without a name) */
    RH_SQL_CLASS_SET_ENCODING, /* SET [SESSION|LOCAL] client_encoding, SET NAMES */
    RH_SQL_CLASS_RESET,        /* RESET name */
    RH_SQL_CLASS_RESET_ALL,
    RH_SQL_CLASS_DISCARD_ALL,
    RH_SQL_CLASS_PREPARE,    /* PREPARE name */
    RH_SQL_CLASS_DEALLOCATE, /* DEALLOCATE [PREPARE] name */
    RH_SQL_CLASS_DEALLOCATE_ALL,
    RH_SQL_CLASS_COPY_IN,      /* COPY ... FROM STDIN */
    RH_SQL_CLASS_COPY_OUT,     /* COPY ... TO STDOUT */
    RH_SQL_CLASS_SESSION_AUTH, /* SET or RESET ROLE or SESSION AUTHORIZATION, LOCAL too */
};

struct rh_sql_command {
    enum rh_sql_class klass;
    struct rh_span text; /* of this command, without the ';' and outer blanks */
    /*
     * The setting's or the prepared statement's name as written, with quotes (fold it with
     * rh_sql_name_fold()); none where the class has none.  Spellings without the name get it as a
     * static text: "timezone" (SET TIME ZONE), "search_path" (SET SCHEMA), "seed", "xmloption",
     * "session characteristics", "transaction_isolation" (RESET TRANSACTION ...).
     */
    struct rh_span name;
};

struct rh_sql_commands {
    struct rh_sql_scan scan;
};

/* Cut a query string at its top-level semicolons (not those within CREATE FUNCTION ... BEGIN ATOMIC
 * ... END, quotes or parentheses) and classify each command.  Text or template. */
void rh_sql_commands_init(struct rh_sql_commands *c, struct rh_span text, bool is_template);
/* 1 and *command, or 0 at the end.  Empty commands between semicolons are left out. */
int rh_sql_commands_next(struct rh_sql_commands *c, struct rh_sql_command *command);

/* The one class of a text that is a single command; OTHER for several, EMPTY for none.  `all` (may
 * be NULL) gets bit (1 << class) of every command in it. */
enum rh_sql_class rh_sql_classify(struct rh_span text, bool is_template, uint32_t *all);

/* Append a name, dots and all, as PostgreSQL folds it: unquoted parts in lower case (ASCII) without
 * blanks, quoted ones without their quotes. */
void rh_sql_name_fold(struct rh_span name, struct rh_buf *out);

#endif
