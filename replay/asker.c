#include "replay/asker.h"

#include "common/clock.h"
#include "replay/inquiry.h"

/* So many are tried to get in at all, and so many again to see more. */
enum { TRIES_MAX = 8, NAMES_MAX = 500 };
/* A connect that fails after longer than this is not tried as somebody else. */
#define PATIENCE_NS (2 * RH_NS_PER_SEC)

const char *rh_sight_text(enum rh_sight sight)
{
    static const char *const texts[] = {"sees its own", "sees statistics", "superuser"};
    return texts[sight];
}

const char *rh_sight_name(enum rh_sight sight)
{
    static const char *const names[] = {"own", "statistics", "superuser"};
    return names[sight];
}

static int connect_as(struct rh_conn **conn, const struct rh_identity *id,
                      struct rh_connector *connector, struct rh_connect_request *request)
{
    *request = (struct rh_connect_request){.user = id->user, .database = id->database};
    if (rh_connector_connect(connector, request) != 0) {
        return -1;
    }
    *conn = request->conn;
    return 0;
}

/* Whether the next one is to be tried: it was this user that was refused. */
static bool tries_on(const struct rh_connect_request *request)
{
    return request->error.code == RH_ERR_NET &&
           request->ended_ns - request->began_ns <= PATIENCE_NS;
}

static int connect_first(struct rh_conn **conn, const struct rh_identity **who,
                         struct rh_connector *connector, const struct rh_identities *ids,
                         bool *refused, struct rh_error *err)
{
    *refused = true;
    rh_error_set(err, RH_ERR_NET, "no session to connect");
    for (uint32_t i = 0; i < ids->leader_count && i < TRIES_MAX; i++) {
        struct rh_connect_request request;
        *who = &ids->items[ids->leaders[i]];
        if (connect_as(conn, *who, connector, &request) == 0) {
            return 0;
        }
        if (i == 0 || request.error.code == RH_ERR_REFUSED) {
            *err = request.error;
        }
        *refused = *refused && request.sqlstate[0] != '\0';
        if (!tries_on(&request)) {
            break;
        }
    }
    return -1;
}

static void note_sight(struct rh_identities *ids, struct rh_span user, int64_t sight)
{
    for (uint32_t i = 0; i < ids->leader_count; i++) {
        struct rh_identity *id = &ids->items[ids->leaders[i]];
        if (rh_span_equal(id->user, user) && sight <= RH_SIGHT_SUPERUSER) {
            id->sight = (enum rh_sight) sight;
        }
    }
}

/* Ask who sees what; without an answer all see the same.  False: the connection cannot be used any
 * more. */
static bool find_sights(struct rh_identities *ids, struct rh_conn *conn,
                        const struct rh_identity *who)
{
    struct rh_findings ignored; /* the questions that follow meet the same and tell it */
    struct rh_inquiry q;
    struct rh_probe_row row;
    struct rh_buf sql;
    struct rh_span names[NAMES_MAX];
    uint32_t count = 0;
    for (; count < ids->leader_count && count < NAMES_MAX; count++) {
        names[count] = ids->items[ids->leaders[count]].user;
    }
    rh_findings_init(&ignored);
    rh_buf_init(&sql, 64 * 1024);
    rh_inquiry_init(&q, conn, who->user, &ignored);
    rh_buf_add_cstr(&sql, "SELECT rolname, CASE WHEN rolsuper THEN 2 WHEN pg_has_role(oid, "
                          "'pg_monitor', 'USAGE') OR pg_has_role(oid, 'pg_read_all_stats', "
                          "'USAGE') THEN 1 ELSE 0 END FROM pg_roles WHERE rolname IN ");
    rh_inquiry_add_list(&sql, names, count);
    if (q.major >= 10 && rh_inquiry_ask(&q, "the rights of the users", "ti", rh_buf_cstr(&sql))) {
        while (rh_inquiry_next(&q, &row)) {
            note_sight(ids, row.values[0], rh_inquiry_int(row.values[1]));
        }
    }
    bool is_usable = !q.is_lost;
    rh_inquiry_release(&q);
    rh_buf_release(&sql);
    rh_findings_release(&ignored);
    return is_usable;
}

/* Replace the connection by one that sees more, where one is let in.  -1: RH_ERR_REFUSED or
 * RH_ERR_STOPPED, and *conn is closed. */
static int connect_better(struct rh_conn **conn, const struct rh_identity **who,
                          struct rh_connector *connector, const struct rh_identities *ids,
                          struct rh_error *err)
{
    int tries = 0;
    for (int sight = RH_SIGHT_SUPERUSER; sight > (int) (*who)->sight; sight--) {
        for (uint32_t i = 0; i < ids->leader_count && tries < TRIES_MAX; i++) {
            const struct rh_identity *id = &ids->items[ids->leaders[i]];
            struct rh_connect_request request;
            struct rh_conn *better;
            if ((int) id->sight != sight) {
                continue;
            }
            tries++;
            if (connect_as(&better, id, connector, &request) == 0) {
                rh_conn_close(*conn);
                *conn = better;
                *who = id;
                return 0;
            }
            if (request.error.code != RH_ERR_NET) {
                rh_conn_close(*conn);
                *conn = NULL;
                *err = request.error;
                return -1;
            }
        }
    }
    return 0;
}

int rh_asker_connect(struct rh_conn **conn, const struct rh_identity **who,
                     struct rh_connector *connector, struct rh_identities *ids, bool *refused,
                     struct rh_error *err)
{
    *conn = NULL;
    if (connect_first(conn, who, connector, ids, refused, err) != 0) {
        return -1;
    }
    if (find_sights(ids, *conn, *who)) {
        return connect_better(conn, who, connector, ids, err);
    }
    rh_conn_close(*conn);
    return connect_first(conn, who, connector, ids, refused, err);
}

const struct rh_identity *rh_asker_of_database(const struct rh_identities *ids,
                                               struct rh_span database)
{
    const struct rh_identity *best = NULL;
    for (uint32_t i = 0; i < ids->leader_count; i++) {
        const struct rh_identity *id = &ids->items[ids->leaders[i]];
        if (id->login == RH_LOGIN_DONE && rh_span_equal(id->database, database) &&
            (!best || id->sight > best->sight)) {
            best = id;
        }
    }
    return best;
}
