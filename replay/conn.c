#include "replay/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/loop.h"
#include "formats/pg_write.h"
#include "replay/tls.h"

/* Output that waited leaves its memory behind for the next time, up to this much; a rest of more is
 * taken over with its memory. */
enum { OUT_KEEP = 4096, OUT_COPY_MAX = 64 * 1024 };

/* A Parse and a Bind, each as large as the server reads, and small ones around them. */
#define REQUEST_MAX ((size_t) 2 * RH_PG_LARGE_MAX + OUT_COPY_MAX)

struct rh_conn {
    struct pg_conn *pg; /* NULL behind rh_conn_slim() */
    struct rh_tls tls;  /* ssl is NULL on a plain socket */
    int fd;
    char *socket_path; /* of a Unix socket without pg */
    uint32_t backend_pid;
    struct rh_buf cancel; /* the CancelRequest */
    struct rh_buf out;    /* bytes from out_at on wait to be sent */
    size_t out_at;
    size_t out_max;
    size_t out_large; /* of those, what belongs to one request of more than out_max */
    bool out_lost;    /* sending failed; out_errno says why */
    int out_errno;
    char early_sqlstate[6];
};

static void on_notice(void *arg, const PGresult *result)
{
    struct rh_conn_notices *notices = arg;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (severity && sqlstate && (!strcmp(severity, "FATAL") || !strcmp(severity, "PANIC"))) {
        strncpy(notices->fatal_sqlstate, sqlstate, sizeof notices->fatal_sqlstate - 1);
    }
}

static void ignore_notice(void *arg, const PGresult *result)
{
    (void) arg;
    (void) result;
}

void rh_conn_notices_attach(struct rh_conn_notices *notices, struct pg_conn *pg)
{
    *notices = (struct rh_conn_notices){0};
    PQsetNoticeReceiver(pg, on_notice, notices);
    rh_cancel_key_init(&notices->cancel_key);
    notices->trace = rh_cancel_key_trace(&notices->cancel_key);
    if (notices->trace) {
        PQtrace(pg, notices->trace);
        PQsetTraceFlags(pg, PQTRACE_SUPPRESS_TIMESTAMPS);
    }
}

void rh_conn_notices_detach(struct rh_conn_notices *notices, struct pg_conn *pg)
{
    PQsetNoticeReceiver(pg, ignore_notice, NULL);
    if (notices->trace) {
        PQuntrace(pg);
        fclose(notices->trace);
        notices->trace = NULL;
    }
}

/*
 * libpq reads from the socket what is there, so it may have got messages that came right behind the
 * ReadyForQuery.  PQisBusy() has it parse those.  What it cannot give out is a message that came by
 * half; the server writes such messages in one piece, far smaller than a segment.
 */
static int drain(struct rh_conn *conn, struct rh_error *err)
{
    if (PQisBusy(conn->pg) || PQtransactionStatus(conn->pg) != PQTRANS_IDLE) {
        return rh_error_set(err, RH_ERR_NET, "the new connection is not idle");
    }
    PGnotify *notify;
    while ((notify = PQnotifies(conn->pg))) {
        PQfreemem(notify);
    }
    return 0;
}

static int take_over(struct rh_conn *conn, struct rh_error *err)
{
    if (PQstatus(conn->pg) != CONNECTION_OK) {
        return rh_error_set(err, RH_ERR_NET, "there is no connection: %s",
                            PQerrorMessage(conn->pg));
    }
    if (PQgssEncInUse(conn->pg)) {
        return rh_error_set(
            err, RH_ERR_NET,
            "a connection with GSS encryption cannot be used: set gssencmode=disable");
    }
    if (PQsslInUse(conn->pg)) {
        struct ssl_st *ssl = PQsslStruct(conn->pg, "OpenSSL");
        if (!ssl) {
            return rh_error_set(err, RH_ERR_NET, "libpq does not use OpenSSL for TLS");
        }
        rh_tls_init(&conn->tls, ssl);
    }
    conn->fd = PQsocket(conn->pg);
    conn->backend_pid = (uint32_t) PQbackendPID(conn->pg);
    /* For PQfinish(): its Terminate must not wait either. */
    if (PQsetnonblocking(conn->pg, 1)) {
        return rh_error_set(err, RH_ERR_NET, "%s", PQerrorMessage(conn->pg));
    }
    return drain(conn, err);
}

/* A server may give none. */
static void take_cancel_key(struct rh_conn *conn, const struct rh_cancel_key *key)
{
    if (key->len > 0 && key->pid == conn->backend_pid) {
        rh_pg_write_cancel(&conn->cancel, key->pid, rh_span(key->bytes, key->len), NULL);
    }
}

int rh_conn_new(struct rh_conn **out, struct pg_conn *pg, struct rh_conn_notices *notices,
                size_t out_max, struct rh_error *err)
{
    struct rh_conn *conn = rh_calloc(1, sizeof *conn);
    conn->pg = pg;
    conn->out_max = out_max;
    rh_buf_init(&conn->out, REQUEST_MAX + out_max);
    rh_buf_init(&conn->cancel, RH_CANCEL_KEY_MAX + 16);
    *out = conn;
    int result = take_over(conn, err);
    memcpy(conn->early_sqlstate, notices->fatal_sqlstate, sizeof conn->early_sqlstate);
    rh_conn_notices_detach(notices, pg);
    take_cancel_key(conn, &notices->cancel_key);
    if (result) {
        *out = NULL;
        rh_conn_close(conn);
        return -1;
    }
    return 0;
}

static void conn_free(struct rh_conn *conn)
{
    if (conn->pg) {
        PQfinish(conn->pg);
    } else {
        close(conn->fd);
    }
    rh_free(conn->socket_path);
    rh_buf_release(&conn->cancel);
    rh_buf_release(&conn->out);
    rh_free(conn);
}

void rh_conn_close(struct rh_conn *conn)
{
    /* A Terminate behind half a message would be read as part of it. */
    if (rh_conn_pending(conn) > 0) {
        rh_conn_abort(conn);
        return;
    }
    if (!conn->pg) {
        static const char terminate[] = {'X', 0, 0, 0, 4};
        send(conn->fd, terminate, sizeof terminate, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    conn_free(conn);
}

void rh_conn_abort(struct rh_conn *conn)
{
    int fd = conn->pg ? PQsocket(conn->pg) : conn->fd;
    if (fd >= 0) {
        shutdown(fd, SHUT_RDWR);
    }
    conn_free(conn);
}

/* What lingers for no time is not sent any more.  The descriptor becomes one of /dev/null, which
 * closes the socket here and now, and takes the Terminate of PQfinish(). */
void rh_conn_reset(struct rh_conn *conn)
{
    int fd = conn->pg ? PQsocket(conn->pg) : conn->fd;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    if (fd < 0 || nowhere < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none) != 0 ||
        dup3(nowhere, fd, O_CLOEXEC) < 0) {
        rh_conn_abort(conn);
    } else {
        conn_free(conn);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
}

/* The name of a Unix socket as libpq made it: the one the server bound it to may be of another
 * place of the file system, if one of the two is in a container. */
static int socket_path(const struct rh_conn *conn, char *path, size_t size)
{
    const char *host = PQhost(conn->pg), *port = PQport(conn->pg);
    if (!host || host[0] != '/' || !port) {
        return -1;
    }
    int n = snprintf(path, size, "%s/.s.PGSQL.%s", host, port);
    return n > 0 && (size_t) n < size ? 0 : -1;
}

/*
 * PQfinish() is the only way to give back a PGconn, and it says Terminate and closes.  So our
 * descriptor is a copy, and libpq's number is made one of /dev/null before: its send() fails there
 * (ENOTSOCK), and what it closes is that.
 */
void rh_conn_slim(struct rh_conn *conn)
{
    char path[sizeof((struct sockaddr_un *) 0)->sun_path];
    if (!conn->pg || conn->tls.ssl) {
        return;
    }
    int fd = fcntl(conn->fd, F_DUPFD_CLOEXEC, 0);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd >= 0 && nowhere >= 0 && dup3(nowhere, conn->fd, O_CLOEXEC) >= 0) {
        if (socket_path(conn, path, sizeof path) == 0) {
            conn->socket_path = rh_strdup(path);
        }
        PQfinish(conn->pg);
        conn->pg = NULL;
        conn->fd = fd;
        fd = -1;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
}

int rh_conn_fd(const struct rh_conn *conn)
{
    return conn->fd;
}

bool rh_conn_is_tls(const struct rh_conn *conn)
{
    return conn->tls.ssl != NULL;
}

uint32_t rh_conn_backend_pid(const struct rh_conn *conn)
{
    return conn->backend_pid;
}

const char *rh_conn_parameter(const struct rh_conn *conn, const char *name)
{
    return conn->pg ? PQparameterStatus(conn->pg, name) : NULL;
}

const char *rh_conn_early_sqlstate(const struct rh_conn *conn)
{
    return conn->early_sqlstate;
}

struct rh_span rh_conn_cancel_request(const struct rh_conn *conn)
{
    return rh_buf_span(&conn->cancel);
}

int rh_conn_peer(const struct rh_conn *conn, struct sockaddr_storage *address, socklen_t *size)
{
    *size = sizeof *address;
    if (getpeername(conn->fd, (struct sockaddr *) address, size) != 0) {
        return -1;
    }
    if (address->ss_family == AF_UNIX) {
        struct sockaddr_un local = {.sun_family = AF_UNIX};
        if (conn->socket_path) {
            strncpy(local.sun_path, conn->socket_path, sizeof local.sun_path - 1);
        } else if (conn->pg && socket_path(conn, local.sun_path, sizeof local.sun_path) != 0) {
            local.sun_path[0] = '\0';
        }
        if (local.sun_path[0]) {
            memcpy(address, &local, sizeof local);
            *size =
                (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(local.sun_path) + 1);
        }
    }
    return 0;
}

size_t rh_conn_pending(const struct rh_conn *conn)
{
    return conn->out.len - conn->out_at;
}

static void out_clear(struct rh_conn *conn)
{
    if (conn->out.cap > OUT_KEEP) {
        rh_buf_release(&conn->out);
    }
    rh_buf_clear(&conn->out);
    conn->out_at = conn->out_large = 0;
}

/* result: bytes, or -errno.  How many bytes went out. */
static ssize_t take_send(struct rh_conn *conn, ssize_t result)
{
    if (result >= 0) {
        return result;
    }
    if (result != -EAGAIN && result != -EWOULDBLOCK && result != -EINTR) {
        conn->out_lost = true;
        conn->out_errno = (int) -result;
        out_clear(conn);
    }
    return 0;
}

static ssize_t plain_write(struct rh_conn *conn, const char *data, size_t n)
{
    ssize_t sent;
    do {
        sent = send(conn->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return take_send(conn, sent < 0 ? -errno : sent);
}

/* Send from data as long as that does not block; *sent is how far it came. */
static int write_some(struct rh_conn *conn, const char *data, size_t n, size_t *sent,
                      struct rh_error *err)
{
    *sent = 0;
    while (*sent < n && !conn->out_lost) {
        struct rh_error why;
        ssize_t taken = conn->tls.ssl ? rh_tls_write(&conn->tls, data + *sent, n - *sent, &why)
                                      : plain_write(conn, data + *sent, n - *sent);
        if (taken < 0) {
            return rh_error_set(err, RH_ERR_NET, "connection to backend %u: %s", conn->backend_pid,
                                why.text);
        }
        if (taken == 0) {
            break;
        }
        *sent += (size_t) taken;
    }
    return 0;
}

/* Copy behind what waits.  The sent part in front is given up once it is the greater one, or when
 * its room is needed. */
static void out_append(struct rh_conn *conn, const char *data, size_t n)
{
    size_t waiting = rh_conn_pending(conn);
    if (conn->out_at > 0 && (conn->out_at >= waiting || n > conn->out.max - conn->out.len)) {
        memmove(conn->out.data, conn->out.data + conn->out_at, waiting);
        conn->out.len = waiting;
        conn->out_at = 0;
    }
    rh_buf_add(&conn->out, data, n);
}

/* What can be sent at once of n more bytes; -1 if the rest may not wait. */
static int send_first(struct rh_conn *conn, const char *data, size_t n, size_t *sent,
                      struct rh_error *err)
{
    size_t waiting = rh_conn_pending(conn), max = waiting ? conn->out_max : REQUEST_MAX;
    *sent = 0;
    if (n > max - (waiting - conn->out_large)) {
        return rh_error_set(err, RH_ERR_LIMIT,
                            "connection to backend %u: %zu bytes wait to be sent, the limit is %zu",
                            conn->backend_pid, waiting + n, max);
    }
    if (waiting > 0) {
        return 0;
    }
    int result = write_some(conn, data, n, sent, err);
    conn->out_large = n > conn->out_max && !conn->out_lost ? n - *sent : 0;
    return result;
}

int rh_conn_send(struct rh_conn *conn, struct rh_span bytes, struct rh_error *err)
{
    size_t sent;
    if (conn->out_lost) {
        return 0;
    }
    if (send_first(conn, bytes.data, bytes.len, &sent, err)) {
        return -1;
    }
    if (sent < bytes.len && !conn->out_lost) {
        out_append(conn, bytes.data + sent, bytes.len - sent);
    }
    return 0;
}

int rh_conn_send_buf(struct rh_conn *conn, struct rh_buf *bytes, struct rh_error *err)
{
    size_t sent = 0, waiting = rh_conn_pending(conn);
    int result = conn->out_lost ? 0 : send_first(conn, bytes->data, bytes->len, &sent, err);
    if (result == 0 && sent < bytes->len && !conn->out_lost) {
        if (waiting == 0 && bytes->len - sent > OUT_COPY_MAX) {
            rh_buf_release(&conn->out);
            struct rh_buf empty = {.max = bytes->max};
            size_t max = conn->out.max;
            conn->out = *bytes;
            conn->out.max = max;
            conn->out_at = sent;
            *bytes = empty;
        } else {
            out_append(conn, bytes->data + sent, bytes->len - sent);
        }
    }
    rh_buf_clear(bytes);
    return result;
}

int rh_conn_flush(struct rh_conn *conn, struct rh_error *err)
{
    if (rh_conn_pending(conn) == 0) {
        return 0;
    }
    size_t sent;
    if (write_some(conn, conn->out.data + conn->out_at, rh_conn_pending(conn), &sent, err)) {
        return -1;
    }
    if (!conn->out_lost) {
        conn->out_at += sent;
        conn->out_large -= sent < conn->out_large ? sent : conn->out_large;
        if (rh_conn_pending(conn) == 0) {
            out_clear(conn);
        }
    }
    return 0;
}

static ssize_t lost(struct rh_conn *conn, const char *how, struct rh_error *err)
{
    if (conn->out_lost) {
        return rh_error_set(err, RH_ERR_NET, "connection to backend %u lost while sending: %s",
                            conn->backend_pid, strerror(conn->out_errno));
    }
    return rh_error_set(err, RH_ERR_NET, "connection to backend %u lost: %s", conn->backend_pid,
                        how);
}

ssize_t rh_conn_read(struct rh_conn *conn, char *data, size_t n, bool *again, struct rh_error *err)
{
    if (conn->tls.ssl) {
        struct rh_error why;
        ssize_t got = rh_tls_read(&conn->tls, data, n, &why);
        *again = got > 0 && ((size_t) got == n || rh_tls_has_more(&conn->tls));
        return got < 0 ? lost(conn, why.text, err) : got;
    }
    ssize_t got;
    do {
        got = recv(conn->fd, data, n, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    return rh_conn_received(conn, got < 0 ? -errno : got, n, again, err);
}

ssize_t rh_conn_received(struct rh_conn *conn, ssize_t result, size_t n, bool *again,
                         struct rh_error *err)
{
    *again = result > 0 && (size_t) result == n;
    if (result > 0) {
        return result;
    }
    if (result == -EAGAIN || result == -EWOULDBLOCK || result == -EINTR) {
        return 0;
    }
    return lost(conn, result == 0 ? "the server closed it" : strerror((int) -result), err);
}

bool rh_conn_is_bare(const struct rh_conn *conn)
{
    return !conn->tls.ssl && rh_conn_pending(conn) == 0;
}

void rh_conn_sent(struct rh_conn *conn, struct rh_span bytes, ssize_t result)
{
    size_t sent = (size_t) take_send(conn, result);
    if (sent < bytes.len && !conn->out_lost) {
        out_append(conn, bytes.data + sent, bytes.len - sent);
    }
}

uint32_t rh_conn_interest(const struct rh_conn *conn)
{
    bool to_write = rh_conn_pending(conn) > 0 && !conn->tls.write_wants_read;
    return RH_LOOP_READ | (to_write || conn->tls.read_wants_write ? (uint32_t) RH_LOOP_WRITE : 0);
}
