/*
 * tests/unit/diff_fixture.h
 *
 * Traces and runs of a few lines, written through the trace writer into a folder of their own.
 */
#ifndef RH_TESTS_UNIT_DIFF_FIXTURE_H
#define RH_TESTS_UNIT_DIFF_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "diff/comparison.h"
#include "formats/record.h"
#include "formats/trace_header.h"

/* Zero means: a Query that succeeded, of unknown time and rows, in copy 0; of a run: done. */
struct fx_statement {
    uint32_t session;
    uint32_t copy;
    uint64_t ordinal;
    int64_t start_us;   /* since FX_EPOCH_NS */
    int64_t service_us; /* 0: unknown */
    const char *sql;
    const char *sqlstate; /* NULL: succeeded; "": unknown */
    int64_t rows_plus_1;
    uint32_t flags;
    uint32_t param_count; /* of value "1" */
    enum rh_kind kind;
    enum rh_fate fate; /* of a run; 0: done */
    enum rh_reason reason;
    int64_t lag_us; /* of a run */
    uint32_t function_oid;
    const char *database;    /* of its session, as its first statement has it; NULL: "shop" */
    const char *user;        /* likewise */
    const char *application; /* likewise; NULL: none */
};

#define FX_EPOCH_NS (INT64_C(1767225600) * 1000000000) /* 2026-01-01 */

struct fx_file {
    const char *name;
    enum rh_file_kind kind;
    enum rh_vantage vantage;
    uint8_t uuid;  /* each byte of it */
    uint8_t trace; /* of a run: each byte of trace_uuid */
    const char *round_trip_ns;
    const char *speed; /* of a run */
    bool stopped_early;
    const struct fx_statement *statements;
    size_t count;
};

/* A run by the replay client of the trace of uuid 1. */
struct fx_file fx_run(const char *name, uint8_t uuid, const struct fx_statement *statements,
                      size_t count);
/* The csvlog workload of uuid 1. */
struct fx_file fx_workload(const char *name, const struct fx_statement *statements, size_t count);

#define FX_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The path of a written file, valid until fx_teardown. */
const char *fx_write(const struct fx_file *f);
/* Write both and compare them.  Release *c, then close what fx_close closes. */
void fx_compare(struct rh_comparison *c, const struct fx_file *base,
                const struct fx_file *candidate, uint64_t memory_bytes, uint32_t max_queries);
void fx_close(struct rh_comparison *c);

/* The query whose normalised text is that of sql; fails when there is none. */
const struct rh_query *fx_query(const struct rh_comparison *c, const char *sql);

int fx_setup(void **state);
int fx_teardown(void **state);
/* The folder. */
const char *fx_folder(void);

#endif
