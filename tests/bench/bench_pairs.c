/*
 * Two runs of one trace of any length, for the time and the memory that a comparison takes:
 *
 *     bench_pairs BASE CANDIDATE STATEMENTS
 *
 * 64 sessions send 7,000 statements a second of 50 queries.  In the candidate query 7 takes half as
 * long again, and session 1 is an hour late, so that its twins are far apart in the two files.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "formats/trace_writer.h"

enum { SESSIONS = 64, QUERIES = 50, SLOWER_QUERY = 7, LATE_SESSION = 1, RATE = 7000 };

#define EPOCH_NS (INT64_C(1767225600) * RH_NS_PER_SEC) /* 2026-01-01 */
#define LATE_NS (3600 * RH_NS_PER_SEC)

/* splitmix64: 0 <= x < 1, by a key. */
static double chance(uint64_t key)
{
    key += UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double) ((key ^ key >> 31) >> 11) / 9007199254740992.0;
}

/* Statement n of the workload, from 0. */
static int add(struct rh_trace_writer *w, uint64_t n, bool candidate, struct rh_error *err)
{
    char text[128];
    struct rh_record r;
    unsigned query = (unsigned) (n / SESSIONS % QUERIES);
    double us = (100 + 20 * query) * (0.6 + chance(n)) * (0.9 + 0.2 * chance(n * 2 + candidate));
    rh_record_init(&r);
    r.kind = RH_KIND_QUERY;
    r.session = 1 + (uint32_t) (n % SESSIONS);
    r.ordinal = 1 + n / SESSIONS;
    r.run.planned_ns = EPOCH_NS + (int64_t) (n * (uint64_t) RH_NS_PER_SEC / RATE);
    r.start_ns = r.run.planned_ns + (int64_t) (20000 + 40000 * chance(n * 2 + candidate + 1));
    if (candidate) {
        us *= query == SLOWER_QUERY ? 1.5 : 1;
        r.start_ns += r.session == LATE_SESSION ? LATE_NS : 0;
    }
    r.run.fate = RH_FATE_DONE;
    r.run.sent_ns = r.start_ns;
    r.run.ready_ns = RH_TIME_UNKNOWN;
    r.outcome.sqlstate = 0;
    r.outcome.rows = 1;
    r.outcome.done_ns = r.start_ns + (int64_t) (us * 1000);
    int len = snprintf(text, sizeof text, "select balance from account_%u where id = %u", query,
                       (unsigned) (chance(n) * 100000));
    r.text = rh_span(text, (size_t) len);
    return rh_trace_writer_add(w, &r, err);
}

/* In the order of their starts. */
static int add_all(struct rh_trace_writer *w, uint64_t count, bool candidate, struct rh_error *err)
{
    const uint64_t late = candidate ? UINT64_C(3600) * RATE / SESSIONS * SESSIONS : 0;
    for (uint64_t n = 0; n < count + late; n++) {
        bool is_late = late && n % SESSIONS == LATE_SESSION - 1;
        uint64_t own = is_late ? n - late : n;
        if (n >= (is_late ? late : 0) && own < count && add(w, own, candidate, err) != 0) {
            return -1;
        }
    }
    return 0;
}

static int write_run(const char *path, uint64_t count, bool candidate, struct rh_error *err)
{
    struct rh_trace_writer *w;
    struct rh_setting settings[] = {
        {RH_SPAN_LITERAL("round_trip_ns"), RH_SPAN_LITERAL("31000")},
        {RH_SPAN_LITERAL("speed"), RH_SPAN_LITERAL("1")},
    };
    struct rh_trace_header header = {
        .kind = RH_FILE_RUN,
        .vantage = RH_VANTAGE_CLIENT,
        .source = RH_SPAN_LITERAL("replay"),
        .server_version = candidate ? RH_SPAN_LITERAL("18.1") : RH_SPAN_LITERAL("15.18"),
        .created_ns = EPOCH_NS,
        .settings = settings,
        .setting_count = 2,
    };
    memset(header.uuid, candidate ? 3 : 2, sizeof header.uuid);
    memset(header.trace_uuid, 1, sizeof header.trace_uuid);
    if (rh_trace_writer_open(&w, path, &header, NULL, err) != 0) {
        return -1;
    }
    for (uint32_t i = 1; i <= SESSIONS; i++) {
        struct rh_session session = {.number = i,
                                     .user = RH_SPAN_LITERAL("bank"),
                                     .database = RH_SPAN_LITERAL("bank"),
                                     .opened_ns = RH_TIME_UNKNOWN,
                                     .closed_ns = RH_TIME_UNKNOWN};
        if (rh_trace_writer_put_session(w, &session, err) != 0) {
            return -1;
        }
    }
    return add_all(w, count, candidate, err) != 0 ? -1 : rh_trace_writer_finish(w, false, err);
}

int main(int argc, char **argv)
{
    struct rh_error err = {0};
    uint64_t count = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (count == 0) {
        fprintf(stderr, "usage: bench_pairs BASE CANDIDATE STATEMENTS\n");
        return 2;
    }
    for (int side = 0; side < 2; side++) {
        if (write_run(argv[1 + side], count, side == 1, &err) != 0) {
            fprintf(stderr, "bench_pairs: %s: %s\n", argv[1 + side], err.text);
            return 1;
        }
    }
    return 0;
}
