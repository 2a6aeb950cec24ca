#include "diff/inputs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

static const char *const side_names[RH_SIDES] = {"base", "candidate"};

/* What a repeat must have in common with the run that it repeats. */
static const char *const settings[] = {"from", "to", "read_only", "scale", "speed", "order"};

static const uint8_t *trace_of(const struct rh_trace_header *h)
{
    static const uint8_t none[16];
    return h->kind == RH_FILE_RUN && memcmp(h->trace_uuid, none, sizeof none) != 0 ? h->trace_uuid
                                                                                   : h->uuid;
}

static bool is_of_trace(const struct rh_input_part *part, const struct rh_trace_header *h)
{
    enum rh_side side = part->counts[RH_BASE] ? RH_BASE : RH_CANDIDATE;
    const struct rh_trace_header *other = rh_trace_file_header(part->files[side][0]);
    return memcmp(trace_of(other), trace_of(h), sizeof h->uuid) == 0;
}

static struct rh_input_part *part_for(struct rh_inputs *in, const struct rh_trace_header *h,
                                      struct rh_error *err)
{
    for (uint32_t i = 0; i < in->part_count; i++) {
        if (is_of_trace(&in->parts[i], h)) {
            return &in->parts[i];
        }
    }
    if (in->part_count == RH_INPUT_PARTS_MAX) {
        rh_error_set(err, RH_ERR_LIMIT, "the files are of more than %d traces", RH_INPUT_PARTS_MAX);
        return NULL;
    }
    RH_GROW(in->parts, in->part_count, in->part_cap);
    struct rh_input_part *part = &in->parts[in->part_count++];
    memset(part, 0, sizeof *part);
    return part;
}

/* Two files of one trace and side: why the second is no repeat of the first, or NULL. */
static const char *why_no_repeat(const struct rh_trace_header *a, const struct rh_trace_header *b)
{
    if (memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0) {
        return "are the same run: another one of the same trace would tell what runs differ by";
    }
    if (a->kind != b->kind || a->vantage != b->vantage) {
        return "are of one trace, but not both of them its replays: compare them with each other";
    }
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct rh_span x = rh_trace_header_setting(a, settings[i]);
        struct rh_span y = rh_trace_header_setting(b, settings[i]);
        if (x.len != y.len || (x.len > 0 && !rh_span_equal(x, y))) {
            return "replayed one trace with different --from, --to, --read-only, --scale, --speed "
                   "or --order: one does not repeat the other";
        }
    }
    return NULL;
}

static int take_file(struct rh_inputs *in, struct rh_trace_file *file, enum rh_side side,
                     struct rh_error *err)
{
    const struct rh_trace_header *h = rh_trace_file_header(file);
    struct rh_input_part *part = part_for(in, h, err);
    if (!part) {
        return -1;
    }
    for (uint32_t i = 0; i < part->counts[side]; i++) {
        const char *why = why_no_repeat(rh_trace_file_header(part->files[side][i]), h);
        if (why) {
            return rh_error_set(err, RH_ERR_USAGE, "\"%s\" and \"%s\" of the %s %s",
                                rh_trace_file_path(part->files[side][i]), rh_trace_file_path(file),
                                side_names[side], why);
        }
    }
    if (part->counts[side] == RH_INPUT_REPEATS_MAX) {
        return rh_error_set(err, RH_ERR_LIMIT, "more than %d runs of one trace on one side",
                            RH_INPUT_REPEATS_MAX);
    }
    part->files[side][part->counts[side]++] = file;
    return 0;
}

static int open_side(struct rh_inputs *in, enum rh_side side, const struct rh_str_list *paths,
                     struct rh_error *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        struct rh_trace_file *file;
        if (rh_trace_file_open(&file, paths->items[i], err) < 0) {
            return -1;
        }
        if (take_file(in, file, side, err) < 0) {
            rh_trace_file_close(file);
            return -1;
        }
    }
    return 0;
}

/* One file a side may be of two traces: then queries are compared without pairs. */
static bool are_unlike(const struct rh_inputs *in)
{
    uint32_t counts[RH_SIDES] = {0, 0};
    for (uint32_t i = 0; i < in->part_count; i++) {
        counts[RH_BASE] += in->parts[i].counts[RH_BASE];
        counts[RH_CANDIDATE] += in->parts[i].counts[RH_CANDIDATE];
    }
    return in->part_count == 2 && counts[RH_BASE] == 1 && counts[RH_CANDIDATE] == 1;
}

static int match_sides(struct rh_inputs *in, struct rh_error *err)
{
    if (are_unlike(in)) {
        struct rh_input_part *first = &in->parts[0], *second = &in->parts[1];
        enum rh_side lacks = first->counts[RH_BASE] ? RH_CANDIDATE : RH_BASE;
        first->files[lacks][0] = second->files[lacks][0];
        first->counts[lacks] = 1;
        in->part_count = 1;
        return 0;
    }
    for (uint32_t i = 0; i < in->part_count; i++) {
        const struct rh_input_part *part = &in->parts[i];
        if (part->counts[RH_BASE] && part->counts[RH_CANDIDATE]) {
            continue;
        }
        enum rh_side has = part->counts[RH_BASE] ? RH_BASE : RH_CANDIDATE;
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" of the %s is of a trace that no file of the %s is of: with "
                            "several files each trace is on both sides",
                            rh_trace_file_path(part->files[has][0]), side_names[has],
                            side_names[has == RH_BASE ? RH_CANDIDATE : RH_BASE]);
    }
    return 0;
}

static int order_by_time(const void *a, const void *b)
{
    const struct rh_trace_header *x = rh_trace_file_header(*(struct rh_trace_file *const *) a);
    const struct rh_trace_header *y = rh_trace_file_header(*(struct rh_trace_file *const *) b);
    if (x->created_ns != y->created_ns) {
        return x->created_ns < y->created_ns ? -1 : 1;
    }
    return memcmp(x->uuid, y->uuid, sizeof x->uuid);
}

/* Runs that were taken in turns are set against their neighbours, whatever order they are named in.
 */
static void order_repeats(struct rh_inputs *in)
{
    for (uint32_t i = 0; i < in->part_count; i++) {
        for (int side = 0; side < RH_SIDES; side++) {
            struct rh_trace_file **files = in->parts[i].files[side];
            qsort(files, in->parts[i].counts[side], sizeof(void *), order_by_time);
        }
    }
}

int rh_inputs_open(struct rh_inputs *in, const struct rh_str_list *base,
                   const struct rh_str_list *candidate, struct rh_error *err)
{
    *in = (struct rh_inputs){0};
    if (open_side(in, RH_BASE, base, err) < 0 || open_side(in, RH_CANDIDATE, candidate, err) < 0) {
        return -1;
    }
    order_repeats(in);
    return match_sides(in, err);
}

void rh_inputs_close(struct rh_inputs *in)
{
    for (uint32_t i = 0; i < in->part_count; i++) {
        struct rh_input_part *part = &in->parts[i];
        for (int side = 0; side < RH_SIDES; side++) {
            for (uint32_t k = 0; k < part->counts[side]; k++) {
                rh_trace_file_close(part->files[side][k]);
            }
        }
    }
    rh_free(in->parts);
    *in = (struct rh_inputs){0};
}

uint32_t rh_inputs_pair_count(const struct rh_inputs *in)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->part_count; i++) {
        const uint32_t *counts = in->parts[i].counts;
        count += counts[RH_BASE] > counts[RH_CANDIDATE] ? counts[RH_BASE] : counts[RH_CANDIDATE];
    }
    return count;
}

void rh_inputs_compared(const struct rh_inputs *in, struct rh_comparison_part *pairs)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->part_count; i++) {
        const struct rh_input_part *part = &in->parts[i];
        const uint32_t *counts = part->counts;
        assert(counts[RH_BASE] > 0 && counts[RH_CANDIDATE] > 0);
        for (uint32_t k = 0; k < counts[RH_BASE] || k < counts[RH_CANDIDATE]; k++) {
            pairs[count].file[RH_BASE] = part->files[RH_BASE][k % counts[RH_BASE]];
            pairs[count++].file[RH_CANDIDATE] = part->files[RH_CANDIDATE][k % counts[RH_CANDIDATE]];
        }
    }
}

uint32_t rh_inputs_repeat(const struct rh_inputs *in, enum rh_side side, uint32_t repeat,
                          struct rh_comparison_part *parts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->part_count; i++) {
        const struct rh_input_part *part = &in->parts[i];
        if (repeat < part->counts[side]) {
            parts[count].file[RH_BASE] = part->files[side][0];
            parts[count++].file[RH_CANDIDATE] = part->files[side][repeat];
        }
    }
    return count;
}

uint32_t rh_inputs_repeat_count(const struct rh_inputs *in, enum rh_side side)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < in->part_count; i++) {
        count += in->parts[i].counts[side] - 1;
    }
    return count;
}
