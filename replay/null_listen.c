#include "replay/null_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 4096, PORT_FIRST = 20000, PORT_COUNT = 40000, PORT_TRIES = 100 };

static struct rh_null_listener *add(struct rh_null_listeners *l, int fd, const char *host,
                                    uint16_t port)
{
    struct rh_null_listener *item = &l->items[l->count++];
    *item = (struct rh_null_listener){.fd = fd, .port = port};
    snprintf(item->host, sizeof item->host, "%s", host);
    return item;
}

static void close_keeping_errno(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
}

/* Whether nobody listens on a socket's file any more. */
static bool is_dead(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool dead = fd >= 0 && connect(fd, (const struct sockaddr *) address, sizeof *address) != 0 &&
                errno == ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return dead;
}

/* The listening socket, or -1 and errno. */
static int try_unix(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    const struct sockaddr *a = (const struct sockaddr *) address;
    int rc = bind(fd, a, sizeof *address);
    if (rc != 0 && errno == EADDRINUSE) {
        if (is_dead(address)) {
            unlink(address->sun_path);
            rc = bind(fd, a, sizeof *address);
        } else {
            errno = EADDRINUSE;
        }
    }
    /* As unix_socket_permissions of PostgreSQL: the folder decides who gets there. */
    if (rc != 0 || chmod(address->sun_path, 0777) != 0 || listen(fd, BACKLOG) != 0) {
        close_keeping_errno(fd);
        return -1;
    }
    return fd;
}

static int listen_unix(struct rh_null_listeners *l, const char *folder, uint16_t *port,
                       struct rh_error *err)
{
    int fd = -1, first = *port ? *port : PORT_FIRST + getpid() % PORT_COUNT;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    for (int i = 0; fd < 0 && i < (*port ? 1 : PORT_TRIES); i++) {
        int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%d", folder,
                         first + i);
        if (n < 0 || (size_t) n >= sizeof address.sun_path) {
            return rh_error_set(err, RH_ERR_USAGE, "%s: the path of a socket has at most %zu bytes",
                                folder, sizeof address.sun_path - 1);
        }
        fd = try_unix(&address);
        if (fd < 0 && errno != EADDRINUSE) {
            break;
        }
        *port = fd < 0 ? *port : (uint16_t) (first + i);
    }
    if (fd < 0) {
        return rh_error_set_errno(err, "cannot listen on %s", address.sun_path);
    }
    struct rh_null_listener *item = add(l, fd, folder, *port);
    memcpy(item->path, address.sun_path, sizeof item->path);
    return 0;
}

static int try_tcp(const struct addrinfo *a, uint16_t *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound;
    socklen_t size = sizeof bound;
    int on = 1;
    memset(&bound, 0, sizeof bound);
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->ai_family == AF_INET6) {
        (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, &bound.any, &size) != 0) {
        close_keeping_errno(fd);
        return -1;
    }
    *port = ntohs(a->ai_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
    return fd;
}

static void set_port(struct addrinfo *a, uint16_t port)
{
    if (a->ai_family == AF_INET6) {
        ((struct sockaddr_in6 *) (void *) a->ai_addr)->sin6_port = htons(port);
    } else {
        ((struct sockaddr_in *) (void *) a->ai_addr)->sin_port = htons(port);
    }
}

static int listen_tcp(struct rh_null_listeners *l, const char *host, uint16_t *port,
                      struct rh_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *all;
    int rc = getaddrinfo(host, NULL, &hints, &all);
    if (rc != 0) {
        return rh_error_set(err, RH_ERR_NET, "host %s: %s", host, gai_strerror(rc));
    }
    for (struct addrinfo *a = all; a && l->count < RH_NULL_LISTENERS_MAX; a = a->ai_next) {
        char text[108];
        if (a->ai_family != AF_INET && a->ai_family != AF_INET6) {
            continue;
        }
        set_port(a, *port);
        int fd = try_tcp(a, port);
        if (fd < 0) {
            rc = rh_error_set_errno(err, "cannot listen on %s, port %u", host, *port);
            break;
        }
        if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST)) {
            snprintf(text, sizeof text, "%.100s", host);
        }
        add(l, fd, text, *port);
    }
    freeaddrinfo(all);
    return rc;
}

int rh_null_listen(struct rh_null_listeners *l, const char *host, uint16_t *port,
                   struct rh_error *err)
{
    if (l->count == RH_NULL_LISTENERS_MAX) {
        return rh_error_set(err, RH_ERR_LIMIT, "at most %d addresses can be listened on",
                            RH_NULL_LISTENERS_MAX);
    }
    return host[0] == '/' ? listen_unix(l, host, port, err) : listen_tcp(l, host, port, err);
}

void rh_null_listeners_close(struct rh_null_listeners *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        close(l->items[i].fd);
        if (l->items[i].path[0]) {
            unlink(l->items[i].path);
        }
    }
    l->count = 0;
}
