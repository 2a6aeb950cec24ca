/*
 * Every statement-like text of the corpus goes through a trace and comes back byte for byte: each
 * line and each CSV field of the logs, and the fingerprint pairs.
 */
#include "rh_test.h"

#include <ftw.h>

#include "common/infile.h"
#include "common/intern.h"
#include "trace_testing.h"

enum { FILE_BYTES_MAX = 2 << 20, TEXT_BYTES_MAX = 200000 };

/* Each text once. */
static struct rh_intern corpus;

static void add_text(struct rh_span s)
{
    if (s.len > 0 && s.len <= TEXT_BYTES_MAX) {
        rh_intern_put(&corpus, s, NULL);
    }
}

/* Pieces between the separators; quotes mean nothing here, odd texts are welcome. */
static void add_pieces(struct rh_span s, char separator)
{
    const char *at = s.data;
    const char *end = s.data + s.len;
    while (at < end) {
        const char *next = memchr(at, separator, (size_t) (end - at));
        next = next ? next : end;
        add_text(rh_span(at, (size_t) (next - at)));
        at = next + 1;
    }
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void) st;
    (void) place;
    struct rh_infile *f;
    struct rh_error err;
    struct rh_buf data;
    char chunk[65536];
    ssize_t n;
    if (type != FTW_F || rh_infile_open(&f, path, &err) != 0) {
        return 0;
    }
    rh_buf_init(&data, FILE_BYTES_MAX);
    while ((n = rh_infile_read(f, chunk, sizeof chunk, &err)) > 0) {
        if (rh_buf_add(&data, chunk, (size_t) n) != 0) {
            break;
        }
    }
    rh_infile_close(f);
    struct rh_span all = rh_buf_span(&data);
    add_pieces(all, '\n');
    add_pieces(all, '"');
    if (strstr(path, ".tsv")) {
        add_pieces(all, '\t');
    }
    rh_buf_release(&data);
    return 0;
}

static void check_all(void)
{
    char *path = testing_path("corpus.trace");
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 20000);
    struct rh_trace_reader *reader;
    struct rh_error err = {0};
    struct rh_record r;
    struct rh_buf text;
    for (uint32_t i = 0; i < corpus.count; i++) {
        rh_record_init(&r);
        r.session = 1;
        r.ordinal = i + 1;
        r.start_ns = i * INT64_C(1000);
        r.text = corpus.items[i];
        testing_add(w, &r);
    }
    testing_finish(w);
    struct rh_trace_file *file = testing_open_file(path);
    rh_buf_init(&text, 1 << 20);
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    for (uint32_t i = 0; i < corpus.count; i++) {
        assert_int_equal(rh_trace_reader_next(reader, &r, &err), 1);
        rh_buf_clear(&text);
        assert_int_equal(rh_record_text(&r, &text), 0);
        testing_assert_span(rh_buf_span(&text), corpus.items[i], "text");
    }
    assert_int_equal(rh_trace_reader_next(reader, &r, &err), 0);
    print_message("%u texts\n", (unsigned) corpus.count);
    rh_buf_release(&text);
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    testing_remove(path);
}

static void test_texts_come_back(void **state)
{
    (void) state;
    enum { OPEN_FOLDERS = 16 };
    rh_intern_init(&corpus);
    if (nftw(RH_DATA_DIR, add_file, OPEN_FOLDERS, FTW_PHYS) != 0 || corpus.count == 0) {
        print_message("SKIPPED: no corpus in %s\n", RH_DATA_DIR);
        skip();
    }
    check_all();
    rh_intern_release(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
