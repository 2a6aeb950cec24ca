/* formats/trace_writer, trace_reader, trace_index: openings, closings, gaps, COPY data and outcomes
 * at any place among the statements, with starts that are equal or go back: nothing is lost. */
#include "rh_test.h"

#include "formats/block_cache.h"
#include "formats/trace_index.h"
#include "trace_testing.h"

enum { ROUNDS = 400, SESSIONS = 5, RECORDS_MAX = 200 };

struct seen {
    uint32_t given;
    uint32_t statements;
    uint32_t opens;
    bool has_closed;
    uint64_t last_ordinal;
};

struct plan {
    uint64_t seed;
    int64_t spread; /* of starts, in us: 1 makes them all equal */
    int64_t base_ns;
    bool wild;       /* some times are any number */
    unsigned events; /* % of records that have no ordinal of their own */
    uint32_t window;
    enum rh_file_kind kind;
    uint64_t ordinals[SESSIONS];
    bool closed[SESSIONS];
    uint32_t outcomes_due[SESSIONS]; /* the newest statement without one, 0: none */
    uint32_t given[SESSIONS];        /* records that a reader gives */
    uint32_t cursor[SESSIONS];
};

static struct plan make_plan(uint64_t round)
{
    static const int64_t spreads[] = {1, 3, 1000, 5000000};
    static const int64_t bases[] = {INT64_C(1735689600000000000), 0, INT64_MAX - 100,
                                    INT64_MIN + 100, INT64_C(1) << 62};
    struct plan p = {.seed = round * 7919 + 1};
    testing_random(&p.seed);
    p.spread = spreads[testing_below(&p.seed, 4)];
    p.base_ns = bases[testing_chance(&p.seed, 70) ? 0 : testing_below(&p.seed, 5)];
    p.events = testing_chance(&p.seed, 10) ? 100 : (unsigned) testing_below(&p.seed, 80);
    p.wild = testing_chance(&p.seed, 30);
    p.window = testing_chance(&p.seed, 50) ? 16 : 0;
    p.kind = testing_chance(&p.seed, 50) ? RH_FILE_RUN : RH_FILE_WORKLOAD;
    return p;
}

static int64_t next_start(struct plan *p)
{
    if (p->wild && testing_chance(&p->seed, 5)) {
        return (int64_t) (testing_random(&p->seed) << 11 ^ testing_random(&p->seed));
    }
    int64_t offset = (int64_t) testing_below(&p->seed, (uint64_t) p->spread) * 1000;
    return p->base_ns > INT64_MAX - offset ? INT64_MAX - offset : p->base_ns + offset;
}

static bool make_event(struct plan *p, uint32_t s, struct rh_record *r)
{
    static const enum rh_kind kinds[] = {RH_KIND_OPEN, RH_KIND_GAP, RH_KIND_COPY_DATA,
                                         RH_KIND_OUTCOME, RH_KIND_CLOSE};
    r->kind = kinds[testing_below(&p->seed, testing_chance(&p->seed, 20) ? 5 : 4)];
    if (r->kind == RH_KIND_COPY_DATA) {
        r->ordinal = testing_below(&p->seed, p->ordinals[s] + 3);
        r->detail = rh_span_cstr("1\tx\n");
    }
    if (r->kind == RH_KIND_OUTCOME) {
        r->ordinal = p->outcomes_due[s];
        r->outcome.sqlstate = 0;
        r->outcome.done_ns = r->start_ns;
        p->outcomes_due[s] = 0;
        return r->ordinal != 0;
    }
    if (r->kind == RH_KIND_OPEN && testing_chance(&p->seed, 40)) {
        r->detail = rh_span_cstr("the connection broke");
    }
    p->closed[s] |= r->kind == RH_KIND_CLOSE;
    return true;
}

static void make_statement(struct plan *p, uint32_t s, struct rh_record *r)
{
    r->kind = testing_chance(&p->seed, 90) ? RH_KIND_QUERY : RH_KIND_PROTOCOL;
    r->text = rh_span_cstr("SELECT 1");
    p->ordinals[s] += 1 + testing_below(&p->seed, 2);
    r->ordinal = p->ordinals[s];
    r->outcome.tx_status = (char) testing_below(&p->seed, 256);
    if (testing_chance(&p->seed, 60)) {
        r->outcome.done_ns = next_start(p);
        r->outcome.parse_ns = (int64_t) (testing_random(&p->seed) >> 1);
        r->outcome.execute_ns = (int64_t) (testing_random(&p->seed) >> 1);
    } else {
        p->outcomes_due[s] = (uint32_t) r->ordinal;
    }
    if (p->kind == RH_FILE_RUN) {
        r->run.planned_ns = next_start(p);
        r->run.sent_ns = next_start(p);
    }
}

static void write_plan(struct plan *p, const char *path)
{
    struct rh_trace_writer *w = testing_open(path, p->kind, p->window);
    struct rh_session told = {.number = 1, .opened_ns = next_start(p), .closed_ns = next_start(p)};
    struct rh_error err = {0};
    assert_int_equal(rh_trace_writer_put_session(w, &told, &err), 0);
    uint32_t n = (uint32_t) testing_below(&p->seed, RECORDS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        struct rh_record r;
        uint32_t s = (uint32_t) testing_below(&p->seed, SESSIONS);
        if (p->closed[s]) {
            continue;
        }
        rh_record_init(&r);
        r.session = s + 1;
        r.start_ns = next_start(p);
        if (!testing_chance(&p->seed, p->events)) {
            make_statement(p, s, &r);
        } else if (!make_event(p, s, &r)) {
            continue;
        }
        testing_add(w, &r);
        p->given[s] += r.kind != RH_KIND_OUTCOME;
        p->cursor[s] += rh_kind_has_ordinal(r.kind) || r.kind == RH_KIND_COPY_DATA;
    }
    testing_finish(w);
}

static void check_order(struct seen *seen, const struct rh_record *r)
{
    if (r->kind == RH_KIND_OPEN && !r->detail.data) {
        assert_int_equal(seen->statements, 0);
    }
    if (rh_kind_has_ordinal(r->kind)) {
        assert_false(seen->has_closed);
        assert_true(r->ordinal > seen->last_ordinal);
        seen->last_ordinal = r->ordinal;
        seen->statements++;
    }
    seen->has_closed |= r->kind == RH_KIND_CLOSE;
    seen->given++;
}

static void check_reader(const struct plan *p, struct rh_trace_file *file)
{
    struct seen seen[SESSIONS] = {0};
    struct rh_error err = {0};
    struct rh_trace_reader *reader;
    struct rh_record r;
    int64_t before = INT64_MIN;
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    while (rh_trace_reader_next(reader, &r, &err) == 1) {
        assert_true(r.start_ns >= before);
        before = r.start_ns;
        check_order(&seen[r.session - 1], &r);
    }
    assert_int_equal(rh_trace_reader_damaged(reader, NULL), 0);
    for (uint32_t s = 0; s < SESSIONS; s++) {
        assert_int_equal(seen[s].given, p->given[s]);
    }
    rh_trace_reader_close(reader);
}

static void read_session(const struct rh_trace_index *index, struct rh_block_cache *cache,
                         uint32_t i, uint32_t want)
{
    enum { BATCH = 7 };
    struct rh_session_cursor c;
    struct rh_record records[BATCH];
    struct rh_arena arena;
    struct rh_error err = {0};
    uint64_t ordinal = 0;
    uint32_t count = 0;
    int n;
    rh_arena_init(&arena, 4096);
    memset(records, 0, sizeof records);
    rh_session_cursor_init(&c, i);
    while ((n = rh_session_cursor_read(&c, cache, records, BATCH, 1 << 20, &arena, &err)) > 0) {
        for (int k = 0; k < n; k++) {
            assert_true(records[k].ordinal >= ordinal);
            ordinal = records[k].ordinal;
        }
        count += (uint32_t) n;
        rh_arena_clear(&arena);
    }
    assert_int_equal(n, 0);
    assert_int_equal(count, want);
    assert_int_equal(count, rh_trace_index_record_count(index, i));
    rh_arena_release(&arena);
}

static void check_cursors(const struct plan *p, struct rh_trace_file *file)
{
    struct rh_trace_index *index;
    struct rh_error err = {0};
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    assert_int_equal(rh_trace_index_damaged(index, NULL), 0);
    struct rh_block_cache *cache = rh_block_cache_new(index, 1 << 22);
    for (uint32_t i = 0; i < rh_trace_index_session_count(index); i++) {
        uint32_t s = rh_trace_index_session(index, i)->number - 1;
        read_session(index, cache, i, p->cursor[s]);
    }
    rh_block_cache_free(cache);
    rh_trace_index_free(index);
}

static void test_nothing_is_lost(void **state)
{
    (void) state;
    char *path = testing_path("events");
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct plan p = make_plan(round);
        write_plan(&p, path);
        struct rh_trace_file *file = testing_open_file(path);
        check_reader(&p, file);
        check_cursors(&p, file);
        rh_trace_file_close(file);
        unlink(path);
    }
    testing_remove(path);
}

/* A session whose opening is logged behind its first statement: also when one of them was sealed or
 * came late. */
static void test_opening_comes_first(void **state)
{
    (void) state;
    char *path = testing_path("opening");
    for (uint32_t between = 0; between < 40; between += 3) {
        struct plan p = {.kind = RH_FILE_WORKLOAD};
        struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 16);
        struct rh_record r;
        for (uint32_t i = 0; i < between + 2; i++) {
            bool is_first = i == 0;
            bool is_last = i == between + 1;
            rh_record_init(&r);
            r.session = is_first || is_last ? 1 : 2;
            r.kind = is_first ? RH_KIND_OPEN : RH_KIND_QUERY;
            r.ordinal = is_first ? 0 : is_last ? 1 : i;
            r.text = is_first ? RH_SPAN_NONE : rh_span_cstr("SELECT 1");
            r.start_ns = is_first ? 30000 : is_last ? 10000 : (int64_t) i * 5000;
            testing_add(w, &r);
            p.given[r.session - 1]++;
            p.cursor[r.session - 1] += !is_first;
        }
        testing_finish(w);
        struct rh_trace_file *file = testing_open_file(path);
        check_reader(&p, file);
        check_cursors(&p, file);
        rh_trace_file_close(file);
        unlink(path);
    }
    testing_remove(path);
}

/* A re-opening stays where it was, behind the statements before it, also when the first statement
 * moves its opening. */
static void test_reopening_stays(void **state)
{
    (void) state;
    static const struct {
        enum rh_kind kind;
        int64_t start_ns;
        const char *detail;
    } script[] = {
        {RH_KIND_OPEN, 3000, NULL},   {RH_KIND_QUERY, 1000, NULL}, {RH_KIND_QUERY, 2000, NULL},
        {RH_KIND_OPEN, 5000, "lost"}, {RH_KIND_QUERY, 6000, NULL}, {RH_KIND_OPEN, 7000, "again"},
        {RH_KIND_CLOSE, 9000, NULL},
    };
    enum { N = sizeof script / sizeof script[0] };
    char *path = testing_path("reopening");
    for (int flush_at = -1; flush_at < N; flush_at++) {
        struct rh_trace_writer *w = testing_open(path, RH_FILE_RUN, 16);
        struct rh_trace_reader *reader;
        struct rh_error err = {0};
        struct rh_record r;
        uint64_t ordinal = 0;
        for (int i = 0; i < N; i++) {
            rh_record_init(&r);
            r.session = 1;
            r.kind = script[i].kind;
            r.ordinal = r.kind == RH_KIND_QUERY ? ++ordinal : 0;
            r.start_ns = script[i].start_ns;
            r.detail = rh_span_cstr(script[i].detail);
            testing_add(w, &r);
            if (i == flush_at) {
                assert_int_equal(rh_trace_writer_flush(w, &err), 0);
            }
        }
        testing_finish(w);
        struct rh_trace_file *file = testing_open_file(path);
        assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
        for (int i = 0; i < N; i++) {
            assert_int_equal(rh_trace_reader_next(reader, &r, &err), 1);
            assert_int_equal(r.kind, script[i].kind);
            assert_true(rh_span_equal(r.detail, rh_span_cstr(script[i].detail)));
            if (script[i].detail) {
                assert_int_equal(r.start_ns, script[i].start_ns);
                assert_int_equal(r.ordinal, i == 3 ? 2 : 3);
            }
        }
        assert_int_equal(rh_trace_reader_next(reader, &r, &err), 0);
        rh_trace_reader_close(reader);
        rh_trace_file_close(file);
        unlink(path);
    }
    testing_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_opening_comes_first),
        cmocka_unit_test(test_reopening_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
