/*
 * tests/unit/log_maker.h
 *
 * Makes csvlog records for tests: of session "s" (user u, database d) unless a field says
 * otherwise.
 */
#ifndef RH_TESTS_UNIT_LOG_MAKER_H
#define RH_TESTS_UNIT_LOG_MAKER_H

#include <stdint.h>

#include "common/buf.h"

/* Fields that are NULL or 0 get a default. */
struct rh_log_line {
    const char *stamp; /* behind "2026-01-01 "; default "00:00:01.000" */
    const char
        *session; /* session id; default "6955b900.fa1", which began at 2026-01-01 00:00:00 UTC */
    const char *start;    /* of the session, behind "2026-01-01 "; default "00:00:00" */
    uint32_t pid;         /* default 4001 */
    uint32_t line;        /* default: one more than the record before of the same maker */
    const char *tag;      /* default "SELECT" */
    const char *vxid;     /* default "3/5" */
    const char *severity; /* default "LOG" */
    const char *sqlstate; /* default "00000" */
    const char *message;
    const char *detail;
    const char *context;
    const char *query;
    const char *application;  /* default "app" */
    const char *backend_type; /* default "client backend" */
    const char *user;         /* default "u"; "" for none */
    const char *database;     /* default "d" */
    const char *client;       /* default "[local]"; "" for none */
    int columns;              /* 22, 23, 24, 26 (default), 27 */
};

struct rh_log_maker {
    struct rh_buf out;
    uint32_t line;
};

void rh_log_maker_init(struct rh_log_maker *m);
void rh_log_maker_release(struct rh_log_maker *m);
void rh_log_maker_add(struct rh_log_maker *m, const struct rh_log_line *line);

/* rh_log_maker_add() with the fields named. */
#define LOG(m, ...) rh_log_maker_add((m), &(struct rh_log_line){__VA_ARGS__})

#endif
