/*
 * replay/cancel_key.h
 *
 * The key that a server gives for cancel requests.  libpq keeps it to itself: what it has for
 * cancelling either blocks without a limit (PQcancel) or is not in the versions before 17.  But
 * PQtrace() tells every message of the connect, so the key is read from there.
 */
#ifndef RH_REPLAY_CANCEL_KEY_H
#define RH_REPLAY_CANCEL_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RH_CANCEL_KEY_MAX = 256 }; /* protocol.sgml, "BackendKeyData" */

struct rh_cancel_key {
    uint32_t pid;
    size_t len; /* 0: none was found */
    char bytes[RH_CANCEL_KEY_MAX];
    char line[5 * RH_CANCEL_KEY_MAX]; /* the trace's line under way; more of it is dropped */
    size_t line_len;
};

void rh_cancel_key_init(struct rh_cancel_key *key);
/* Take the next bytes of a trace without time stamps, as libpq 14 to 18 write it.  The last key
 * counts: a connect that goes through several hosts may see more than one. */
void rh_cancel_key_feed(struct rh_cancel_key *key, const char *data, size_t n);

/* A file for PQtrace() that feeds key; nothing is kept of what else goes through it.  NULL if there
 * is no memory. */
FILE *rh_cancel_key_trace(struct rh_cancel_key *key);

#endif
