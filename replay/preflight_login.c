/* Every user of the replay logs in to each of its databases, a few at a time. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/noun.h"
#include "common/stop.h"
#include "replay/preflight.h"

/* Beyond these, logins are not tried, which is said. */
enum { AT_ONCE = RH_CONNECT_THREADS_DEFAULT, LOGINS_MAX = 500 };
#define LOGINS_TIME_NS (60 * RH_NS_PER_SEC)
/* So often, and so long after, a login is repeated that found no connection free. */
enum { RETRIES = 10 };
#define RETRY_PAUSE_NS (100 * RH_NS_PER_MS)

struct logins;

struct slot {
    struct rh_connect_request request;
    struct logins *all;
    struct rh_identity *identity;
};

struct logins {
    struct rh_preflight *p;
    struct rh_loop *loop;
    struct rh_watch stop;
    struct slot slots[AT_ONCE];
    uint32_t next; /* in the identities' leaders */
    uint32_t running;
    int64_t until_ns;
    bool has_refused; /* one led to the captured server; error says so */
    bool is_stopped;
    struct rh_error error;
};

static bool goes_on(const struct logins *all)
{
    return !all->has_refused && !all->is_stopped && all->next < all->p->ids->leader_count &&
           all->next < LOGINS_MAX && rh_clock_mono_ns() < all->until_ns;
}

static void start_next(struct logins *all, struct slot *slot)
{
    struct rh_identities *ids = all->p->ids;
    if (!goes_on(all)) {
        return;
    }
    slot->identity = &ids->items[ids->leaders[all->next++]];
    slot->request.user = slot->identity->user;
    slot->request.database = slot->identity->database;
    all->running++;
    rh_connector_put(*all->p->connector, &slot->request);
}

/* Servers from 14 on tell it at the login, as it is for this user in this database. */
static void check_read_only(struct rh_preflight *p, const struct rh_identity *id,
                            const struct rh_conn *conn)
{
    const char *value = rh_conn_parameter(conn, "default_transaction_read_only");
    if (value && strcmp(value, "on") == 0 && !p->options->read_only) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "read-only",
                        "transactions of user \"%.*s\" in database \"%.*s\" are read only: writes "
                        "will fail",
                        (int) id->user.len, id->user.data ? id->user.data : "",
                        (int) id->database.len, id->database.data ? id->database.data : "");
        rh_findings_advise(p->findings, "RESET default_transaction_read_only for the role, the "
                                        "database or the server");
    }
}

static void take_result(struct logins *all, struct rh_identity *id,
                        struct rh_connect_request *request)
{
    rh_free(id->why);
    id->why = NULL;
    if (request->conn) {
        id->login = RH_LOGIN_DONE;
        const char *encoding = rh_conn_parameter(request->conn, "server_encoding");
        snprintf(id->encoding, sizeof id->encoding, "%s", encoding ? encoding : "");
        check_read_only(all->p, id, request->conn);
        rh_conn_close(request->conn);
    } else if (request->error.code == RH_ERR_REFUSED) {
        all->has_refused = true;
        all->error = request->error;
    } else if (request->error.code != RH_ERR_STOPPED) {
        id->login = RH_LOGIN_FAILED;
        memcpy(id->sqlstate, request->sqlstate, sizeof id->sqlstate);
        id->why = rh_strdup(request->error.text);
    }
}

static void login_done(struct rh_connect_request *request)
{
    struct slot *slot = request->ctx;
    struct logins *all = slot->all;
    all->running--;
    take_result(all, slot->identity, request);
    start_next(all, slot);
    if (all->running == 0) {
        rh_loop_stop(all->loop);
    }
}

/*
 * Too many connections may have been our own: the one that asked before, and the logins beside
 * this. A backend is counted until it has ended, a moment after its connection.
 */
static void retry_full(struct logins *all)
{
    struct rh_identities *ids = all->p->ids;
    int retries = RETRIES;
    for (uint32_t i = 0; i < ids->leader_count; i++) {
        struct rh_identity *id = &ids->items[ids->leaders[i]];
        while (id->login == RH_LOGIN_FAILED && strcmp(id->sqlstate, "53300") == 0 && retries > 0 &&
               !all->has_refused && !rh_stop_requested()) {
            struct rh_connect_request request = {.user = id->user, .database = id->database};
            retries--;
            nanosleep(&(struct timespec){.tv_nsec = RETRY_PAUSE_NS}, NULL);
            rh_connector_connect(*all->p->connector, &request);
            take_result(all, id, &request);
        }
    }
}

static void on_stop(struct rh_watch *watch, uint32_t events)
{
    struct logins *all = watch->ctx;
    (void) events;
    all->is_stopped = true;
    rh_loop_unwatch(all->loop, watch);
    rh_connector_stop(*all->p->connector);
}

static void say_untried(struct logins *all)
{
    uint32_t count = all->p->ids->leader_count;
    if (all->next < count) {
        rh_findings_add(all->p->findings, RH_GRADE_WARNING, "logins-untried",
                        "%" PRIu32 " of %" PRIu32 " pairs of user and database %s not tried: %s",
                        count - all->next, count, rh_noun(count - all->next, "was", "were"),
                        all->next < LOGINS_MAX ? "logins take too long" : "they are too many");
    }
}

int rh_preflight_logins(struct rh_preflight *p, struct rh_error *err)
{
    struct logins all = {.p = p, .until_ns = rh_clock_mono_ns() + LOGINS_TIME_NS};
    if (rh_loop_new(&all.loop, err) != 0) {
        return -1;
    }
    int rc = -1;
    all.stop.ready = on_stop;
    all.stop.ctx = &all;
    if (rh_stop_fd() >= 0 &&
        rh_loop_watch(all.loop, &all.stop, rh_stop_fd(), RH_LOOP_READ, err) != 0) {
        goto out;
    }
    for (int i = 0; i < AT_ONCE; i++) {
        struct slot *slot = &all.slots[i];
        slot->all = &all;
        slot->request.loop = all.loop;
        slot->request.done = login_done;
        slot->request.ctx = slot;
        start_next(&all, slot);
    }
    if (all.running > 0 && rh_loop_run(all.loop, err) != 0) {
        /* What still runs would come back to a loop that is gone. */
        rh_connector_free(*p->connector);
        *p->connector = NULL;
        goto out;
    }
    rh_loop_unwatch(all.loop, &all.stop);
    retry_full(&all);
    if (all.has_refused) {
        *err = all.error;
        goto out;
    }
    if (all.is_stopped || rh_stop_requested()) {
        rh_error_set(err, RH_ERR_STOPPED, "stopped");
        goto out;
    }
    say_untried(&all);
    rc = 0;

out:
    rh_loop_free(all.loop);
    return rc;
}
