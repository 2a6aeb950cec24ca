/*
 * The least that sends a plan on time: one thread, one timerfd, one socket a session, answers read
 * and dropped.  What a replay's schedule error is held against.
 *
 *     bench_timer_loop HOST PORT < PLAN
 *
 * HOST is an IPv4 address whose server asks for no password.  A line of PLAN is "OFFSET-US SESSION
 * TEXT", in order of time, sessions from 0.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { SESSIONS_MAX = 500, PLAN_MAX = 1000000, MESSAGE_MAX = 256, EVENTS_MAX = 64 };

#define NS_PER_SEC INT64_C(1000000000)
#define LEAD_NS (NS_PER_SEC / 5)

struct step {
    int64_t offset_ns;
    int session;
    uint32_t len;
    char message[MESSAGE_MAX];
};

static int sockets[SESSIONS_MAX];

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void put_length(char *at, size_t n)
{
    uint32_t word = htonl((uint32_t) n);
    memcpy(at, &word, sizeof word);
}

static void send_all(int fd, const char *data, size_t n)
{
    if (send(fd, data, n, MSG_NOSIGNAL) != (ssize_t) n) {
        fail("send");
    }
}

/* Log in and read up to the ReadyForQuery, which ends the answer. */
static int connect_to(const struct sockaddr_in *address)
{
    static const char parameters[] = "\0\3\0\0user\0postgres\0database\0postgres\0";
    char message[4 + sizeof parameters], answer[8192];
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, (const struct sockaddr *) address, sizeof *address) != 0) {
        fail("connect");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    put_length(message, sizeof message);
    memcpy(message + 4, parameters, sizeof parameters);
    send_all(fd, message, sizeof message);
    for (size_t have = 0;;) {
        ssize_t got = recv(fd, answer + have, sizeof answer - have, 0);
        if (got <= 0) {
            fail("login");
        }
        have += (size_t) got;
        if (have >= 6 && !memcmp(answer + have - 6, "Z\0\0\0\5I", 6)) {
            return fd;
        }
    }
}

static size_t read_plan(struct step *steps)
{
    char line[MESSAGE_MAX], text[MESSAGE_MAX];
    size_t n = 0;
    while (n < PLAN_MAX && fgets(line, sizeof line, stdin)) {
        struct step *s = &steps[n];
        long offset_us;
        if (sscanf(line, "%ld %d %200[^\n]", &offset_us, &s->session, text) != 3 ||
            s->session < 0 || s->session >= SESSIONS_MAX) {
            fprintf(stderr, "line %zu is no step\n", n + 1);
            exit(2);
        }
        s->offset_ns = offset_us * 1000;
        size_t text_bytes = strlen(text) + 1;
        s->message[0] = 'Q';
        put_length(s->message + 1, 4 + text_bytes);
        memcpy(s->message + 5, text, text_bytes);
        s->len = (uint32_t) (5 + text_bytes);
        n++;
    }
    return n;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NS_PER_SEC + t.tv_nsec;
}

static void timer_set(int fd, int64_t at_ns)
{
    struct itimerspec spec = {
        .it_value = {.tv_sec = at_ns / NS_PER_SEC, .tv_nsec = at_ns % NS_PER_SEC}};
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void watch(int epoll_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        fail("epoll_ctl");
    }
}

static void play(const struct step *steps, size_t n, int epoll_fd, int timer_fd)
{
    static char dropped[65536];
    struct epoll_event events[EVENTS_MAX];
    int64_t begin_ns = now_ns() + LEAD_NS;
    size_t next = 0;
    while (next < n) {
        timer_set(timer_fd, begin_ns + steps[next].offset_ns);
        int count = epoll_wait(epoll_fd, events, EVENTS_MAX, -1);
        for (; next < n && begin_ns + steps[next].offset_ns <= now_ns(); next++) {
            send_all(sockets[steps[next].session], steps[next].message, steps[next].len);
        }
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd != timer_fd &&
                recv(events[i].data.fd, dropped, sizeof dropped, MSG_DONTWAIT) == 0) {
                fail("the server closed a connection");
            }
        }
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (argc != 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
        fputs("usage: bench_timer_loop HOST PORT < PLAN\n", stderr);
        return 2;
    }
    address.sin_port = htons((uint16_t) strtol(argv[2], NULL, 10));
    struct step *steps = calloc(PLAN_MAX, sizeof *steps);
    size_t n = steps ? read_plan(steps) : 0;
    int epoll_fd = epoll_create1(0), timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    watch(epoll_fd, timer_fd);
    for (size_t i = 0; i < n; i++) {
        if (!sockets[steps[i].session]) {
            sockets[steps[i].session] = connect_to(&address);
            watch(epoll_fd, sockets[steps[i].session]);
        }
    }
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    play(steps, n, epoll_fd, timer_fd);
    usleep(200000);
    free(steps);
    return 0;
}
