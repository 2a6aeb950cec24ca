#include "formats/pg_wire_outcome.h"

#include <string.h>

static bool is_execution(char message)
{
    return message == 'E' || message == 'Q' || message == 'F';
}

static void add_result(struct rh_outcome *o, char tag[RH_PG_WIRE_TAG_MAX],
                       const struct rh_pg_wire_answer *a)
{
    o->rows = a->rows;
    o->results = a->results;
    if (a->tag.len > 0 && a->tag.len <= RH_PG_WIRE_TAG_MAX) {
        memcpy(tag, a->tag.data, a->tag.len);
        o->tag = rh_span(tag, a->tag.len);
    }
}

uint32_t rh_pg_wire_outcome_add(struct rh_outcome *o, char tag[RH_PG_WIRE_TAG_MAX],
                                bool is_protocol, const struct rh_pg_wire_event *ev)
{
    const struct rh_pg_wire_answer *a = ev->answer;
    bool executes = is_execution(ev->message);
    bool counts = executes || is_protocol;
    uint32_t marks = executes ? RH_PG_WIRE_SETTLED : 0;
    if (o->first_ns == RH_TIME_UNKNOWN) {
        o->first_ns = a->first_ns;
    }
    if (a->end != RH_PG_WIRE_UNKNOWN) {
        o->bytes = (o->bytes == RH_COUNT_UNKNOWN ? 0 : o->bytes) + a->bytes;
    }
    if (executes) {
        add_result(o, tag, a);
    }
    switch (a->end) {
    case RH_PG_WIRE_DONE:
    case RH_PG_WIRE_SUSPENDED:
        if (counts && o->sqlstate == RH_SQLSTATE_UNKNOWN) {
            o->sqlstate = 0;
        }
        break;
    case RH_PG_WIRE_FAILED:
        if (o->sqlstate == RH_SQLSTATE_UNKNOWN || o->sqlstate == 0) {
            o->sqlstate = a->sqlstate;
        }
        break;
    case RH_PG_WIRE_SKIPPED:
        marks |= executes && o->sqlstate == RH_SQLSTATE_UNKNOWN ? RH_PG_WIRE_NOT_RUN : 0;
        break;
    case RH_PG_WIRE_UNKNOWN:
        marks |= counts ? RH_PG_WIRE_LOST : 0;
        break;
    }
    /* The server commits at Sync: only then the client has what it waits for. */
    if (a->end != RH_PG_WIRE_UNKNOWN && (counts || ev->message == 'S')) {
        o->done_ns = ev->time_ns;
    }
    if (ev->status) {
        o->tx_status = ev->status;
    }
    return marks;
}
