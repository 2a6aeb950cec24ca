#include "replay/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The connector refuses the source; what is left is to say what it cannot know. */
static void say_unknown(const struct rh_target *target, const struct rh_source_guard *guard)
{
    if (guard->name[0] == '\0') {
        rh_log(RH_LOG_INFO,
               "the trace does not tell which server it comes from; make sure that it "
               "is not %s",
               target->address);
    } else if (guard->why[0]) {
        rh_log(RH_LOG_WARNING,
               "whether %s is the server that was captured (%s) cannot be told, %s; make sure "
               "that it is not",
               target->address, guard->name, guard->why);
    }
}

/* One server is looked at, and the sessions may reach others. */
static void say_hosts(const struct rh_target *target, const struct rh_replay_options *options)
{
    const char *hosts = rh_replay_options_hosts(options);
    if (hosts) {
        rh_log(RH_LOG_WARNING,
               "the target is a list of hosts (%s): only %s is probed, and sessions may reach "
               "the others",
               hosts, target->address);
    }
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
        if (count == 1 || request.error.code == RH_ERR_REFUSED) {
            *err = request.error;
        }
        if (request.error.code != RH_ERR_NET || request.ended_ns - request.began_ns > PATIENCE_NS) {
            break; /* not a refusal of this user */
        }
    }
    return -1;
}

int rh_target_probe(struct rh_target *target, struct rh_connector *connector,
                    const struct rh_plan *plan, const struct rh_source_guard *guard,
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
    rh_peer_describe(rh_conn_fd(conn), target->address, sizeof target->address);
    say_hosts(target, options);
    if (!options->allow_source) {
        say_unknown(target, guard);
        if (check_others(&probe, target, err) != 0) {
            goto out;
        }
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
