/*
 * replay/inquiry.h
 *
 * Questions to the catalogue of a server that may know nothing of them, refuse, or be none of
 * PostgreSQL's: what is not answered becomes a note, never an error and never "nothing found".
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
    struct rh_span asker; /* the user that asks; none: unknown */
    int major;            /* of the server's version; 0 unknown */
    int64_t timeout_ns;   /* of one answer, long after the server should have ended the question */
    bool is_lost; /* the connection is, or a stop was asked for: nothing is asked any more */
    struct rh_error error; /* then, why */
    bool has_timed_out;    /* it is lost since one answer did not come in time */
    size_t at;             /* of the next row */
    uint32_t columns;      /* of the last answer */
    struct rh_buf sql;
    struct rh_buf odd; /* what was answered in a shape that is none of such an answer */
};

/* conn and the asker's name stay the caller's. */
void rh_inquiry_init(struct rh_inquiry *q, struct rh_conn *conn, struct rh_span asker,
                     struct rh_findings *findings);
/* Adds a note of all that could not be judged. */
void rh_inquiry_release(struct rh_inquiry *q);

/*
 * Ask with one SELECT, in which names are those of pg_catalog, and which the server ends after some
 * seconds.  `columns` is the shape of the answer, a letter a column, fewer than
 * RH_PROBE_COLUMNS_MAX: t a text or NULL, b a boolean, i an integer of 0 or more, n an integer, and
 * I as i or NULL; a '=' before them tells that there is exactly one row.
 *
 * False if there is no answer of that shape (a pooler that answers by itself, another product):
 * then a note says that `what` ("the replication slots") could not be looked at, and why, or not be
 * judged.
 */
bool rh_inquiry_ask(struct rh_inquiry *q, const char *what, const char *columns, const char *sql);
/* The next row of the answer. */
bool rh_inquiry_next(struct rh_inquiry *q, struct rh_probe_row *row);
/* `what` was answered in the right shape and yet cannot be true. */
void rh_inquiry_doubt(struct rh_inquiry *q, const char *what);

/* What a value says: -1 if it is no integer of 0 or more; false if it is not "t". */
int64_t rh_inquiry_int(struct rh_span value);
bool rh_inquiry_bool(struct rh_span value);

/* Append names as an SQL list of literals, ('a','b'), whatever they hold. */
void rh_inquiry_add_list(struct rh_buf *sql, const struct rh_span *names, uint32_t count);

#endif
