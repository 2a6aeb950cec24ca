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

#include "run_pair.h"

enum { SESSIONS = 64, QUERIES = 50, SLOWER_QUERY = 7, LATE_SESSION = 1, RATE = 7000 };

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
    int64_t planned_ns = RUN_PAIR_EPOCH_NS + (int64_t) (n * (uint64_t) RH_NS_PER_SEC / RATE);
    int64_t start_ns = planned_ns + (int64_t) (20000 + 40000 * chance(n * 2 + candidate + 1));
    if (candidate) {
        us *= query == SLOWER_QUERY ? 1.5 : 1;
        start_ns += r.session == LATE_SESSION ? LATE_NS : 0;
    }
    run_pair_done(&r, planned_ns, start_ns, (int64_t) (us * 1000), 1);
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
    const struct run_pair_side side = {
        .is_candidate = candidate,
        .server_version = candidate ? RH_SPAN_LITERAL("18.1") : RH_SPAN_LITERAL("15.18"),
        .name = RH_SPAN_LITERAL("bank"),
        .sessions = SESSIONS,
    };
    if (run_pair_open(&w, path, &side, err) != 0) {
        return -1;
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
