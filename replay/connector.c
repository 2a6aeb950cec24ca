#include "replay/connector.h"

#include <assert.h>
#include <ctype.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/log.h"
#include "replay/conninfo.h"

#define TIMEOUT_DEFAULT_NS (30 * RH_NS_PER_SEC)

struct rh_connector {
    struct rh_conninfo target;
    int64_t timeout_ns;
    size_t out_max;
    bool read_only;
    const struct rh_source_guard *guard;
    int stop_fd; /* readable for good once stopping */
    pthread_t threads[RH_CONNECT_THREADS_MAX];
    uint32_t thread_count;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work;
    struct rh_connect_request *first;
    struct rh_connect_request **last;
    bool stopping;
    void (*refused)(void *ctx, const struct rh_error *err);
    void *refused_ctx;
    struct sockaddr_storage first_peer; /* of the first connection; its family is 0 before */
    bool has_warned;                    /* that a later one led elsewhere */
};

/*
 * libpq does not give the SQLSTATE of a refused connection other than in the text, which has it
 * after the severity when errors are verbose: "FATAL:  28P01: password authentication failed".
 * There may be several texts, one a host or way that was tried; the last counts.
 */
static void sqlstate_find(const char *message, char sqlstate[6])
{
    sqlstate[0] = '\0';
    for (const char *at = message; (at = strstr(at, ":  ")); at++) {
        const char *code = at + 3;
        size_t n = 0;
        while (n < 5 && (isdigit((unsigned char) code[n]) || isupper((unsigned char) code[n]))) {
            n++;
        }
        if (n == 5 && code[5] == ':' && code[6] == ' ') {
            memcpy(sqlstate, code, 5);
            sqlstate[5] = '\0';
        }
    }
}

/* libpq's message in one line, without the place in the server's source that verbose errors name.
 */
static void message_flatten(const char *message, struct rh_error *err)
{
    size_t used = 0;
    for (const char *line = message; *line;) {
        size_t len = strcspn(line, "\n");
        const char *next = line + len + (line[len] == '\n');
        while (len > 0 && isspace((unsigned char) *line)) {
            line++;
            len--;
        }
        if (len > 0 && strncmp(line, "LOCATION:  ", 11) != 0) {
            size_t room = sizeof err->text - 1 - used;
            int n =
                snprintf(err->text + used, room + 1, "%s%.*s", used ? "; " : "", (int) len, line);
            used += n < 0 ? 0 : (size_t) n < room ? (size_t) n : room;
        }
        line = next;
    }
}

/* The server is not there (and not just that no password is), starts, stops, or is full. */
static bool may_pass(const char *sqlstate, const struct pg_conn *pg)
{
    static const char *const states[] = {"57P01", "57P02", "57P03", "53300"};
    if (sqlstate[0] == '\0') {
        return !PQconnectionNeedsPassword(pg);
    }
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(sqlstate, states[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int connect_failed(struct rh_connect_request *request, struct pg_conn *pg)
{
    rh_error_set(&request->error, RH_ERR_NET, "no connection, and libpq does not say why");
    message_flatten(PQerrorMessage(pg), &request->error);
    sqlstate_find(PQerrorMessage(pg), request->sqlstate);
    request->may_pass = may_pass(request->sqlstate, pg);
    return -1;
}

static int connect_timed_out(const struct rh_connector *connector,
                             struct rh_connect_request *request, struct pg_conn *pg)
{
    request->may_pass = true;
    return rh_error_set(&request->error, RH_ERR_NET,
                        "connection to server at \"%s\", port %s: no answer within %.3g s",
                        PQhost(pg) ? PQhost(pg) : "", PQport(pg) ? PQport(pg) : "",
                        (double) connector->timeout_ns / (double) RH_NS_PER_SEC);
}

/* -1 if the connection leads where none may. */
static int check_peer(struct rh_connector *connector, struct rh_connect_request *request,
                      const struct pg_conn *pg)
{
    int fd = PQsocket(pg);
    if (!connector->guard || rh_source_guard_match(connector->guard, fd) != RH_SOURCE_SAME) {
        return 0;
    }
    rh_source_guard_refuse(connector->guard, fd, &request->error);
    pthread_mutex_lock(&connector->lock);
    void (*refused)(void *ctx, const struct rh_error *err) = connector->refused;
    void *ctx = connector->refused_ctx;
    pthread_mutex_unlock(&connector->lock);
    if (refused) {
        refused(ctx, &request->error);
    }
    return -1;
}

/* Several hosts in the connection string, several addresses of a name, or a name that changed: all
 * that was found out about the target holds for one server only. */
static void compare_peers(struct rh_connector *connector, int fd)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    char name[320];
    memset(&peer, 0, sizeof peer);
    if (getpeername(fd, (struct sockaddr *) (void *) &peer, &len) != 0) {
        return;
    }
    pthread_mutex_lock(&connector->lock);
    if (connector->first_peer.ss_family == 0) {
        connector->first_peer = peer;
    }
    bool warn = !connector->has_warned && memcmp(&connector->first_peer, &peer, sizeof peer) != 0;
    connector->has_warned = connector->has_warned || warn;
    pthread_mutex_unlock(&connector->lock);
    if (warn) {
        rh_peer_describe(fd, name, sizeof name);
        rh_log(RH_LOG_WARNING,
               "a session reached %s, which is not the server that was probed: the target is more "
               "than one server",
               name);
    }
}

/*
 * Poll to the end of the connect, its deadline, or the connector's.  Between the connect to an
 * address and the first byte that it sends there libpq returns (CONNECTION_MADE), so that the peer
 * is checked before it hears of us.
 */
static int connect_poll(struct rh_connector *connector, struct rh_connect_request *request,
                        struct pg_conn *pg)
{
    int64_t deadline_ns = request->began_ns + connector->timeout_ns;
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;
    for (;;) {
        if (want == PGRES_POLLING_FAILED) {
            return connect_failed(request, pg);
        }
        if (check_peer(connector, request, pg)) {
            return -1;
        }
        if (want == PGRES_POLLING_OK) {
            return 0;
        }
        int64_t left_ns = deadline_ns - rh_clock_mono_ns();
        if (left_ns <= 0) {
            return connect_timed_out(connector, request, pg);
        }
        struct timespec left = {left_ns / RH_NS_PER_SEC, left_ns % RH_NS_PER_SEC};
        struct pollfd fds[] = {
            {.fd = PQsocket(pg), .events = want == PGRES_POLLING_READING ? POLLIN : POLLOUT},
            {.fd = connector->stop_fd, .events = POLLIN},
        };
        int ready = ppoll(fds, 2, &left, NULL);
        if (ready > 0 && fds[1].revents) {
            return rh_error_set(&request->error, RH_ERR_STOPPED, "stopped while connecting");
        }
        if (ready > 0) {
            want = PQconnectPoll(pg);
        }
    }
}

static int connect_start(struct rh_connector *connector, struct rh_connect_request *request,
                         const struct rh_conninfo *info)
{
    struct pg_conn *pg = PQconnectStartParams(info->keywords, info->values, 0);
    if (!pg) {
        return rh_error_set(&request->error, RH_ERR_NET, "libpq is out of memory");
    }
    struct rh_conn_notices notices;
    rh_conn_notices_attach(&notices, pg);
    PQsetErrorVerbosity(pg, PQERRORS_VERBOSE);
    int result = PQstatus(pg) == CONNECTION_BAD ? connect_failed(request, pg)
                                                : connect_poll(connector, request, pg);
    if (result) {
        rh_conn_notices_detach(&notices, pg);
        PQfinish(pg);
        return -1;
    }
    compare_peers(connector, PQsocket(pg));
    if (rh_conn_new(&request->conn, pg, &notices, connector->out_max, &request->error) != 0) {
        return -1;
    }
    if (request->slim) {
        rh_conn_slim(request->conn);
    }
    return 0;
}

int rh_connector_connect(struct rh_connector *connector, struct rh_connect_request *request)
{
    struct rh_conninfo info;
    struct rh_conninfo_session session = {
        .user = request->user,
        .database = request->database,
        .application = request->application,
        .startup = request->startup,
        .startup_count = request->startup_count,
        .read_only = connector->read_only,
    };
    request->conn = NULL;
    request->sqlstate[0] = '\0';
    request->may_pass = false;
    rh_error_clear(&request->error);
    request->began_ns = rh_clock_mono_ns();
    rh_conninfo_init(&info);
    int result = rh_conninfo_add_session(&info, &connector->target, &session, &request->error);
    if (result == 0) {
        result = connect_start(connector, request, &info);
    }
    rh_conninfo_release(&info);
    request->ended_ns = rh_clock_mono_ns();
    return result;
}

static void request_run(struct rh_task *task)
{
    struct rh_connect_request *request = task->ctx;
    request->done(request);
}

static void request_post(struct rh_connect_request *request)
{
    request->task.run = request_run;
    request->task.ctx = request;
    rh_loop_post(request->loop, &request->task);
}

static void request_fail_stopped(struct rh_connect_request *request)
{
    request->conn = NULL;
    request->sqlstate[0] = '\0';
    request->began_ns = request->ended_ns = rh_clock_mono_ns();
    rh_error_set(&request->error, RH_ERR_STOPPED, "stopped before connecting");
}

static struct rh_connect_request *request_take(struct rh_connector *connector)
{
    struct rh_connect_request *request = connector->first;
    if (request) {
        connector->first = request->next;
        if (!request->next) {
            connector->last = &connector->first;
        }
    }
    return request;
}

static void *connect_thread(void *arg)
{
    struct rh_connector *connector = arg;
    pthread_mutex_lock(&connector->lock);
    for (;;) {
        bool stopping = connector->stopping;
        struct rh_connect_request *request = request_take(connector);
        if (!request && stopping) {
            break;
        }
        if (!request) {
            pthread_cond_wait(&connector->work, &connector->lock);
            continue;
        }
        pthread_mutex_unlock(&connector->lock);
        if (stopping) {
            request_fail_stopped(request);
            request_post(request);
        } else {
            rh_connector_connect(connector, request);
            request_post(request);
        }
        pthread_mutex_lock(&connector->lock);
    }
    pthread_mutex_unlock(&connector->lock);
    return NULL;
}

/* As libpq reads it: 0 or less is no limit, 1 is taken for 2. */
static int64_t timeout_by_libpq(const struct rh_conninfo *target)
{
    const char *text = rh_conninfo_get(target, "connect_timeout");
    text = text ? text : getenv("PGCONNECT_TIMEOUT");
    long seconds = text ? strtol(text, NULL, 10) : 0;
    if (seconds <= 0) {
        return TIMEOUT_DEFAULT_NS;
    }
    return (seconds < 2 ? 2 : seconds > 86400 ? 86400 : seconds) * RH_NS_PER_SEC;
}

static int connector_start(struct rh_connector *connector, uint32_t threads, struct rh_error *err)
{
    connector->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (connector->stop_fd < 0) {
        return rh_error_set_errno(err, "eventfd");
    }
    for (uint32_t i = 0; i < threads; i++) {
        int failed = pthread_create(&connector->threads[i], NULL, connect_thread, connector);
        if (failed) {
            return rh_error_set(err, RH_ERR_IO, "a thread cannot be made: %s", strerror(failed));
        }
        connector->thread_count++;
    }
    return 0;
}

int rh_connector_new(struct rh_connector **out, const struct rh_connector_options *options,
                     struct rh_error *err)
{
    struct rh_connector *connector = rh_calloc(1, sizeof *connector);
    *out = connector;
    connector->stop_fd = -1;
    connector->guard = options->guard;
    connector->last = &connector->first;
    connector->read_only = options->read_only;
    connector->out_max = options->out_max ? options->out_max : RH_CONN_OUT_MAX;
    pthread_mutex_init(&connector->lock, NULL);
    pthread_cond_init(&connector->work, NULL);
    rh_conninfo_init(&connector->target);
    /*
     * The texts of a log are in their database's encoding, which is what the server assumes when
     * the client names none.  An empty client_encoding does not keep libpq from the environment.
     */
    unsetenv("PGCLIENTENCODING");
    uint32_t threads = options->threads ? options->threads : RH_CONNECT_THREADS_DEFAULT;
    threads = threads < RH_CONNECT_THREADS_MAX ? threads : RH_CONNECT_THREADS_MAX;
    if (rh_conninfo_set_target(&connector->target, options->dbname, options->host, options->port,
                               options->user, err)) {
        goto failed;
    }
    connector->timeout_ns =
        options->timeout_ns > 0 ? options->timeout_ns : timeout_by_libpq(&connector->target);
    if (connector_start(connector, threads, err)) {
        goto failed;
    }
    return 0;
failed:
    rh_connector_free(connector);
    *out = NULL;
    return -1;
}

void rh_connector_on_refusal(struct rh_connector *connector,
                             void (*report)(void *ctx, const struct rh_error *err), void *ctx)
{
    pthread_mutex_lock(&connector->lock);
    connector->refused = report;
    connector->refused_ctx = ctx;
    pthread_mutex_unlock(&connector->lock);
}

void rh_connector_put(struct rh_connector *connector, struct rh_connect_request *request)
{
    request->next = NULL;
    pthread_mutex_lock(&connector->lock);
    bool stopping = connector->stopping;
    if (!stopping) {
        *connector->last = request;
        connector->last = &request->next;
        pthread_cond_signal(&connector->work);
    }
    pthread_mutex_unlock(&connector->lock);
    if (stopping) {
        request_fail_stopped(request);
        request_post(request);
    }
}

void rh_connector_stop(struct rh_connector *connector)
{
    pthread_mutex_lock(&connector->lock);
    connector->stopping = true;
    pthread_cond_broadcast(&connector->work);
    if (connector->stop_fd >= 0) {
        uint64_t one = 1;
        ssize_t written = write(connector->stop_fd, &one, sizeof one);
        (void) written; /* full means readable, which is all that is wanted */
    }
    pthread_mutex_unlock(&connector->lock);
}

void rh_connector_free(struct rh_connector *connector)
{
    if (!connector) {
        return;
    }
    rh_connector_stop(connector);
    for (uint32_t i = 0; i < connector->thread_count; i++) {
        pthread_join(connector->threads[i], NULL);
    }
    assert(!connector->first);
    if (connector->stop_fd >= 0) {
        close(connector->stop_fd);
    }
    rh_conninfo_release(&connector->target);
    pthread_cond_destroy(&connector->work);
    pthread_mutex_destroy(&connector->lock);
    rh_free(connector);
}
