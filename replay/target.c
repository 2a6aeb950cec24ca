#include "replay/target.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/log.h"
#include "replay/probe.h"

#define ANSWER_TIMEOUT_NS (30 * RH_NS_PER_SEC)
/* On a long line fewer round trips are measured. */
#define ROUND_TRIPS_TIME_NS (2 * RH_NS_PER_SEC)

enum { ROUND_TRIPS_MIN = 5, IDENTITIES_MAX = 8, LOOKS = 3, LOOKS_BUSY = 2 };
/* A connect that fails after longer than this is not tried as somebody else. */
#define PATIENCE_NS (2 * RH_NS_PER_SEC)
#define LOOK_PAUSE_NS (50 * RH_NS_PER_MS)

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

/* The peer is at a host of these names and on this port. */
static bool peer_is(const struct sockaddr_storage *peer, const char *host, long port)
{
    struct in6_addr peer_address;
    bool is_socket = peer->ss_family == AF_UNIX;
    const struct sockaddr *sa = (const struct sockaddr *) (const void *) peer;
    long peer_port;
    if (is_socket) {
        peer_port = port_of_socket(((const struct sockaddr_un *) (const void *) peer)->sun_path);
    } else if (peer->ss_family == AF_INET6) {
        peer_port = ntohs(((const struct sockaddr_in6 *) (const void *) peer)->sin6_port);
    } else {
        peer_port = ntohs(((const struct sockaddr_in *) (const void *) peer)->sin_port);
    }
    if (peer_port != port) {
        return false;
    }

    bool peer_is_own = is_socket || (to_in6(sa, &peer_address) && is_own(&peer_address));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(host, NULL, &hints, &found) != 0) {
        return false;
    }
    bool same = false;
    for (struct addrinfo *i = found; i && !same; i = i->ai_next) {
        struct in6_addr address;
        if (!to_in6(i->ai_addr, &address)) {
            continue;
        }
        same = peer_is_own && is_own(&address);
        if (!is_socket) {
            same = same || memcmp(&address, &peer_address, sizeof address) == 0;
        }
    }
    freeaddrinfo(found);
    return same;
}

bool rh_target_is_source(int fd, struct rh_span source_address)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof peer;
    char text[320], *colon, *end;
    memset(&peer, 0, sizeof peer);
    if (!source_address.data || source_address.len >= sizeof text ||
        getpeername(fd, (struct sockaddr *) (void *) &peer, &peer_len) != 0) {
        return false;
    }
    memcpy(text, source_address.data, source_address.len);
    text[source_address.len] = '\0';
    if (text[0] == '/') {
        return peer.ss_family == AF_UNIX &&
               strcmp(((struct sockaddr_un *) (void *) &peer)->sun_path, text) == 0;
    }
    colon = strrchr(text, ':');
    if (!colon) {
        return false;
    }
    *colon = '\0';
    long port = strtol(colon + 1, &end, 10);
    if (*end != '\0') {
        return false;
    }
    char *host = text;
    size_t n = strlen(host);
    if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        host++;
    }
    return peer_is(&peer, host, port);
}

static void describe_peer(int fd, char *text, size_t size)
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

/* Rows of a query's answer; -1 if the server answers with an error. */
static int ask_rows(struct rh_probe *p, const char *sql, int64_t *rows, struct rh_error *err)
{
    if (rh_probe_ask(p, sql, ANSWER_TIMEOUT_NS, err) != 0) {
        return -1;
    }
    *rows = p->exchange.outcome.sqlstate == 0 ? p->exchange.outcome.rows : -1;
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static int measure_round_trip(struct rh_probe *p, int64_t *round_trip_ns, struct rh_error *err)
{
    int64_t times[RH_ROUND_TRIPS], begin_ns = rh_clock_mono_ns();
    size_t n = 0;
    while (n < RH_ROUND_TRIPS &&
           (n < ROUND_TRIPS_MIN || rh_clock_mono_ns() - begin_ns < ROUND_TRIPS_TIME_NS)) {
        if (rh_probe_ask(p, "", ANSWER_TIMEOUT_NS, err) != 0) {
            return -1;
        }
        times[n++] = p->exchange.outcome.done_ns - p->asked_ns;
    }
    qsort(times, n, sizeof times[0], compare_times);
    *round_trip_ns = times[n / 2];
    return 0;
}

/*
 * Others' transactions.  One look may hit a monitoring query, so most of several looks must see
 * one.
 */
static int check_others(struct rh_probe *p, const struct rh_target *target, struct rh_error *err)
{
    char sql[400];
    int64_t rows, sees_all;
    int major = (int) strtol(target->version, NULL, 10), busy = 0;
    snprintf(sql, sizeof sql,
             "SELECT 1 FROM pg_catalog.pg_stat_activity WHERE pid <> pg_catalog.pg_backend_pid() "
             "AND xact_start IS NOT NULL AND %s",
             major >= 10 ? "backend_type = 'client backend'"
                         : "datname IS NOT NULL AND query NOT LIKE 'autovacuum:%'");
    for (int look = 0; look < LOOKS; look++) {
        if (ask_rows(p, sql, &rows, err) != 0) {
            return -1;
        }
        busy += rows > 0;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_PAUSE_NS}, NULL);
    }
    if (busy >= LOOKS_BUSY) {
        return rh_error_set(
            err, RH_ERR_REFUSED,
            "other clients have transactions open on %s: a replay there may do harm; "
            "--allow-source replays all the same",
            target->address);
    }
    if (major < 10) {
        return 0;
    }
    if (ask_rows(
            p, "SELECT 1 WHERE pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')",
            &sees_all, err) != 0) {
        return -1;
    }
    if (sees_all == 0) {
        rh_log(RH_LOG_INFO,
               "this user cannot see whether others have transactions open on %s "
               "(a member of pg_read_all_stats can)",
               target->address);
    }
    return 0;
}

static int check_source(const struct rh_conn *conn, const struct rh_target *target,
                        const struct rh_trace_header *source, struct rh_error *err)
{
    if (!source->server_address.data) {
        rh_log(RH_LOG_INFO,
               "the trace does not tell which server it comes from; make sure that it "
               "is not %s",
               target->address);
        return 0;
    }
    if (!rh_target_is_source(rh_conn_fd(conn), source->server_address)) {
        return 0;
    }
    return rh_error_set(
        err, RH_ERR_REFUSED,
        "%s is the server that was captured (%.*s); --allow-source replays there all "
        "the same",
        target->address, (int) source->server_address.len, source->server_address.data);
}

/* The first of the sessions' identities that the server lets in. */
static int connect_as_any(struct rh_connector *connector, const struct rh_plan *plan,
                          const struct rh_replay_options *options, struct rh_conn **conn,
                          struct rh_error *err)
{
    uint64_t tried[IDENTITIES_MAX]; /* hashes of user and database */
    int count = 0;
    rh_error_set(err, RH_ERR_NET, "no session to connect");
    for (uint32_t i = 0; i < plan->session_count && count < IDENTITIES_MAX; i++) {
        if (plan->sessions[i].unsent) {
            continue;
        }
        struct rh_session s = *plan->sessions[i].session;
        rh_replay_options_identify(options, &s);
        uint64_t identity = rh_hash(s.user) ^ (rh_hash(s.database) << 1);
        bool known = false;
        for (int k = 0; k < count && !known; k++) {
            known = tried[k] == identity;
        }
        if (known) {
            continue;
        }
        tried[count++] = identity;
        struct rh_connect_request request = {.user = s.user, .database = s.database};
        if (rh_connector_connect(connector, &request) == 0) {
            *conn = request.conn;
            return 0;
        }
        if (count == 1) {
            *err = request.error;
        }
        if (request.error.code != RH_ERR_NET || request.ended_ns - request.began_ns > PATIENCE_NS) {
            break; /* not a refusal of this user */
        }
    }
    return -1;
}

int rh_target_probe(struct rh_target *target, struct rh_connector *connector,
                    const struct rh_plan *plan, const struct rh_trace_header *source,
                    const struct rh_replay_options *options, struct rh_error *err)
{
    struct rh_conn *conn;
    struct rh_probe probe;
    int rc = -1;
    *target = (struct rh_target){.max_connections = -1};
    if (connect_as_any(connector, plan, options, &conn, err) != 0) {
        return -1;
    }
    rh_probe_init(&probe, conn);
    const char *version = rh_conn_parameter(conn, "server_version");
    if (version) { /* "15.18 (Debian 15.18-1)" */
        snprintf(target->version, sizeof target->version, "%.*s", (int) strcspn(version, " "),
                 version);
    }
    describe_peer(rh_conn_fd(conn), target->address, sizeof target->address);
    if (!options->allow_source &&
        (check_source(conn, target, source, err) != 0 || check_others(&probe, target, err) != 0)) {
        goto out;
    }
    if (ask_rows(&probe,
                 "SELECT 1 FROM pg_catalog.generate_series(1, "
                 "pg_catalog.current_setting('max_connections')::int)",
                 &target->max_connections, err) != 0) {
        goto out;
    }
    rc = measure_round_trip(&probe, &target->round_trip_ns, err);

out:
    rh_probe_release(&probe);
    rh_conn_close(conn);
    return rc;
}
