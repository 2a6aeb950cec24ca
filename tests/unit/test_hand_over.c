/* formats/trace_writer: sessions that go on in another file, with what they made of themselves. */
#include "rh_test.h"

#include <string.h>

#include "formats/trace_index.h"
#include "trace_testing.h"

enum { SESSION = 7, OTHER = 8 };

static const int64_t begin_ns = INT64_C(1735689600000000000);

struct files {
    char *paths[2];
    struct rh_trace_writer *writers[2];
    uint64_t ordinals[9];
    int64_t clock_us;
};

static void files_open(struct files *f, uint32_t window)
{
    *f = (struct files){0};
    for (int i = 0; i < 2; i++) {
        f->paths[i] = testing_path(i == 0 ? "before.trace" : "after.trace");
        f->writers[i] = testing_open(f->paths[i], RH_FILE_WORKLOAD, window);
    }
}

static void files_release(struct files *f)
{
    for (int i = 0; i < 2; i++) {
        testing_remove(f->paths[i]);
    }
}

static void put_session(struct files *f, uint32_t number)
{
    const struct rh_setting startup[] = {
        {RH_SPAN_LITERAL("search_path"), RH_SPAN_LITERAL("audit")},
    };
    struct rh_session s = {
        .number = number,
        .user = RH_SPAN_LITERAL("shop"),
        .database = RH_SPAN_LITERAL("orders"),
        .opened_ns = begin_ns,
        .closed_ns = RH_TIME_UNKNOWN,
        .backend_pid = 4711,
        .startup = startup,
        .startup_count = 1,
    };
    struct rh_error err = {0};
    assert_int_equal(rh_trace_writer_put_session(f->writers[0], &s, &err), 0);
}

static void add(struct files *f, int file, uint32_t session, const char *name, const char *text,
                int64_t back_us)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = name ? RH_KIND_EXECUTE : RH_KIND_QUERY;
    r.session = session;
    r.ordinal = ++f->ordinals[session];
    r.start_ns = begin_ns + (f->clock_us++ - back_us) * 1000;
    r.outcome.done_ns = r.start_ns;
    r.outcome.sqlstate = 0;
    r.statement_name = name ? rh_span_cstr(name) : RH_SPAN_NONE;
    r.text = rh_span_cstr(text);
    testing_add(f->writers[file], &r);
}

/* What the second file says that the session had made of itself: "NAME=TEXT;" for each. */
static void read_state(const struct files *f, struct rh_buf *out)
{
    struct rh_error err = {0};
    struct rh_trace_index *index = NULL;
    struct rh_session_cursor cursor;
    struct rh_session_state state;
    struct rh_trace_file *file = testing_open_file(f->paths[1]);
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    struct rh_block_cache *cache = rh_block_cache_new(index, 0);
    assert_int_equal(rh_trace_index_session(index, 0)->number, SESSION);
    rh_session_state_init(&state);
    rh_session_cursor_init(&cursor, 0);
    assert_int_equal(rh_session_cursor_seek_ordinal(&cursor, cache, 1, &state, &err), 0);
    rh_buf_init(out, 1 << 20);
    for (uint32_t i = 0; i < state.count; i++) {
        rh_buf_addf(out, "%.*s=%.*s;", (int) state.items[i].name.len, state.items[i].name.data,
                    (int) state.items[i].text.len, state.items[i].text.data);
    }
    rh_session_state_release(&state);
    rh_block_cache_free(cache);
    rh_trace_index_free(index);
    rh_trace_file_close(file);
}

static void assert_state(struct files *f, const char *want)
{
    struct rh_buf got;
    testing_finish(f->writers[0]);
    testing_finish(f->writers[1]);
    read_state(f, &got);
    assert_string_equal(rh_buf_cstr(&got), want);
    rh_buf_release(&got);
}

/* Sealed rows, rows in the window, rows that came late: all make something of their session. */
static void test_state(void **state)
{
    (void) state;
    struct files f;
    files_open(&f, 16);
    put_session(&f, SESSION);
    add(&f, 0, SESSION, NULL, "SET work_mem = '1MB'", 0);
    add(&f, 0, SESSION, "s1", "SELECT 1", 0);
    for (int i = 0; i < 100; i++) {
        add(&f, 0, OTHER, NULL, "SELECT 2", 0);
    }
    add(&f, 0, SESSION, "s2", "SELECT 2", 1000); /* late */
    for (int i = 0; i < 5; i++) {
        add(&f, 0, OTHER, NULL, "SELECT 2", 0);
    }
    add(&f, 0, SESSION, NULL, "SET work_mem = '2MB'", 0);
    add(&f, 0, SESSION, "s3", "SELECT 3", 0);
    add(&f, 0, SESSION, NULL, "DEALLOCATE s1", 0);
    assert_true(rh_trace_writer_hand_over(f.writers[0], f.writers[1], SESSION));
    assert_false(rh_trace_writer_hand_over(f.writers[0], f.writers[1], SESSION));
    assert_false(rh_trace_writer_hand_over(f.writers[0], f.writers[1], 4242));
    add(&f, 1, SESSION, "s4", "SELECT 4", 0);
    assert_state(&f, "s2=SELECT 2;work_mem=SET work_mem = '2MB';s3=SELECT 3;");
    files_release(&f);
}

/* And a third file has what the first two made. */
static void test_again(void **state)
{
    (void) state;
    struct files f;
    files_open(&f, 16);
    put_session(&f, SESSION);
    add(&f, 0, SESSION, "s1", "SELECT 1", 0);
    char *path = testing_path("middle.trace");
    struct rh_trace_writer *middle = testing_open(path, RH_FILE_WORKLOAD, 16);
    assert_true(rh_trace_writer_hand_over(f.writers[0], middle, SESSION));
    assert_true(rh_trace_writer_hand_over(middle, f.writers[1], SESSION));
    testing_finish(middle);
    add(&f, 1, SESSION, "s2", "SELECT 2", 0);
    assert_state(&f, "s1=SELECT 1;");
    testing_remove(path);
    files_release(&f);
}

static void test_session(void **state)
{
    (void) state;
    struct files f;
    files_open(&f, 0);
    put_session(&f, SESSION);
    add(&f, 0, SESSION, NULL, "SELECT 1", 0);
    assert_true(rh_trace_writer_hand_over(f.writers[0], f.writers[1], SESSION));
    add(&f, 1, SESSION, NULL, "SELECT 2", 0);
    testing_finish(f.writers[0]);
    testing_finish(f.writers[1]);
    for (int i = 0; i < 2; i++) {
        struct rh_error err = {0};
        struct rh_trace_index *index = NULL;
        struct rh_trace_file *file = testing_open_file(f.paths[i]);
        assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
        assert_int_equal(rh_trace_index_session_count(index), 1);
        const struct rh_session *s = rh_trace_index_session(index, 0);
        assert_int_equal(s->number, SESSION);
        assert_int_equal(s->opened_ns, begin_ns);
        assert_int_equal(s->closed_ns, RH_TIME_UNKNOWN);
        assert_int_equal(s->backend_pid, 4711);
        assert_int_equal(s->startup_count, 1);
        testing_assert_span(s->startup[0].value, rh_span_cstr("audit"), "startup");
        testing_assert_span(s->user, rh_span_cstr("shop"), "user");
        assert_int_equal(s->flags, i == 0 ? RH_SESSION_LEFT_OPEN : RH_SESSION_JOINED_MIDWAY);
        assert_int_equal(rh_trace_index_record_count(index, 0), 1);
        rh_trace_index_free(index);
        rh_trace_file_close(file);
    }
    files_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
