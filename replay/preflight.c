#include "replay/preflight.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/noun.h"
#include "common/stop.h"

enum { REACHES_SHOWN = 4 };

void rh_preflight_init(struct rh_preflight *p)
{
    *p = (struct rh_preflight){0};
    rh_intern_init(&p->role_names);
}

void rh_preflight_release(struct rh_preflight *p)
{
    if (p->has_preview) {
        rh_preview_release(&p->preview);
    }
    rh_intern_release(&p->role_names);
    rh_free(p->roles);
}

static bool any_login_failed(const struct rh_preflight *p)
{
    for (uint32_t i = 0; i < p->ids->leader_count; i++) {
        if (p->ids->items[p->ids->leaders[i]].login == RH_LOGIN_FAILED) {
            return true;
        }
    }
    return false;
}

static void check_source_version(struct rh_preflight *p)
{
    struct rh_span of_trace = rh_trace_file_header(p->file)->server_version;
    char text[64];
    if (!of_trace.data || !p->target->version[0]) {
        return;
    }
    snprintf(text, sizeof text, "%.*s", (int) of_trace.len, of_trace.data);
    long then = strtol(text, NULL, 10), now = strtol(p->target->version, NULL, 10);
    if (then > now && now > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "older-server",
                        "the target is PostgreSQL %s, the trace comes from %s: what the older one "
                        "lacks will fail",
                        p->target->version, text);
        rh_findings_advise(p->findings, "make sure that this is the server you mean");
    } else if (then != now) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "other-version",
                        "the target is PostgreSQL %s, the trace comes from %s", p->target->version,
                        text);
    }
}

static void check_place(struct rh_preflight *p)
{
    if (p->target->is_here && !p->target->is_pooled) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "same-machine",
                        "the target is on this machine: replay and server share its processors");
        rh_findings_advise(p->findings, "replay from another machine where times matter");
    }
    if (p->target->is_pooled) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "pooler",
                        "a pooler stands before the server: its limits and its mode are not "
                        "checked, and the server's connection limits are its business");
    }
}

/* A log tells the encoding of its texts by the texts alone. */
static void check_text_encodings(struct rh_preflight *p)
{
    for (uint32_t i = 0; i < p->ids->count; i++) {
        const struct rh_identity *id = &p->ids->items[i];
        const struct rh_identity *leader = &p->ids->items[id->leader];
        const struct rh_preview_texts *texts = &p->preview.texts[i];
        bool is_utf8 = strcmp(leader->encoding, "UTF8") == 0;
        if (!leader->encoding[0] || strcmp(leader->encoding, "SQL_ASCII") == 0) {
            continue;
        }
        if (is_utf8 ? texts->not_utf8 == 0
                    : texts->beyond_ascii == 0 || texts->not_utf8 == texts->beyond_ascii) {
            continue;
        }
        uint64_t odd = is_utf8 ? texts->not_utf8 : texts->beyond_ascii - texts->not_utf8;
        rh_findings_add(
            p->findings, RH_GRADE_WARNING, "encoding",
            "%" PRIu64 " statement%s of database \"%.*s\" %s, but its encoding is %s there", odd,
            rh_plural(odd), (int) id->captured_database.len,
            id->captured_database.data ? id->captured_database.data : "",
            is_utf8
                ? rh_noun(odd, "holds bytes that are not UTF-8", "hold bytes that are not UTF-8")
                : rh_noun(odd, "holds UTF-8", "hold UTF-8"),
            leader->encoding);
        rh_findings_advise(p->findings, "make the database in production's encoding");
    }
}

static int by_count(const void *a, const void *b)
{
    const struct rh_preview_reach *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->kind, y->kind);
}

/* What was right in production may be wrong on the candidate: it changes the server, not its data.
 */
static void check_reach(struct rh_preflight *p)
{
    struct rh_preview_reach *all = p->preview.reaches;
    uint64_t total = p->preview.reaches_beyond;
    char kinds[600] = "";
    size_t used = 0;
    qsort(all, p->preview.reach_count, sizeof *all, by_count);
    for (uint32_t i = 0; i < p->preview.reach_count; i++) {
        total += all[i].count;
        if (i < REACHES_SHOWN) {
            int n = snprintf(kinds + used, sizeof kinds - used,
                             "%s%s %" PRIu64 " time%s (session %" PRIu32 ", statement %" PRIu64 ")",
                             used ? ", " : "", all[i].kind, all[i].count, rh_plural(all[i].count),
                             all[i].session, all[i].ordinal);
            used += n > 0 && (size_t) n < sizeof kinds - used ? (size_t) n : 0;
        }
    }
    if (total > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "beyond-database",
                        "%" PRIu64
                        " statement%s act%s on the whole server, other sessions, files or "
                        "other servers: %s%s",
                        total, rh_plural(total), total == 1 ? "s" : "", kinds,
                        p->preview.reach_count > REACHES_SHOWN ? ", ..." : "");
        rh_findings_advise(
            p->findings, "pgrehearse show --session S --ordinal N shows one; where it must not "
                         "happen, replay as a user without the right to, or leave the session out "
                         "of the capture");
    }
}

static int read_trace(struct rh_preflight *p, struct rh_error *err)
{
    if (rh_preview_read(&p->preview, p->plan, p->file, p->ids, err) != 0) {
        return -1;
    }
    p->has_preview = true;
    return 0;
}

void rh_preflight_ask(struct rh_preflight *p, struct rh_inquiry *q)
{
    check_source_version(p);
    check_place(p);
    if (q->major < 10) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "not-looked-at",
                        "the catalogues are not looked at: the server is older than 10, or does "
                        "not tell its version");
        return;
    }
    rh_preflight_cluster(p, q);
    rh_preflight_roles(p, q);
    rh_preflight_settings(p, q);
    if (q->is_lost && q->error.code == RH_ERR_NET) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "checks-ended",
                        "the checks of the server ended early: %s", q->error.text);
    }
}

int rh_preflight_run(struct rh_preflight *p, struct rh_error *err)
{
    rh_preflight_merged(p);
    if (rh_preflight_logins(p, err) != 0 || rh_preflight_databases(p, err) != 0) {
        return -1;
    }
    if ((p->read_trace || any_login_failed(p)) && read_trace(p, err) != 0) {
        return -1;
    }
    rh_preflight_judge_logins(p);
    if (p->has_preview) {
        check_text_encodings(p);
        check_reach(p);
    }
    if (p->options->verbose) {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "extensions-unknown",
                        "which extensions production had is not known: a log does not tell");
    }
    return rh_stop_requested() ? rh_error_set(err, RH_ERR_STOPPED, "stopped") : 0;
}

const struct rh_preflight_role *rh_preflight_role(const struct rh_preflight *p, struct rh_span name)
{
    int64_t number = rh_intern_find(&p->role_names, name);
    return number < 0 ? NULL : &p->roles[number];
}
