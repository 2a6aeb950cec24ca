#include "capture/wire_trace.h"

#include <stdio.h>
#include <string.h>

#include "capture/trace_sink.h"
#include "common/clock.h"
#include "rh_version.h"

static struct rh_span span_or_none(const char *text)
{
    return text[0] ? rh_span_cstr(text) : RH_SPAN_NONE;
}

static int file_begin(struct rh_wire_trace *t, struct rh_error *err)
{
    char number[16];
    char before[37];
    snprintf(number, sizeof number, "%u", (unsigned) t->place.number);
    const struct rh_setting settings[] = {
        {RH_SPAN_LITERAL("part"), rh_span_cstr(number)},
        {RH_SPAN_LITERAL("continues"), rh_span_cstr(rh_uuid_format(t->place.before, before))},
    };
    struct rh_trace_header header = {
        .kind = RH_FILE_WORKLOAD,
        .vantage = RH_VANTAGE_WIRE,
        .source = RH_SPAN_LITERAL("wire"),
        .tool = RH_SPAN_LITERAL("pgrehearse " RH_VERSION),
        .server_address = span_or_none(t->server->address),
        .server_version = span_or_none(t->server->version),
        .created_ns = rh_clock_wall_ns(),
        .settings = settings,
        .setting_count = t->place.number > 0 ? 2 : 0,
    };
    memcpy(header.uuid, t->uuid, sizeof header.uuid);
    t->has_records = false;
    t->address_told = header.server_address.data != NULL;
    t->version_told = header.server_version.data != NULL;
    return rh_trace_writer_open(&t->writer, t->path, &header, NULL, err);
}

/* A kill takes the notes of the end, so the header is to have the server's address, which the first
 * session tells.  What went into a pipe is gone and stays. */
static int put_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    struct rh_wire_trace *t = context;
    if (!t->has_records && t->server->address[0] && strcmp(t->path, "-") != 0) {
        rh_wire_trace_discard(t);
        if (file_begin(t, err) != 0) {
            return -1;
        }
    }
    t->has_records = true;
    return rh_trace_writer_put_session(t->writer, session, err);
}

static int add_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    struct rh_wire_trace *t = context;
    t->has_records = true;
    return rh_trace_writer_add(t->writer, r, err);
}

static void end_session(void *context, uint32_t number)
{
    struct rh_wire_trace *t = context;
    if (t->writer) {
        rh_trace_writer_end_session(t->writer, number);
    }
}

int rh_wire_trace_open(struct rh_wire_trace *t, const char *path,
                       const struct rh_wire_server *server, const struct rh_wire_trace_place *place,
                       struct rh_error *err)
{
    *t = (struct rh_wire_trace){
        .sink = {.context = t,
                 .session = put_session,
                 .record = add_record,
                 .end_session = end_session},
        .path = path,
        .server = server,
        .place = *place,
    };
    rh_uuid_make(t->uuid);
    return rh_trace_sink_check_output(path, err) != 0 ? -1 : file_begin(t, err);
}

int rh_wire_trace_finish(struct rh_wire_trace *t, bool stopped_early, struct rh_error *err)
{
    struct rh_trace_writer *w = t->writer;
    t->writer = NULL;
    if (!w) {
        return rh_error_set(err, RH_ERR_IO, "cannot write \"%s\"", t->path);
    }
    if (t->server->address[0] && !t->address_told) {
        rh_trace_writer_note(w, "server_address", rh_span_cstr(t->server->address));
    }
    if (t->server->version[0] && !t->version_told) {
        rh_trace_writer_note(w, "server_version", rh_span_cstr(t->server->version));
    }
    return rh_trace_writer_finish(w, stopped_early, err);
}

void rh_wire_trace_discard(struct rh_wire_trace *t)
{
    if (t->writer) {
        rh_trace_writer_discard(t->writer);
        t->writer = NULL;
    }
}
