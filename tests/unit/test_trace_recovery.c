/* formats/trace_file, trace_reader: files that were cut, overwritten, or never were a trace. */
#include "rh_test.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "formats/trace_frame.h"
#include "formats/trace_index.h"
#include "trace_testing.h"

enum { BLOCKS = 5, PER_BLOCK = 12 };

struct image {
    char *data;
    size_t size;
    size_t ends[BLOCKS + 2]; /* of each block: header, data blocks, end */
    uint32_t count;
};

/* Every data block has PER_BLOCK statements of two sessions, with starts of its own. */
static void write_trace(const char *path)
{
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_error err = {0};
    char text[80];
    for (unsigned i = 0; i < BLOCKS * PER_BLOCK; i++) {
        struct rh_record r;
        rh_record_init(&r);
        snprintf(text, sizeof text, "UPDATE t SET a = %u WHERE b = '%u'", i, i * 7919 % 1000);
        r.session = 1 + i % 2;
        r.ordinal = i / 2 + 1;
        r.start_ns = INT64_C(1735689600000000000) + i * INT64_C(1000000);
        r.outcome.done_ns = r.start_ns + 333000;
        r.outcome.sqlstate = 0;
        r.text = rh_span_cstr(text);
        testing_add(w, &r);
        if ((i + 1) % PER_BLOCK == 0) {
            assert_int_equal(rh_trace_writer_flush(w, &err), 0);
        }
    }
    testing_finish(w);
}

static void load_image(struct image *image, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    image->size = (size_t) st.st_size;
    image->data = rh_malloc(image->size);
    assert_int_equal(read(fd, image->data, image->size), image->size);
    close(fd);
    image->count = 0;
    for (size_t at = 0; at < image->size;) {
        struct rh_frame frame;
        assert_true(rh_frame_get(&frame, image->data + at));
        at += rh_frame_total_bytes(&frame);
        image->ends[image->count++] = at;
    }
    assert_int_equal(image->count, BLOCKS + 2);
}

static void store(const char *path, const char *data, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), n);
    close(fd);
}

/* Which statements come, by the block they were in; every one must be right. */
static unsigned read_blocks(struct rh_trace_file *file, bool seen[BLOCKS], uint32_t *damaged)
{
    struct rh_trace_reader *reader;
    struct rh_record r;
    struct rh_error err = {0};
    struct rh_buf text;
    unsigned counts[BLOCKS] = {0};
    unsigned count = 0;
    int result;
    char want[80];
    rh_buf_init(&text, 1000);
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    while ((result = rh_trace_reader_next(reader, &r, &err)) == 1) {
        unsigned i = (unsigned) (r.ordinal - 1) * 2 + r.session - 1;
        assert_true(i < BLOCKS * PER_BLOCK);
        snprintf(want, sizeof want, "UPDATE t SET a = %u WHERE b = '%u'", i, i * 7919 % 1000);
        rh_buf_clear(&text);
        assert_int_equal(rh_record_text(&r, &text), 0);
        rh_assert_span(rh_buf_span(&text), want);
        assert_int_equal(r.outcome.done_ns, r.start_ns + 333000);
        counts[i / PER_BLOCK]++;
        count++;
    }
    assert_int_equal(result, 0);
    *damaged = rh_trace_reader_damaged(reader, NULL);
    rh_trace_reader_close(reader);
    rh_buf_release(&text);
    for (unsigned b = 0; b < BLOCKS; b++) {
        assert_true(counts[b] == 0 || counts[b] == PER_BLOCK);
        seen[b] = counts[b] > 0;
    }
    return count;
}

static void test_cut_at_every_byte(void **state)
{
    (void) state;
    char *whole = testing_path("whole.trace");
    char *path = testing_path("cut.trace");
    struct image image;
    write_trace(whole);
    load_image(&image, whole);
    store(path, image.data, image.size);
    size_t from = image.ends[image.count - 4];
    for (size_t n = image.size; n >= from; n--) {
        struct rh_trace_file *file = NULL;
        struct rh_error err = {0};
        bool seen[BLOCKS];
        uint32_t damaged;
        char where[40];
        assert_int_equal(truncate(path, (off_t) n), 0);
        assert_int_equal(rh_trace_file_open(&file, path, &err), 0);
        assert_int_equal(rh_trace_file_complete(file), n == image.size);
        unsigned blocks = 0;
        while (blocks < BLOCKS && image.ends[blocks + 1] <= n) {
            blocks++;
        }
        snprintf(where, sizeof where, "byte %zu (whole blocks before it: %u)", n, blocks);
        if (n < image.size) {
            assert_non_null(strstr(rh_trace_file_incomplete_reason(file), where));
        }
        assert_int_equal(rh_trace_file_block_count(file), blocks);
        assert_int_equal(rh_trace_file_damage_count(file), 0);
        assert_int_equal(rh_trace_file_totals(file).statements, blocks * PER_BLOCK);
        assert_int_equal(read_blocks(file, seen, &damaged), blocks * PER_BLOCK);
        assert_int_equal(damaged, 0);
        rh_trace_file_close(file);
    }
    rh_free(image.data);
    testing_remove(path);
    testing_remove(whole);
}

/* The block that byte i belongs to: 0 the header, BLOCKS + 1 the end. */
static unsigned block_of(const struct image *image, size_t i)
{
    unsigned b = 0;
    while (image->ends[b] <= i) {
        b++;
    }
    return b;
}

static void check_flipped(const struct image *image, const char *path, size_t i)
{
    struct rh_trace_file *file = NULL;
    struct rh_error err = {0};
    bool seen[BLOCKS];
    uint32_t damaged;
    unsigned hit = block_of(image, i);
    assert_int_equal(rh_trace_file_open(&file, path, &err), 0);
    read_blocks(file, seen, &damaged);
    for (unsigned b = 0; b < BLOCKS; b++) {
        assert_int_equal(seen[b], b + 1 != hit);
    }
    assert_true(damaged + rh_trace_file_damage_count(file) > 0);
    /* What the walk cannot see, because it reads no payload, the reader reports. */
    assert_true(damaged > 0 || !rh_trace_file_complete(file));
    rh_trace_file_close(file);
}

static void test_every_byte_flipped(void **state)
{
    (void) state;
    char *path = testing_path("flip.trace");
    struct image image;
    write_trace(path);
    load_image(&image, path);
    int fd = open(path, O_WRONLY);
    for (size_t i = 0; i < image.size; i++) {
        char c = (char) (image.data[i] ^ (1 << i % 8));
        assert_int_equal(pwrite(fd, &c, 1, (off_t) i), 1);
        check_flipped(&image, path, i);
        assert_int_equal(pwrite(fd, &image.data[i], 1, (off_t) i), 1);
    }
    close(fd);
    rh_free(image.data);
    testing_remove(path);
}

static void expect_all_but(const char *path, unsigned missing)
{
    struct rh_trace_file *file = testing_open_file(path);
    bool seen[BLOCKS];
    uint32_t damaged;
    read_blocks(file, seen, &damaged);
    for (unsigned b = 0; b < BLOCKS; b++) {
        assert_int_equal(seen[b], b != missing);
    }
    assert_false(rh_trace_file_complete(file));
    rh_trace_file_close(file);
}

/* Bytes taken out, bytes put in, a block that is gone whole, garbage behind. */
static void test_bytes_missing_and_added(void **state)
{
    (void) state;
    char *path = testing_path("moved.trace");
    struct image image;
    write_trace(path);
    load_image(&image, path);
    char *copy = rh_malloc(image.size + 1000);
    const size_t holes[] = {1, 10, 100};
    for (size_t h = 0; h < 3; h++) {
        for (size_t at = image.ends[2]; at + holes[h] < image.ends[3]; at += 13) {
            memcpy(copy, image.data, at);
            memcpy(copy + at, image.data + at + holes[h], image.size - at - holes[h]);
            store(path, copy, image.size - holes[h]);
            expect_all_but(path, 2);
            memcpy(copy + at, "\x89RHSL\r\n\x1a....", 10);
            memcpy(copy + at + 10, image.data + at, image.size - at);
            store(path, copy, image.size + 10);
            expect_all_but(path, at == image.ends[2] ? BLOCKS : 2);
        }
    }
    memcpy(copy, image.data, image.ends[2]);
    memcpy(copy + image.ends[2], image.data + image.ends[3], image.size - image.ends[3]);
    store(path, copy, image.size - (image.ends[3] - image.ends[2]));
    expect_all_but(path, 2);
    memcpy(copy, image.data, image.size);
    memset(copy + image.size, 'x', 500);
    store(path, copy, image.size + 500);
    expect_all_but(path, BLOCKS);
    rh_free(copy);
    rh_free(image.data);
    testing_remove(path);
}

static void test_header_lost(void **state)
{
    (void) state;
    char *path = testing_path("headless.trace");
    struct image image;
    struct rh_trace_file *file = NULL;
    struct rh_error err = {0};
    write_trace(path);
    load_image(&image, path);
    memset(image.data, 0, image.ends[0]);
    store(path, image.data, image.size);
    /* The end block has a copy of it. */
    expect_all_but(path, BLOCKS);
    store(path, image.data, image.ends[BLOCKS]);
    assert_int_equal(rh_trace_file_open(&file, path, &err), -1);
    assert_non_null(strstr(err.text, "header block is damaged"));
    rh_free(image.data);
    testing_remove(path);
}

static void refuse(const char *path, const char *words)
{
    struct rh_trace_file *file = NULL;
    struct rh_error err = {0};
    assert_int_equal(rh_trace_file_open(&file, path, &err), -1);
    if (!strstr(err.text, words)) {
        fail_msg("%s", err.text);
    }
}

/* A file that is no trace may be the log that was to be read. */
static void refuse_to_replace(const char *path, const char *data, size_t len)
{
    struct rh_trace_writer *w;
    struct rh_trace_header header = {.kind = RH_FILE_WORKLOAD};
    struct rh_error err = {0};
    char *found = rh_malloc(len + 1);
    assert_int_equal(rh_trace_writer_open(&w, path, &header, NULL, &err), -1);
    assert_non_null(strstr(err.text, "is not replaced"));
    int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, found, len + 1), len);
    close(fd);
    assert_memory_equal(found, data, len);
    rh_free(found);
}

static void test_not_a_trace(void **state)
{
    (void) state;
    char *path = testing_path("other");
    static char garbage[100000];
    uint64_t seed = 1;
    struct image image;
    store(path, "", 0);
    refuse(path, "is not a pgrehearse trace");
    store(path, "2025-01-01 00:00:00 UTC,\"x\"\n", 28);
    refuse(path, "is not a pgrehearse trace");
    for (size_t i = 0; i < sizeof garbage; i++) {
        garbage[i] = (char) testing_random(&seed);
    }
    store(path, garbage, sizeof garbage);
    refuse(path, "is not a pgrehearse trace");
    refuse_to_replace(path, garbage, sizeof garbage);
    unlink(path);
    write_trace(path);
    load_image(&image, path);
    store(path, image.data, 50);
    refuse(path, "cut before the first block ended");
    rh_free(image.data);
    unlink(path);
    refuse(path, "cannot open");
    assert_int_equal(mkdir(path, 0700), 0);
    refuse(path, "not a regular file");
    rmdir(path);
    rh_free(path);
}

static void test_no_records(void **state)
{
    (void) state;
    char *path = testing_path("empty.trace");
    struct rh_trace_reader *reader;
    struct rh_trace_index *index;
    struct rh_record r;
    struct rh_error err = {0};
    testing_finish(testing_open(path, RH_FILE_WORKLOAD, 0));
    struct rh_trace_file *file = testing_open_file(path);
    assert_true(rh_trace_file_complete(file));
    assert_int_equal(rh_trace_file_totals(file).records, 0);
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    assert_int_equal(rh_trace_reader_next(reader, &r, &err), 0);
    rh_trace_reader_close(reader);
    assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
    assert_int_equal(rh_trace_index_session_count(index), 0);
    rh_trace_index_free(index);
    rh_trace_file_close(file);
    testing_remove(path);
}

/* What a kill leaves: PATH.partial, and the name itself untouched. */
static void test_partial_file(void **state)
{
    (void) state;
    char *path = testing_path("killed.trace");
    char partial[600];
    struct rh_error err = {0};
    snprintf(partial, sizeof partial, "%s.partial", path);
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_record r;
    rh_record_init(&r);
    r.session = 1;
    r.ordinal = 1;
    r.start_ns = 1000;
    testing_add(w, &r);
    assert_int_equal(rh_trace_writer_flush(w, &err), 0);
    r.ordinal = 2;
    testing_add(w, &r);
    assert_int_not_equal(access(path, F_OK), 0);
    struct rh_trace_file *file = testing_open_file(partial);
    assert_false(rh_trace_file_complete(file));
    assert_non_null(strstr(rh_trace_file_incomplete_reason(file), "no end block"));
    assert_int_equal(rh_trace_file_totals(file).records, 1);
    rh_trace_file_close(file);
    rh_trace_writer_discard(w);
    assert_int_not_equal(access(partial, F_OK), 0);
    rh_free(path);
}

/* Several pieces overwritten at random: what still comes is right, and nothing crashes. */
static void test_random_damage(void **state)
{
    (void) state;
    enum { ROUNDS = 300, HITS_MAX = 6, HIT_BYTES_MAX = 40 };
    char *path = testing_path("random.trace");
    struct image image;
    uint64_t seed = 2025;
    write_trace(path);
    load_image(&image, path);
    char *copy = rh_malloc(image.size);
    for (unsigned round = 0; round < ROUNDS; round++) {
        memcpy(copy, image.data, image.size);
        for (uint64_t hits = 1 + testing_below(&seed, HITS_MAX); hits > 0; hits--) {
            size_t at = testing_below(&seed, image.size - HIT_BYTES_MAX);
            size_t n = testing_below(&seed, HIT_BYTES_MAX);
            size_t from = testing_below(&seed, image.size - HIT_BYTES_MAX);
            /* Bytes of another place are likelier to make sense than noise. */
            memmove(copy + at, copy + from, n);
        }
        store(path, copy, image.size);
        struct rh_trace_file *file = NULL;
        struct rh_trace_index *index = NULL;
        struct rh_error err = {0};
        bool seen[BLOCKS];
        uint32_t damaged;
        if (rh_trace_file_open(&file, path, &err) == 0) {
            read_blocks(file, seen, &damaged);
            assert_int_equal(rh_trace_index_new(&index, file, &err), 0);
            rh_trace_index_free(index);
            rh_trace_file_close(file);
        }
    }
    rh_free(copy);
    rh_free(image.data);
    testing_remove(path);
}

/* A block that needs a later version is passed over and said; one of an unknown type is passed
 * over. */
static void test_later_versions(void **state)
{
    (void) state;
    char *path = testing_path("later.trace");
    struct image image;
    struct rh_frame frame;
    bool seen[BLOCKS];
    uint32_t damaged;
    write_trace(path);
    load_image(&image, path);
    assert_true(rh_frame_get(&frame, image.data + image.ends[2]));
    frame.version = RH_TRACE_VERSION + 1;
    rh_frame_put(&frame, image.data + image.ends[2]);
    store(path, image.data, image.size);
    expect_all_but(path, 2);
    struct rh_trace_file *file = testing_open_file(path);
    assert_non_null(strstr(rh_trace_file_incomplete_reason(file), "later format version"));
    rh_trace_file_close(file);
    frame.version = RH_TRACE_VERSION;
    frame.type = 77;
    rh_frame_put(&frame, image.data + image.ends[2]);
    store(path, image.data, image.size);
    file = testing_open_file(path);
    read_blocks(file, seen, &damaged);
    assert_false(seen[2]);
    assert_true(seen[1] && seen[3]);
    assert_true(rh_trace_file_complete(file));
    rh_trace_file_close(file);
    rh_free(image.data);
    testing_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_byte_flipped),
        cmocka_unit_test(test_bytes_missing_and_added),
        cmocka_unit_test(test_header_lost),
        cmocka_unit_test(test_not_a_trace),
        cmocka_unit_test(test_no_records),
        cmocka_unit_test(test_partial_file),
        cmocka_unit_test(test_random_damage),
        cmocka_unit_test(test_later_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
