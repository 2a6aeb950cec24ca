/* What the server knows of the users and databases of the replay. */
#include <inttypes.h>
#include <stdio.h>

#include "common/alloc.h"
#include "replay/preflight.h"

/* More users or databases than this are not asked about; so many settings are read. */
enum { NAMES_MAX = 500, SETTINGS_MAX = 500, NAMES_SIZE = 400 };

/* The distinct users (or databases) of the replay: their number. */
static uint32_t distinct_names(const struct rh_identities *ids, bool users,
                               struct rh_span names[NAMES_MAX])
{
    struct rh_intern seen;
    uint32_t count = 0;
    rh_intern_init(&seen);
    for (uint32_t i = 0; i < ids->leader_count && count < NAMES_MAX; i++) {
        const struct rh_identity *id = &ids->items[ids->leaders[i]];
        struct rh_span name = users ? id->user : id->database;
        bool fresh = false;
        if (name.data) {
            rh_intern_put(&seen, name, &fresh);
        }
        if (fresh) {
            names[count++] = name;
        }
    }
    rh_intern_release(&seen);
    return count;
}

static void check_limit(struct rh_preflight *p, const char *what, struct rh_span name,
                        int64_t limit, struct rh_span user, struct rh_span database)
{
    uint32_t peak = rh_identities_peak(p->ids, p->plan, user, database);
    uint32_t most = p->options->max_connections;
    peak = most > 0 && most < peak ? most : peak;
    /* With a limit of 0 the login fails, which is told with its cost. */
    if (limit <= 0 || peak <= limit || p->target->is_pooled) {
        return;
    }
    rh_findings_add(p->findings, RH_GRADE_STOP, "connection-limit",
                    "up to %" PRIu32 " sessions of %s \"%.*s\" will be open at once, and its "
                    "connection limit is %" PRId64,
                    peak, what, (int) name.len, name.data, limit);
    rh_findings_advise(p->findings, "ALTER %s \"%.*s\" CONNECTION LIMIT -1",
                       what[0] == 'r' ? "ROLE" : "DATABASE", (int) name.len, name.data);
}

static void take_role(struct rh_preflight *p, const struct rh_probe_row *row)
{
    bool fresh;
    uint32_t number = rh_intern_put(&p->role_names, row->values[0], &fresh);
    if (!fresh || number >= NAMES_MAX) {
        return;
    }
    p->roles[number] = (struct rh_preflight_role){
        .can_login = rh_inquiry_bool(row->values[1]),
        .is_superuser = rh_inquiry_bool(row->values[2]),
        .connection_limit = row->values[3].data && row->values[3].data[0] != '-'
                                ? rh_inquiry_int(row->values[3])
                                : -1,
    };
}

static void check_database_limits(struct rh_preflight *p, struct rh_inquiry *q, struct rh_buf *sql,
                                  struct rh_span names[NAMES_MAX])
{
    struct rh_probe_row row;
    rh_buf_clear(sql);
    rh_buf_add_cstr(sql, "SELECT datname, datconnlimit FROM pg_database WHERE datconnlimit >= 0 "
                         "AND datname IN ");
    rh_inquiry_add_list(sql, names, distinct_names(p->ids, false, names));
    if (rh_inquiry_ask(q, "the databases", "ti", rh_buf_cstr(sql))) {
        while (rh_inquiry_next(q, &row)) {
            check_limit(p, "database", row.values[0], rh_inquiry_int(row.values[1]), RH_SPAN_NONE,
                        row.values[0]);
        }
    }
}

void rh_preflight_roles(struct rh_preflight *p, struct rh_inquiry *q)
{
    struct rh_probe_row row;
    struct rh_buf sql;
    struct rh_span names[NAMES_MAX];
    rh_buf_init(&sql, 64 * 1024);
    uint32_t count = distinct_names(p->ids, true, names);
    p->roles = rh_calloc(NAMES_MAX, sizeof *p->roles);
    rh_buf_add_cstr(&sql, "SELECT rolname, rolcanlogin, rolsuper, rolconnlimit FROM pg_roles "
                          "WHERE rolname IN ");
    rh_inquiry_add_list(&sql, names, count);
    if (rh_inquiry_ask(q, "the roles", "tbbn", rh_buf_cstr(&sql))) {
        while (rh_inquiry_next(q, &row)) {
            take_role(p, &row);
        }
        p->roles_known = p->role_names.count > 0;
        if (!p->roles_known) { /* and yet one of them is connected */
            rh_inquiry_doubt(q, "the roles");
        }
    }
    for (uint32_t i = 0; i < p->role_names.count && i < NAMES_MAX; i++) {
        struct rh_span name = p->role_names.items[i];
        if (!p->roles[i].is_superuser) {
            check_limit(p, "role", name, p->roles[i].connection_limit, name, RH_SPAN_NONE);
        }
    }
    rh_preflight_superusers(p);
    check_database_limits(p, q, &sql, names);
    rh_buf_release(&sql);
}

/* A setting of ALTER ROLE or ALTER DATABASE: role and database are none where it holds for all. */
struct db_role_setting {
    struct rh_span database;
    struct rh_span role;
    struct rh_span setting; /* "work_mem=64MB" */
};

static bool holds(const struct db_role_setting *s, struct rh_span user, struct rh_span database)
{
    return (!s->role.data || rh_span_equal(s->role, user)) &&
           (!s->database.data || rh_span_equal(s->database, database));
}

/* Whether the setting that held in the capture holds as well for who takes the session's place. */
static bool is_kept(const struct db_role_setting *all, uint32_t count, uint32_t which,
                    const struct rh_identity *id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rh_span_equal(all[i].setting, all[which].setting) &&
            holds(&all[i], id->user, id->database)) {
            return true;
        }
    }
    return false;
}

/* The names alone: a value may be long, or a secret of an extension. */
static void add_lost(char text[NAMES_SIZE], struct rh_span setting)
{
    size_t used = strlen(text);
    const char *equals = memchr(setting.data, '=', setting.len);
    size_t n = equals ? (size_t) (equals - setting.data) : setting.len;
    snprintf(text + used, NAMES_SIZE - used, "%s%.*s", used ? ", " : "", (int) n, setting.data);
}

static void check_identity(struct rh_preflight *p, const struct rh_identity *id,
                           const struct db_role_setting *all, uint32_t count)
{
    char lost[NAMES_SIZE] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (holds(&all[i], id->captured_user, id->captured_database) &&
            !is_kept(all, count, i, id)) {
            add_lost(lost, all[i].setting);
        }
    }
    if (lost[0]) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "settings-lost",
                        "settings of user \"%.*s\" in database \"%.*s\" do not hold for \"%.*s\" "
                        "in \"%.*s\": %s",
                        (int) id->captured_user.len,
                        id->captured_user.data ? id->captured_user.data : "",
                        (int) id->captured_database.len,
                        id->captured_database.data ? id->captured_database.data : "",
                        (int) id->user.len, id->user.data ? id->user.data : "",
                        (int) id->database.len, id->database.data ? id->database.data : "", lost);
        rh_findings_advise(p->findings, "ALTER ROLE or DATABASE ... SET them there too, or replay "
                                        "as the captured user in the captured database");
    }
}

static bool takes_another_place(const struct rh_identity *id)
{
    return !rh_span_equal(id->user, id->captured_user) ||
           !rh_span_equal(id->database, id->captured_database);
}

void rh_preflight_settings(struct rh_preflight *p, struct rh_inquiry *q)
{
    struct rh_probe_row row;
    uint32_t moved = 0, count = 0;
    for (uint32_t i = 0; i < p->ids->count; i++) {
        moved += takes_another_place(&p->ids->items[i]);
    }
    if (moved == 0 ||
        !rh_inquiry_ask(q, "settings by role and database", "ttt",
                        "SELECT d.datname, r.rolname, c FROM pg_db_role_setting s "
                        "LEFT JOIN pg_database d ON d.oid = s.setdatabase "
                        "LEFT JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) c "
                        "WHERE (s.setdatabase = 0 OR d.oid IS NOT NULL) "
                        "AND (s.setrole = 0 OR r.oid IS NOT NULL)")) {
        return;
    }
    struct db_role_setting *all = rh_calloc(SETTINGS_MAX, sizeof *all);
    while (count < SETTINGS_MAX && rh_inquiry_next(q, &row)) {
        if (row.values[2].data) {
            all[count++] = (struct db_role_setting){row.values[0], row.values[1], row.values[2]};
        }
    }
    for (uint32_t i = 0; i < p->ids->count && i < NAMES_MAX; i++) {
        if (takes_another_place(&p->ids->items[i])) {
            check_identity(p, &p->ids->items[i], all, count);
        }
    }
    rh_free(all);
}
