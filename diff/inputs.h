/*
 * diff/inputs.h
 *
 * The files of both sides, and what each is to the others of its side.  A file tells by its header
 * which trace it is of: a run by that which it replayed, a workload by itself.
 *
 *   - One trace again is a repeat: another replay of the same on the same server.  It is evidence
 *     of what two runs differ by without a change, counts as the first does, and must have been
 *     replayed in the same way.
 *   - Another trace is a further part of the side (of a rotated capture, of a capture in shards),
 *     and needs its counterpart on the other side.
 */
#ifndef RH_DIFF_INPUTS_H
#define RH_DIFF_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/opt.h"
#include "diff/comparison.h"

enum { RH_INPUT_PARTS_MAX = 250, RH_INPUT_REPEATS_MAX = 20 };

/* The files of one trace, by the time they were begun. */
struct rh_input_part {
    struct rh_trace_file *files[RH_SIDES][RH_INPUT_REPEATS_MAX];
    uint32_t counts[RH_SIDES];
};

struct rh_inputs {
    struct rh_input_part *parts;
    uint32_t part_count;
    uint32_t part_cap;
};

/* Makes *in whatever it returns; close it. */
int rh_inputs_open(struct rh_inputs *in, const struct rh_str_list *base,
                   const struct rh_str_list *candidate, struct rh_error *err);
void rh_inputs_close(struct rh_inputs *in);

/* What is compared: of each part the first base with the first candidate, the second with the
 * second, and so on; where a side has fewer its files take turns, so that all count.  `pairs` has
 * room for rh_inputs_pair_count(). */
void rh_inputs_compared(const struct rh_inputs *in, struct rh_comparison_part *pairs);
uint32_t rh_inputs_pair_count(const struct rh_inputs *in);
/* The first file of a side against its repeat 1, 2, ... of those parts that have one; how many
 * parts.  0: there is no such repeat. */
uint32_t rh_inputs_repeat(const struct rh_inputs *in, enum rh_side side, uint32_t repeat,
                          struct rh_comparison_part *parts);
/* So many files of a side repeat another one. */
uint32_t rh_inputs_repeat_count(const struct rh_inputs *in, enum rh_side side);

#endif
