/*
 * formats/logmsg.h
 *
 * What a message of PostgreSQL's log says about statements and sessions, in every language of
 * logmsg_lang.h.  Only messages of level LOG are to be classified; whether it is the server that
 * speaks, and not RAISE LOG, is for the caller to tell (the server's own statement records have
 * neither CONTEXT nor STATEMENT).
 *
 * The log's bytes are in the encoding of each session's database: a letter that it lacks is written
 * as
 * `?`, and one file may mix UTF-8, LATIN1 and ASCII.  All of these are understood.
 */
#ifndef RH_FORMATS_LOGMSG_H
#define RH_FORMATS_LOGMSG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "formats/logmsg_lang.h"

enum rh_logmsg_class {
    RH_LOGMSG_OTHER,
    RH_LOGMSG_DURATION,  /* a duration and nothing else */
    RH_LOGMSG_STATEMENT, /* a simple Query */
    RH_LOGMSG_PARSE,
    RH_LOGMSG_BIND,
    RH_LOGMSG_EXECUTE,
    RH_LOGMSG_FETCH,    /* Execute of a portal that was executed before */
    RH_LOGMSG_FUNCTION, /* fastpath function call; body is the call as logged */
    RH_LOGMSG_PLAN,     /* auto_explain */
    RH_LOGMSG_AUDIT,    /* pgaudit */
    RH_LOGMSG_RECEIVED,
    RH_LOGMSG_AUTHENTICATED,
    RH_LOGMSG_AUTHORIZED,
    RH_LOGMSG_REPLICATION_AUTHORIZED,
    RH_LOGMSG_REPLICATION_COMMAND,
    RH_LOGMSG_DISCONNECTION,
    RH_LOGMSG_LOST_CLIENT, /* unexpected EOF on client connection with an open transaction */
};

struct rh_logmsg {
    enum rh_logmsg_class klass;
    bool timed;
    int64_t duration_ns; /* -1 unless timed */
    struct rh_span body; /* STATEMENT: the text; PARSE, BIND, EXECUTE, FETCH: name, separator, text;
                            AUTHORIZED: behind the fixed words */
    struct rh_span separator; /* between name and text */
};

struct rh_logmsg_reader {
    uint32_t lang; /* of the last message that was recognised */
    bool lang_seen;
    char severity_word[32]; /* the last one */
    uint8_t severity_len;
    enum rh_log_severity severity;
};

void rh_logmsg_reader_init(struct rh_logmsg_reader *r);

/* tag is the command tag (csv: process display), which tells PARSE from BIND where the words do
 * not. */
void rh_logmsg_classify(struct rh_logmsg_reader *r, struct rh_span message, struct rh_span tag,
                        struct rh_logmsg *m);

/* The level by its word in any language; by the SQLSTATE where the word is unknown. */
enum rh_log_severity rh_logmsg_severity(struct rh_logmsg_reader *r, struct rh_span word,
                                        struct rh_span sqlstate);

/*
 * Cut the body of PARSE, BIND, EXECUTE or FETCH into "NAME" or "NAME/PORTAL" and the text.  Names
 * may hold anything, ": " and "/" too: if the body ends with known_text (none: nothing is known)
 * the rest is the name, else the text begins at the first separator behind which SQL seems to
 * begin.
 */
void rh_logmsg_split(const struct rh_logmsg *m, struct rh_span known_text, struct rh_span *name,
                     struct rh_span *text);

/* The text behind "prepare: " in the detail of an EXECUTE; none if it is not one. */
struct rh_span rh_logmsg_prepare(const struct rh_logmsg_reader *r, struct rh_span detail);

/* The list behind "parameters: " in a detail; none if there is none. */
struct rh_span rh_logmsg_parameters(struct rh_span detail);

/* The list of "unnamed portal with parameters: " or "portal ... with parameters: " in an error's
 * context; none if there is none. */
struct rh_span rh_logmsg_context_parameters(struct rh_span context);

/* application_name in the body of AUTHORIZED; none if it does not say. */
struct rh_span rh_logmsg_application(const struct rh_logmsg_reader *r, struct rh_span body);

/* "15.18" of "starting PostgreSQL 15.18 (...) on ..., compiled by ...", in any language; none if it
 * is not such a message. */
struct rh_span rh_logmsg_server_version(struct rh_span message);

/* Of 57014, whether it is the statement timeout or a request to cancel. */
bool rh_logmsg_is_cancel(struct rh_span message);
bool rh_logmsg_is_statement_timeout(struct rh_span message);

#endif
