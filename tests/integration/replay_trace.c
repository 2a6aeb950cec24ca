/*
 * tests/integration/replay_trace.c
 *
 *   replay_trace make FILE.trace < SCRIPT    a trace from lines of text
 *   replay_trace dump FILE.run               its statements, a line each
 *
 * Lines of a script have fields with tabs between them; times are milliseconds after
 * 2026-01-01 00:00 UTC, "-" is unknown.
 *
 *   server  HOST:PORT
 *   session NUMBER USER DATABASE OPENED CLOSED FLAGS
 *   record  SESSION KIND START DURATION MARKS FLAGS NAME PORTAL TEXT [PARAMETER]...
 *
 * MARKS: letters b (begins), e (ends), k (block).  FLAGS: words with commas between them.  A
 * sessions's flags: joined, left-open, replication, login-failed; a record's: has-parse, no-types,
 * canceled, start-estimated, cut-text, sqlstate=XXXXX, prepare=TEXT (must be the last one).  \N as
 * a parameter is NULL.
 *
 * dump prints: session, ordinal, fate, reason, SQLSTATE, rows, tag, milliseconds from the first
 * record's plan to this one's, text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "common/clock.h"
#include "formats/trace_file.h"
#include "formats/trace_reader.h"
#include "formats/trace_writer.h"

enum { FIELDS_MAX = 200, SESSIONS_MAX = 20000 };

#define BASE_NS (INT64_C(1767225600) * RH_NS_PER_SEC)

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "replay_trace: %s: %s\n", what, detail);
    exit(2);
}

static int64_t time_of(const char *field)
{
    return strcmp(field, "-") == 0
               ? RH_TIME_UNKNOWN
               : BASE_NS + (int64_t) (strtod(field, NULL) * (double) RH_NS_PER_MS);
}

static struct rh_span span_of(const char *field)
{
    return strcmp(field, "-") == 0 ? RH_SPAN_NONE : rh_span_cstr(field);
}

static bool has_word(const char *list, const char *word)
{
    const char *at = strstr(list, word);
    return at != NULL;
}

static void make_session(struct rh_trace_writer *w, char **f)
{
    struct rh_error err;
    struct rh_session s = {
        .number = (uint32_t) strtoul(f[1], NULL, 10),
        .user = span_of(f[2]),
        .database = span_of(f[3]),
        .application = rh_span_cstr("maker"),
        .opened_ns = time_of(f[4]),
        .closed_ns = time_of(f[5]),
    };
    s.flags = (has_word(f[6], "joined") ? RH_SESSION_JOINED_MIDWAY : 0u) |
              (has_word(f[6], "left-open") ? RH_SESSION_LEFT_OPEN : 0u) |
              (has_word(f[6], "replication") ? RH_SESSION_REPLICATION : 0u) |
              (has_word(f[6], "login-failed") ? RH_SESSION_LOGIN_FAILED : 0u);
    if (rh_trace_writer_put_session(w, &s, &err) != 0) {
        die("session", err.text);
    }
}

static enum rh_kind kind_of(const char *name)
{
    static const char *const names[] = {"query", "execute",  "function",
                                        "fetch", "protocol", "cancel"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum rh_kind) i;
        }
    }
    die("kind", name);
    return RH_KIND_QUERY;
}

static void read_flags(struct rh_record *r, char *flags)
{
    char *state = strstr(flags, "sqlstate="), *prepare = strstr(flags, "prepare=");
    if (prepare) {
        r->flags |= RH_FLAG_SQL_EXECUTE;
        r->prepare_text = rh_span_cstr(prepare + strlen("prepare="));
    }
    if (state) {
        r->outcome.sqlstate = rh_sqlstate_pack(rh_span(state + strlen("sqlstate="), 5));
    }
    r->flags |= (has_word(flags, "has-parse") ? RH_FLAG_HAS_PARSE : 0u) |
                (has_word(flags, "no-types") ? RH_FLAG_NO_TYPES : 0u) |
                (has_word(flags, "start-estimated") ? RH_FLAG_START_ESTIMATED : 0u) |
                (has_word(flags, "canceled") ? RH_FLAG_CANCELED : 0u);
    if (has_word(flags, "cut-text")) {
        r->hold = RH_REASON_CUT_TEXT;
    }
}

static void make_record(struct rh_trace_writer *w, char **f, int count, uint64_t *ordinals)
{
    struct rh_record r;
    struct rh_error err;
    struct rh_param params[FIELDS_MAX];
    rh_record_init(&r);
    r.session = (uint32_t) strtoul(f[1], NULL, 10);
    if (r.session >= SESSIONS_MAX) {
        die("session number", f[1]);
    }
    r.kind = kind_of(f[2]);
    r.ordinal = ++ordinals[r.session];
    r.start_ns = time_of(f[3]);
    r.outcome.sqlstate = RH_SQLSTATE_UNKNOWN;
    if (strcmp(f[4], "-") != 0) {
        r.outcome.done_ns = r.start_ns + (int64_t) (strtod(f[4], NULL) * (double) RH_NS_PER_MS);
        r.outcome.sqlstate = 0;
    }
    r.txn =
        (uint8_t) ((strchr(f[5], 'b') ? RH_TXN_BEGINS : 0) | (strchr(f[5], 'e') ? RH_TXN_ENDS : 0) |
                   (strchr(f[5], 'k') ? RH_TXN_BLOCK : 0));
    read_flags(&r, f[6]);
    r.statement_name = span_of(f[7]);
    r.portal_name = span_of(f[8]);
    r.row_limit = r.kind == RH_KIND_FETCH ? -1 : 0;
    r.text = rh_span_cstr(f[9]);
    for (int i = 10; i < count; i++) {
        bool is_null = strcmp(f[i], "\\N") == 0;
        params[i - 10] = (struct rh_param){.data = is_null ? NULL : f[i],
                                           .len = is_null ? 0 : (uint32_t) strlen(f[i])};
    }
    r.params = params;
    r.param_count = count > 10 ? (uint32_t) count - 10 : 0;
    if (rh_trace_writer_add(w, &r, &err) != 0) {
        die("record", err.text);
    }
}

static int split(char *line, char **fields)
{
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && count < FIELDS_MAX; count++) {
        fields[count] = at;
        at = strchr(at, '\t');
        if (at) {
            *at++ = '\0';
        }
    }
    return count;
}

static int make(const char *path)
{
    struct rh_trace_writer *w = NULL;
    struct rh_trace_header header = {
        .kind = RH_FILE_WORKLOAD,
        .vantage = RH_VANTAGE_SERVER_LOG,
        .source = RH_SPAN_LITERAL("csvlog"),
        .tool = RH_SPAN_LITERAL("replay_trace"),
        .created_ns = BASE_NS,
    };
    struct rh_error err;
    uint64_t *ordinals = rh_calloc(SESSIONS_MAX, sizeof *ordinals);
    char *line = NULL, *server = NULL, *fields[FIELDS_MAX];
    size_t line_cap = 0;
    rh_uuid_make(header.uuid);
    while (getline(&line, &line_cap, stdin) > 0) {
        int count = split(line, fields);
        if (strcmp(fields[0], "server") == 0 && count == 2) {
            server = rh_strdup(fields[1]);
            header.server_address = rh_span_cstr(server);
            continue;
        }
        if (!w && rh_trace_writer_open(&w, path, &header, NULL, &err) != 0) {
            die(path, err.text);
        }
        if (strcmp(fields[0], "session") == 0 && count == 7) {
            make_session(w, fields);
        } else if (strcmp(fields[0], "record") == 0 && count >= 10) {
            make_record(w, fields, count, ordinals);
        } else if (count > 1) {
            die("line", fields[0]);
        }
    }
    if (!w || rh_trace_writer_finish(w, false, &err) != 0) {
        die(path, w ? err.text : "nothing on standard input");
    }
    free(line);
    rh_free(server);
    rh_free(ordinals);
    return 0;
}

static int dump(const char *path)
{
    static const char *const fates[] = {"none", "done", "lost", "skipped", "not-sent"};
    struct rh_trace_file *file;
    struct rh_trace_reader *reader = NULL;
    struct rh_record r;
    struct rh_error err;
    struct rh_buf text;
    int64_t first_ns = RH_TIME_UNKNOWN;
    int got;
    if (rh_trace_file_open(&file, path, &err) != 0 ||
        rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err) != 0) {
        die(path, err.text);
    }
    rh_buf_init(&text, 1 << 30);
    while ((got = rh_trace_reader_next(reader, &r, &err)) == 1) {
        char state[6];
        if (!rh_kind_has_ordinal(r.kind)) {
            continue;
        }
        if (first_ns == RH_TIME_UNKNOWN) {
            first_ns = r.run.planned_ns;
        }
        rh_buf_clear(&text);
        rh_record_text(&r, &text);
        rh_sqlstate_unpack(r.outcome.sqlstate, state);
        printf("%" PRIu32 "\t%" PRIu64 "\t%s\t%s\t%s\t%" PRId64 "\t%.*s\t%.0f\t%s\n", r.session,
               r.ordinal, fates[r.run.fate], r.run.reason ? rh_reason_name(r.run.reason) : "-",
               state[0] ? state : "-", r.outcome.rows, (int) r.outcome.tag.len,
               r.outcome.tag.data ? r.outcome.tag.data : "",
               (double) (r.run.planned_ns - first_ns) / 1e6, rh_buf_cstr(&text));
    }
    if (got < 0) {
        die(path, err.text);
    }
    rh_buf_release(&text);
    uint32_t damaged = rh_trace_reader_damaged(reader, NULL);
    rh_trace_reader_close(reader);
    if (damaged > 0) {
        die(path, "a block of it cannot be decoded");
    }
    if (!rh_trace_file_complete(file)) {
        fprintf(stderr, "incomplete: %s\n", rh_trace_file_incomplete_reason(file));
    }
    rh_trace_file_close(file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        return make(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "dump") == 0) {
        return dump(argv[2]);
    }
    die("usage", "replay_trace make|dump FILE");
    return 2;
}
