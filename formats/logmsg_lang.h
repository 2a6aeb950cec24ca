/*
 * formats/logmsg_lang.h
 *
 * The messages about statements and sessions in the languages of PostgreSQL's message catalogues
 * (src/backend/po, release 15): the fixed pieces around names, numbers and texts.  The order of the
 * pieces differs between languages, and even between two messages of one language.
 */
#ifndef RH_FORMATS_LOGMSG_LANG_H
#define RH_FORMATS_LOGMSG_LANG_H

#include <stdint.h>

enum rh_log_severity {
    RH_LOG_SEVERITY_DEBUG,
    RH_LOG_SEVERITY_LOG,
    RH_LOG_SEVERITY_INFO,
    RH_LOG_SEVERITY_NOTICE,
    RH_LOG_SEVERITY_WARNING,
    RH_LOG_SEVERITY_ERROR,
    RH_LOG_SEVERITY_FATAL,
    RH_LOG_SEVERITY_PANIC,
    RH_LOG_SEVERITY_COUNT,
};

/* NULL: the language has no such message here.  Where a number, a name or a text stands between two
 * pieces the comment shows it as N. */
struct rh_logmsg_lang {
    const char *code;
    const char *severities[RH_LOG_SEVERITY_COUNT];
    const char *duration_heads[2]; /* "duration: " N... */
    const char *bare;              /* ...N " ms" */
    const char *statement;         /* "statement: " N */
    const char *timed_statement;   /* ...N " ms  statement: " N */
    const char *parse[2];          /* ...N " ms  parse " N ": " N */
    const char *bind[2];           /* ...N " ms  bind " N ": " N */
    const char *timed;             /* ...N " ms  ", then as without a duration */
    const char *execute;           /* "execute " N ": " N */
    const char *fetch;             /* "execute fetch from " N ": " N */
    const char *prepare;           /* "prepare: " N */
    const char *unnamed_portal[2]; /* "unnamed portal with parameters: " N "" */
    const char *named_portal[3];   /* "portal \"" N "\" with parameters: " N "" */
    const char *received;
    const char *authenticated;
    const char *authorized;
    const char *application; /* " application_name=" N, within the message before */
    const char *disconnection;
    const char *cancel_user; /* the whole message */
    const char *cancel_timeout;
    const char *lost_client;
};

/* English is the first. */
extern const struct rh_logmsg_lang rh_logmsg_langs[];
extern const uint32_t rh_logmsg_lang_count;

#endif
