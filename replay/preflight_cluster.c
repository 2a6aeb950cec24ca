/* What holds for the whole server. */
#include <inttypes.h>
#include <stdio.h>

#include "common/noun.h"
#include "replay/preflight.h"

enum { NAMES_SHOWN = 3, NAMES_SIZE = 400 };

/* The names of the answer's first column, the first few by name: "a", "b" and 3 more.  How many. */
static uint32_t read_names(struct rh_inquiry *q, char text[NAMES_SIZE])
{
    struct rh_probe_row row;
    uint32_t count = 0;
    size_t used = 0;
    text[0] = '\0';
    while (rh_inquiry_next(q, &row)) {
        if (count++ < NAMES_SHOWN) {
            int n = snprintf(text + used, NAMES_SIZE - used, "%s\"%.*s\"", used ? ", " : "",
                             (int) (row.values[0].len < 100 ? row.values[0].len : 100),
                             row.values[0].data ? row.values[0].data : "");
            used += n > 0 && (size_t) n < NAMES_SIZE - used ? (size_t) n : 0;
        }
    }
    if (count > NAMES_SHOWN) {
        snprintf(text + used, NAMES_SIZE - used, " and %" PRIu32 " more", count - NAMES_SHOWN);
    }
    return count;
}

static void check_recovery(struct rh_preflight *p)
{
    if (p->target->is_in_recovery && !p->options->read_only) {
        rh_findings_add(p->findings, RH_GRADE_STOP, "in-recovery",
                        "the server is in recovery: every write would fail");
        rh_findings_advise(p->findings, "promote it (SELECT pg_promote())");
    }
}

static void check_connections(struct rh_preflight *p)
{
    const struct rh_target *t = p->target;
    uint32_t peak = p->plan->peak_count, limit = p->options->max_connections;
    if (t->is_pooled || t->max_connections < 0) {
        return;
    }
    int64_t reserved = t->reserved < 0 ? 0 : t->reserved, others = t->others < 0 ? 0 : t->others;
    int64_t room = t->max_connections - reserved - others;
    peak = limit > 0 && limit < peak ? limit : peak;
    if (peak <= room) {
        return;
    }
    room = room < 0 ? 0 : room;
    rh_findings_add(p->findings, RH_GRADE_STOP, "max-connections",
                    "up to %" PRIu32 " session%s will be open at once, and the server has room for "
                    "%" PRId64 " (max_connections %" PRId64 ", reserved %" PRId64
                    ", in use %" PRId64 ")",
                    peak, rh_plural(peak), room, t->max_connections, reserved, others);
    if (room > 0) {
        rh_findings_advise(p->findings, "raise max_connections, or give --max-connections %" PRId64,
                           room);
    } else {
        rh_findings_advise(p->findings, "raise max_connections, or close what is connected");
    }
}

/* The value of a setting, as far as this user may see it: copied, "" if not. */
struct settings {
    char archive_mode[16];
    char archive_command[200];
    char archive_library[100];
    char synchronous_commit[20];
    char standbys[200];
    char read_only[8];
};

static void take_setting(struct settings *s, struct rh_span name, struct rh_span value)
{
    const struct {
        const char *name;
        char *to;
        size_t size;
    } places[] = {
        {"archive_mode", s->archive_mode, sizeof s->archive_mode},
        {"archive_command", s->archive_command, sizeof s->archive_command},
        {"archive_library", s->archive_library, sizeof s->archive_library},
        {"synchronous_commit", s->synchronous_commit, sizeof s->synchronous_commit},
        {"synchronous_standby_names", s->standbys, sizeof s->standbys},
        {"default_transaction_read_only", s->read_only, sizeof s->read_only},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (rh_span_is(name, places[i].name) && value.data) {
            snprintf(places[i].to, places[i].size, "%.*s", (int) value.len, value.data);
        }
    }
}

static void check_archiving(struct rh_preflight *p, const struct settings *s)
{
    const char *how = s->archive_library[0] ? s->archive_library : s->archive_command;
    if ((strcmp(s->archive_mode, "on") != 0 && strcmp(s->archive_mode, "always") != 0) || !how[0] ||
        strcmp(how, "(disabled)") == 0) {
        return;
    }
    rh_findings_add(
        p->findings, RH_GRADE_WARNING, "archiving",
        "the server archives its WAL by \"%s\": a clone may do it where production does", how);
    rh_findings_advise(p->findings, "ALTER SYSTEM SET archive_command = '/bin/true', and reload");
}

/* Walsenders are visible to everybody, their sync_state is not. */
static void check_standbys(struct rh_preflight *p, struct rh_inquiry *q, const struct settings *s)
{
    struct rh_probe_row row;
    int64_t count = -1;
    if (!s->standbys[0] || strcmp(s->synchronous_commit, "off") == 0 ||
        strcmp(s->synchronous_commit, "local") == 0) {
        return;
    }
    if (rh_inquiry_ask(q, "the standbys", "=i", "SELECT count(*) FROM pg_stat_replication") &&
        rh_inquiry_next(q, &row)) {
        count = rh_inquiry_int(row.values[0]);
    }
    if (count == 0) {
        rh_findings_add(p->findings, RH_GRADE_STOP, "no-standby",
                        "synchronous_standby_names is '%s', and no standby is connected: every "
                        "commit would wait for ever",
                        s->standbys);
    } else {
        rh_findings_add(p->findings, RH_GRADE_NOTE, "synchronous-standbys",
                        "commits wait for standbys (synchronous_standby_names = '%s')",
                        s->standbys);
    }
    rh_findings_advise(p->findings, "ALTER SYSTEM SET synchronous_standby_names = '', and reload, "
                                    "if production has none");
}

static void check_settings(struct rh_preflight *p, struct rh_inquiry *q)
{
    struct rh_probe_row row;
    struct settings s = {0};
    if (!rh_inquiry_ask(q, "the server's settings", "tt",
                        "SELECT name, setting FROM pg_settings WHERE name IN ('archive_mode', "
                        "'archive_command', 'archive_library', 'synchronous_commit', "
                        "'synchronous_standby_names', 'default_transaction_read_only')")) {
        return;
    }
    uint32_t count = 0;
    for (; rh_inquiry_next(q, &row); count++) {
        take_setting(&s, row.values[0], row.values[1]);
    }
    if (count == 0) {
        rh_inquiry_doubt(q, "the server's settings");
    }
    check_archiving(p, &s);
    check_standbys(p, q, &s);
    /* Newer servers tell it at each login. */
    if (q->major < 14 && strcmp(s.read_only, "on") == 0 && !p->options->read_only) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "read-only",
                        "default_transaction_read_only is on: writes will fail");
        rh_findings_advise(p->findings,
                           "ALTER SYSTEM RESET default_transaction_read_only, or ALTER "
                           "ROLE or DATABASE ... RESET it");
    }
}

static void check_slots(struct rh_preflight *p, struct rh_inquiry *q)
{
    char names[NAMES_SIZE];
    if (rh_inquiry_ask(q, "the replication slots", "t",
                       "SELECT slot_name FROM pg_replication_slots WHERE NOT active ORDER BY 1") &&
        read_names(q, names) > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "replication-slots",
                        "nobody reads the replication slots %s: WAL is kept for them until the "
                        "disk is full",
                        names);
        rh_findings_advise(p->findings, "SELECT pg_drop_replication_slot(...) on a clone");
    }
}

static void check_prepared_transactions(struct rh_preflight *p, struct rh_inquiry *q)
{
    char names[NAMES_SIZE];
    if (rh_inquiry_ask(q, "prepared transactions", "t",
                       "SELECT gid FROM pg_prepared_xacts ORDER BY prepared") &&
        read_names(q, names) > 0) {
        rh_findings_add(p->findings, RH_GRADE_WARNING, "prepared-transactions",
                        "prepared transactions hold their locks: %s", names);
        rh_findings_advise(p->findings, "COMMIT PREPARED or ROLLBACK PREPARED as production did");
    }
}

/* A physical copy of a subscriber takes its place at the publisher: the same slot, the same origin.
 */
static void check_subscriptions(struct rh_preflight *p, struct rh_inquiry *q)
{
    char names[NAMES_SIZE];
    if (rh_inquiry_ask(
            q, "the subscriptions", "t",
            "SELECT s.subname || '\" in database \"' || d.datname FROM pg_subscription s "
            "JOIN pg_database d ON d.oid = s.subdbid WHERE s.subenabled ORDER BY 1") &&
        read_names(q, names) > 0) {
        rh_findings_add(p->findings, RH_GRADE_STOP, "subscriptions",
                        "subscriptions are enabled and take production's changes, and its place at "
                        "the publisher: %s",
                        names);
        rh_findings_advise(p->findings, "ALTER SUBSCRIPTION ... DISABLE, then SET (slot_name = "
                                        "NONE), on a clone");
    }
}

void rh_preflight_cluster(struct rh_preflight *p, struct rh_inquiry *q)
{
    check_recovery(p);
    check_connections(p);
    check_settings(p, q);
    check_subscriptions(p, q);
    check_slots(p, q);
    check_prepared_transactions(p, q);
}
