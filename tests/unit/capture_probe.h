/*
 * tests/unit/capture_probe.h
 *
 * Runs the assembler over log bytes in memory or files and keeps what it made.
 */
#ifndef RH_TESTS_UNIT_CAPTURE_PROBE_H
#define RH_TESTS_UNIT_CAPTURE_PROBE_H

#include "capture/assembler.h"
#include "common/arena.h"

struct rh_probe_session {
    struct rh_session session; /* as last told */
    uint32_t told;
    bool ended;
};

struct rh_probe {
    struct rh_arena arena;
    struct rh_record *records; /* deep copies, in the order in which they came */
    uint32_t count;
    uint32_t cap;
    struct rh_probe_session *sessions; /* by order of first telling */
    uint32_t session_count;
    uint32_t session_cap;
    struct rh_capture_filter filter;
    struct rh_capture_stats stats;
    struct rh_log_reader_counts counts;
    size_t waiting_bytes_max; /* 0: the default */
    size_t sessions_max;      /* 0: the default */
    bool redact;
    char error[1000]; /* of reading, "" */
};

void rh_probe_init(struct rh_probe *p);
void rh_probe_release(struct rh_probe *p);

/* Capture bytes; chunk limits each read (0: no limit). */
void rh_probe_run_bytes(struct rh_probe *p, const char *data, size_t n, size_t chunk);
/* Capture files as one log. */
void rh_probe_run_files(struct rh_probe *p, const char *const *paths, size_t count);

/* The statement, fetch or protocol record number i (from 0) in the order they came; NULL behind. */
const struct rh_record *rh_probe_statement(const struct rh_probe *p, uint32_t i);
uint32_t rh_probe_kind_count(const struct rh_probe *p, enum rh_kind kind);
const struct rh_probe_session *rh_probe_session(const struct rh_probe *p, uint32_t number);

/*
 * One line a record with an ordinal, of the sessions in order: "1/3 execute name portal | text |
 * params | sqlstate | hold"; without times, so that two logs of one workload can be compared.
 */
struct rh_buf;
void rh_probe_print(const struct rh_probe *p, struct rh_buf *out);

/* A whole file; NULL if it is not there. */
char *rh_probe_load(const char *path, size_t *n);

#endif
