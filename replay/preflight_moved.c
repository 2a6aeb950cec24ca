/* What the replay changes of whom the sessions connect as and where, by -U, -d and the maps. */
#include <inttypes.h>

#include "replay/preflight.h"

/* More users or databases of the replay than this are not looked at. */
enum { TARGETS_MAX = 500, NAMES_SHOWN = 8, NAME_BYTES = 63, NAMES_SIZE = 1000 };

/* Names, each once; of the first the text. */
struct names {
    struct rh_intern seen;
    struct rh_buf text;
};

static void names_init(struct names *n)
{
    rh_intern_init(&n->seen);
    rh_buf_init(&n->text, NAMES_SIZE);
}

static void names_release(struct names *n)
{
    rh_intern_release(&n->seen);
    rh_buf_release(&n->text);
}

static void names_add(struct names *n, struct rh_span name)
{
    bool fresh;
    rh_intern_put(&n->seen, name, &fresh);
    if (fresh && n->seen.count <= NAMES_SHOWN) {
        rh_buf_addf(&n->text, "%s\"%.*s\"", n->text.len > 0 ? ", " : "",
                    (int) (name.len < NAME_BYTES ? name.len : NAME_BYTES), name.data);
    }
}

/* Once, when all were added. */
static const char *names_text(struct names *n)
{
    if (n->seen.count > NAMES_SHOWN) {
        rh_buf_addf(&n->text, " and %" PRIu32 " more", n->seen.count - NAMES_SHOWN);
    }
    return rh_buf_cstr(&n->text);
}

/* A superuser may do what the captured user may not, and sees the rows it does not. */
static bool becomes_superuser(const struct rh_preflight *p, const struct rh_identity *id)
{
    const struct rh_preflight_role *role = rh_preflight_role(p, id->user);
    return role && role->is_superuser && id->captured_user.data &&
           !rh_span_equal(id->user, id->captured_user);
}

static void say_superuser(struct rh_preflight *p, struct rh_span user)
{
    struct names names;
    names_init(&names);
    for (uint32_t i = 0; i < p->ids->count; i++) {
        const struct rh_identity *id = &p->ids->items[i];
        if (rh_span_equal(id->user, user) && becomes_superuser(p, id)) {
            names_add(&names, id->captured_user);
        }
    }
    rh_findings_add(p->findings, RH_GRADE_WARNING, "superuser",
                    "sessions of %s connect as superuser \"%.*s\": permissions and row security "
                    "do not hold for them",
                    names_text(&names), (int) user.len, user.data);
    rh_findings_advise(p->findings, "replay as a role with the same rights");
    names_release(&names);
}

void rh_preflight_superusers(struct rh_preflight *p)
{
    struct rh_intern said;
    rh_intern_init(&said);
    for (uint32_t i = 0; i < p->ids->count && said.count < TARGETS_MAX; i++) {
        const struct rh_identity *id = &p->ids->items[i];
        bool fresh = false;
        if (becomes_superuser(p, id)) {
            rh_intern_put(&said, id->user, &fresh);
        }
        if (fresh) {
            say_superuser(p, id->user);
        }
    }
    rh_intern_release(&said);
}

static void look_at_database(struct rh_preflight *p, struct rh_span database)
{
    struct names names;
    names_init(&names);
    for (uint32_t i = 0; i < p->ids->count; i++) {
        const struct rh_identity *id = &p->ids->items[i];
        if (id->captured_database.data && rh_span_equal(id->database, database)) {
            names_add(&names, id->captured_database);
        }
    }
    if (names.seen.count > 1) {
        uint32_t count = names.seen.count;
        rh_findings_add(p->findings, RH_GRADE_WARNING, "databases-merged",
                        "%" PRIu32 " databases of the trace become one, \"%.*s\": %s", count,
                        (int) (database.len < NAME_BYTES ? database.len : NAME_BYTES),
                        database.data, names_text(&names));
        rh_findings_advise(p->findings,
                           "statements fail where what they name is not in that one; without -d "
                           "each goes to the database of its name, and --map-database A=B "
                           "renames single ones");
    }
    names_release(&names);
}

void rh_preflight_merged(struct rh_preflight *p)
{
    struct rh_intern targets;
    rh_intern_init(&targets);
    for (uint32_t i = 0; i < p->ids->count && targets.count < TARGETS_MAX; i++) {
        struct rh_span database = p->ids->items[i].database;
        bool fresh = false;
        if (database.data) {
            rh_intern_put(&targets, database, &fresh);
        }
        if (fresh) {
            look_at_database(p, database);
        }
    }
    rh_intern_release(&targets);
}
