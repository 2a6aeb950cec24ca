#include "replay/conninfo.h"

#include <assert.h>
#include <ctype.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

/* postmaster.c, MAX_STARTUP_PACKET_LENGTH. */
enum { STARTUP_PACKET_MAX = 10000 };

void rh_conninfo_init(struct rh_conninfo *info)
{
    *info = (struct rh_conninfo){0};
    rh_arena_init(&info->text, 1024);
}

void rh_conninfo_release(struct rh_conninfo *info)
{
    rh_arena_release(&info->text);
    info->count = 0;
}

const char *rh_conninfo_get(const struct rh_conninfo *info, const char *keyword)
{
    for (uint32_t i = 0; i < info->count; i++) {
        if (!strcmp(info->keywords[i], keyword)) {
            return info->values[i];
        }
    }
    return NULL;
}

/* keyword and value stay where they are. */
static void info_point(struct rh_conninfo *info, const char *keyword, const char *value)
{
    uint32_t at = 0;
    while (at < info->count && strcmp(info->keywords[at], keyword) != 0) {
        at++;
    }
    assert(at < RH_CONNINFO_MAX);
    info->keywords[at] = keyword;
    info->values[at] = value;
    info->count += at == info->count;
    info->keywords[info->count] = NULL;
    info->values[info->count] = NULL;
}

static void info_copy(struct rh_conninfo *info, const char *keyword, struct rh_span value)
{
    info_point(info, rh_arena_copy(&info->text, rh_span_cstr(keyword)).data,
               rh_arena_copy(&info->text, value).data);
}

/* libpq's own rule (fe-connect.c, recognized_connection_string()). */
static bool is_connection_string(const char *dbname)
{
    return strchr(dbname, '=') || rh_span_starts(rh_span_cstr(dbname), "postgresql://") ||
           rh_span_starts(rh_span_cstr(dbname), "postgres://");
}

static int add_string(struct rh_conninfo *info, const char *string, struct rh_error *err)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(string, &why);
    if (!options) {
        struct rh_span text = rh_span_cstr(why ? why : "out of memory");
        while (text.len > 0 && text.data[text.len - 1] == '\n') {
            text.len--;
        }
        rh_error_set(err, RH_ERR_USAGE, "the connection string cannot be used: %.*s",
                     (int) text.len, text.data);
        PQfreemem(why);
        return -1;
    }
    for (PQconninfoOption *o = options; o->keyword; o++) {
        if (o->val) {
            info_copy(info, o->keyword, rh_span_cstr(o->val));
        }
    }
    PQconninfoFree(options);
    return 0;
}

static int check_gss(const struct rh_conninfo *info, struct rh_error *err)
{
    const char *mode = rh_conninfo_get(info, "gssencmode");
    mode = mode ? mode : getenv("PGGSSENCMODE");
    if (mode && !strcmp(mode, "require")) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "gssencmode=require: GSS encryption cannot be used here; use TLS");
    }
    return 0;
}

int rh_conninfo_set_target(struct rh_conninfo *info, const char *dbname, const char *host,
                           const char *port, const char *user, struct rh_error *err)
{
    const char *given[][2] = {{"host", host}, {"port", port}, {"user", user}};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        if (given[i][1] && given[i][1][0]) {
            info_copy(info, given[i][0], rh_span_cstr(given[i][1]));
        }
    }
    if (dbname && is_connection_string(dbname)) {
        if (add_string(info, dbname, err)) {
            return -1;
        }
    } else if (dbname && dbname[0]) {
        info_copy(info, "dbname", rh_span_cstr(dbname));
    }
    return check_gss(info, err);
}

static int check_value(struct rh_span value, const char *what, struct rh_error *err)
{
    if (value.len > 0 && memchr(value.data, '\0', value.len)) {
        return rh_error_set(err, RH_ERR_FORMAT, "the session's %s holds a NUL byte", what);
    }
    if (value.len > STARTUP_PACKET_MAX) {
        return rh_error_set(err, RH_ERR_LIMIT,
                            "the session's %s has %zu bytes, the server takes %d", what, value.len,
                            STARTUP_PACKET_MAX);
    }
    return 0;
}

/* Set what the target leaves open. */
static int add_default(struct rh_conninfo *info, const char *keyword, struct rh_span value,
                       const char *what, struct rh_error *err)
{
    if (check_value(value, what, err)) {
        return -1;
    }
    if (value.len > 0 && !rh_conninfo_get(info, keyword)) {
        info_copy(info, keyword, value);
    }
    return 0;
}

static bool is_setting_name(struct rh_span name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!isalnum((unsigned char) name.data[i]) && !strchr("_.", name.data[i])) {
            return false;
        }
    }
    return name.len > 0;
}

/* Startup parameters that are not settings, or that have a keyword of their own. */
static bool has_own_way(struct rh_span name)
{
    static const char *const names[] = {"user",    "database",        "replication",
                                        "options", "client_encoding", "application_name"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (rh_span_is(name, names[i])) {
            return true;
        }
    }
    return rh_span_starts(name, "_pq_.");
}

/* " -c name=value", white space and backslashes escaped (postinit.c, pg_split_opts()). */
static void add_setting(struct rh_buf *options, const struct rh_setting *setting)
{
    rh_buf_add_cstr(options, options->len ? " -c " : "-c ");
    rh_buf_add_span(options, setting->name);
    rh_buf_add_byte(options, '=');
    for (size_t i = 0; i < setting->value.len; i++) {
        char c = setting->value.data[i];
        if (c == '\\' || isspace((unsigned char) c)) {
            rh_buf_add_byte(options, '\\');
        }
        rh_buf_add_byte(options, (uint8_t) c);
    }
}

static const struct rh_setting read_only = {RH_SPAN_LITERAL("default_transaction_read_only"),
                                            RH_SPAN_LITERAL("on")};

static struct rh_span startup_find(const struct rh_conninfo_session *session, const char *name)
{
    for (uint32_t i = 0; i < session->startup_count; i++) {
        if (rh_span_is(session->startup[i].name, name)) {
            return session->startup[i].value;
        }
    }
    return RH_SPAN_NONE;
}

static int add_options(struct rh_conninfo *info, const struct rh_conninfo_session *session,
                       struct rh_error *err)
{
    struct rh_buf options;
    rh_buf_init(&options, STARTUP_PACKET_MAX);
    int result = 0;
    struct rh_span own = startup_find(session, "options");
    for (uint32_t i = 0; i < session->startup_count && result == 0; i++) {
        result = check_value(session->startup[i].value, "startup parameter", err);
    }
    const char *base = rh_conninfo_get(info, "options");
    base = base ? base : getenv("PGOPTIONS");
    if (base) {
        rh_buf_add_cstr(&options, base);
    }
    size_t base_len = options.len;
    if (own.len > 0) {
        rh_buf_addf(&options, "%s%.*s", options.len ? " " : "", (int) own.len, own.data);
    }
    for (uint32_t i = 0; i < session->startup_count; i++) {
        const struct rh_setting *setting = &session->startup[i];
        if (is_setting_name(setting->name) && !has_own_way(setting->name)) {
            add_setting(&options, setting);
        }
    }
    if (session->read_only) {
        add_setting(&options, &read_only);
    }
    if (result == 0 && options.over) {
        result = rh_error_set(err, RH_ERR_LIMIT,
                              "the session's startup parameters are longer than the server takes");
    }
    if (result == 0 && options.len > base_len) {
        info_copy(info, "options", rh_buf_span(&options));
    }
    rh_buf_release(&options);
    return result;
}

int rh_conninfo_add_session(struct rh_conninfo *info, const struct rh_conninfo *target,
                            const struct rh_conninfo_session *session, struct rh_error *err)
{
    for (uint32_t i = 0; i < target->count; i++) {
        info_point(info, target->keywords[i], target->values[i]);
    }
    struct rh_span application = session->application;
    if (!application.data) {
        application = startup_find(session, "application_name");
    }
    if (add_default(info, "user", session->user, "user", err) ||
        add_default(info, "dbname", session->database, "database", err) ||
        add_default(info, "application_name", application, "application name", err) ||
        add_default(info, "fallback_application_name", RH_SPAN_LITERAL("pgrehearse"), "", err) ||
        add_default(info, "client_encoding", startup_find(session, "client_encoding"),
                    "client encoding", err) ||
        add_options(info, session, err)) {
        return -1;
    }
    /* The engine takes over the socket or the TLS session, and could not do so with GSS. */
    info_point(info, "gssencmode", "disable");
    return 0;
}
