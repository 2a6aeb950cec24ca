#include "replay/replay_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"

static int read_speed(const char *arg, void *target, struct rh_error *err)
{
    struct rh_replay_speed *speed = target;
    speed->is_max = strcmp(arg, "max") == 0;
    if (speed->is_max) {
        return 0;
    }
    if (rh_opt_double(arg, &speed->factor, err) != 0 || speed->factor < 1e-6 ||
        speed->factor > 1e6) {
        return rh_error_set(err, RH_ERR_USAGE, "must be max, or a number from 0.000001 to 1000000");
    }
    return 0;
}

int rh_replay_read_time(const char *arg, void *target, struct rh_error *err)
{
    int64_t *ns = target;
    if (rh_opt_duration(arg, ns, err) != 0) {
        return -1;
    }
    if (*ns < RH_NS_PER_MS) {
        return rh_error_set(err, RH_ERR_USAGE, "must be at least 1ms");
    }
    return 0;
}

static int read_skip_idle(const char *arg, void *target, struct rh_error *err)
{
    int64_t *ns = target;
    *ns = RH_NS_PER_SEC;
    return arg ? rh_replay_read_time(arg, ns, err) : 0;
}

static int read_count_to(const char *arg, uint32_t *count, uint32_t max, struct rh_error *err)
{
    if (rh_opt_count(arg, count, err) != 0) {
        return -1;
    }
    if (*count > max) {
        return rh_error_set(err, RH_ERR_USAGE, "must be at most %u", max);
    }
    return 0;
}

int rh_replay_read_jobs(const char *arg, void *target, struct rh_error *err)
{
    return read_count_to(arg, target, RH_JOBS_MAX, err);
}

static int read_order(const char *arg, void *target, struct rh_error *err)
{
    bool *order_txn = target;
    *order_txn = strcmp(arg, "txn") == 0;
    if (!*order_txn && strcmp(arg, "none") != 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is neither none nor txn", arg);
    }
    return 0;
}

static int read_scale(const char *arg, void *target, struct rh_error *err)
{
    return read_count_to(arg, target, RH_SCALE_MAX, err);
}

#define AT(field) offsetof(struct rh_replay_options, field)

static const struct rh_opt options[] = {
    {.group = "Target"},
    {"dbname", 'd', RH_OPT_ARG, "DBNAME", rh_opt_string, AT(dbname),
     "database, connection string or URI\n[default: each session's own database]", NULL},
    {"host", 'h', RH_OPT_ARG, "HOST", rh_opt_string, AT(host),
     "server's host or socket directory\n[default: PGHOST, else the local socket]", NULL},
    {"port", 'p', RH_OPT_ARG, "PORT", rh_opt_string, AT(port),
     "server's port [default: PGPORT, else 5432]", NULL},
    {"username", 'U', RH_OPT_ARG, "USER", rh_opt_string, AT(user),
     "connect as USER [default: each session's own user]", NULL},
    {"connect-timeout", 0, RH_OPT_ARG, "TIME", rh_replay_read_time, AT(connect_timeout_ns),
     "give up a connect after TIME\n[default: connect_timeout of libpq, else 30s]", NULL},
    {"allow-source", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(allow_source),
     "replay even on the server that was captured, or where\nothers have transactions open "
     "[default: such a server is refused]",
     NULL},
    {"no-preflight", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(no_preflight),
     "begin without the checks that may refuse a replay\n[default: they come first]", NULL},
    {"dry-run", 'n', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(dry_run),
     "make the checks, print what they found and what would\nbe replayed, and replay nothing",
     NULL},
    {"format", 0, RH_OPT_ARG, "FORMAT", rh_opt_string, AT(format),
     "of the dry run: text or json [default: text]", NULL},
    {.group = "What is replayed"},
    {"from", 0, RH_OPT_ARG, "TIME", rh_opt_time, AT(from_ns),
     "begin at TIME; sessions that ran then are restored and\nstart at their next transaction "
     "[default: the trace's begin]",
     NULL},
    {"to", 0, RH_OPT_ARG, "TIME", rh_opt_time, AT(to_ns),
     "end before TIME; transactions open then are not started\n[default: the trace's end]", NULL},
    {"map-user", 0, RH_OPT_ARG, "A=B", rh_opt_list, AT(map_users),
     "sessions of user A connect as B (repeatable)\n[default: as A]", NULL},
    {"map-database", 0, RH_OPT_ARG, "A=B", rh_opt_list, AT(map_databases),
     "sessions in database A connect to B (repeatable)\n[default: to A]", NULL},
    {"read-only", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(read_only),
     "only statements that cannot write, in transactions that\nare read-only [default: all]", NULL},
    {"scale", 0, RH_OPT_ARG, "N", read_scale, AT(scale),
     "each session N times, all at its time [default: 1]", NULL},
    {.group = "How it is replayed"},
    {"speed", 's', RH_OPT_ARG, "X", read_speed, AT(speed),
     "X times as fast as captured; max: without pauses, but a\nsession opens only when those have "
     "closed that had closed\nbefore it, so a high X may be faster [default: 1]",
     NULL, "max"},
    {"skip-idle", 0, RH_OPT_MAYBE_ARG, "TIME", read_skip_idle, AT(skip_idle_ns),
     "cut pauses in which nothing runs to TIME, or to 1s\n[default: no pause is cut]", NULL},
    {"order", 0, RH_OPT_ARG, "none|txn", read_order, AT(order_txn),
     "txn: a transaction begins once all that had ended before\nit began in the capture have ended "
     "[default: none]",
     NULL, "none txn"},
    {"order-timeout", 0, RH_OPT_ARG, "TIME", rh_replay_read_time, AT(order_timeout_ns),
     "wait no longer than TIME for them [default: 10s]", NULL},
    {"jobs", 'j', RH_OPT_ARG, "N", rh_replay_read_jobs, AT(jobs),
     "worker threads [default: one for 64 sessions open at\nonce, at most 4 and the number of "
     "cores]",
     NULL},
    {"max-connections", 0, RH_OPT_ARG, "N", rh_opt_count, AT(max_connections),
     "open at most N sessions at a time; others wait\n[default: as many as were open in the "
     "capture]",
     NULL},
    {"no-reconnect", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(no_reconnect),
     "a session that loses its connection ends [default: it\nconnects again at its next "
     "transaction]",
     NULL},
    {"reconnect-timeout", 0, RH_OPT_ARG, "TIME", rh_replay_read_time, AT(reconnect_timeout_ns),
     "give up a session when the server, gone or starting, has\nnot taken it for TIME [default: "
     "30s]",
     NULL},
    {"read-ahead", 0, RH_OPT_ARG, "SIZE", rh_opt_bytes, AT(read_ahead_bytes),
     "memory for decoded blocks of the trace [default: 64MB]", NULL},
    {.group = "Output"},
    {"output", 'o', RH_OPT_ARG, "FILE", rh_opt_string, AT(output),
     "the run file; one that is there is replaced\n[default: T.run beside T.trace, which must not "
     "be there]",
     NULL, "*.run"},
    {"quiet", 'q', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(quiet),
     "warnings and errors only: no progress, no summary", NULL},
    {"verbose", 'v', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(verbose),
     "tell about each lost or refused session\n[default: only how many, and of one refused why]",
     NULL},
    {0},
};

const struct rh_opt_command rh_replay_command = {
    .program = "pgrehearse-replay",
    .synopsis = "[OPTION]... T.trace",
    .summary = "Replay a captured workload on a server and record what came of each statement.",
    .options = options,
    .footer =
        "Passwords come from PGPASSWORD, the password file or a service file, as in psql;\n"
        "PGUSER and PGDATABASE are ignored, unless the trace does not tell a session's.\n"
        "What -d says wins over -h, -p and -U.\n"
        "\n"
        "In the summary, lag is how late statements were sent that could have been: this host\n"
        "or tool was too slow. Behind is how long others had to wait past their time for the\n"
        "answer before them: the target is slower than production was, or the speed is high.\n"
        "Order, with --order txn, is how long transactions waited for others to end.\n"
        "\n"
        "Exit status: 0 the replay ran to its end, whatever came of the statements: failed\n"
        "ones, and those not sent as their session was refused or lost, are in the summary\n"
        "and in the run; 2 nothing was replayed, as a check refused it or nothing connected\n"
        "(a dry run: a check would refuse it); 3 it was stopped early (by a signal, a full\n"
        "disk, a session that came to the captured server), or the trace is damaged; the run\n"
        "file is kept.\n"
        "\n"
        "Examples:\n"
        "  pgrehearse replay -h candidate --dry-run shop.trace\n"
        "  pgrehearse replay -h candidate -o candidate.run shop.trace\n"
        "  pgrehearse replay -d 'host=candidate sslmode=require' --speed max shop.trace\n",
    .operand_words = "*.trace",
};

/*
 * A thread that has many sessions finds several of them ready at a time, wakes less often, and
 * shares its system calls among them; one alone sends more than 100,000 statements a second.
 */
uint32_t rh_replay_options_jobs(const struct rh_replay_options *o, uint32_t peak_sessions)
{
    enum { SESSIONS_A_JOB = 64, DEFAULT_MAX = 4 };
    if (o->jobs > 0) {
        return o->jobs;
    }
    uint32_t limit = o->max_connections;
    uint32_t sessions = limit > 0 && limit < peak_sessions ? limit : peak_sessions;
    uint32_t jobs = sessions / SESSIONS_A_JOB + (sessions % SESSIONS_A_JOB > 0);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = cores < 1 ? 1 : cores > DEFAULT_MAX ? DEFAULT_MAX : (uint32_t) cores;
    return jobs < 1 ? 1 : jobs > most ? most : jobs;
}

void rh_replay_options_init(struct rh_replay_options *o)
{
    *o = (struct rh_replay_options){
        .from_ns = INT64_MIN,
        .to_ns = INT64_MAX,
        .speed = {.factor = 1.0},
        .scale = 1,
        .read_ahead_bytes = UINT64_C(64) << 20,
        .reconnect_timeout_ns = 30 * RH_NS_PER_SEC,
        .order_timeout_ns = 10 * RH_NS_PER_SEC,
    };
    rh_conninfo_init(&o->target);
}

void rh_replay_options_release(struct rh_replay_options *o)
{
    rh_str_list_release(&o->map_users);
    rh_str_list_release(&o->map_databases);
    rh_conninfo_release(&o->target);
}

static int check_map(const struct rh_str_list *list, const char *option, struct rh_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        if (!equals || equals == list->items[i] || equals[1] == '\0') {
            return rh_error_set(err, RH_ERR_USAGE, "%s=%s: expected two names, A=B", option,
                                list->items[i]);
        }
        size_t n = (size_t) (equals - list->items[i]) + 1;
        for (size_t k = 0; k < i; k++) {
            if (strncmp(list->items[k], list->items[i], n) == 0) {
                return rh_error_set(err, RH_ERR_USAGE, "%s: %.*s is mapped twice", option,
                                    (int) (n - 1), list->items[i]);
            }
        }
    }
    return 0;
}

/* A map beside a target that names the user or database for all would be left unused. */
static int check_maps(const struct rh_replay_options *o, struct rh_error *err)
{
    if (o->map_users.count > 0 && rh_conninfo_get(&o->target, "user")) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "--map-user and a user for all sessions (-U, -d) exclude each other");
    }
    if (o->map_databases.count > 0 && rh_conninfo_get(&o->target, "dbname")) {
        return rh_error_set(
            err, RH_ERR_USAGE,
            "--map-database and a database for all sessions (-d) exclude each other");
    }
    if (check_map(&o->map_users, "--map-user", err) != 0) {
        return -1;
    }
    return check_map(&o->map_databases, "--map-database", err);
}

static int check_dry_run(struct rh_replay_options *o, struct rh_error *err)
{
    if (o->dry_run && o->no_preflight) {
        return rh_error_set(err, RH_ERR_USAGE, "--dry-run and --no-preflight exclude each other");
    }
    if (o->format && !o->dry_run) {
        return rh_error_set(err, RH_ERR_USAGE, "--format is for --dry-run");
    }
    o->json = o->format && strcmp(o->format, "json") == 0;
    if (o->format && !o->json && strcmp(o->format, "text") != 0) {
        return rh_error_set(err, RH_ERR_USAGE, "--format: \"%s\" is neither text nor json",
                            o->format);
    }
    return 0;
}

int rh_replay_options_check(struct rh_replay_options *o, struct rh_error *err)
{
    if (check_dry_run(o, err) != 0) {
        return -1;
    }
    if (o->output && o->output[0] == '\0') {
        return rh_error_set(err, RH_ERR_USAGE, "-o: the run file needs a name");
    }
    if (o->from_ns >= o->to_ns) {
        return rh_error_set(err, RH_ERR_USAGE, "--from does not lie before --to");
    }
    if (rh_conninfo_set_target(&o->target, o->dbname, o->host, o->port, o->user, err) != 0) {
        return -1;
    }
    return check_maps(o, err);
}

const char *rh_replay_options_hosts(const struct rh_replay_options *o)
{
    const char *given[] = {rh_conninfo_get(&o->target, "hostaddr"),
                           rh_conninfo_get(&o->target, "host"), getenv("PGHOSTADDR"),
                           getenv("PGHOST")};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (given[i] && given[i][0]) {
            return strchr(given[i], ',') ? given[i] : NULL;
        }
    }
    return NULL;
}

static struct rh_span map_name(const struct rh_str_list *list, struct rh_span name)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        size_t n = (size_t) (equals - list->items[i]);
        if (name.data && n == name.len && memcmp(list->items[i], name.data, n) == 0) {
            return rh_span_cstr(equals + 1);
        }
    }
    return name;
}

void rh_replay_options_identify(const struct rh_replay_options *o, struct rh_session *session)
{
    const char *user = rh_conninfo_get(&o->target, "user");
    const char *database = rh_conninfo_get(&o->target, "dbname");
    session->user = user ? rh_span_cstr(user) : map_name(&o->map_users, session->user);
    session->database =
        database ? rh_span_cstr(database) : map_name(&o->map_databases, session->database);
}
