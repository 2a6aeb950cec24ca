#include "replay/source_guard.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Addresses are compared as IPv6, with IPv4 ones mapped into it. */
static bool to_in6(const struct sockaddr *sa, struct in6_addr *address)
{
    if (sa->sa_family == AF_INET6) {
        *address = ((const struct sockaddr_in6 *) (const void *) sa)->sin6_addr;
        return true;
    }
    if (sa->sa_family != AF_INET) {
        return false;
    }
    memset(address, 0, sizeof *address);
    address->s6_addr[10] = address->s6_addr[11] = 0xff;
    memcpy(&address->s6_addr[12], &((const struct sockaddr_in *) (const void *) sa)->sin_addr, 4);
    return true;
}

/* Whether the address is one of this machine's. */
static bool is_own(const struct in6_addr *address)
{
    bool mapped_loopback = IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127;
    if (mapped_loopback || IN6_IS_ADDR_LOOPBACK(address)) {
        return true;
    }
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0) {
        return false;
    }
    for (struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
        struct in6_addr own;
        found = i->ifa_addr && to_in6(i->ifa_addr, &own) && memcmp(&own, address, sizeof own) == 0;
    }
    freeifaddrs(all);
    return found;
}

/* Split name into host and port: 0, or -1 when it is no "host:port". */
static int split_name(struct rh_source_guard *guard)
{
    char *end, *colon, *host = guard->host;
    memcpy(guard->host, guard->name, sizeof guard->host);
    colon = strrchr(guard->host, ':');
    if (!colon || colon == guard->host || colon[1] == '\0') {
        return -1;
    }
    guard->port = strtol(colon + 1, &end, 10);
    if (*end != '\0' || guard->port < 1 || guard->port > 65535) {
        return -1;
    }
    *colon = '\0';
    size_t n = strlen(host);
    if (host[0] == '[' || host[n - 1] == ']') {
        if (n <= 2 || host[0] != '[' || host[n - 1] != ']') {
            return -1;
        }
        host[n - 1] = '\0';
        memmove(host, host + 1, n - 1);
    }
    return 0;
}

static void look_up(struct rh_source_guard *guard)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    int rc = getaddrinfo(guard->host, NULL, &hints, &found);
    if (rc != 0) {
        snprintf(guard->why, sizeof guard->why, "its name cannot be looked up here: %s",
                 gai_strerror(rc));
        return;
    }
    for (struct addrinfo *i = found; i && guard->address_count < RH_SOURCE_ADDRESSES_MAX;
         i = i->ai_next) {
        struct in6_addr *address = &guard->addresses[guard->address_count];
        if (to_in6(i->ai_addr, address)) {
            guard->address_count++;
            guard->is_local = guard->is_local || is_own(address);
        }
    }
    freeaddrinfo(found);
    if (guard->address_count == 0) {
        snprintf(guard->why, sizeof guard->why, "its name has no IP address here");
    }
}

/* The port that a socket "/dir/.s.PGSQL.5432" stands for, -1 if it has another name. */
static long port_of_socket(const char *path)
{
    const char *dot = strrchr(path, '.');
    char *end;
    if (!dot || !strstr(path, ".s.PGSQL.")) {
        return -1;
    }
    long port = strtol(dot + 1, &end, 10);
    return *end == '\0' ? port : -1;
}

/* "/dir:5432" is the server whose socket is "/dir/.s.PGSQL.5432": it is on this machine, so its TCP
 * port here is it too.  The path of a socket is that socket and no more. */
static void name_socket(struct rh_source_guard *guard)
{
    char port[16];
    char *colon = strrchr(guard->name, ':');
    if (colon) {
        snprintf(port, sizeof port, "%s", colon + 1);
        snprintf(colon, sizeof guard->name - (size_t) (colon - guard->name), "/.s.PGSQL.%s", port);
        guard->port = port_of_socket(guard->name);
        guard->is_local = true;
    }
}

void rh_source_guard_init(struct rh_source_guard *guard, struct rh_span address)
{
    *guard = (struct rh_source_guard){0};
    if (!address.data || address.len == 0) {
        snprintf(guard->why, sizeof guard->why, "the trace does not tell it");
        return;
    }
    bool fits = address.len < sizeof guard->name && !memchr(address.data, '\0', address.len);
    snprintf(guard->name, sizeof guard->name, "%.*s", (int) (fits ? address.len : 60),
             address.data);
    if (fits && guard->name[0] == '/') {
        name_socket(guard);
        return;
    }
    if (!fits || split_name(guard) != 0) {
        snprintf(guard->why, sizeof guard->why, "it is no HOST:PORT");
        guard->host[0] = '\0';
        return;
    }
    look_up(guard);
}

static bool has_address(const struct rh_source_guard *guard, const struct in6_addr *address)
{
    for (uint32_t i = 0; i < guard->address_count; i++) {
        if (memcmp(&guard->addresses[i], address, sizeof *address) == 0) {
            return true;
        }
    }
    return guard->is_local && is_own(address);
}

enum rh_source_match rh_source_guard_match(const struct rh_source_guard *guard, int fd)
{
    struct sockaddr_storage peer;
    struct in6_addr address;
    socklen_t peer_len = sizeof peer;
    bool same;
    memset(&peer, 0, sizeof peer);
    if (guard->why[0] || getpeername(fd, (struct sockaddr *) (void *) &peer, &peer_len) != 0) {
        return RH_SOURCE_CANNOT_TELL;
    }
    const struct sockaddr *sa = (const struct sockaddr *) (const void *) &peer;
    if (peer.ss_family == AF_UNIX) {
        const char *path = ((const struct sockaddr_un *) (const void *) &peer)->sun_path;
        same = guard->host[0] ? guard->is_local && port_of_socket(path) == guard->port
                              : strcmp(path, guard->name) == 0;
    } else {
        in_port_t port = peer.ss_family == AF_INET6
                             ? ((const struct sockaddr_in6 *) (const void *) &peer)->sin6_port
                             : ((const struct sockaddr_in *) (const void *) &peer)->sin_port;
        same = ntohs(port) == guard->port && to_in6(sa, &address) && has_address(guard, &address);
    }
    return same ? RH_SOURCE_SAME : RH_SOURCE_OTHER;
}

int rh_source_guard_refuse(const struct rh_source_guard *guard, int fd, struct rh_error *err)
{
    char peer[320];
    rh_peer_describe(fd, peer, sizeof peer);
    return rh_error_set(err, RH_ERR_REFUSED,
                        "%s is the server that was captured (%s); --allow-source replays there all "
                        "the same",
                        peer, guard->name);
}

void rh_peer_describe(int fd, char *text, size_t size)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof peer;
    char host[256], port[32];
    memset(&peer, 0, sizeof peer);
    snprintf(text, size, "unknown");
    if (getpeername(fd, (struct sockaddr *) (void *) &peer, &peer_len) != 0) {
        return;
    }
    if (peer.ss_family == AF_UNIX) {
        snprintf(text, size, "%s", ((struct sockaddr_un *) (void *) &peer)->sun_path);
    } else if (getnameinfo((struct sockaddr *) (void *) &peer, peer_len, host, sizeof host, port,
                           sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        snprintf(text, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
    }
}
