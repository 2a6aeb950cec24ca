#include "rh_test.h"

#include "diff_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fingerprint.h"
#include "formats/trace_writer.h"

enum { PATHS_MAX = 128 };

static char folder[64];
static char *paths[PATHS_MAX];
static size_t path_count;

int fx_setup(void **state)
{
    (void) state;
    snprintf(folder, sizeof folder, "/tmp/pgrehearse-diff.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

int fx_teardown(void **state)
{
    (void) state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir) {
        closedir(dir);
    }
    while (path_count > 0) {
        free(paths[--path_count]);
    }
    return rmdir(folder);
}

const char *fx_folder(void)
{
    return folder;
}

struct fx_file fx_run(const char *name, uint8_t uuid, const struct fx_statement *statements,
                      size_t count)
{
    return (struct fx_file){
        .name = name,
        .kind = RH_FILE_RUN,
        .vantage = RH_VANTAGE_CLIENT,
        .uuid = uuid,
        .trace = 1,
        .statements = statements,
        .count = count,
    };
}

struct fx_file fx_workload(const char *name, const struct fx_statement *statements, size_t count)
{
    return (struct fx_file){
        .name = name,
        .kind = RH_FILE_WORKLOAD,
        .vantage = RH_VANTAGE_SERVER_LOG,
        .uuid = 1,
        .statements = statements,
        .count = count,
    };
}

static void set_run_part(struct rh_record *r, const struct fx_statement *s)
{
    r->run.fate = s->fate ? s->fate : RH_FATE_DONE;
    r->run.reason = s->reason;
    r->run.planned_ns = r->start_ns - s->lag_us * 1000;
    r->run.sent_ns = r->start_ns;
    r->run.ready_ns = RH_TIME_UNKNOWN;
    if (r->run.fate == RH_FATE_SKIPPED || r->run.fate == RH_FATE_NOT_SENT) {
        r->run.planned_ns = r->start_ns;
        r->run.sent_ns = RH_TIME_UNKNOWN;
        r->outcome.sqlstate = RH_SQLSTATE_UNKNOWN;
        r->outcome.done_ns = RH_TIME_UNKNOWN;
    }
}

static void set_record(struct rh_record *r, const struct fx_statement *s, bool is_run)
{
    static const struct rh_param params[4] = {
        {"1", 1, 0, 0}, {"1", 1, 0, 0}, {"1", 1, 0, 0}, {"1", 1, 0, 0}};

    rh_record_init(r);
    r->kind = s->kind;
    r->session = s->session;
    r->copy = s->copy;
    r->ordinal = s->ordinal;
    r->start_ns = FX_EPOCH_NS + s->start_us * 1000;
    r->flags = s->flags;
    r->text = rh_span_cstr(s->sql);
    r->function_oid = s->function_oid;
    r->params = s->param_count ? params : NULL;
    r->param_count = s->param_count;
    if (s->service_us) {
        r->outcome.done_ns = r->start_ns + s->service_us * 1000;
    }
    r->outcome.sqlstate = s->sqlstate ? rh_sqlstate_pack(rh_span_cstr(s->sqlstate)) : 0;
    r->outcome.rows = s->rows_plus_1 - 1;
    if (is_run) {
        set_run_part(r, s);
    }
}

const char *fx_write(const struct fx_file *f)
{
    struct rh_error err = {0};
    struct rh_trace_writer *w;
    struct rh_trace_header header = {
        .kind = f->kind, .vantage = f->vantage, .created_ns = FX_EPOCH_NS};
    struct rh_setting settings[2];
    uint32_t known[1024] = {0};
    char path[256];

    memset(header.uuid, f->uuid, sizeof header.uuid);
    memset(header.trace_uuid, f->trace, sizeof header.trace_uuid);
    header.settings = settings;
    if (f->round_trip_ns) {
        settings[header.setting_count++] =
            (struct rh_setting){RH_SPAN_LITERAL("round_trip_ns"), rh_span_cstr(f->round_trip_ns)};
    }
    if (f->speed) {
        settings[header.setting_count++] =
            (struct rh_setting){RH_SPAN_LITERAL("speed"), rh_span_cstr(f->speed)};
    }
    snprintf(path, sizeof path, "%s/%s", folder, f->name);
    assert_int_equal(rh_trace_writer_open(&w, path, &header, NULL, &err), 0);
    for (size_t i = 0; i < f->count; i++) {
        const struct fx_statement *s = &f->statements[i];
        struct rh_record r;
        assert_in_range(s->session, 0, 1023);
        if (s->session && !known[s->session]++) {
            struct rh_session session = {.number = s->session,
                                         .user = rh_span_cstr(s->user ? s->user : "shop"),
                                         .database =
                                             rh_span_cstr(s->database ? s->database : "shop"),
                                         .application = rh_span_cstr(s->application),
                                         .opened_ns = RH_TIME_UNKNOWN,
                                         .closed_ns = RH_TIME_UNKNOWN};
            assert_int_equal(rh_trace_writer_put_session(w, &session, &err), 0);
        }
        set_record(&r, s, f->kind == RH_FILE_RUN);
        if (rh_trace_writer_add(w, &r, &err) != 0) {
            fail_msg("statement %zu: %s", i, err.text);
        }
    }
    if (rh_trace_writer_finish(w, f->stopped_early, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_true(path_count < PATHS_MAX);
    paths[path_count] = strdup(path);
    return paths[path_count++];
}

void fx_compare(struct rh_comparison *c, const struct fx_file *base,
                const struct fx_file *candidate, uint64_t memory_bytes, uint32_t max_queries)
{
    struct rh_error err = {0};
    struct rh_trace_file *files[RH_SIDES];
    struct rh_comparison_options options = {.memory_bytes = memory_bytes ? memory_bytes : 16 << 20,
                                            .max_queries = max_queries};
    const struct fx_file *sides[RH_SIDES] = {base, candidate};

    for (int side = 0; side < RH_SIDES; side++) {
        if (rh_trace_file_open(&files[side], fx_write(sides[side]), &err) != 0) {
            fail_msg("%s", err.text);
        }
    }
    if (rh_comparison_make(c, files[RH_BASE], files[RH_CANDIDATE], &options, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

void fx_close(struct rh_comparison *c)
{
    struct rh_trace_file *files[RH_SIDES] = {c->file[RH_BASE], c->file[RH_CANDIDATE]};
    rh_comparison_release(c);
    rh_trace_file_close(files[RH_BASE]);
    rh_trace_file_close(files[RH_CANDIDATE]);
}

const struct rh_query *fx_query(const struct rh_comparison *c, const char *sql)
{
    struct rh_buf scratch;
    rh_buf_init(&scratch, 1 << 20);
    int64_t i =
        rh_query_table_find(&c->queries, rh_fingerprint(rh_span_cstr(sql), false, &scratch));
    rh_buf_release(&scratch);
    if (i < 0) {
        fail_msg("no query \"%s\"", sql);
    }
    return &c->queries.items[i];
}
