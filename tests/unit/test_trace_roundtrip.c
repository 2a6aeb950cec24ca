/* formats/trace_writer, trace_reader: every field comes back, in start order, from many blocks. */
#include "rh_test.h"

#include "tpcb.h"
#include "trace_testing.h"

enum { RECORDS = 6000, SESSIONS = 12 };

struct made {
    struct rh_record *records;
    uint32_t count;
    struct rh_arena arena;
};

/* Sessions interleave at random; the clock of each is off by some seconds, so with a small window
 * much is late. */
static void make_records(struct made *m, uint64_t seed, int64_t unit_ns, int64_t skew_us)
{
    int64_t clock[SESSIONS];
    uint64_t ordinal[SESSIONS] = {0};
    rh_arena_init(&m->arena, 65536);
    m->records = rh_calloc(RECORDS, sizeof *m->records);
    m->count = RECORDS;
    for (int s = 0; s < SESSIONS; s++) {
        clock[s] = INT64_C(1735689600000000000) + s * skew_us * 1000;
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct rh_record *r = &m->records[i];
        unsigned s = (unsigned) testing_below(&seed, SESSIONS);
        rh_record_init(r);
        clock[s] += (int64_t) testing_below(&seed, 40000) * unit_ns;
        r->session = s + 1;
        r->copy = unit_ns == 1 ? s % 2 : 0;
        r->start_ns = clock[s];
        if (ordinal[s] == 0 && testing_chance(&seed, 50)) {
            r->kind = RH_KIND_OPEN;
            ordinal[s] = 1;
            continue;
        }
        r->ordinal = ++ordinal[s];
        testing_random_record(&seed, r, &m->arena, unit_ns);
    }
}

static void free_records(struct made *m)
{
    rh_free(m->records);
    rh_arena_release(&m->arena);
}

static int compare_starts(const void *a, const void *b)
{
    const struct rh_record *x = a;
    const struct rh_record *y = b;
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    if (x->session != y->session) {
        return x->session < y->session ? -1 : 1;
    }
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static void check_blocks(const struct rh_trace_file *file, bool *has_late)
{
    *has_late = false;
    for (uint32_t i = 0; i < rh_trace_file_block_count(file); i++) {
        const struct rh_block_info *b = rh_trace_file_block(file, i);
        assert_in_range(b->state_raw_bytes + b->data_raw_bytes, 1, RH_BLOCK_RAW_MAX);
        assert_in_range(b->record_count, 0, RH_BLOCK_RECORDS_MAX);
        *has_late |= (b->flags & RH_BLOCK_LATE) != 0;
    }
}

static void check_read(struct rh_trace_file *file, const struct rh_record *want, uint32_t count,
                       int64_t from_ns, int64_t to_ns)
{
    struct rh_error err = {0};
    struct rh_trace_reader *reader;
    struct rh_record got;
    assert_int_equal(rh_trace_reader_open(&reader, file, from_ns, to_ns, &err), 0);
    for (uint32_t i = 0; i < count; i++) {
        if (want[i].start_ns < from_ns || want[i].start_ns >= to_ns) {
            continue;
        }
        assert_int_equal(rh_trace_reader_next(reader, &got, &err), 1);
        testing_assert_record(&got, &want[i]);
        assert_int_equal(rh_trace_reader_session(reader)->number, got.session);
    }
    assert_int_equal(rh_trace_reader_next(reader, &got, &err), 0);
    assert_int_equal(rh_trace_reader_next(reader, &got, &err), 0);
    assert_int_equal(rh_trace_reader_damaged(reader, NULL), 0);
    rh_trace_reader_close(reader);
}

static void round_trip(enum rh_file_kind kind, uint32_t window, int64_t skew_us, bool want_late)
{
    char *path = testing_path("round.trace");
    struct made m;
    bool has_late;
    make_records(&m, 77 + window, kind == RH_FILE_RUN ? 1 : 1000, skew_us);
    struct rh_trace_writer *w = testing_open(path, kind, window);
    uint32_t statements = 0;
    for (uint32_t i = 0; i < m.count; i++) {
        testing_add(w, &m.records[i]);
        statements += rh_kind_is_statement(m.records[i].kind);
    }
    testing_finish(w);
    qsort(m.records, m.count, sizeof *m.records, compare_starts);
    struct rh_trace_file *file = testing_open_file(path);
    assert_true(rh_trace_file_complete(file));
    assert_string_equal(rh_trace_file_incomplete_reason(file), "");
    assert_int_equal(rh_trace_file_totals(file).records, m.count);
    assert_int_equal(rh_trace_file_totals(file).statements, statements);
    check_blocks(file, &has_late);
    assert_int_equal(has_late, want_late);
    check_read(file, m.records, m.count, INT64_MIN, INT64_MAX);
    int64_t first = m.records[0].start_ns;
    int64_t last = m.records[m.count - 1].start_ns;
    check_read(file, m.records, m.count, first + (last - first) / 3, last - (last - first) / 3);
    check_read(file, m.records, m.count, last + 1, INT64_MAX);
    check_read(file, m.records, m.count, INT64_MIN, first);
    rh_trace_file_close(file);
    free_records(&m);
    testing_remove(path);
}

static void test_workload_comes_back(void **state)
{
    (void) state;
    round_trip(RH_FILE_WORKLOAD, 0, 1000, false);
}

static void test_workload_in_many_blocks(void **state)
{
    (void) state;
    round_trip(RH_FILE_WORKLOAD, 200, 0, true);
}

static void test_workload_with_much_late(void **state)
{
    (void) state;
    round_trip(RH_FILE_WORKLOAD, 300, 3000000, true);
}

static void test_run_comes_back(void **state)
{
    (void) state;
    round_trip(RH_FILE_RUN, 0, 1000, false);
}

static void test_run_with_late_blocks(void **state)
{
    (void) state;
    round_trip(RH_FILE_RUN, 150, 10, true);
}

/* Of one session, in reverse: the first block is ordinary, all others are late. */
static void test_everything_late(void **state)
{
    (void) state;
    enum { N = 60000 };
    char *path = testing_path("reverse.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 100);
    for (int i = 0; i < N; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.session = (uint32_t) (N - i);
        r.ordinal = 1;
        r.start_ns = (int64_t) (N - i) * 1000;
        r.text = rh_span_cstr("SELECT 1");
        testing_add(w, &r);
        rh_trace_writer_end_session(w, r.session);
    }
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_reader *reader;
    struct rh_record r;
    struct rh_error err = {0};
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    for (int i = 1; i <= N; i++) {
        assert_int_equal(rh_trace_reader_next(reader, &r, &err), 1);
        assert_int_equal(r.start_ns, (int64_t) i * 1000);
        assert_int_equal(r.session, i);
    }
    assert_int_equal(rh_trace_reader_next(reader, &r, &err), 0);
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

/* A reader that wants outcomes only: the same records but for literals, parameters and formats,
 * which come when they are asked for. */
static void test_values_on_demand(void **state)
{
    (void) state;
    enum { N = 4000 };
    char *path = testing_path("demand.trace");
    struct rh_arena arena;
    uint64_t seed = 11;
    rh_arena_init(&arena, 1 << 20);
    struct rh_trace_writer *w = testing_open(path, RH_FILE_RUN, 300);
    for (int i = 0; i < N; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.session = 1 + (uint32_t) testing_below(&seed, 5);
        r.ordinal = (uint64_t) i + 1;
        r.start_ns = (int64_t) i * 1000 - (int64_t) testing_below(&seed, 40000);
        testing_random_record(&seed, &r, &arena, 1);
        testing_add(w, &r);
    }
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_reader *whole;
    struct rh_trace_reader *lazy;
    struct rh_error err = {0};
    struct rh_record want;
    struct rh_record got;
    unsigned without = 0;
    assert_int_equal(rh_trace_reader_open(&whole, file, INT64_MIN, INT64_MAX, &err), 0);
    assert_int_equal(rh_trace_reader_open(&lazy, file, INT64_MIN, INT64_MAX, &err), 0);
    rh_trace_reader_want(lazy, RH_WANT_OUTCOMES);
    while (rh_trace_reader_next(whole, &want, &err) == 1) {
        assert_int_equal(rh_trace_reader_next(lazy, &got, &err), 1);
        assert_int_equal(got.literal_count, want.literal_count);
        assert_int_equal(got.param_count, want.param_count);
        assert_int_equal(got.result_format_count, want.result_format_count);
        testing_assert_span(got.tmpl, want.tmpl, "template");
        testing_assert_outcome(&got.outcome, &want.outcome);
        if (got.literal_count > 0 && !got.literals) {
            struct rh_buf text;
            rh_buf_init(&text, 1000);
            assert_int_equal(rh_record_text(&got, &text), -1);
            rh_buf_release(&text);
            without++;
        }
        if (testing_chance(&seed, 1)) {
            assert_true(rh_trace_reader_complete(lazy, &got));
            testing_assert_record(&got, &want);
        }
    }
    assert_int_equal(rh_trace_reader_next(lazy, &got, &err), 0);
    assert_true(without > N / 10);
    rh_trace_reader_close(whole);
    rh_trace_reader_close(lazy);
    rh_trace_file_close(file);
    rh_arena_release(&arena);
    testing_remove(path);
}

static void test_start_never_goes_back(void **state)
{
    (void) state;
    char *path = testing_path("back.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    const int64_t starts_us[] = {1000, 900, RH_TIME_UNKNOWN, 2000};
    for (unsigned i = 0; i < 4; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.session = 1;
        r.ordinal = i + 1;
        r.start_ns = starts_us[i] == RH_TIME_UNKNOWN ? RH_TIME_UNKNOWN : starts_us[i] * 1000;
        r.outcome.done_ns = i == 1 ? 950 * 1000 : RH_TIME_UNKNOWN;
        testing_add(w, &r);
    }
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_reader *reader;
    struct rh_record r;
    struct rh_error err = {0};
    const int64_t want_us[] = {1000, 1000, 1000, 2000};
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(rh_trace_reader_next(reader, &r, &err), 1);
        assert_int_equal(r.ordinal, i + 1);
        assert_int_equal(r.start_ns, want_us[i] * 1000);
        if (i == 1) {
            /* The duration is what was measured, so the end moves too. */
            assert_int_equal(r.outcome.done_ns, 1050 * 1000);
        }
    }
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

/* A statement is written open, then sealed; its outcome comes later, or while it is in the window.
 */
static void test_outcome_joins_its_statement(void **state)
{
    (void) state;
    enum { OTHERS = 3000 };
    for (int flush = 0; flush < 3; flush++) {
        char *path = testing_path("outcome.trace");
        struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 64);
        struct rh_error err = {0};
        struct rh_record r;
        rh_record_init(&r);
        r.session = 7;
        r.ordinal = 3;
        r.start_ns = 5000000;
        r.text = rh_span_cstr("SELECT pg_sleep(60)");
        testing_add(w, &r);
        if (flush == 1) {
            assert_int_equal(rh_trace_writer_flush(w, &err), 0);
        }
        for (unsigned i = 0; i < (flush == 2 ? OTHERS : 10); i++) {
            rh_record_init(&r);
            r.session = 1;
            r.ordinal = i + 1;
            r.start_ns = 6000000 + i * 1000;
            r.outcome.done_ns = r.start_ns;
            testing_add(w, &r);
        }
        rh_record_init(&r);
        r.kind = RH_KIND_OUTCOME;
        r.session = 7;
        r.ordinal = 3;
        r.start_ns = 5000000;
        r.outcome.done_ns = 60005000000;
        r.outcome.sqlstate = 0;
        r.outcome.rows = 1;
        r.outcome.tag = rh_span_cstr("SELECT");
        testing_add(w, &r);
        /* Of a statement that nobody knows: never handed out. */
        r.ordinal = 99;
        testing_add(w, &r);
        testing_finish(w);
        struct rh_trace_file *file = testing_open_file(path);
        struct rh_trace_reader *reader;
        unsigned count = 0;
        assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
        while (rh_trace_reader_next(reader, &r, &err) == 1) {
            assert_int_not_equal(r.kind, RH_KIND_OUTCOME);
            if (count++ == 0) {
                assert_int_equal(r.session, 7);
                assert_int_equal(r.outcome.done_ns, 60005000000);
                assert_int_equal(r.outcome.rows, 1);
                rh_assert_span(r.outcome.tag, "SELECT");
            }
        }
        assert_int_equal(count, flush == 2 ? OTHERS + 1 : 11);
        rh_trace_reader_close(reader);
        rh_trace_file_close(file);
        testing_remove(path);
    }
}

static void test_sessions_are_told(void **state)
{
    (void) state;
    char *path = testing_path("sessions.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_error err = {0};
    const struct rh_setting startup[] = {
        {RH_SPAN_LITERAL("options"), RH_SPAN_LITERAL("-c work_mem=1MB")},
        {RH_SPAN_LITERAL("search_path"), RH_SPAN_LITERAL("shop")},
    };
    struct rh_session s = {
        .number = 5,
        .user = RH_SPAN_LITERAL("anna"),
        .database = RH_SPAN_LITERAL("shop"),
        .client = RH_SPAN_LITERAL("192.0.2.7:40312"),
        .opened_ns = 1000000,
        .closed_ns = RH_TIME_UNKNOWN,
        .backend_pid = 4711,
        .startup = startup,
        .startup_count = 2,
    };
    struct rh_record r;
    assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
    rh_record_init(&r);
    r.session = 5;
    r.ordinal = 1;
    r.start_ns = 2000000;
    testing_add(w, &r);
    rh_record_init(&r);
    r.kind = RH_KIND_GAP;
    r.start_ns = 2500000;
    r.detail = rh_span_cstr("a line was cut");
    r.count = 12;
    testing_add(w, &r);
    assert_int_equal(rh_trace_writer_flush(w, &err), 0);
    s.closed_ns = 9000000;
    s.flags = RH_SESSION_LEFT_OPEN;
    assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_reader *reader;
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    assert_int_equal(rh_trace_reader_next(reader, &r, &err), 1);
    const struct rh_session *got = rh_trace_reader_session(reader);
    assert_non_null(got);
    rh_assert_span(got->user, "anna");
    rh_assert_span(got->database, "shop");
    assert_null(got->application.data);
    rh_assert_span(got->client, "192.0.2.7:40312");
    assert_int_equal(got->opened_ns, 1000000);
    assert_int_equal(got->closed_ns, RH_TIME_UNKNOWN);
    assert_int_equal(got->backend_pid, 4711);
    assert_int_equal(got->startup_count, 2);
    rh_assert_span(got->startup[1].name, "search_path");
    rh_assert_span(got->startup[1].value, "shop");
    assert_int_equal(rh_trace_reader_next(reader, &r, &err), 1);
    assert_int_equal(r.kind, RH_KIND_GAP);
    assert_int_equal(r.count, 12);
    rh_assert_span(r.detail, "a line was cut");
    assert_null(rh_trace_reader_session(reader));
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

static void test_header_and_notes(void **state)
{
    (void) state;
    char *path = testing_path("header.trace");
    struct rh_trace_header h = testing_header(RH_FILE_RUN);
    const struct rh_setting settings[] = {{RH_SPAN_LITERAL("speed"), RH_SPAN_LITERAL("1")},
                                          {RH_SPAN_LITERAL("rows"), RH_SPAN_LITERAL("old")}};
    struct rh_trace_writer *w;
    struct rh_error err = {0};
    h.trace_uuid[3] = 9;
    h.server_address = rh_span_cstr("db1:5433");
    h.settings = settings;
    h.setting_count = 2;
    assert_int_equal(rh_trace_writer_open(&w, path, &h, NULL, &err), 0);
    rh_trace_writer_note(w, "rows", rh_span_cstr("new"));
    assert_int_equal(rh_trace_writer_finish(w, true, &err), 0);
    struct rh_trace_file *file = testing_open_file(path);
    const struct rh_trace_header *got = rh_trace_file_header(file);
    assert_int_equal(got->kind, RH_FILE_RUN);
    assert_int_equal(got->format_version, RH_TRACE_VERSION);
    assert_memory_equal(got->uuid, h.uuid, 16);
    assert_memory_equal(got->trace_uuid, h.trace_uuid, 16);
    assert_int_equal(got->vantage, RH_VANTAGE_CLIENT);
    rh_assert_span(got->server_address, "db1:5433");
    rh_assert_span(got->server_version, "15.4");
    assert_int_equal(got->created_ns, h.created_ns);
    rh_assert_span(rh_trace_header_setting(got, "speed"), "1");
    rh_assert_span(rh_trace_header_setting(got, "rows"), "new");
    assert_null(rh_trace_header_setting(got, "none").data);
    assert_false(rh_trace_file_complete(file));
    assert_string_equal(rh_trace_file_incomplete_reason(file), "its writer was stopped early");
    rh_trace_file_close(file);
    testing_remove(path);
}

static void add_tpcb(struct rh_trace_writer *w, struct tpcb *t, int n)
{
    for (int i = 0; i < n; i++) {
        struct rh_record r;
        tpcb_next(t, &r);
        testing_add(w, &r);
    }
}

/* Bytes a statement and calls of malloc do not depend on the machine, so they can be held. */
static void test_size_and_allocations(void **state)
{
    (void) state;
    enum { WARM_UP = 150000, N = 100000 };
    char *path = testing_path("tpcb.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 32768);
    struct tpcb t;
    tpcb_init(&t, 8, 42);
    add_tpcb(w, &t, WARM_UP);
    uint64_t before = rh_alloc_count();
    uint64_t bytes = rh_trace_writer_bytes(w);
    add_tpcb(w, &t, N);
    assert_in_range(rh_alloc_count() - before, 0, 100);
    assert_true(rh_trace_writer_bytes(w) > bytes);
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    double per_statement = (double) rh_trace_file_bytes(file) / (WARM_UP + N);
    print_message("TPC-B from a log: %.2f bytes a statement\n", per_statement);
    assert_true(per_statement < 3.5);
    rh_trace_file_close(file);
    testing_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workload_comes_back),
        cmocka_unit_test(test_workload_in_many_blocks),
        cmocka_unit_test(test_workload_with_much_late),
        cmocka_unit_test(test_run_comes_back),
        cmocka_unit_test(test_run_with_late_blocks),
        cmocka_unit_test(test_everything_late),
        cmocka_unit_test(test_values_on_demand),
        cmocka_unit_test(test_start_never_goes_back),
        cmocka_unit_test(test_outcome_joins_its_statement),
        cmocka_unit_test(test_sessions_are_told),
        cmocka_unit_test(test_header_and_notes),
        cmocka_unit_test(test_size_and_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
