/*
 * replay/probe.h
 *
 * One query at a time on a connection, waited for: for questions that are asked before the replay.
 */
#ifndef RH_REPLAY_PROBE_H
#define RH_REPLAY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "formats/pg_scan.h"
#include "replay/conn.h"
#include "replay/exchange.h"

struct rh_probe {
    struct rh_conn *conn;
    struct rh_pg_scan scan;
    struct rh_exchange exchange;
    struct rh_buf out;
    struct rh_buf answer; /* to the last question, as it came; its end may be cut off */
    int64_t asked_ns;     /* when the last query went out; monotonic */
    bool has_timed_out;   /* the last question failed for want of an answer */
};

/* conn stays the caller's. */
void rh_probe_init(struct rh_probe *p, struct rh_conn *conn);
void rh_probe_release(struct rh_probe *p);
/* Ask, and wait up to timeout_ns.  0: p->exchange.outcome has the answer, which may be an error of
 * the server; -1: the connection failed (RH_ERR_NET) or a stop was asked for (RH_ERR_STOPPED). */
int rh_probe_ask(struct rh_probe *p, const char *sql, int64_t timeout_ns, struct rh_error *err);

enum { RH_PROBE_COLUMNS_MAX = 8 };

struct rh_probe_row {
    uint32_t count; /* of columns; more than the maximum are left out */
    struct rh_span values[RH_PROBE_COLUMNS_MAX]; /* texts; NULL has no data */
};

/* How many columns the last answer has, and the name of the first; -1: it has no rows at all. */
int rh_probe_columns(const struct rh_probe *p, struct rh_span *first);
/* Walk over the rows of the last answer, from *at = 0 on; values are valid until the next question.
 * Rows beyond the first 256 kB of an answer are left out. */
bool rh_probe_next_row(const struct rh_probe *p, size_t *at, struct rh_probe_row *row);
/* "42501: permission denied for table job", for an answer that is an error; else "". */
void rh_probe_describe_error(const struct rh_probe *p, char *text, size_t size);

#endif
