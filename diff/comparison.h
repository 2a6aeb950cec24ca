/*
 * diff/comparison.h
 *
 * Read two traces or runs and count what differs.  When both come from one trace, statements are
 * paired with their twins by (session, copy, ordinal); else queries are compared by fingerprint.
 *
 * A side may have several files, each of a trace of its own (the parts of a rotated capture, say):
 * then each has its counterpart on the other side, and such a pair of files is a part; so is each
 * pair of repeats (diff/inputs.h).  Parts are read one after the other and counted together;
 * statements pair within their part.
 *
 * Both files are read in step, each once, and twins wait in a pair table.  If the files' orders are
 * so far apart that the table would pass its limit, the pairs are counted anew in several passes,
 * each over the part of the statements whose identity hashes into it: more reading, the same
 * memory, the same result.
 */
#ifndef RH_DIFF_COMPARISON_H
#define RH_DIFF_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "diff/dimensions.h"
#include "diff/error_table.h"
#include "diff/query_table.h"
#include "diff/side_reader.h"
#include "diff/timeline.h"
#include "formats/trace_file.h"

struct rh_comparison_options {
    uint64_t memory_bytes; /* of the pair table; queries may take half as much beside it (at least
                              16 MB) */
    uint32_t max_queries;  /* 0: RH_QUERY_COUNT_DEFAULT */
    bool show_progress;    /* on standard error, if it is a terminal */
    bool with_timeline;    /* for reports that show one: some MB */
};

enum { RH_COMPARISON_MEMORY_DEFAULT = 256 * 1024 * 1024 };

/* Over pairs.  "Ran" is sent and answered, by whatever outcome. */
struct rh_pair_totals {
    uint64_t paired;         /* statements that both files have */
    uint64_t base_only;      /* that ran in the base and are not in the candidate's file */
    uint64_t candidate_only; /* the reverse */
    uint64_t unpairable; /* identities that came twice in a file, or beyond what can be paired */
    uint64_t missing;    /* ran in the base, not in the candidate: absent + lost + by reason */
    uint64_t outside_window; /* ran in the base, and is not part of the candidate by --from, --to or
                                --read-only: not missing */
    uint64_t missing_absent; /* = base_only */
    uint64_t missing_lost;
    uint64_t missing_by_reason[RH_REASON_COUNT];
    uint64_t ran_only_in_candidate; /* pairs that did not run in the base */
    uint64_t rows_compared;
    uint64_t row_mismatches;
};

/* The caller's files, open as long as the comparison. */
struct rh_comparison_part {
    struct rh_trace_file *file[RH_SIDES];
};

struct rh_comparison {
    struct rh_trace_file *file[RH_SIDES]; /* of the first part, which speaks for its side */
    struct rh_comparison_part *parts;
    uint32_t part_count;
    struct rh_side_summary side[RH_SIDES];
    struct rh_timeline timeline[RH_SIDES]; /* empty unless asked for; with spans of one length */
    bool paired;                           /* twins were sought */
    bool same_vantage;                     /* both sides' times come from one kind of place */
    bool windows_differ; /* two runs of different --from or --to: what both had is compared */
    uint32_t stands_for[RH_SIDES]; /* copies of the other side, by --scale, that each statement is
                                      paired with */
    struct rh_pair_totals pairs;
    struct rh_query_table queries;
    struct rh_dimensions dimensions;
    struct rh_error_table errors;
    uint32_t passes; /* over both files: 1, or more when memory was short */
};

/* True when a statement's identity means the same in both files. */
bool rh_trace_headers_same_trace(const struct rh_trace_header *a, const struct rh_trace_header *b);

/* Makes *c whatever it returns; release it.  RH_ERR_STOPPED after a signal. */
int rh_comparison_make(struct rh_comparison *c, struct rh_trace_file *base,
                       struct rh_trace_file *candidate, const struct rh_comparison_options *options,
                       struct rh_error *err);
/* The same of several parts.  More than one must all pair. */
int rh_comparison_make_of_parts(struct rh_comparison *c, const struct rh_comparison_part *parts,
                                uint32_t part_count, const struct rh_comparison_options *options,
                                struct rh_error *err);
/* How many files the side has; one may stand in several parts. */
uint32_t rh_comparison_file_count(const struct rh_comparison *c, enum rh_side side);
/* A file of the side that is cut, NULL if each is whole (or damaged within: see its summary). */
const struct rh_trace_file *rh_comparison_cut_file(const struct rh_comparison *c,
                                                   enum rh_side side);
/* Nothing of either side is cut or damaged. */
bool rh_comparison_is_whole(const struct rh_comparison *c);
/* Statements that ought to have run in the candidate, and of these those that did not run, or were
 * not seen answered, for want of a connection. */
uint64_t rh_comparison_in_scope(const struct rh_comparison *c);
uint64_t rh_comparison_unconnected(const struct rh_comparison *c);
void rh_comparison_release(struct rh_comparison *c);

#endif
