/*
 * replay/probe.h
 *
 * One query at a time on a connection, waited for: for questions that are asked before the replay.
 * Rows are counted, not read.
 */
#ifndef RH_REPLAY_PROBE_H
#define RH_REPLAY_PROBE_H

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
    int64_t asked_ns; /* when the last query went out; monotonic */
};

/* conn stays the caller's. */
void rh_probe_init(struct rh_probe *p, struct rh_conn *conn);
void rh_probe_release(struct rh_probe *p);
/* Ask, and wait up to timeout_ns.  0: p->exchange.outcome has the answer, which may be an error of
 * the server; -1: the connection failed (RH_ERR_NET) or a stop was asked for (RH_ERR_STOPPED). */
int rh_probe_ask(struct rh_probe *p, const char *sql, int64_t timeout_ns, struct rh_error *err);

#endif
