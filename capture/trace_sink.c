/* capture/trace_sink.c */
#include "capture/trace_sink.h"

#include <string.h>
#include <unistd.h>

int rh_trace_sink_check_output(const char *path, struct rh_error *err)
{
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "a trace is not written to a terminal: give -o FILE");
    }
    return 0;
}

static int put_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    return rh_trace_writer_put_session(context, session, err);
}

static int add_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    return rh_trace_writer_add(context, r, err);
}

static void end_session(void *context, uint32_t number)
{
    rh_trace_writer_end_session(context, number);
}

void rh_trace_sink_init(struct rh_capture_sink *sink, struct rh_trace_writer *writer)
{
    *sink = (struct rh_capture_sink){
        .context = writer,
        .session = put_session,
        .record = add_record,
        .end_session = end_session,
    };
}
