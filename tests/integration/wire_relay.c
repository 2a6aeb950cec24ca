/*
 * tests/integration/wire_relay.c
 *
 * A relay that looks on: wire_relay SOCKET_FOLDER PORT SERVER_PORT TRACE listens on the socket
 * SOCKET_FOLDER/.s.PGSQL.PORT, forwards each connection to .s.PGSQL.SERVER_PORT in the same folder,
 * and gives both sides' bytes, in the order in which they were read, to the wire's capture, which
 * writes TRACE.  Ends on SIGTERM with what was captured.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "capture/trace_sink.h"
#include "capture/wire_capture.h"

enum { PAIRS_MAX = 64, PIECE_BYTES = 16 * 1024 };

struct pair {
    int fd[2]; /* by enum rh_tcp_side */
    void *connection;
};

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void) signal_number;
    stopped = 1;
}

static void die(const char *what)
{
    fprintf(stderr, "wire_relay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static struct sockaddr_un address_of(const char *folder, const char *port)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s/.s.PGSQL.%s", folder, port);
    return a;
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool write_all(int fd, const char *data, size_t n)
{
    while (n > 0) {
        ssize_t done = send(fd, data, n, MSG_NOSIGNAL);
        if (done < 0) {
            return false;
        }
        data += done;
        n -= (size_t) done;
    }
    return true;
}

/* One read of one side; false at the end of the connection. */
static bool forward(struct pair *p, enum rh_tcp_side side, const struct rh_tcp_sink *tcp)
{
    char data[PIECE_BYTES];
    ssize_t n = read(p->fd[side], data, sizeof data);
    if (n <= 0) {
        return false;
    }
    tcp->data(p->connection, side, now(), rh_span(data, (size_t) n));
    return write_all(p->fd[!side], data, (size_t) n);
}

static void end(struct pair *p, const struct rh_tcp_sink *tcp, enum rh_tcp_end how)
{
    tcp->close(p->connection, now(), how);
    close(p->fd[0]);
    close(p->fd[1]);
    p->connection = NULL;
}

static void take(struct pair *pairs, int listener, const struct sockaddr_un *server,
                 const struct rh_tcp_sink *tcp)
{
    static uint64_t serial;
    struct pair *p = pairs;
    while (p->connection) {
        if (++p == pairs + PAIRS_MAX) {
            die("too many connections");
        }
    }
    p->fd[RH_TCP_CLIENT] = accept(listener, NULL, NULL);
    p->fd[RH_TCP_SERVER] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->fd[0] < 0 || p->fd[1] < 0 ||
        connect(p->fd[RH_TCP_SERVER], (const struct sockaddr *) server, sizeof *server) != 0) {
        die("connect");
    }
    serial++;
    struct rh_tcp_connection_info info = {
        .peer = {{"127.0.0.1", (uint16_t) (10000 + serial)}, {"127.0.0.1", 5432}},
        .opened_ns = now(),
        .serial = serial,
    };
    p->connection = tcp->open(tcp->context, &info);
}

static void run(int listener, const struct sockaddr_un *server, const struct rh_tcp_sink *tcp)
{
    static struct pair pairs[PAIRS_MAX];
    struct pollfd polls[1 + 2 * PAIRS_MAX];
    while (!stopped) {
        polls[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        for (int i = 0; i < 2 * PAIRS_MAX; i++) {
            const struct pair *p = &pairs[i / 2];
            polls[1 + i] =
                (struct pollfd){.fd = p->connection ? p->fd[i % 2] : -1, .events = POLLIN};
        }
        if (poll(polls, 1 + 2 * PAIRS_MAX, 100) <= 0) {
            continue;
        }
        for (int i = 0; i < 2 * PAIRS_MAX; i++) {
            struct pair *p = &pairs[i / 2];
            if (polls[1 + i].revents && p->connection &&
                !forward(p, (enum rh_tcp_side)(i % 2), tcp)) {
                end(p, tcp, RH_TCP_END_FIN);
            }
        }
        if (polls[0].revents) {
            take(pairs, listener, server, tcp);
        }
    }
    for (int i = 0; i < PAIRS_MAX; i++) {
        if (pairs[i].connection) {
            end(&pairs[i], tcp, RH_TCP_END_CAPTURE_END);
        }
    }
}

int main(int argc, char **argv)
{
    struct rh_error err;
    struct rh_trace_writer *writer;
    struct rh_capture_sink sink;
    struct rh_tcp_sink tcp;
    if (argc != 5) {
        fprintf(stderr, "usage: wire_relay SOCKET_FOLDER PORT SERVER_PORT TRACE\n");
        return 2;
    }
    struct sockaddr_un own = address_of(argv[1], argv[2]);
    struct sockaddr_un server = address_of(argv[1], argv[3]);
    struct rh_trace_header header = {
        .kind = RH_FILE_WORKLOAD, .vantage = RH_VANTAGE_WIRE, .source = RH_SPAN_LITERAL("wire")};
    signal(SIGTERM, stop);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *) &own, sizeof own) != 0 ||
        listen(listener, PAIRS_MAX) != 0) {
        die(own.sun_path);
    }
    if (rh_trace_writer_open(&writer, argv[4], &header, NULL, &err) != 0) {
        fprintf(stderr, "wire_relay: %s\n", err.text);
        return 1;
    }
    rh_trace_sink_init(&sink, writer);
    struct rh_wire_capture *capture = rh_wire_capture_new(&sink, NULL);
    rh_wire_capture_tcp_sink(capture, &tcp);
    run(listener, &server, &tcp);
    int rc = rh_wire_capture_finish(capture, now(), &err);
    const struct rh_wire_capture_counts *n = rh_wire_capture_counts(capture);
    printf("%llu anomalies, %llu bytes lost\n", (unsigned long long) n->anomalies,
           (unsigned long long) n->bytes_lost);
    rh_wire_capture_free(capture);
    if (rc != 0 || rh_trace_writer_finish(writer, false, &err) != 0) {
        fprintf(stderr, "wire_relay: %s\n", err.text);
        return 1;
    }
    unlink(own.sun_path);
    return 0;
}
