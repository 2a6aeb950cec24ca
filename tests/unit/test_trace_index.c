/* formats/trace_index, session_cursor, block_cache: one session at a time, from any point. */
#include "rh_test.h"

#include "formats/trace_index.h"
#include "trace_testing.h"

enum { SESSIONS = 9, RECORDS = 5000 };

struct made {
    struct rh_record *records;
    uint32_t count;
    struct rh_arena arena;
};

static void make_records(struct made *m, uint64_t seed)
{
    int64_t clock[SESSIONS];
    uint64_t ordinal[SESSIONS] = {0};
    rh_arena_init(&m->arena, 65536);
    m->records = rh_calloc(RECORDS, sizeof *m->records);
    m->count = RECORDS;
    for (int s = 0; s < SESSIONS; s++) {
        clock[s] = INT64_C(1735689600000000000) + s * INT64_C(400000000);
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct rh_record *r = &m->records[i];
        unsigned s = (unsigned) testing_below(&seed, SESSIONS);
        rh_record_init(r);
        clock[s] += (int64_t) testing_below(&seed, 40000) * 1000;
        r->session = s + 1;
        r->start_ns = clock[s];
        r->ordinal = ++ordinal[s];
        testing_random_record(&seed, r, &m->arena, 1000);
        if (testing_chance(&seed, 10) && ordinal[s] > 1) {
            /* Chunks of data of the statement before. */
            r->kind = RH_KIND_COPY_DATA;
            r->ordinal = --ordinal[s];
            r->detail = testing_bytes(&seed, &m->arena, 100);
        }
    }
}

static uint32_t of_session(const struct made *m, uint32_t number, const struct rh_record **out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->records[i].session == number) {
            out[n++] = &m->records[i];
        }
    }
    return n;
}

/* All sessions in turn, a batch each, as a replay reads. */
static void read_in_turn(struct rh_trace_index *index, const struct made *m, uint64_t cache_bytes,
                         int batch)
{
    struct rh_block_cache *cache = rh_block_cache_new(index, cache_bytes);
    struct rh_session_cursor cursors[SESSIONS];
    const struct rh_record **want[SESSIONS];
    uint32_t counts[SESSIONS];
    uint32_t done[SESSIONS] = {0};
    struct rh_record records[128];
    struct rh_arena arena;
    struct rh_error err = {0};
    bool more = true;
    rh_arena_init(&arena, 65536);
    for (uint32_t s = 0; s < SESSIONS; s++) {
        want[s] = rh_calloc(RECORDS, sizeof(void *));
        counts[s] = of_session(m, s + 1, want[s]);
        assert_int_equal(rh_trace_index_record_count(index, s), counts[s]);
        rh_session_cursor_init(&cursors[s], s);
    }
    while (more) {
        more = false;
        for (uint32_t s = 0; s < SESSIONS; s++) {
            rh_arena_clear(&arena);
            int n = rh_session_cursor_read(&cursors[s], cache, records, batch, 5000, &arena, &err);
            assert_in_range(n, 0, batch);
            for (int i = 0; i < n; i++) {
                assert_true(done[s] < counts[s]);
                testing_assert_record(&records[i], want[s][done[s]++]);
            }
            more |= n > 0;
        }
    }
    for (uint32_t s = 0; s < SESSIONS; s++) {
        assert_int_equal(done[s], counts[s]);
        rh_free(want[s]);
    }
    assert_true(rh_block_cache_decodes(cache) > 0);
    assert_int_equal(rh_block_cache_damaged(cache, NULL), 0);
    rh_block_cache_free(cache);
    rh_arena_release(&arena);
}

static void test_cursors_give_each_session(void **state)
{
    (void) state;
    for (uint32_t window = 150; window < 10000; window *= 60) {
        char *path = testing_path("index.trace");
        struct made m;
        struct rh_trace_index *index;
        struct rh_error err = {0};
        make_records(&m, window);
        struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, window);
        for (uint32_t i = 0; i < m.count; i++) {
            testing_add(w, &m.records[i]);
        }
        testing_finish(w);
        struct rh_trace_file *file = testing_open_file(path);
        assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
        assert_int_equal(rh_trace_index_session_count(index), SESSIONS);
        assert_int_equal(rh_trace_index_damaged(index, NULL), 0);
        read_in_turn(index, &m, 0, 7);
        read_in_turn(index, &m, 100 << 20, 128);
        read_in_turn(index, &m, 100 << 20, 1);
        rh_trace_index_free(index);
        rh_trace_file_close(file);
        rh_free(m.records);
        rh_arena_release(&m.arena);
        testing_remove(path);
    }
}

/* With everything in the cache each block is decoded once. */
static void test_cache_is_bounded(void **state)
{
    (void) state;
    char *path = testing_path("cache.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_error err = {0};
    for (unsigned i = 0; i < 4000; i++) {
        struct rh_record r;
        rh_record_init(&r);
        r.session = 1 + i % 4;
        r.ordinal = i / 4 + 1;
        r.start_ns = i * INT64_C(1000000);
        r.text = rh_span_cstr("SELECT 1");
        testing_add(w, &r);
        if (i % 400 == 399) {
            assert_int_equal(rh_trace_writer_flush(w, &err), 0);
        }
    }
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_index *index;
    assert_int_equal(rh_trace_file_block_count(file), 10);
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    for (int round = 0; round < 2; round++) {
        struct rh_block_cache *cache = rh_block_cache_new(index, round ? 0 : 100 << 20);
        struct rh_record records[128];
        struct rh_arena arena;
        uint32_t got = 0;
        rh_arena_init(&arena, 65536);
        for (uint32_t s = 0; s < 4; s++) {
            struct rh_session_cursor c;
            int n;
            rh_session_cursor_init(&c, s);
            while ((n = rh_session_cursor_read(&c, cache, records, 100, SIZE_MAX, &arena, &err)) >
                   0) {
                got += (uint32_t) n;
                rh_arena_clear(&arena);
            }
        }
        assert_int_equal(got, 4000);
        assert_in_range(rh_block_cache_decodes(cache), round ? 40 : 10, round ? 60 : 10);
        rh_arena_release(&arena);
        rh_block_cache_free(cache);
    }
    rh_trace_index_free(index);
    rh_trace_file_close(file);
    testing_remove(path);
}

static void add_text(struct rh_trace_writer *w, uint64_t ordinal, enum rh_kind kind,
                     const char *name, const char *text)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = kind;
    r.session = 1;
    r.ordinal = ordinal;
    r.start_ns = (int64_t) ordinal * 1000000;
    r.outcome.sqlstate = 0;
    r.outcome.done_ns = r.start_ns + 1000;
    r.statement_name = rh_span_cstr(name);
    r.text = rh_span_cstr(text);
    const struct rh_param param = {.type = 20};
    r.params = &param;
    r.param_count = name && ordinal == 3; /* only its first Parse tells a type */
    testing_add(w, &r);
}

static void check_state(const struct rh_session_state *s, enum rh_state_kind kind, const char *name,
                        const char *text)
{
    const struct rh_state_item *item = rh_session_state_find(s, kind, rh_span_cstr(name));
    if (!text) {
        assert_null(item);
        return;
    }
    assert_non_null(item);
    rh_assert_span(item->text, text);
    bool typed = strcmp(text, "SELECT $1") == 0;
    assert_int_equal(item->types.len, typed ? 4 : 0);
    assert_true(!typed || memcmp(item->types.data, "\0\0\0\x14", 4) == 0);
}

/* Ten statements, in blocks of three: from any point the state is what came before. */
static void test_seek_restores_the_state(void **state)
{
    (void) state;
    for (int flushes = 0; flushes < 2; flushes++) {
        char *path = testing_path("seek.trace");
        struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
        struct rh_error err = {0};
        static const char *const texts[10] = {
            "SET work_mem = '1MB'",
            "SELECT 1",
            "SELECT $1",
            "SELECT 2",
            "SELECT 3, $1",
            "RESET work_mem",
            "PREPARE p AS SELECT 7",
            "DEALLOCATE p",
            "SET search_path TO a, b",
            "SELECT 4",
        };
        for (unsigned i = 0; i < 10; i++) {
            bool named = i == 2 || i == 4;
            add_text(w, i + 1, named ? RH_KIND_EXECUTE : RH_KIND_QUERY, named ? "s1" : NULL,
                     texts[i]);
            if (flushes && i % 3 == 2) {
                assert_int_equal(rh_trace_writer_flush(w, &err), 0);
            }
        }
        testing_finish(w);
        struct rh_trace_file *file = testing_open_file(path);
        struct rh_trace_index *index;
        assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
        assert_int_equal(rh_trace_index_first_ns(index, 0), 1000000);
        assert_int_equal(rh_trace_index_last_ns(index, 0), 10000000);
        struct rh_block_cache *cache = rh_block_cache_new(index, 0);
        struct rh_session_state s;
        struct rh_arena arena;
        rh_session_state_init(&s);
        rh_arena_init(&arena, 4096);
        for (unsigned i = 0; i < 24; i++) {
            unsigned from = i / 2;
            struct rh_session_cursor c;
            struct rh_record r;
            rh_session_cursor_init(&c, 0);
            if (i % 2) {
                assert_int_equal(rh_session_cursor_seek_ordinal(&c, cache, from, &s, &err), 0);
            } else {
                assert_int_equal(
                    rh_session_cursor_seek(&c, cache, (int64_t) from * 1000000 - 5, &s, &err), 0);
            }
            check_state(&s, RH_STATE_SETTING, "work_mem", from > 1 && from <= 6 ? texts[0] : NULL);
            check_state(&s, RH_STATE_STATEMENT, "s1",
                        from > 5   ? texts[4]
                        : from > 3 ? texts[2]
                                   : NULL);
            check_state(&s, RH_STATE_PREPARE, "p", from == 8 ? texts[6] : NULL);
            check_state(&s, RH_STATE_SETTING, "search_path", from > 9 ? texts[8] : NULL);
            assert_false(s.incomplete);
            int n = rh_session_cursor_read(&c, cache, &r, 1, 1000, &arena, &err);
            assert_int_equal(n, from <= 10);
            if (n) {
                assert_int_equal(r.ordinal, from ? from : 1);
            }
        }
        rh_session_state_release(&s);
        rh_arena_release(&arena);
        rh_block_cache_free(cache);
        rh_trace_index_free(index);
        rh_trace_file_close(file);
        testing_remove(path);
    }
}

/* The late outcome of a statement comes with it; damaged blocks are left out and counted. */
static void test_outcomes_and_damage(void **state)
{
    (void) state;
    char *path = testing_path("outcomes.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_error err = {0};
    struct rh_record r;
    for (unsigned i = 1; i <= 4; i++) {
        rh_record_init(&r);
        r.session = 3;
        r.ordinal = i;
        r.start_ns = i * 1000000;
        r.text = rh_span_cstr("SELECT 1");
        testing_add(w, &r);
        assert_int_equal(rh_trace_writer_flush(w, &err), 0);
        r.kind = RH_KIND_OUTCOME;
        r.outcome.done_ns = r.start_ns + 77000;
        r.outcome.rows = i;
        r.outcome.tag = rh_span_cstr("SELECT");
        testing_add(w, &r);
    }
    struct rh_session s = {.number = 3,
                           .user = RH_SPAN_LITERAL("u"),
                           .opened_ns = 1000,
                           .closed_ns = 9000000,
                           .flags = RH_SESSION_LOGIN_FAILED};
    assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    uint64_t offset = rh_trace_file_block(file, 3)->offset;
    for (int damaged = 0; damaged < 2; damaged++) {
        if (damaged) {
            FILE *f = fopen(path, "r+");
            assert_non_null(f);
            fseek(f, (long) offset + 120, SEEK_SET);
            fputs("XXXX", f);
            fclose(f);
        }
        struct rh_trace_index *index;
        struct rh_session_cursor c;
        struct rh_record records[10];
        struct rh_arena arena;
        uint64_t lost = 0;
        rh_arena_init(&arena, 4096);
        assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
        assert_int_equal(rh_trace_index_session(index, 0)->closed_ns, 9000000);
        assert_int_equal(rh_trace_index_session(index, 0)->flags, RH_SESSION_LOGIN_FAILED);
        struct rh_block_cache *cache = rh_block_cache_new(index, 0);
        rh_session_cursor_init(&c, 0);
        int n = rh_session_cursor_read(&c, cache, records, 10, 100000, &arena, &err);
        uint32_t bad = rh_trace_index_damaged(index, &lost);
        if (!bad) {
            bad = rh_block_cache_damaged(cache, &lost);
        }
        assert_int_equal(bad, damaged);
        assert_int_equal(lost, damaged);
        assert_int_equal(n, damaged ? 3 : 4);
        for (int i = 0; i < n; i++) {
            assert_int_equal(records[i].outcome.rows, records[i].ordinal);
            assert_int_equal(records[i].outcome.done_ns, records[i].start_ns + 77000);
            rh_assert_span(records[i].outcome.tag, "SELECT");
        }
        assert_int_equal(rh_session_cursor_read(&c, cache, records, 10, 1000, &arena, &err), 0);
        rh_block_cache_free(cache);
        rh_trace_index_free(index);
        rh_arena_release(&arena);
    }
    rh_trace_file_close(file);
    testing_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cursors_give_each_session),
        cmocka_unit_test(test_cache_is_bounded),
        cmocka_unit_test(test_seek_restores_the_state),
        cmocka_unit_test(test_outcomes_and_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
