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
#include <sys/socket.h>
#include <sys/types.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/span.h"
#include "replay/cancel_key.h"

struct pg_conn; /* PGconn */
struct rh_conn;

/* What may wait to be written by default; one request may be as large as it likes. */
enum { RH_CONN_OUT_MAX = 64 * 1024 * 1024 };

/* What the server said outside of answers while libpq had the connection. */
struct rh_conn_notices {
    char fatal_sqlstate[6]; /* of a FATAL message behind the login's ReadyForQuery, "" if none */
    struct rh_cancel_key cancel_key;
    FILE *trace;
};
/* Have libpq give such messages to *notices, and print none.  Before the first PQconnectPoll().
 * notices stays until rh_conn_new(), or rh_conn_notices_detach() where there is none. */
void rh_conn_notices_attach(struct rh_conn_notices *notices, struct pg_conn *pg);
void rh_conn_notices_detach(struct rh_conn_notices *notices, struct pg_conn *pg);

/* Take over an established, idle connection.  pg is owned from here on, also on failure (then it is
 * finished).  notices was attached to it.  Refused: GSS encryption, a TLS library other than
 * OpenSSL. */
int rh_conn_new(struct rh_conn **out, struct pg_conn *pg, struct rh_conn_notices *notices,
                size_t out_max, struct rh_error *err);
/* Say Terminate, as far as that does not block, and close. */
void rh_conn_close(struct rh_conn *conn);
/* Close without a word, as a client that crashed. */
void rh_conn_abort(struct rh_conn *conn);
/* The same by a reset (RST) where there is TCP, as of a client whose host went away. */
void rh_conn_reset(struct rh_conn *conn);

/* Give back what libpq keeps for a connection, some 30 kB; what the server knows of it stays.  The
 * descriptor changes, and rh_conn_parameter() knows nothing any more.  Does nothing with TLS, whose
 * state is libpq's. */
void rh_conn_slim(struct rh_conn *conn);

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
 * Send what can be sent now and keep the rest, in order behind what waits already.  0, or -1 when
 * more than out_max would wait (RH_ERR_LIMIT; nothing of it was sent) or TLS fails.  What is sent
 * while nothing waits may have any size, and does not count for what is sent behind it.  A
 * connection that is found lost here takes the bytes and drops them: rh_conn_read() tells of the
 * loss, behind what the server said last, which often is the reason.
 */
int rh_conn_send(struct rh_conn *conn, struct rh_span bytes, struct rh_error *err);
/* The same with the contents of *bytes, which is empty then: a large rest is kept without being
 * copied. */
int rh_conn_send_buf(struct rh_conn *conn, struct rh_buf *bytes, struct rh_error *err);
/* Go on sending what waits.  0 or -1 as above. */
int rh_conn_flush(struct rh_conn *conn, struct rh_error *err);
/* A plain socket, and nothing waits to be sent: the caller may send and receive on the descriptor
 * by itself, without waiting, and tells what came of it. */
bool rh_conn_is_bare(const struct rh_conn *conn);
/* It sent `bytes`: result is how many went out, or -errno.  The rest waits, as of rh_conn_send().
 */
void rh_conn_sent(struct rh_conn *conn, struct rh_span bytes, ssize_t result);
/* It received into n bytes: result is how many came, or -errno.  What rh_conn_read() returns. */
ssize_t rh_conn_received(struct rh_conn *conn, ssize_t result, size_t n, bool *again,
                         struct rh_error *err);

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

/* The CancelRequest for what conn runs, valid as long as conn; empty if the server gave no key. */
struct rh_span rh_conn_cancel_request(const struct rh_conn *conn);
/* Where it goes to: the server's address as this connection has it.  -1: it is lost. */
int rh_conn_peer(const struct rh_conn *conn, struct sockaddr_storage *address, socklen_t *size);

#endif
