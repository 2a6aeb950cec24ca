#include "diff/comparison.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/alloc.h"
#include "common/progress.h"
#include "common/stop.h"
#include "diff/pair_count.h"
#include "diff/run_scope.h"

enum {
    CHECK_EVERY = 4096,
    QUERY_BYTES_MIN = 16 * 1024 * 1024,
};

/* What two runs of a part both replayed, where that was not the same; made once. */
struct part_scope {
    bool made;
    struct rh_run_scope scope;
};

/* Of a file. */
#define LEAD_MAX 0.25

/* The passes over all parts. */
struct join {
    struct rh_comparison *c;
    uint32_t part; /* that is being read */
    struct rh_side_reader reader[RH_SIDES];
    bool ended[RH_SIDES];
    struct part_scope *scopes;   /* of each part */
    int64_t shift_ns[RH_SIDES];  /* puts the part's times behind those of the part before it */
    int64_t next_ns;             /* where the next part begins, counted from the first one */
    int64_t origin_ns[RH_SIDES]; /* of the first part */
    uint64_t smaller_statements; /* of the smaller file of a part, the most of all parts */
    struct rh_pair_table table;
    uint32_t partition;
    uint32_t partitions;
    bool observe;          /* count the sides by themselves: once only, in the first pass */
    bool pair;             /* false: no twins are sought, or memory did not suffice */
    double lead;           /* how far the base is read ahead: see keep_in_step() */
    double overflow_share; /* how far the files were read when it did not */
    double base_first_ns;  /* of the base's records */
    double batches_per_ns; /* RH_BATCHES over the time that they span */
    struct rh_progress progress;
    bool show_progress;
    bool with_timeline;
    uint32_t since_check;
};

static enum rh_side other_side(enum rh_side side)
{
    return side == RH_BASE ? RH_CANDIDATE : RH_BASE;
}

static bool uuid_equal(const uint8_t a[16], const uint8_t b[16])
{
    static const uint8_t none[16];
    return memcmp(a, b, 16) == 0 && memcmp(a, none, 16) != 0;
}

bool rh_trace_headers_same_trace(const struct rh_trace_header *a, const struct rh_trace_header *b)
{
    const uint8_t *trace_a = a->kind == RH_FILE_RUN ? a->trace_uuid : a->uuid;
    const uint8_t *trace_b = b->kind == RH_FILE_RUN ? b->trace_uuid : b->uuid;
    return uuid_equal(trace_a, trace_b) || (a->kind == b->kind && uuid_equal(a->uuid, b->uuid));
}

static void settle_waiting(struct join *j)
{
    size_t pos = 0;
    const struct rh_twin *twin;
    while ((twin = rh_pair_table_next(&j->table, &pos))) {
        rh_pair_count_single(j->c, twin);
    }
    rh_pair_table_clear(&j->table);
}

/* Of what is read of a side's file: when its records start. */
struct span_ns {
    int64_t first;
    int64_t last;
};

static struct span_ns span_of(const struct rh_side_reader *reader)
{
    struct span_ns span = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < rh_trace_file_block_count(reader->file); i++) {
        const struct rh_block_info *block = rh_trace_file_block(reader->file, i);
        span.first = block->min_ns < span.first ? block->min_ns : span.first;
        span.last = block->max_ns > span.last ? block->max_ns : span.last;
    }
    span.first = reader->from_ns > span.first ? reader->from_ns : span.first;
    span.last = reader->to_ns < span.last ? reader->to_ns : span.last;
    return span;
}

static void measure_batches(struct join *j)
{
    struct span_ns base = span_of(&j->reader[RH_BASE]);
    double span = (double) base.last - (double) base.first;
    j->base_first_ns = (double) base.first;
    j->batches_per_ns = span > 0 ? RH_BATCHES / span : 0;
}

/* What is shown over time needs no gap between parts, which may have been replayed days apart, and
 * needs both sides' parts to begin at the same place. */
static void place_part(struct join *j)
{
    int64_t longest = 0;
    for (int side = 0; side < RH_SIDES; side++) {
        struct span_ns span = span_of(&j->reader[side]);
        int64_t place, length;
        j->shift_ns[side] = 0;
        if (span.first > span.last || __builtin_sub_overflow(span.last, span.first, &length)) {
            continue;
        }
        longest = length > longest ? length : longest;
        if (j->part == 0) {
            j->origin_ns[side] = span.first;
        } else if (__builtin_add_overflow(j->origin_ns[side], j->next_ns, &place) ||
                   __builtin_sub_overflow(place, span.first, &j->shift_ns[side])) {
            j->shift_ns[side] = 0;
        }
    }
    if (__builtin_add_overflow(j->next_ns, longest, &j->next_ns)) {
        j->next_ns = 0;
    }
}

static int64_t placed_ns(const struct join *j, enum rh_side side, int64_t start_ns)
{
    int64_t placed;
    if (start_ns == RH_TIME_UNKNOWN ||
        __builtin_add_overflow(start_ns, j->shift_ns[side], &placed)) {
        return start_ns;
    }
    return placed;
}

static unsigned batch_at(const struct join *j, int64_t start_ns)
{
    double batch = ((double) start_ns - j->base_first_ns) * j->batches_per_ns;
    if (!(batch > 0)) {
        return 0;
    }
    return batch < RH_BATCHES ? (unsigned) batch : RH_BATCHES - 1;
}

/*
 * Twins wait where one side is read ahead of the other.  Parts of the files tell only roughly which
 * one is: a side that lacks a session, or has it an hour later, has more of all others in the same
 * part.  So the base's lead is moved by each pair towards where as many wait on either side; what a
 * few sessions do does not move that middle.
 */
static void keep_in_step(struct join *j, enum rh_side last_read)
{
    double share = j->reader[last_read].share_each;
    j->lead += last_read == RH_BASE ? share : -share;
    j->lead = fmax(-LEAD_MAX, fmin(LEAD_MAX, j->lead));
}

static void pair_copy(struct join *j, enum rh_side side, const struct rh_observation *o)
{
    struct rh_twin twin;
    struct rh_twin other;
    if (!rh_twin_make(&twin, o, side, 0)) {
        j->c->pairs.unpairable += j->partition == 0;
        return;
    }
    if (j->partitions > 1 && (rh_twin_hash(&twin) >> 32) % j->partitions != j->partition) {
        return;
    }
    twin.query = rh_side_reader_query(&j->reader[side]);
    twin.batch = side == RH_BASE ? batch_at(j, o->ref.start_ns) & (RH_BATCHES - 1U) : 0;
    switch (rh_pair_table_put(&j->table, &twin, !j->ended[other_side(side)], &other)) {
    case RH_PAIR_MATCHED:
        keep_in_step(j, side);
        rh_pair_count_add(j->c, j->part, side == RH_BASE ? &twin : &other,
                          side == RH_BASE ? &other : &twin);
        break;
    case RH_PAIR_NONE:
        rh_pair_count_single(j->c, &twin);
        break;
    case RH_PAIR_DUPLICATE:
        j->c->pairs.unpairable++;
        break;
    case RH_PAIR_FULL: /* the other side is full as well, or it would have been read */
        j->pair = false;
        j->overflow_share = fmax(rh_side_reader_share(&j->reader[RH_BASE]),
                                 rh_side_reader_share(&j->reader[RH_CANDIDATE]));
        rh_pair_count_clear(j->c);
        rh_pair_table_clear(&j->table);
        break;
    case RH_PAIR_WAITS:
        break;
    }
}

/* Where one side has a session once and the other N copies of it, the one stands against all. */
static void pair_one(struct join *j, enum rh_side side, const struct rh_observation *o)
{
    struct rh_observation copy = *o;
    for (uint32_t i = 0; i < j->c->stands_for[side] && j->pair; i++) {
        copy.ref.copy = o->ref.copy + i;
        pair_copy(j, side, &copy);
    }
}

/* Times of two vantages mean different things, but of one kind they are all alike: a commit that
 * the log does not time is then missing on both sides or on none. */
static bool comparable(const struct rh_comparison *c, const struct rh_observation *o)
{
    return c->same_vantage || !o->commit_not_timed;
}

static void observe_one(struct join *j, enum rh_side side, const struct rh_observation *o)
{
    struct rh_comparison *c = j->c;
    uint32_t query = RH_QUERY_OTHER;

    if (o->is_statement || o->status == RH_OBSERVED_ERROR) {
        query = rh_side_reader_query(&j->reader[side]);
    }
    rh_side_summary_note_session(&c->side[side], o);
    int64_t placed = placed_ns(j, side, o->ref.start_ns);
    if (o->is_statement) {
        rh_side_summary_observe(&c->side[side], o, placed);
    }
    if (o->is_statement && o->status != RH_OBSERVED_MISSING) {
        rh_dimensions_observe(&c->dimensions, side, o);
    }
    if (j->with_timeline && o->is_statement && o->status != RH_OBSERVED_MISSING &&
        placed != RH_TIME_UNKNOWN) {
        rh_timeline_add(&c->timeline[side], o, placed);
    }
    if (o->is_statement && !rh_observation_is_outside(o)) {
        rh_query_table_observe(&c->queries, query, side, o, comparable(c, o));
    }
    if (rh_error_table_needs_text(&c->errors, side, query, o)) {
        rh_side_reader_complete(&j->reader[side]);
    }
    rh_error_table_observe(&c->errors, side, query, o, &j->reader[side].record);
}

/* The side that lags behind; not the one that has as many twins waiting as it may. */
static enum rh_side choose_side(const struct join *j)
{
    if (j->ended[RH_BASE] || j->ended[RH_CANDIDATE]) {
        return j->ended[RH_BASE] ? RH_CANDIDATE : RH_BASE;
    }
    enum rh_side behind = rh_side_reader_share(&j->reader[RH_BASE]) - j->lead <=
                                  rh_side_reader_share(&j->reader[RH_CANDIDATE])
                              ? RH_BASE
                              : RH_CANDIDATE;
    if (j->table.count[behind] >= rh_pair_table_side_limit(&j->table)) {
        return other_side(behind);
    }
    return behind;
}

static int check_in(struct join *j, struct rh_error *err)
{
    j->since_check = 0;
    if (rh_stop_requested()) {
        return rh_error_set(err, RH_ERR_STOPPED, "stopped before both files were read");
    }
    if (j->show_progress && rh_progress_due(&j->progress)) {
        double part = (rh_side_reader_share(&j->reader[RH_BASE]) +
                       rh_side_reader_share(&j->reader[RH_CANDIDATE])) /
                      2;
        double done = (j->part + fmin(part, 1)) / j->c->part_count;
        rh_progress_show(
            &j->progress, "comparing: pass %u, %.0f %%, %zu statements wait for a twin",
            j->c->passes, 100 * done, j->table.count[RH_BASE] + j->table.count[RH_CANDIDATE]);
    }
    return 0;
}

/* What the session is, at its first statement in each pass. */
static void note_session(struct join *j, enum rh_side side, const struct rh_observation *o)
{
    struct rh_side_reader *reader = &j->reader[side];
    struct rh_dimensions *d = &j->c->dimensions;
    if (rh_dimensions_knows(d, side, o->ref.session)) {
        return;
    }
    const struct rh_session *session = rh_trace_reader_session(reader->reader);
    if (session) {
        struct rh_span application = reader->record.application;
        rh_dimensions_put(
            d, side, o->ref.session,
            (const struct rh_span[RH_DIMENSIONS]){
                [RH_BY_DATABASE] = session->database,
                [RH_BY_USER] = session->user,
                [RH_BY_APPLICATION] = application.data ? application : session->application});
    }
}

static int join_step(struct join *j, struct rh_error *err)
{
    struct rh_observation o;
    enum rh_side side = choose_side(j);
    int rc = rh_side_reader_next(&j->reader[side], &o, err);
    if (rc < 0) {
        return -1;
    }
    if (rc == 0) {
        j->ended[side] = true;
        return 0;
    }
    if (o.is_statement) {
        note_session(j, side, &o);
    }
    if (j->observe) {
        observe_one(j, side, &o);
    }
    if (j->pair && o.is_statement) {
        pair_one(j, side, &o);
    }
    return ++j->since_check >= CHECK_EVERY ? check_in(j, err) : 0;
}

/* By --scale a session has copies: those that one side alone has more of are not compared, unless
 * the other has a single one. */
static void match_scales(struct join *j, const uint32_t scale[RH_SIDES],
                         uint32_t stands_for[RH_SIDES])
{
    stands_for[RH_BASE] = stands_for[RH_CANDIDATE] = 1;
    for (int side = 0; side < RH_SIDES; side++) {
        uint32_t others = scale[other_side((enum rh_side) side)];
        if (scale[side] == 1) {
            stands_for[side] = others;
        } else if (others > 1 && others < scale[side]) {
            j->reader[side].copies = others;
        }
    }
}

static int narrow_to_common(struct join *j, const struct rh_trace_header *const h[RH_SIDES],
                            struct rh_error *err)
{
    struct rh_comparison *c = j->c;
    struct part_scope *s = &j->scopes[j->part];
    const uint32_t scale[RH_SIDES] = {rh_run_scale(h[RH_BASE]), rh_run_scale(h[RH_CANDIDATE])};
    uint32_t stands_for[RH_SIDES];
    match_scales(j, scale, stands_for);
    if (j->part > 0 && memcmp(stands_for, c->stands_for, sizeof stands_for) != 0) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" and \"%s\" have other numbers of copies (--scale) than the "
                            "files before them: compare them alone",
                            rh_trace_file_path(j->reader[RH_BASE].file),
                            rh_trace_file_path(j->reader[RH_CANDIDATE].file));
    }
    memcpy(c->stands_for, stands_for, sizeof stands_for);
    if (!rh_run_windows_differ(h[RH_BASE], h[RH_CANDIDATE])) {
        return 0;
    }
    c->windows_differ = true;
    for (int side = 0; side < RH_SIDES; side++) {
        j->reader[side].scope = &s->scope;
        if (!s->made &&
            rh_run_scope_add(&s->scope, j->reader[side].file, (enum rh_side) side, err) != 0) {
            return -1;
        }
    }
    s->made = true;
    return 0;
}

static int open_part(struct join *j, struct rh_error *err)
{
    const struct rh_comparison_part *part = &j->c->parts[j->part];
    const struct rh_trace_header *h[RH_SIDES];
    for (int side = 0; side < RH_SIDES; side++) {
        h[side] = rh_trace_file_header(part->file[side]);
        rh_side_reader_init(&j->reader[side], part->file[side], &j->c->queries);
        j->reader[side].part = j->part;
        j->ended[side] = false;
    }
    if (j->c->paired) {
        rh_side_reader_narrow(&j->reader[RH_BASE], h[RH_CANDIDATE]);
        rh_side_reader_narrow(&j->reader[RH_CANDIDATE], h[RH_BASE]);
        if (narrow_to_common(j, h, err) < 0) {
            return -1;
        }
    }
    uint64_t base = j->reader[RH_BASE].expected, candidate = j->reader[RH_CANDIDATE].expected;
    uint64_t smaller = base < candidate ? base : candidate;
    j->smaller_statements = smaller > j->smaller_statements ? smaller : j->smaller_statements;
    j->lead = 0;
    measure_batches(j);
    place_part(j);
    rh_dimensions_begin_part(&j->c->dimensions);
    for (int side = 0; side < RH_SIDES; side++) {
        if (rh_side_reader_rewind(&j->reader[side], err) < 0) {
            return -1;
        }
    }
    return 0;
}

static void close_part(struct join *j)
{
    rh_side_reader_release(&j->reader[RH_BASE]);
    rh_side_reader_release(&j->reader[RH_CANDIDATE]);
}

static void note_reader(struct rh_side_summary *sum, const struct rh_side_reader *reader)
{
    uint64_t records;
    sum->gaps += reader->gaps;
    sum->damaged_blocks += rh_trace_reader_damaged(reader->reader, &records);
    sum->damaged_records += records;
}

/* 1 when nothing is left to do in this pass. */
static int read_part(struct join *j, struct rh_error *err)
{
    while (!j->ended[RH_BASE] || !j->ended[RH_CANDIDATE]) {
        if (join_step(j, err) < 0) {
            return -1;
        }
        if (!j->pair && !j->observe) {
            return 1;
        }
    }
    if (j->pair) {
        settle_waiting(j);
    }
    if (j->observe) {
        note_reader(&j->c->side[RH_BASE], &j->reader[RH_BASE]);
        note_reader(&j->c->side[RH_CANDIDATE], &j->reader[RH_CANDIDATE]);
    }
    return 0;
}

static int join_pass(struct join *j, struct rh_error *err)
{
    int rc = 0;
    j->c->passes++;
    j->next_ns = 0;
    rh_pair_table_clear(&j->table);
    for (j->part = 0; j->part < j->c->part_count && rc == 0; j->part++) {
        rc = open_part(j, err);
        if (rc == 0) {
            rc = read_part(j, err);
        }
        close_part(j);
    }
    return rc < 0 ? -1 : 0;
}

/* So many that the smaller file's part of each fits with some room for uneven hashing. */
static uint32_t partitions_enough(const struct join *j)
{
    uint64_t each = rh_pair_table_side_limit(&j->table) / 4 * 3;
    uint64_t n = j->smaller_statements / each + 2;
    return n < UINT32_MAX / 2 ? (uint32_t) n : UINT32_MAX / 2;
}

/* The first pass overflowed at a share of the files: guess from that how many parts will do, and
 * take more when they do not. */
static int join_in_parts(struct join *j, struct rh_error *err)
{
    uint32_t enough = partitions_enough(j);
    double guess = 1.5 / fmax(j->overflow_share, 1e-6) + 1;

    j->observe = false;
    j->partitions = guess < enough ? (uint32_t) guess : enough;
    for (;;) {
        rh_pair_count_clear(j->c);
        j->pair = true;
        for (j->partition = 0; j->partition < j->partitions && j->pair; j->partition++) {
            if (join_pass(j, err) < 0) {
                return -1;
            }
        }
        if (j->pair) {
            return 0;
        }
        if (j->partitions > UINT32_MAX / 2) {
            return rh_error_set(err, RH_ERR_LIMIT,
                                "the statements cannot be paired within the memory given");
        }
        j->partitions = j->partitions < enough ? enough : j->partitions * 2;
    }
}

static int join_run(struct join *j, struct rh_error *err)
{
    if (join_pass(j, err) < 0) {
        return -1;
    }
    rh_timeline_align(&j->c->timeline[RH_BASE], &j->c->timeline[RH_CANDIDATE]);
    return j->c->paired && !j->pair ? join_in_parts(j, err) : 0;
}

static void comparison_init(struct rh_comparison *c, const struct rh_comparison_part *parts,
                            uint32_t part_count, const struct rh_comparison_options *options)
{
    uint64_t query_bytes = options->memory_bytes / 2;
    if (query_bytes < QUERY_BYTES_MIN) {
        query_bytes = QUERY_BYTES_MIN;
    }
    *c = (struct rh_comparison){
        .file = {parts[0].file[RH_BASE], parts[0].file[RH_CANDIDATE]},
        .parts = rh_calloc(part_count, sizeof *parts),
        .part_count = part_count,
        .paired = true,
        .same_vantage = true,
        .stands_for = {1, 1},
    };
    for (uint32_t i = 0; i < part_count; i++) {
        c->parts[i] = parts[i];
        const struct rh_trace_header *base = rh_trace_file_header(parts[i].file[RH_BASE]);
        const struct rh_trace_header *candidate = rh_trace_file_header(parts[i].file[RH_CANDIDATE]);
        c->paired = c->paired && rh_trace_headers_same_trace(base, candidate);
        c->same_vantage = c->same_vantage && base->vantage == candidate->vantage;
    }
    rh_query_table_init(&c->queries, options->max_queries, query_bytes);
    rh_dimensions_init(&c->dimensions, query_bytes / 4);
    rh_error_table_init(&c->errors, 0);
    rh_side_summary_init(&c->side[RH_BASE]);
    rh_side_summary_init(&c->side[RH_CANDIDATE]);
}

int rh_comparison_make_of_parts(struct rh_comparison *c, const struct rh_comparison_part *parts,
                                uint32_t part_count, const struct rh_comparison_options *options,
                                struct rh_error *err)
{
    struct join j = {.c = c, .partitions = 1, .observe = true};
    comparison_init(c, parts, part_count, options);
    assert(c->paired || part_count == 1);
    j.scopes = rh_calloc(part_count, sizeof *j.scopes);
    for (uint32_t i = 0; i < part_count; i++) {
        rh_run_scope_init(&j.scopes[i].scope);
    }
    j.pair = c->paired;
    j.show_progress = options->show_progress;
    j.with_timeline = options->with_timeline;
    rh_progress_init(&j.progress);
    rh_pair_table_init(&j.table, options->memory_bytes);

    int rc = join_run(&j, err);

    rh_dimensions_settle(&c->dimensions);
    rh_progress_end(&j.progress);
    rh_pair_table_release(&j.table);
    for (uint32_t i = 0; i < part_count; i++) {
        rh_run_scope_release(&j.scopes[i].scope);
    }
    rh_free(j.scopes);
    return rc;
}

int rh_comparison_make(struct rh_comparison *c, struct rh_trace_file *base,
                       struct rh_trace_file *candidate, const struct rh_comparison_options *options,
                       struct rh_error *err)
{
    const struct rh_comparison_part part = {.file = {base, candidate}};
    return rh_comparison_make_of_parts(c, &part, 1, options, err);
}

uint32_t rh_comparison_file_count(const struct rh_comparison *c, enum rh_side side)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->part_count; i++) {
        uint32_t k = 0;
        while (c->parts[k].file[side] != c->parts[i].file[side]) {
            k++;
        }
        count += k == i;
    }
    return count;
}

const struct rh_trace_file *rh_comparison_cut_file(const struct rh_comparison *c, enum rh_side side)
{
    for (uint32_t i = 0; i < c->part_count; i++) {
        if (!rh_trace_file_complete(c->parts[i].file[side])) {
            return c->parts[i].file[side];
        }
    }
    return NULL;
}

bool rh_comparison_is_whole(const struct rh_comparison *c)
{
    for (int side = 0; side < RH_SIDES; side++) {
        if (rh_comparison_cut_file(c, (enum rh_side) side) || c->side[side].damaged_blocks > 0) {
            return false;
        }
    }
    return true;
}

uint64_t rh_comparison_unconnected(const struct rh_comparison *c)
{
    const struct rh_side_summary *side = &c->side[RH_CANDIDATE];
    const uint64_t *by_reason = c->paired ? c->pairs.missing_by_reason : side->by_reason;
    return by_reason[RH_REASON_CONNECT_FAILED] + by_reason[RH_REASON_SESSION_LOST] +
           by_reason[RH_REASON_TRANSACTION_LOST] + by_reason[RH_REASON_STOPPED] +
           by_reason[RH_REASON_DAMAGED] + (c->paired ? c->pairs.missing_lost : side->lost);
}

uint64_t rh_comparison_in_scope(const struct rh_comparison *c)
{
    if (!c->paired) {
        return c->side[RH_CANDIDATE].statements;
    }
    uint64_t calls = c->side[RH_BASE].calls * c->stands_for[RH_BASE];
    return calls > c->pairs.outside_window ? calls - c->pairs.outside_window : 0;
}

void rh_comparison_release(struct rh_comparison *c)
{
    rh_query_table_release(&c->queries);
    rh_dimensions_release(&c->dimensions);
    rh_error_table_release(&c->errors);
    rh_side_summary_release(&c->side[RH_BASE]);
    rh_side_summary_release(&c->side[RH_CANDIDATE]);
    rh_timeline_release(&c->timeline[RH_BASE]);
    rh_timeline_release(&c->timeline[RH_CANDIDATE]);
    rh_free(c->parts);
}
