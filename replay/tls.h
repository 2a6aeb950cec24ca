/*
 * replay/tls.h
 *
 * Reads and writes on the TLS session of a libpq connection, without blocking.  OpenSSL may need
 * the other direction for either (key updates), and wants a write that it could not finish to be
 * repeated with the same bytes: this keeps track of both.
 */
#ifndef RH_REPLAY_TLS_H
#define RH_REPLAY_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/error.h"

struct ssl_st; /* OpenSSL's SSL */

struct rh_tls {
    struct ssl_st *ssl;
    size_t retry_len;      /* of the write to be repeated, 0: none */
    bool read_wants_write; /* the last read */
    bool write_wants_read; /* the last write */
};

void rh_tls_init(struct rh_tls *tls, struct ssl_st *ssl);

/* Bytes read; 0: nothing now; -1: the end or trouble, as err says. */
ssize_t rh_tls_read(struct rh_tls *tls, char *data, size_t n, struct rh_error *err);
/* OpenSSL holds bytes that no descriptor will announce. */
bool rh_tls_has_more(const struct rh_tls *tls);

/* Bytes taken, maybe fewer than n; 0: none now, and then the next call must offer the same bytes
 * again, at any address; -1: error. */
ssize_t rh_tls_write(struct rh_tls *tls, const char *data, size_t n, struct rh_error *err);

#endif
