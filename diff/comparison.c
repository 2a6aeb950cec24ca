#include "diff/comparison.h"

#include <math.h>
#include <string.h>

#include "common/progress.h"
#include "common/stop.h"
#include "diff/pair_table.h"
#include "diff/run_scope.h"

enum {
    CHECK_EVERY = 4096,
    QUERY_BYTES_MIN = 16 * 1024 * 1024,
};

/* One pass over both files. */
struct join {
    struct rh_comparison *c;
    struct rh_side_reader reader[RH_SIDES];
    bool ended[RH_SIDES];
    struct rh_pair_table table;
    uint32_t partition;
    uint32_t partitions;
    bool observe;          /* count the sides by themselves: once only, in the first pass */
    bool pair;             /* false: no twins are sought, or memory did not suffice */
    double overflow_share; /* how far the files were read when it did not */
    double base_first_ns;  /* of the base's records */
    double batches_per_ns; /* RH_BATCHES over the time that they span */
    struct rh_progress progress;
    bool show_progress;
    bool with_timeline;
    uint32_t since_check;
    struct rh_run_scope scope; /* where the two runs replayed different parts */
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

/* What the log did not time is counted, and not tested. */
static void add_times(struct rh_comparison *c, const struct rh_twin *base,
                      const struct rh_twin *candidate)
{
    struct rh_query *q = &c->queries.items[base->query];
    if (base->commit_not_timed || base->query == RH_QUERY_OTHER || !c->same_vantage) {
        return;
    }
    struct rh_timed_pair pair = {
        .base_ns = base->service_ns,
        .candidate_ns = candidate->service_ns,
        .batch = base->batch,
        .is_first = rh_twin_is(base, &q->first),
    };
    rh_pair_stat_add(&q->times, &pair, &c->queries.room);
    struct rh_slowed_pair slowed = {
        .ordinal = rh_twin_ordinal(base),
        .session = base->session,
        .copy = rh_twin_copy(base),
        .base_ns = base->service_ns,
        .candidate_ns = candidate->service_ns,
    };
    rh_slowed_pair_take(&q->slowed, &slowed);
}

/* Both ran. */
static void settle_outcomes(struct rh_comparison *c, const struct rh_twin *base,
                            const struct rh_twin *candidate)
{
    struct rh_query_pairs *p = &c->queries.items[base->query].pairs;
    bool base_ok = base->status == RH_OBSERVED_OK;
    bool candidate_ok = candidate->status == RH_OBSERVED_OK;

    if (base_ok && candidate->status == RH_OBSERVED_ERROR) {
        uint32_t group = rh_error_table_put(&c->errors, candidate->query, candidate->code);
        c->errors.items[group].broke++;
        p->broke++;
    }
    if (candidate_ok && base->status == RH_OBSERVED_ERROR) {
        uint32_t group = rh_error_table_put(&c->errors, base->query, base->code);
        c->errors.items[group].fixed++;
        p->fixed++;
    }
    if (!base_ok || !candidate_ok) {
        return;
    }
    if (base->service_known && candidate->service_known &&
        base->commit_not_timed == candidate->commit_not_timed) {
        p->timed++;
        p->base_ns += base->service_ns;
        p->candidate_ns += candidate->service_ns;
        add_times(c, base, candidate);
    }
    if (base->rows != RH_TWIN_ROWS_UNKNOWN && candidate->rows != RH_TWIN_ROWS_UNKNOWN) {
        bool mismatch = base->rows != candidate->rows;
        p->rows_compared++;
        p->row_mismatches += mismatch;
        c->pairs.rows_compared++;
        c->pairs.row_mismatches += mismatch;
    }
}

static void settle_missing(struct rh_comparison *c, const struct rh_twin *base, uint32_t code)
{
    enum rh_fate fate = (enum rh_fate)(code >> 8);
    uint32_t reason = code & 0xff;

    if (fate != RH_FATE_LOST && rh_reason_is_outside((enum rh_reason) reason)) {
        c->pairs.outside_window++;
        return;
    }
    c->queries.items[base->query].pairs.missing++;
    c->pairs.missing++;
    if (fate == RH_FATE_LOST) {
        c->pairs.missing_lost++;
    } else {
        c->pairs.missing_by_reason[reason < RH_REASON_COUNT ? reason : RH_REASON_NONE]++;
    }
}

static void settle_pair(struct rh_comparison *c, const struct rh_twin *base,
                        const struct rh_twin *candidate)
{
    bool base_ran = base->status != RH_OBSERVED_MISSING;
    bool candidate_ran = candidate->status != RH_OBSERVED_MISSING;

    c->pairs.paired++;
    if (base_ran && candidate_ran) {
        settle_outcomes(c, base, candidate);
    } else if (base_ran) {
        settle_missing(c, base, candidate->code);
    } else if (candidate_ran) {
        c->pairs.ran_only_in_candidate++;
    }
}

/* Its twin will not come. */
static void settle_single(struct rh_comparison *c, const struct rh_twin *twin)
{
    if (twin->status == RH_OBSERVED_MISSING) {
        return;
    }
    if (twin->side == RH_CANDIDATE) {
        c->pairs.candidate_only++;
        return;
    }
    c->pairs.base_only++;
    c->pairs.missing++;
    c->pairs.missing_absent++;
    c->queries.items[twin->query].pairs.missing++;
}

static void settle_waiting(struct join *j)
{
    size_t pos = 0;
    const struct rh_twin *twin;
    while ((twin = rh_pair_table_next(&j->table, &pos))) {
        settle_single(j->c, twin);
    }
    rh_pair_table_clear(&j->table);
}

static void clear_pairs(struct rh_comparison *c)
{
    c->pairs = (struct rh_pair_totals){0};
    rh_query_table_clear_pairs(&c->queries);
    rh_error_table_clear_pairs(&c->errors);
}

static void measure_batches(struct join *j, const struct rh_trace_file *base)
{
    const struct rh_side_reader *reader = &j->reader[RH_BASE];
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t i = 0; i < rh_trace_file_block_count(base); i++) {
        const struct rh_block_info *block = rh_trace_file_block(base, i);
        first = block->min_ns < first ? block->min_ns : first;
        last = block->max_ns > last ? block->max_ns : last;
    }
    first = reader->from_ns > first ? reader->from_ns : first;
    last = reader->to_ns < last ? reader->to_ns : last;
    double span = (double) last - (double) first;
    j->base_first_ns = (double) first;
    j->batches_per_ns = span > 0 ? RH_BATCHES / span : 0;
}

static unsigned batch_at(const struct join *j, int64_t start_ns)
{
    double batch = ((double) start_ns - j->base_first_ns) * j->batches_per_ns;
    if (!(batch > 0)) {
        return 0;
    }
    return batch < RH_BATCHES ? (unsigned) batch : RH_BATCHES - 1;
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
        settle_pair(j->c, side == RH_BASE ? &twin : &other, side == RH_BASE ? &other : &twin);
        break;
    case RH_PAIR_NONE:
        settle_single(j->c, &twin);
        break;
    case RH_PAIR_DUPLICATE:
        j->c->pairs.unpairable++;
        break;
    case RH_PAIR_FULL: /* the other side is full as well, or it would have been read */
        j->pair = false;
        j->overflow_share = fmax(rh_side_reader_share(&j->reader[RH_BASE]),
                                 rh_side_reader_share(&j->reader[RH_CANDIDATE]));
        clear_pairs(j->c);
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
    if (o->is_statement) {
        rh_side_summary_observe(&c->side[side], o);
    }
    if (j->with_timeline && o->is_statement && o->status != RH_OBSERVED_MISSING &&
        o->ref.start_ns != RH_TIME_UNKNOWN) {
        rh_timeline_add(&c->timeline[side], o);
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
    enum rh_side behind =
        rh_side_reader_share(&j->reader[RH_BASE]) <= rh_side_reader_share(&j->reader[RH_CANDIDATE])
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
        double done = (rh_side_reader_share(&j->reader[RH_BASE]) +
                       rh_side_reader_share(&j->reader[RH_CANDIDATE])) /
                      2;
        rh_progress_show(&j->progress,
                         "comparing: pass %u, %.0f %%, %zu statements wait for a twin",
                         j->c->passes, 100 * fmin(done, 1),
                         j->table.count[RH_BASE] + j->table.count[RH_CANDIDATE]);
    }
    return 0;
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
    if (j->observe) {
        observe_one(j, side, &o);
    }
    if (j->pair && o.is_statement) {
        pair_one(j, side, &o);
    }
    return ++j->since_check >= CHECK_EVERY ? check_in(j, err) : 0;
}

static int join_pass(struct join *j, struct rh_error *err)
{
    j->c->passes++;
    rh_pair_table_clear(&j->table);
    for (int side = 0; side < RH_SIDES; side++) {
        j->ended[side] = false;
        if (rh_side_reader_rewind(&j->reader[side], err) < 0) {
            return -1;
        }
    }
    while (!j->ended[RH_BASE] || !j->ended[RH_CANDIDATE]) {
        if (join_step(j, err) < 0) {
            return -1;
        }
        if (!j->pair && !j->observe) {
            return 0;
        }
    }
    if (j->pair) {
        settle_waiting(j);
    }
    return 0;
}

static void note_reader(struct rh_side_summary *sum, const struct rh_side_reader *reader)
{
    sum->gaps = reader->gaps;
    sum->damaged_blocks = rh_trace_reader_damaged(reader->reader, &sum->damaged_records);
}

/* So many that the smaller file's part of each fits with some room for uneven hashing. */
static uint32_t partitions_enough(const struct join *j)
{
    uint64_t base = j->reader[RH_BASE].expected;
    uint64_t candidate = j->reader[RH_CANDIDATE].expected;
    uint64_t smaller = base < candidate ? base : candidate;
    uint64_t each = rh_pair_table_side_limit(&j->table) / 4 * 3;
    uint64_t n = smaller / each + 2;
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
        clear_pairs(j->c);
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
    for (int side = 0; side < RH_SIDES; side++) {
        note_reader(&j->c->side[side], &j->reader[side]);
    }
    rh_timeline_align(&j->c->timeline[RH_BASE], &j->c->timeline[RH_CANDIDATE]);
    return j->c->paired && !j->pair ? join_in_parts(j, err) : 0;
}

/* By --scale a session has copies: those that one side alone has more of are not compared, unless
 * the other has a single one. */
static void match_scales(struct join *j, const uint32_t scale[RH_SIDES])
{
    for (int side = 0; side < RH_SIDES; side++) {
        uint32_t others = scale[other_side((enum rh_side) side)];
        if (scale[side] == 1) {
            j->c->stands_for[side] = others;
        } else if (others > 1 && others < scale[side]) {
            j->reader[side].copies = others;
        }
    }
}

static int narrow_to_common(struct join *j, struct rh_error *err)
{
    struct rh_comparison *c = j->c;
    const struct rh_trace_header *h[RH_SIDES] = {rh_trace_file_header(c->file[RH_BASE]),
                                                 rh_trace_file_header(c->file[RH_CANDIDATE])};
    const uint32_t scale[RH_SIDES] = {rh_run_scale(h[RH_BASE]), rh_run_scale(h[RH_CANDIDATE])};
    match_scales(j, scale);
    c->windows_differ = rh_run_windows_differ(h[RH_BASE], h[RH_CANDIDATE]);
    if (!c->windows_differ) {
        return 0;
    }
    for (int side = 0; side < RH_SIDES; side++) {
        j->reader[side].scope = &j->scope;
        if (rh_run_scope_add(&j->scope, c->file[side], (enum rh_side) side, err) != 0) {
            return -1;
        }
    }
    return 0;
}

int rh_comparison_make(struct rh_comparison *c, struct rh_trace_file *base,
                       struct rh_trace_file *candidate, const struct rh_comparison_options *options,
                       struct rh_error *err)
{
    const struct rh_trace_header *base_header = rh_trace_file_header(base);
    const struct rh_trace_header *candidate_header = rh_trace_file_header(candidate);
    struct join j = {.c = c, .partitions = 1, .observe = true};

    *c = (struct rh_comparison){
        .file = {base, candidate},
        .paired = rh_trace_headers_same_trace(base_header, candidate_header),
        .same_vantage = base_header->vantage == candidate_header->vantage,
        .stands_for = {1, 1},
    };
    rh_run_scope_init(&j.scope);
    uint64_t query_bytes = options->memory_bytes / 2;
    if (query_bytes < QUERY_BYTES_MIN) {
        query_bytes = QUERY_BYTES_MIN;
    }
    rh_query_table_init(&c->queries, options->max_queries, query_bytes);
    rh_error_table_init(&c->errors, 0);
    rh_side_summary_init(&c->side[RH_BASE]);
    rh_side_summary_init(&c->side[RH_CANDIDATE]);

    j.pair = c->paired;
    j.show_progress = options->show_progress;
    j.with_timeline = options->with_timeline;
    rh_progress_init(&j.progress);
    rh_pair_table_init(&j.table, options->memory_bytes);
    rh_side_reader_init(&j.reader[RH_BASE], base, &c->queries);
    rh_side_reader_init(&j.reader[RH_CANDIDATE], candidate, &c->queries);
    int rc = c->paired ? narrow_to_common(&j, err) : 0;
    if (c->paired) {
        rh_side_reader_narrow(&j.reader[RH_BASE], candidate_header);
        rh_side_reader_narrow(&j.reader[RH_CANDIDATE], base_header);
    }
    measure_batches(&j, base);

    rc = rc == 0 ? join_run(&j, err) : rc;

    rh_progress_end(&j.progress);
    rh_side_reader_release(&j.reader[RH_BASE]);
    rh_side_reader_release(&j.reader[RH_CANDIDATE]);
    rh_pair_table_release(&j.table);
    rh_run_scope_release(&j.scope);
    return rc;
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
    rh_error_table_release(&c->errors);
    rh_side_summary_release(&c->side[RH_BASE]);
    rh_side_summary_release(&c->side[RH_CANDIDATE]);
    rh_timeline_release(&c->timeline[RH_BASE]);
    rh_timeline_release(&c->timeline[RH_CANDIDATE]);
}
