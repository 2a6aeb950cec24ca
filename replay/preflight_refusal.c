/* The logins that failed: one finding a reason, with what it costs. */
#include <stdio.h>

#include "common/alloc.h"
#include "common/noun.h"
#include "replay/preflight.h"

enum { NAMES_SHOWN = 4, NAME_BYTES = 70, NAMES_SIZE = 600 };

/* Above this share of the plan's statements the diff's gates would not pass either. */
#define SHARE_OF_STOP 0.01

enum reason {
    NO_ROLE,
    NO_LOGIN,
    NO_DATABASE,
    NO_PASSWORD,
    PASSWORD,
    ACCESS,
    NO_CONNECT,
    FULL,
    OTHER
};

enum subject { OF_USER, OF_DATABASE, OF_BOTH };

struct reason_text {
    const char *name;
    enum subject subject;
    const char *text;
    const char *advice;
};

static const struct reason_text reason_texts[] = {
    [NO_ROLE] = {"role-missing", OF_USER, "roles that the server does not have",
                 "CREATE ROLE ... LOGIN there, or --map-user A=B"},
    [NO_LOGIN] = {"role-without-login", OF_USER, "roles that may not log in",
                  "ALTER ROLE ... LOGIN there, or --map-user A=B"},
    [NO_DATABASE] = {"database-missing", OF_DATABASE, "databases that the server does not have",
                     "CREATE DATABASE there, or --map-database A=B"},
    [NO_PASSWORD] = {"password-missing", OF_USER, "the server wants a password of",
                     "put it into the password file, or into PGPASSWORD if it is the same for all"},
    [PASSWORD] = {"password-wrong", OF_USER, "the server does not take the password of",
                  "look at the password file and PGPASSWORD, or ALTER ROLE ... PASSWORD there"},
    [ACCESS] = {"access-refused", OF_BOTH, "pg_hba.conf lets in from here none of",
                "add a line to the server's pg_hba.conf, and reload"},
    [NO_CONNECT] = {"connect-forbidden", OF_BOTH, "no permission to connect has",
                    "GRANT CONNECT ON DATABASE ... TO ... there"},
    [FULL] = {"too-many-connections", OF_BOTH, "no connection is free for",
              "raise max_connections or the limit of role or database, or close what is connected"},
    [OTHER] = {"login-failed", OF_BOTH, "cannot log in", NULL},
};

/* The server tells a missing role and a line of pg_hba.conf that is missing by one SQLSTATE, and to
 * somebody who has to give a password not even that the role is missing: the catalogue does. */
static enum reason find_reason(const struct rh_preflight *p, const struct rh_identity *id)
{
    const char *state = id->sqlstate;
    if (strcmp(state, "28000") == 0 || strcmp(state, "28P01") == 0) {
        const struct rh_preflight_role *role = rh_preflight_role(p, id->user);
        if (p->roles_known && id->user.data && !role) {
            return NO_ROLE;
        }
        if (role && !role->can_login) {
            return NO_LOGIN;
        }
        if (!p->roles_known && strstr(id->why, "does not exist")) {
            return NO_ROLE; /* nobody got in to ask the catalogue, and these are the words */
        }
        return state[2] == 'P' ? PASSWORD : p->roles_known ? ACCESS : OTHER;
    }
    static const struct {
        const char *state;
        enum reason reason;
    } known[] = {{"3D000", NO_DATABASE}, {"42501", NO_CONNECT}, {"53300", FULL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(state, known[i].state) == 0) {
            return known[i].reason;
        }
    }
    return !state[0] && strstr(id->why, "no password supplied") ? NO_PASSWORD : OTHER;
}

/* What the logins of one reason would cost, and the names of it. */
struct refusal {
    struct rh_intern names;
    char text[NAMES_SIZE];
    size_t used;
    uint64_t sessions;
    uint64_t statements;
};

static void add_name(struct refusal *r, const struct rh_identity *id, enum subject subject)
{
    char name[2 * NAME_BYTES + 20];
    bool fresh;
    int user_len = (int) (id->user.len < NAME_BYTES ? id->user.len : NAME_BYTES);
    int database_len = (int) (id->database.len < NAME_BYTES ? id->database.len : NAME_BYTES);
    const char *user = id->user.data ? id->user.data : "";
    const char *database = id->database.data ? id->database.data : "";
    if (subject == OF_BOTH) {
        snprintf(name, sizeof name, "\"%.*s\" in \"%.*s\"", user_len, user, database_len, database);
    } else {
        bool of_user = subject == OF_USER;
        snprintf(name, sizeof name, "\"%.*s\"", of_user ? user_len : database_len,
                 of_user ? user : database);
    }
    rh_intern_put(&r->names, rh_span_cstr(name), &fresh);
    if (fresh && r->names.count <= NAMES_SHOWN) {
        int n = snprintf(r->text + r->used, sizeof r->text - r->used, "%s%s", r->used ? ", " : "",
                         name);
        r->used += n > 0 && (size_t) n < sizeof r->text - r->used ? (size_t) n : 0;
    }
}

static void add_cost(struct refusal *r, const struct rh_identities *ids, uint32_t leader)
{
    for (uint32_t i = 0; i < ids->count; i++) {
        if (ids->items[i].leader == leader) {
            r->sessions += ids->items[i].sessions;
            r->statements += ids->items[i].statements;
        }
    }
}

static void add_finding(struct rh_preflight *p, const struct reason_text *t,
                        const struct refusal *r, const char *why, enum rh_grade grade)
{
    char more[40] = "";
    if (r->names.count > NAMES_SHOWN) {
        snprintf(more, sizeof more, " and %u more", r->names.count - NAMES_SHOWN);
    }
    rh_findings_add(p->findings, grade, t->name,
                    "%s: %s%s%s%s%s; %llu session%s with %llu statement%s would be lost", t->text,
                    r->text, more, why ? " (" : "", why ? why : "", why ? ")" : "",
                    (unsigned long long) r->sessions, rh_plural(r->sessions),
                    (unsigned long long) r->statements, rh_plural(r->statements));
    if (t->advice) {
        rh_findings_advise(p->findings, "%s", t->advice);
    }
    rh_findings_note_loss(p->findings, r->sessions, r->statements);
}

/* Refusals of one SQLSTATE differ in the names they tell; without one only the words are left. */
static bool is_same_refusal(const struct rh_identity *a, const struct rh_identity *b)
{
    return strcmp(a->sqlstate, b->sqlstate) == 0 && (a->sqlstate[0] || strcmp(a->why, b->why) == 0);
}

/* All that failed for the reason of the first-th leader, which comes first of them. */
static void judge_reason(struct rh_preflight *p, uint32_t first, bool *told, enum rh_grade grade)
{
    const struct rh_identities *ids = p->ids;
    const struct rh_identity *model = &ids->items[ids->leaders[first]];
    enum reason reason = find_reason(p, model);
    struct refusal r = {0};
    rh_intern_init(&r.names);
    for (uint32_t i = first; i < ids->leader_count; i++) {
        const struct rh_identity *id = &ids->items[ids->leaders[i]];
        if (id->login == RH_LOGIN_FAILED && !told[i] && find_reason(p, id) == reason &&
            (reason != OTHER || is_same_refusal(id, model))) {
            told[i] = true;
            add_name(&r, id, reason_texts[reason].subject);
            add_cost(&r, ids, ids->leaders[i]);
        }
    }
    add_finding(p, &reason_texts[reason], &r, reason == OTHER ? model->why : NULL, grade);
    rh_intern_release(&r.names);
}

void rh_preflight_judge_logins(struct rh_preflight *p)
{
    const struct rh_identities *ids = p->ids;
    struct refusal all = {0};
    uint64_t sessions = 0, statements = 0;
    for (uint32_t i = 0; i < ids->count; i++) {
        sessions += ids->items[i].sessions;
        statements += ids->items[i].statements;
        if (ids->items[ids->items[i].leader].login == RH_LOGIN_FAILED) {
            all.sessions += ids->items[i].sessions;
            all.statements += ids->items[i].statements;
        }
    }
    bool much = statements > 0 ? (double) all.statements > SHARE_OF_STOP * (double) statements
                               : (double) all.sessions > SHARE_OF_STOP * (double) sessions;
    enum rh_grade grade = much || all.sessions == sessions ? RH_GRADE_STOP : RH_GRADE_WARNING;
    bool *told = rh_calloc(ids->leader_count + 1, sizeof *told);
    for (uint32_t i = 0; i < ids->leader_count; i++) {
        if (ids->items[ids->leaders[i]].login == RH_LOGIN_FAILED && !told[i]) {
            judge_reason(p, i, told, grade);
        }
    }
    rh_free(told);
}
