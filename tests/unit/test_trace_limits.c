/* The trace at its limits: huge values, many parameters, all-different texts, many sessions, full
 * disk. */
#include "rh_test.h"

#include <signal.h>
#include <sys/resource.h>

#include "formats/trace_frame.h"
#include "formats/trace_index.h"
#include "formats/trace_writer_private.h"
#include "trace_testing.h"

/* No block of any type holds more than the limit before compression. */
static void check_frames(const char *path, uint64_t *blobs)
{
    char head[RH_FRAME_BYTES];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    *blobs = 0;
    while (fread(head, sizeof head, 1, f) == 1) {
        struct rh_frame frame;
        assert_true(rh_frame_get(&frame, head));
        assert_in_range(frame.state_raw_bytes + frame.data_raw_bytes, 1, RH_BLOCK_RAW_MAX);
        assert_in_range(frame.record_count, 0, RH_BLOCK_RECORDS_MAX);
        *blobs += frame.type == RH_BLOCK_BLOB;
        fseek(f, (long) (rh_frame_total_bytes(&frame) - RH_FRAME_BYTES), SEEK_CUR);
    }
    fclose(f);
}

/* Compresses badly, and differs from place to place. */
static char *noise(size_t n, uint64_t seed)
{
    char *data = rh_malloc(n);
    for (size_t i = 0; i < n; i++) {
        data[i] = (char) ('A' + testing_random(&seed) % 26);
    }
    return data;
}

static void write_and_compare(const struct rh_record *records, uint32_t n, uint64_t *blobs)
{
    char *path = testing_path("limits.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_trace_reader *reader;
    struct rh_record got;
    struct rh_error err = {0};
    for (uint32_t i = 0; i < n; i++) {
        testing_add(w, &records[i]);
    }
    testing_finish(w);
    check_frames(path, blobs);
    struct rh_trace_file *file = testing_open_file(path);
    assert_true(rh_trace_file_complete(file));
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(rh_trace_reader_next(reader, &got, &err), 1);
        testing_assert_record(&got, &records[i]);
    }
    assert_int_equal(rh_trace_reader_next(reader, &got, &err), 0);
    assert_int_equal(rh_trace_reader_damaged(reader, NULL), 0);
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

static void test_values_around_the_limit(void **state)
{
    (void) state;
    const size_t lengths[] = {RH_VALUE_INLINE_MAX - 1, RH_VALUE_INLINE_MAX, RH_VALUE_INLINE_MAX + 1,
                              RH_BLOCK_RAW_MAX, 3 * RH_BLOCK_RAW_MAX + 5};
    enum { N = sizeof lengths / sizeof lengths[0] };
    struct rh_record records[4 * N];
    struct rh_param params[N][2];
    char *data = noise(4 * RH_BLOCK_RAW_MAX, 1);
    uint64_t blobs;
    for (unsigned i = 0; i < 4 * N; i++) {
        struct rh_record *r = &records[i];
        struct rh_span s = rh_span(data, lengths[i % N]);
        rh_record_init(r);
        r->session = 1 + i % 3;
        r->ordinal = i / 3 + 1;
        r->start_ns = i * INT64_C(1000000);
        switch (i / N) {
        case 0: /* no literal: the template is that long */
            r->text = s;
            break;
        case 1:
            r->kind = RH_KIND_EXECUTE;
            r->text = rh_span_cstr("INSERT INTO t VALUES ($1, $2)");
            params[i % N][0] = (struct rh_param){s.data, (uint32_t) s.len, 25, 0};
            params[i % N][1] = (struct rh_param){NULL, 0, 25, 0};
            r->params = params[i % N];
            r->param_count = 2;
            break;
        case 2:
            r->kind = RH_KIND_COPY_DATA;
            r->detail = s;
            break;
        default:
            r->statement_name = s;
            r->steps = s;
            break;
        }
    }
    write_and_compare(records, 4 * N, &blobs);
    assert_in_range(blobs, 12, 100);
    rh_free(data);
}

static void test_long_literals(void **state)
{
    (void) state;
    enum { N = 40, LENGTH = 300000 };
    struct rh_record records[N];
    uint64_t blobs;
    for (unsigned i = 0; i < N; i++) {
        char *text = noise(LENGTH, i + 1);
        memcpy(text, "SELECT f('", 10);
        memcpy(text + LENGTH - 2, "')", 2);
        rh_record_init(&records[i]);
        records[i].session = 1;
        records[i].ordinal = i + 1;
        records[i].start_ns = i * INT64_C(1000);
        records[i].text = rh_span(text, LENGTH);
    }
    write_and_compare(records, N, &blobs);
    assert_in_range(blobs, N * LENGTH / RH_BLOCK_RAW_MAX, N);
    for (unsigned i = 0; i < N; i++) {
        rh_free((char *) records[i].text.data);
    }
}

/* As many parameters as the protocol allows, with everything varied: the block is still small
 * enough. */
static void test_most_parameters(void **state)
{
    (void) state;
    enum { N = 65535 };
    struct rh_param *params = rh_calloc(N, sizeof *params);
    uint16_t *formats = rh_calloc(N, sizeof *formats);
    char *texts = rh_calloc(N, 40);
    struct rh_record records[6];
    uint64_t seed = 8;
    uint64_t blobs;
    for (unsigned shape = 0; shape < 6; shape++) {
        struct rh_record *r = &records[shape];
        rh_record_init(r);
        for (unsigned i = 0; i < N; i++) {
            char *text = texts + (size_t) i * 40;
            uint64_t random = testing_random(&seed) * 1000003;
            long long number = (long long) random;
            int n = snprintf(text, 40, "%s%lld", shape & 1 ? "" : "text that is longer ", number);
            params[i] = (struct rh_param){text, (uint32_t) n, (uint32_t) testing_random(&seed),
                                          (uint8_t) (i % 2)};
            formats[i] = (uint16_t) testing_random(&seed);
        }
        r->kind = RH_KIND_EXECUTE;
        r->session = 1;
        r->ordinal = shape + 1;
        r->start_ns = shape * INT64_C(1000);
        r->text = rh_span_cstr(shape < 2 ? "INSERT INTO t VALUES ($1)" : NULL);
        r->params = params;
        r->param_count = N;
        r->result_formats = formats;
        r->result_format_count = shape < 4 ? N : 0;
        write_and_compare(r, 1, &blobs);
    }
    rh_free(params);
    rh_free(formats);
    rh_free(texts);
}

static void test_records_over_the_limit(void **state)
{
    (void) state;
    char *path = testing_path("over.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_error err = {0};
    struct rh_record r;
    struct rh_span literal = RH_SPAN_LITERAL("1");
    rh_record_init(&r);
    r.session = 1;
    r.ordinal = 1;
    /* Refused before a byte of it is looked at. */
    r.detail = rh_span("x", RH_RECORD_BYTES_MAX + 1);
    assert_int_equal(rh_trace_writer_add(w, &r, &err), -1);
    assert_int_equal(err.code, RH_ERR_LIMIT);
    r.detail = RH_SPAN_NONE;
    r.tmpl = rh_span_cstr("no slot");
    r.literals = &literal;
    r.literal_count = 1;
    assert_int_equal(rh_trace_writer_add(w, &r, &err), -1);
    assert_int_equal(err.code, RH_ERR_FORMAT);
    /* The writer goes on. */
    r.literal_count = 0;
    testing_add(w, &r);
    testing_finish(w);
    testing_remove(path);
}

/* Every text is a template of its own: the window, and with it memory, stays as large as it is. */
static void test_all_different_texts(void **state)
{
    (void) state;
    enum { N = 200000, WINDOW_BYTES = 4 * 1024 * 1024 };
    char *path = testing_path("different.trace");
    struct rh_trace_header header = testing_header(RH_FILE_WORKLOAD);
    struct rh_trace_writer_options options = {.window_records = 65536,
                                              .window_bytes = WINDOW_BYTES};
    struct rh_trace_writer *w;
    struct rh_error err = {0};
    size_t most = 0;
    size_t most_templates = 0;
    char text[200];
    assert_int_equal(rh_trace_writer_open(&w, path, &header, &options, &err), 0);
    for (unsigned i = 0; i < N; i++) {
        struct rh_record r;
        rh_record_init(&r);
        snprintf(text, sizeof text, "SELECT column_%u, note_%x FROM table_%u WHERE id = %u", i,
                 i * 2654435761u, i % 1000, i);
        r.session = 1 + i % 16;
        r.ordinal = i / 16 + 1;
        r.start_ns = i * INT64_C(10000);
        r.text = rh_span_cstr(text);
        testing_add(w, &r);
        size_t bytes = rh_trace_row_store_bytes(&w->window.store);
        most = bytes > most ? bytes : most;
        most_templates = w->window.store.templates.count > most_templates
                             ? w->window.store.templates.count
                             : most_templates;
    }
    assert_in_range(most, WINDOW_BYTES / 2, WINDOW_BYTES);
    assert_in_range(most_templates, 1000, 65536);
    testing_finish(w);
    uint64_t blobs;
    check_frames(path, &blobs);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_reader *reader;
    struct rh_record got;
    struct rh_buf buf;
    rh_buf_init(&buf, 1000);
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(rh_trace_reader_next(reader, &got, &err), 1);
        snprintf(text, sizeof text, "SELECT column_%u, note_%x FROM table_%u WHERE id = %u", i,
                 i * 2654435761u, i % 1000, i);
        rh_buf_clear(&buf);
        rh_record_text(&got, &buf);
        rh_assert_span(rh_buf_span(&buf), text);
    }
    rh_buf_release(&buf);
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

static void fill_staying(struct rh_record *r, struct rh_param *param, char text[3][40], unsigned i)
{
    rh_record_init(r);
    snprintf(text[0], sizeof text[0], "SELECT 'stays %u' || $1", i);
    snprintf(text[1], sizeof text[1], "parameter %u", i);
    snprintf(text[2], sizeof text[2], "name %u", i);
    *param = (struct rh_param){.data = text[1], .len = (uint32_t) strlen(text[1]), .type = 25 + i};
    r->kind = RH_KIND_EXECUTE;
    r->session = 100 + i;
    r->ordinal = 1;
    r->start_ns = INT64_C(3600000000000) + i * INT64_C(1000000);
    r->text = rh_span_cstr(text[0]);
    r->statement_name = rh_span_cstr(text[2]);
    r->params = param;
    r->param_count = 1;
    r->outcome.tag = rh_span_cstr(i % 2 ? "SELECT" : "FETCH");
}

/* Rows whose place is behind all others wait through many seals: what they point to stays. */
static void check_rows_that_stay(uint64_t window_bytes)
{
    enum { WINDOW = 200, STAYING = 40, EACH = 90 };
    char *path = testing_path("staying.trace");
    struct rh_trace_header header = testing_header(RH_FILE_WORKLOAD);
    struct rh_trace_writer_options options = {.window_records = WINDOW,
                                              .window_bytes = window_bytes};
    struct rh_trace_writer *w;
    struct rh_error err = {0};
    struct rh_record r;
    struct rh_param param;
    char text[3][40];
    assert_int_equal(rh_trace_writer_open(&w, path, &header, &options, &err), 0);
    for (unsigned i = 0; i < STAYING * EACH; i++) {
        if (i % EACH == 0) {
            fill_staying(&r, &param, text, i / EACH);
            testing_add(w, &r);
        }
        rh_record_init(&r);
        r.session = 1 + i % 4;
        r.ordinal = i / 4 + 1;
        r.start_ns = (int64_t) (i ^ 7) * 1000000;
        snprintf(text[0], sizeof text[0], "SELECT %u, '%x'", i, i * 7);
        r.text = rh_span_cstr(text[0]);
        testing_add(w, &r);
    }
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_reader *reader;
    struct rh_record got;
    int64_t last = INT64_MIN;
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    for (unsigned i = 0; i < STAYING * EACH + STAYING; i++) {
        assert_int_equal(rh_trace_reader_next(reader, &got, &err), 1);
        assert_true(got.start_ns >= last);
        last = got.start_ns;
        if (i < STAYING * EACH) {
            assert_in_range(got.session, 1, 4);
            continue;
        }
        fill_staying(&r, &param, text, i - STAYING * EACH);
        assert_int_equal(got.session, r.session);
        testing_assert_text(&got, &r);
        testing_assert_span(got.statement_name, r.statement_name, "name");
        testing_assert_span(got.outcome.tag, r.outcome.tag, "tag");
        assert_int_equal(got.param_count, 1);
        assert_int_equal(got.params[0].type, param.type);
        testing_assert_span(rh_span(got.params[0].data, got.params[0].len),
                            rh_span(param.data, param.len), "parameter");
    }
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

static void test_rows_that_stay(void **state)
{
    (void) state;
    check_rows_that_stay(0);
    /* The window is cut by its bytes: all that stays is copied then. */
    check_rows_that_stay(UINT64_C(24) << 10);
}

/* Sessions that have ended are forgotten, and what was said of them last is in the file. */
static void test_many_sessions(void **state)
{
    (void) state;
    enum { N = 30000 };
    char *path = testing_path("many.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 1000);
    struct rh_error err = {0};
    size_t most = 0;
    char client[40];
    for (unsigned i = 1; i <= N; i++) {
        struct rh_record r;
        snprintf(client, sizeof client, "192.0.2.%u:%u", i % 250, i);
        struct rh_session s = {.number = i,
                               .user = RH_SPAN_LITERAL("anna"),
                               .client = rh_span_cstr(client),
                               .opened_ns = i * INT64_C(1000000),
                               .closed_ns = RH_TIME_UNKNOWN};
        assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
        rh_record_init(&r);
        r.session = i;
        r.kind = RH_KIND_OPEN;
        r.start_ns = s.opened_ns;
        testing_add(w, &r);
        s.closed_ns = s.opened_ns + 500000;
        assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
        rh_trace_writer_end_session(w, i);
        most = w->sessions.count > most ? w->sessions.count : most;
    }
    assert_in_range(most, 500, 2000);
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_index *index;
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    assert_int_equal(rh_trace_index_session_count(index), N);
    for (unsigned i = 1; i <= N; i++) {
        const struct rh_session *s = rh_trace_index_session(index, i - 1);
        assert_int_equal(s->number, i);
        assert_int_equal(s->closed_ns, i * INT64_C(1000000) + 500000);
        snprintf(client, sizeof client, "192.0.2.%u:%u", i % 250, i);
        rh_assert_span(s->client, client);
    }
    rh_trace_index_free(index);
    rh_trace_file_close(file);
    testing_remove(path);
}

/* Four megabytes of prepared texts in front of every block of one session. */
static void test_large_session_state(void **state)
{
    (void) state;
    enum { PREPARED = 4000, LENGTH = 950 };
    char *path = testing_path("state.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_error err = {0};
    struct rh_record r;
    char name[32];
    char *text = noise(LENGTH, 4);
    for (unsigned i = 0; i < PREPARED + 20; i++) {
        rh_record_init(&r);
        r.session = 1;
        r.ordinal = i + 1;
        r.start_ns = (i + 1) * INT64_C(1000000);
        r.kind = RH_KIND_EXECUTE;
        snprintf(name, sizeof name, "S_%u", i % PREPARED);
        snprintf(text, 20, "SELECT %08u", i % PREPARED);
        text[15] = '-';
        r.statement_name = rh_span_cstr(name);
        r.text = rh_span(text, LENGTH);
        testing_add(w, &r);
        if (i >= PREPARED && i % 5 == 0) {
            assert_int_equal(rh_trace_writer_flush(w, &err), 0);
        }
    }
    testing_finish(w);
    uint64_t blobs;
    check_frames(path, &blobs);
    assert_true(blobs > 4);
    struct rh_trace_file *file = testing_open_file(path);
    struct rh_trace_index *index;
    struct rh_session_state s;
    struct rh_session_cursor c;
    rh_session_state_init(&s);
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    assert_int_equal(rh_trace_index_damaged(index, NULL), 0);
    struct rh_block_cache *cache = rh_block_cache_new(index, 0);
    rh_session_cursor_init(&c, 0);
    assert_int_equal(
        rh_session_cursor_seek(&c, cache, (PREPARED + 10) * INT64_C(1000000), &s, &err), 0);
    assert_int_equal(s.count, PREPARED);
    for (unsigned i = 0; i < PREPARED; i++) {
        snprintf(name, sizeof name, "S_%u", i);
        snprintf(text, 20, "SELECT %08u", i);
        text[15] = '-';
        const struct rh_state_item *item =
            rh_session_state_find(&s, RH_STATE_STATEMENT, rh_span_cstr(name));
        assert_non_null(item);
        testing_assert_span(item->text, rh_span(text, LENGTH), "prepared text");
    }
    rh_session_state_release(&s);
    rh_block_cache_free(cache);
    rh_trace_index_free(index);
    rh_trace_file_close(file);
    rh_free(text);
    testing_remove(path);
}

/* The limit on a file's size stands for a full disk: what is whole is kept under the final name. */
static void test_full_disk(void **state)
{
    (void) state;
    char *path = testing_path("full.trace");
    struct rlimit old;
    struct rh_error err = {0};
    char text[64];
    int result = 0;
    uint64_t seed = 5;
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 500);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {20000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (unsigned i = 0; i < 100000 && result == 0; i++) {
        struct rh_record r;
        rh_record_init(&r);
        snprintf(text, sizeof text, "SELECT %llu", (unsigned long long) testing_random(&seed));
        r.session = 1;
        r.ordinal = i + 1;
        r.start_ns = i * INT64_C(1000000);
        r.text = rh_span_cstr(text);
        result = rh_trace_writer_add(w, &r, &err);
    }
    assert_int_equal(result, -1);
    assert_int_equal(err.code, RH_ERR_IO);
    struct rh_error again = {0};
    assert_int_equal(rh_trace_writer_flush(w, &again), -1);
    assert_string_equal(again.text, err.text);
    assert_int_equal(rh_trace_writer_finish(w, false, &err), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    struct rh_trace_file *file = testing_open_file(path);
    assert_false(rh_trace_file_complete(file));
    assert_int_equal(rh_trace_file_damage_count(file), 0);
    assert_true(rh_trace_file_totals(file).records > 500);
    assert_true(rh_trace_file_bytes(file) <= 20000);
    rh_trace_file_close(file);
    testing_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_around_the_limit),
        cmocka_unit_test(test_long_literals),
        cmocka_unit_test(test_most_parameters),
        cmocka_unit_test(test_records_over_the_limit),
        cmocka_unit_test(test_all_different_texts),
        cmocka_unit_test(test_rows_that_stay),
        cmocka_unit_test(test_many_sessions),
        cmocka_unit_test(test_large_session_state),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
