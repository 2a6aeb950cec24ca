/*
 * replay/conn.h
 *
 * A connection that libpq has made and we speak on: bytes out and in, plain or TLS, never blocking.
 * Used by one thread at a time.
 */
#ifndef RH_REPLAY_CONN_H
#define RH_REPLAY_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/span.h"

struct pg_conn;   /* PGconn */
struct pg_cancel; /* PGcancel */
struct rh_conn;

/* What may wait to be written by default. */
enum { RH_CONN_OUT_MAX = 64 * 1024 * 1024 };

/* What the server said outside of answers while libpq had the connection. */
struct rh_conn_notices {
    char fatal_sqlstate[6]; /* of a FATAL message behind the login's ReadyForQuery, "" if none */
};
/* Have libpq give such messages to *notices, and print none.  notices stays until rh_conn_new(). */
void rh_conn_notices_attach(struct rh_conn_notices *notices, struct pg_conn *pg);

/* Take over an established, idle connection.  pg is owned from here on, also on failure (then it is
 * finished).  notices was attached to it.  Refused: GSS encryption, a TLS library other than
 * OpenSSL. */
int rh_conn_new(struct rh_conn **out, struct pg_conn *pg, const struct rh_conn_notices *notices,
                size_t out_max, struct rh_error *err);
/* Say Terminate, as far as that does not block, and close. */
void rh_conn_close(struct rh_conn *conn);
/* Close without a word, as a client that crashed. */
void rh_conn_abort(struct rh_conn *conn);

int rh_conn_fd(const struct rh_conn *conn);
bool rh_conn_is_tls(const struct rh_conn *conn);
uint32_t rh_conn_backend_pid(const struct rh_conn *conn);
/* A ParameterStatus value as of the connect ("server_version"), NULL if the server did not report
 * it. */
const char *rh_conn_parameter(const struct rh_conn *conn, const char *name);
/* The SQLSTATE of a FATAL message that came behind the connect's ReadyForQuery; "" if none.  The
 * connection will then be found closed. */
const char *rh_conn_early_sqlstate(const struct rh_conn *conn);

/*
 * Send what can be sent now and keep a copy of the rest, in order behind what waits already.  0, or
 * -1 when more than out_max would wait (RH_ERR_LIMIT; nothing of it was sent) or TLS fails.  A
 * connection that is found lost here takes the bytes and drops them: rh_conn_read() tells of the
 * loss, behind what the server said last, which often is the reason.
 */
int rh_conn_send(struct rh_conn *conn, struct rh_span bytes, struct rh_error *err);
/* Go on sending what waits.  0 or -1 as above. */
int rh_conn_flush(struct rh_conn *conn, struct rh_error *err);
/* Bytes that wait to be sent. */
size_t rh_conn_pending(const struct rh_conn *conn);

/*
 * Read into data: how many bytes, 0 when there is nothing now, -1 when the connection is lost.
 * *again tells to call again before sleeping: there is more that no descriptor will announce
 * (TLS) or that is likely (the space was filled).
 */
ssize_t rh_conn_read(struct rh_conn *conn, char *data, size_t n, bool *again, struct rh_error *err);

/* enum rh_loop_events to wait for.  On any event call rh_conn_flush() if something is pending, and
 * then rh_conn_read(): TLS may need either direction for either. */
uint32_t rh_conn_interest(const struct rh_conn *conn);

/* What a CancelRequest needs, to be freed with PQfreeCancel(); NULL if the server gave no key. */
struct pg_cancel *rh_conn_cancel_handle(const struct rh_conn *conn);

#endif
