#include "run_pair.h"

#include <string.h>

int run_pair_open(struct rh_trace_writer **w, const char *path, const struct run_pair_side *side,
                  struct rh_error *err)
{
    struct rh_setting settings[] = {
        {RH_SPAN_LITERAL("round_trip_ns"), RH_SPAN_LITERAL("31000")},
        {RH_SPAN_LITERAL("speed"), RH_SPAN_LITERAL("1")},
    };
    struct rh_trace_header header = {
        .kind = RH_FILE_RUN,
        .vantage = RH_VANTAGE_CLIENT,
        .source = RH_SPAN_LITERAL("replay"),
        .server_version = side->server_version,
        .server_address = side->server_address,
        .created_ns = RUN_PAIR_EPOCH_NS,
        .settings = settings,
        .setting_count = 2,
    };
    memset(header.uuid, side->is_candidate ? 3 : 2, sizeof header.uuid);
    memset(header.trace_uuid, 1, sizeof header.trace_uuid);
    if (rh_trace_writer_open(w, path, &header, NULL, err) != 0) {
        return -1;
    }
    for (uint32_t i = 1; i <= side->sessions; i++) {
        struct rh_session session = {.number = i,
                                     .user = side->name,
                                     .database = side->name,
                                     .application = rh_span_cstr(side->applications[i % 2]),
                                     .opened_ns = RH_TIME_UNKNOWN,
                                     .closed_ns = RH_TIME_UNKNOWN};
        if (rh_trace_writer_put_session(*w, &session, err) != 0) {
            return -1;
        }
    }
    return 0;
}

void run_pair_done(struct rh_record *r, int64_t planned_ns, int64_t start_ns, int64_t service_ns,
                   int64_t rows)
{
    r->run.fate = RH_FATE_DONE;
    r->run.planned_ns = planned_ns;
    r->start_ns = start_ns;
    r->run.sent_ns = start_ns;
    r->run.ready_ns = RH_TIME_UNKNOWN;
    r->outcome.sqlstate = 0;
    r->outcome.rows = rows;
    r->outcome.done_ns = start_ns + service_ns;
}
