#include "replay/target.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/clock.h"

#define ANSWER_TIMEOUT_NS (30 * RH_NS_PER_SEC)
/* On a long line fewer round trips are measured. */
#define ROUND_TRIPS_TIME_NS (2 * RH_NS_PER_SEC)

enum { ROUND_TRIPS_MIN = 5, LOOKS = 3, LOOKS_BUSY = 2 };
#define LOOK_PAUSE_NS (50 * RH_NS_PER_MS)

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

/* Who else is there, as far as this user sees. */
struct others {
    int64_t busy;  /* with a transaction open */
    int64_t count; /* clients at all; -1 unknown */
    bool sees_all;
};

/*
 * Without pg_read_all_stats a user sees that others' backends are there, and whose they are, but
 * neither what kind they are nor whether they have a transaction open (pgstatfuncs.c,
 * pg_stat_get_activity()).
 */
static struct others look_for_others(struct rh_inquiry *q)
{
    struct rh_probe_row row;
    struct others others = {.busy = -1, .count = -1};
    const char *sql =
        q->major >= 10
            ? "SELECT count(*) FILTER (WHERE xact_start IS NOT NULL "
              "AND backend_type = 'client backend'), "
              "count(*) FILTER (WHERE usesysid IS NOT NULL AND datid IS NOT NULL "
              "AND coalesce(backend_type, 'client backend') = 'client backend'), "
              "pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') "
              "FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            : "SELECT count(*), NULL, true FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
              "AND xact_start IS NOT NULL AND datname IS NOT NULL "
              "AND query NOT LIKE 'autovacuum:%'";
    if (rh_inquiry_ask(q, "other clients at work", "=iIb", sql) && rh_inquiry_next(q, &row)) {
        others.busy = rh_inquiry_int(row.values[0]);
        others.count = rh_inquiry_int(row.values[1]);
        others.sees_all = rh_inquiry_bool(row.values[2]);
    }
    return others;
}

/* One look may hit a monitoring query, so most of several looks must see a transaction. */
static void check_others(struct rh_inquiry *q, struct rh_target *target, bool source_is_told)
{
    int looks_busy = 0;
    bool sees_all = true;
    for (int look = 0; look < LOOKS && !q->is_lost; look++) {
        if (look > 0) {
            nanosleep(&(struct timespec){.tv_nsec = LOOK_PAUSE_NS}, NULL);
        }
        struct others others = look_for_others(q);
        looks_busy += others.busy > 0;
        sees_all = sees_all && others.sees_all;
        if (target->others < 0 || (others.count >= 0 && others.count < target->others)) {
            target->others = others.count;
        }
        if (others.busy < 0) {
            break; /* it was said why */
        }
    }
    if (looks_busy >= LOOKS_BUSY) {
        rh_findings_add(q->findings, RH_GRADE_STOP, "others-at-work",
                        "other clients have transactions open on %s: a replay there may do harm",
                        target->address);
        rh_findings_advise(q->findings, "--allow-source replays all the same");
        return;
    }
    if (sees_all || target->others == 0) {
        return;
    }
    /* Where the address tells nothing, this look is all that protects the source. */
    enum rh_grade grade = source_is_told ? RH_GRADE_NOTE : RH_GRADE_WARNING;
    if (target->others > 0) {
        rh_findings_add(q->findings, grade, "others-unseen",
                        "other clients are connected to %s, and this user cannot see whether they "
                        "have transactions open",
                        target->address);
    } else {
        rh_findings_add(q->findings, grade, "others-unseen",
                        "whether other clients have transactions open on %s cannot be seen",
                        target->address);
    }
    rh_findings_advise(q->findings, "make sure that nobody needs that server; a member of "
                                    "pg_read_all_stats can see it");
}

/* The connector refuses the source; what is left is to say what it cannot know. */
static void say_unknown(struct rh_findings *f, const struct rh_target *target,
                        const struct rh_source_guard *guard)
{
    if (guard->name[0] == '\0') {
        rh_findings_add(f, RH_GRADE_NOTE, "source-unknown",
                        "the trace does not tell which server it comes from");
        rh_findings_advise(f,
                           "make sure that it is not %s; capture log --server HOST:PORT notes it, "
                           "and a replay there is refused",
                           target->address);
    } else if (guard->why[0]) {
        rh_findings_add(f, RH_GRADE_WARNING, "source-unknown",
                        "whether %s is the server that was captured (%s) cannot be told, %s",
                        target->address, guard->name, guard->why);
        rh_findings_advise(f, "make sure that it is not");
    }
}

/* One server is looked at, and the sessions may reach others. */
static void say_hosts(struct rh_findings *f, const struct rh_target *target,
                      const struct rh_replay_options *options)
{
    const char *hosts = rh_replay_options_hosts(options);
    if (hosts) {
        rh_findings_add(f, RH_GRADE_WARNING, "several-hosts",
                        "the target is a list of hosts (%s): only %s is probed, and sessions may "
                        "reach the others",
                        hosts, target->address);
        rh_findings_advise(f, "name one host");
    }
}

/* Both ends have one address, or there is none. */
static bool is_here(int fd)
{
    struct sockaddr_storage near, far;
    socklen_t near_len = sizeof near, far_len = sizeof far;
    memset(&near, 0, sizeof near);
    memset(&far, 0, sizeof far);
    if (getsockname(fd, (struct sockaddr *) (void *) &near, &near_len) != 0 ||
        getpeername(fd, (struct sockaddr *) (void *) &far, &far_len) != 0) {
        return false;
    }
    if (near.ss_family == AF_INET) {
        return ((struct sockaddr_in *) (void *) &near)->sin_addr.s_addr ==
               ((struct sockaddr_in *) (void *) &far)->sin_addr.s_addr;
    }
    if (near.ss_family == AF_INET6) {
        return IN6_ARE_ADDR_EQUAL(&((struct sockaddr_in6 *) (void *) &near)->sin6_addr,
                                  &((struct sockaddr_in6 *) (void *) &far)->sin6_addr);
    }
    return near.ss_family == AF_UNIX;
}

/* A pooler gives out backend pids of its own. */
static void read_facts(struct rh_target *target, struct rh_inquiry *q)
{
    struct rh_probe_row row;
    if (rh_inquiry_ask(q, "the server's state", "=ib",
                       "SELECT pg_backend_pid(), pg_is_in_recovery()") &&
        rh_inquiry_next(q, &row)) {
        int64_t pid = rh_inquiry_int(row.values[0]);
        target->is_pooled = pid >= 0 && pid != rh_conn_backend_pid(q->probe.conn);
        target->is_in_recovery = rh_inquiry_bool(row.values[1]);
    }
    if (rh_inquiry_ask(q, "the server's connection limits", "bi",
                       "SELECT name = 'max_connections', setting FROM pg_settings WHERE name IN "
                       "('max_connections', 'superuser_reserved_connections', "
                       "'reserved_connections')")) {
        while (rh_inquiry_next(q, &row)) {
            int64_t n = rh_inquiry_int(row.values[1]);
            if (n >= 0 && rh_inquiry_bool(row.values[0])) {
                target->max_connections = n;
            } else if (n >= 0) {
                target->reserved = n + (target->reserved < 0 ? 0 : target->reserved);
            }
        }
        if (target->max_connections < 0) {
            rh_inquiry_doubt(q, "the server's connection limits");
        }
    }
}

int rh_target_probe(struct rh_target *target, struct rh_inquiry *q,
                    const struct rh_source_guard *guard, const struct rh_replay_options *options,
                    struct rh_error *err)
{
    struct rh_conn *conn = q->probe.conn;
    *target = (struct rh_target){
        .round_trip_ns = -1, .max_connections = -1, .reserved = -1, .others = -1};
    const char *version = rh_conn_parameter(conn, "server_version");
    if (version) { /* "15.18 (Debian 15.18-1)" */
        snprintf(target->version, sizeof target->version, "%.*s", (int) strcspn(version, " "),
                 version);
    }
    rh_peer_describe(rh_conn_fd(conn), target->address, sizeof target->address);
    target->is_here = is_here(rh_conn_fd(conn));
    say_hosts(q->findings, target, options);
    if (!options->allow_source) {
        say_unknown(q->findings, target, guard);
        check_others(q, target, guard->name[0] && !guard->why[0]);
    }
    read_facts(target, q);
    if (q->has_timed_out) {
        return 0; /* a note says what was not answered */
    }
    if (q->is_lost) {
        *err = q->error;
        return -1;
    }
    return measure_round_trip(&q->probe, &target->round_trip_ns, err);
}
