/*
 * capture/log_reader.h
 *
 * Records of one log file after another, out of a bounded window.  What is no record is passed over
 * up to the next place where one starts, also in the middle of a line, and counted by kind; so
 * records read = entries given + bad ones, always.
 */
#ifndef RH_CAPTURE_LOG_READER_H
#define RH_CAPTURE_LOG_READER_H

#include <sys/types.h>

#include "capture/log_entry.h"
#include "common/error.h"

enum { RH_BAD_SAMPLES_MAX = 8 };

/* Up to n bytes: how many, 0 at the end, -1 on error. */
typedef ssize_t rh_log_read(void *context, void *data, size_t n, struct rh_error *err);

struct rh_bad_sample {
    const char *file;
    uint64_t line; /* where it starts, from 1 */
    uint64_t byte; /* offset in the uncompressed file */
    uint64_t bytes;
    enum rh_csvlog_fault fault;
};

struct rh_log_reader_counts {
    uint64_t records; /* entries and bad ones */
    uint64_t entries;
    uint64_t bad[RH_CSVLOG_FAULT_COUNT];
    uint64_t bad_bytes;
    uint64_t bytes;
    uint64_t unknown_columns; /* records with more or other columns than any release has */
    uint32_t sample_count;
    struct rh_bad_sample samples[RH_BAD_SAMPLES_MAX]; /* the first ones */
};

struct rh_log_reader {
    rh_log_read *read;
    void *context;
    const char *file; /* must live as long as the counts */
    char *window;
    size_t cap;
    size_t pos;
    size_t end;
    uint64_t window_offset; /* of window[0] in the file */
    uint64_t line;          /* of window[pos], from 1 */
    uint64_t entry_line;    /* where the entry given last starts */
    bool at_end;
    bool failed; /* reading ended with an error, which comes after what was read before */
    struct rh_error failure;
    bool skipping;
    struct rh_bad_sample piece; /* while skipping */
    struct rh_log_clock clock;
    struct rh_logmsg_reader messages;
    struct rh_log_heads *heads;
    struct rh_log_reader_counts counts;
};

void rh_log_reader_init(struct rh_log_reader *r);
void rh_log_reader_release(struct rh_log_reader *r);

/* Begin the next file; zones, language and counts go on. */
void rh_log_reader_start(struct rh_log_reader *r, const char *file, rh_log_read *read,
                         void *context);

/* 1 and *e, 0 at the end of the file, -1 when reading failed (what was read before has been given).
 */
int rh_log_reader_next(struct rh_log_reader *r, struct rh_log_entry *e, struct rh_error *err);

/* Length of the longest parameter value that does not end in "..." in what of the file is already
 * in the window; -1 if there is none.  Only when more evidence is wanted: it takes a while. */
int64_t rh_log_reader_longest_value(const struct rh_log_reader *r);

/* Sum of the kinds. */
uint64_t rh_log_reader_bad(const struct rh_log_reader_counts *c);

#endif
