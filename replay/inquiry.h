/*
 * replay/inquiry.h
 *
 * Questions to the catalogue of a server that may know nothing of them, or refuse: what cannot be
 * answered becomes a note, never an error.
 */
#ifndef RH_REPLAY_INQUIRY_H
#define RH_REPLAY_INQUIRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "replay/finding.h"
#include "replay/probe.h"

struct rh_inquiry {
    struct rh_probe probe;
    struct rh_findings *findings;
    int major;    /* of the server's version; 0 unknown */
    bool is_lost; /* the connection is, or a stop was asked for: nothing is asked any more */
    struct rh_error error; /* then, why */
    size_t at;             /* of the next row */
    struct rh_buf sql;
};

/* conn stays the caller's. */
void rh_inquiry_init(struct rh_inquiry *q, struct rh_conn *conn, struct rh_findings *findings);
void rh_inquiry_release(struct rh_inquiry *q);

/*
 * Ask with one SELECT, in which names are those of pg_catalog, and which the server ends after some
 * seconds.  False if there is no answer; then a note says that `what` ("the replication slots")
 * could not be looked at, and why.
 */
bool rh_inquiry_ask(struct rh_inquiry *q, const char *what, const char *sql);
/* The next row of the answer; one that is none of such an answer (a server that answers anything to
 * everything) ends it.  At most RH_PROBE_COLUMNS_MAX - 1 columns. */
bool rh_inquiry_next(struct rh_inquiry *q, uint32_t columns, struct rh_probe_row *row);

/* What a value says: -1 if it is no integer of 0 or more; false if it is not "t". */
int64_t rh_inquiry_int(struct rh_span value);
bool rh_inquiry_bool(struct rh_span value);

/* Append names as an SQL list of literals, ('a','b'), whatever they hold. */
void rh_inquiry_add_list(struct rh_buf *sql, const struct rh_span *names, uint32_t count);

#endif
