/* formats/pg_scan */
#include "rh_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/alloc.h"
#include "formats/pg_scan.h"

enum { EVENTS_MAX = 64 };

/* An event with the running totals of what passed before it. */
struct seen {
    char type;
    bool cut;
    uint32_t length;
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t copies;
    uint64_t copy_bytes;
    char *body;
    size_t body_len;
};

struct feed {
    struct rh_pg_scan scan;
    struct seen seen[EVENTS_MAX];
    int count;
    struct seen total;
    bool failed;
    struct rh_error err;
};

static void feed_init(struct feed *f, enum rh_pg_side side, bool untyped, size_t body_max)
{
    memset(f, 0, sizeof *f);
    rh_pg_scan_init(&f->scan, side, body_max);
    f->scan.untyped = untyped;
}

static void feed_release(struct feed *f)
{
    for (int i = 0; i < f->count; i++) {
        free(f->seen[i].body);
    }
    rh_pg_scan_release(&f->scan);
}

static void feed_note(struct feed *f, const struct rh_pg_event *ev)
{
    f->total.rows += ev->rows;
    f->total.row_bytes += ev->row_bytes;
    f->total.copies += ev->copies;
    f->total.copy_bytes += ev->copy_bytes;
    if (ev->type) {
        assert_true(f->count < EVENTS_MAX);
        struct seen *s = &f->seen[f->count++];
        *s = f->total;
        s->type = ev->type;
        s->cut = ev->body_cut;
        s->length = ev->length;
        s->body_len = ev->body.len;
        s->body = malloc(ev->body.len + 1);
        memcpy(s->body, ev->body.data, ev->body.len);
    }
}

static void feed_piece(struct feed *f, const char *data, size_t n)
{
    while (n > 0 && !f->failed) {
        struct rh_pg_event ev;
        ptrdiff_t used = rh_pg_scan_next(&f->scan, data, n, &ev, &f->err);
        feed_note(f, &ev);
        if (used < 0) {
            f->failed = true;
            return;
        }
        assert_true((size_t) used <= n && used > 0);
        assert_true(ev.type || (size_t) used == n);
        data += used;
        n -= (size_t) used;
    }
}

static void assert_same(const struct feed *a, const struct feed *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->failed, b->failed);
    for (int i = 0; i < a->count; i++) {
        const struct seen *x = &a->seen[i];
        const struct seen *y = &b->seen[i];
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->cut, y->cut);
        assert_int_equal(x->length, y->length);
        assert_int_equal(x->rows, y->rows);
        assert_int_equal(x->row_bytes, y->row_bytes);
        assert_int_equal(x->copies, y->copies);
        assert_int_equal(x->copy_bytes, y->copy_bytes);
        assert_int_equal(x->body_len, y->body_len);
        assert_memory_equal(x->body, y->body, x->body_len);
    }
    assert_int_equal(a->total.row_bytes, b->total.row_bytes);
    assert_int_equal(a->total.rows, b->total.rows);
    assert_int_equal(a->scan.offset, b->scan.offset);
    if (a->failed) {
        assert_string_equal(a->err.text, b->err.text);
    }
}

/* A result with rows, notices, COPY, errors; bodies of no, few and many bytes. */
static const char BACKEND[] = "T\0\0\0\x1a\0\x01"
                              "a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0"
                              "D\0\0\0\x0b\0\x01\0\0\0\x01"
                              "1"
                              "D\0\0\0\x06\0\0"
                              "N\0\0\0\x0cMhello\0\0"
                              "D\0\0\0\x0a\0\x01\xff\xff\xff\xff"
                              "C\0\0\0\x0dSELECT 3\0"
                              "Z\0\0\0\x05I"
                              "1\0\0\0\x04"
                              "2\0\0\0\x04"
                              "n\0\0\0\x04"
                              "H\0\0\0\x09\0\0\x01\0\0"
                              "d\0\0\0\x07"
                              "ab\n"
                              "d\0\0\0\x04"
                              "c\0\0\0\x04"
                              "C\0\0\0\x0b"
                              "COPY 2\0"
                              "S\0\0\0\x08"
                              "a\0b\0"
                              "E\0\0\0\x0f"
                              "SERROR\0Mx\0\0"
                              "Z\0\0\0\x05"
                              "E"
                              "D\0\0\0\x06\0\0";

static void test_events_of_a_stream(void **state)
{
    (void) state;
    struct feed f;
    feed_init(&f, RH_PG_BACKEND, false, RH_PG_BODY_MAX);
    feed_piece(&f, BACKEND, sizeof BACKEND - 1);
    assert_false(f.failed);
    assert_int_equal(f.count, 13);
    const char types[] = "TNCZ12nHcCSEZ";
    for (int i = 0; i < f.count; i++) {
        assert_int_equal(f.seen[i].type, types[i]);
    }
    assert_int_equal(f.seen[0].length, 22);
    assert_int_equal(f.seen[0].body_len, 0); /* RowDescription is not kept */
    assert_true(f.seen[0].cut);
    assert_int_equal(f.seen[1].rows, 2);
    assert_int_equal(f.seen[1].row_bytes, 12 + 7);
    assert_int_equal(f.seen[2].rows, 3);
    assert_memory_equal(f.seen[2].body, "SELECT 3", 9);
    assert_false(f.seen[2].cut);
    assert_int_equal(f.seen[3].body[0], 'I');
    assert_int_equal(f.seen[8].copies, 2);
    assert_int_equal(f.seen[8].copy_bytes, 8 + 5);
    assert_memory_equal(f.seen[9].body, "COPY 2", 7);
    assert_int_equal(f.total.rows, 4);
    assert_int_equal(f.scan.offset, sizeof BACKEND - 1);
    feed_release(&f);
}

static void check_splits(const char *data, size_t n, enum rh_pg_side side, bool untyped,
                         size_t body_max)
{
    struct feed whole;
    feed_init(&whole, side, untyped, body_max);
    feed_piece(&whole, data, n);
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = i; j <= n; j++) {
            struct feed f;
            feed_init(&f, side, untyped, body_max);
            feed_piece(&f, data, i);
            feed_piece(&f, data + i, j - i);
            feed_piece(&f, data + j, n - j);
            assert_same(&f, &whole);
            feed_release(&f);
        }
    }
    for (size_t piece = 1; piece < 40; piece++) {
        struct feed f;
        feed_init(&f, side, untyped, body_max);
        for (size_t at = 0; at < n; at += piece) {
            feed_piece(&f, data + at, piece < n - at ? piece : n - at);
        }
        assert_same(&f, &whole);
        feed_release(&f);
    }
    feed_release(&whole);
}

static void test_every_split_gives_the_same_events(void **state)
{
    (void) state;
    check_splits(BACKEND, sizeof BACKEND - 1, RH_PG_BACKEND, false, RH_PG_BODY_MAX);
    check_splits(BACKEND, sizeof BACKEND - 1, RH_PG_BACKEND, false, 4); /* bodies are cut */
    static const char frontend[] = "\0\0\0\x14\0\x03\0\0user\0joe\0\0\0\0"
                                   "p\0\0\0\x06x\0"
                                   "Q\0\0\0\x0dselect 1\0"
                                   "D\0\0\0\x06S\0"
                                   "d\0\0\0\x06zz"
                                   "c\0\0\0\x04"
                                   "X\0\0\0\x04";
    check_splits(frontend, sizeof frontend - 1, RH_PG_FRONTEND, true, RH_PG_BODY_MAX);
    /* Bad messages too: the same error at the same byte. */
    static const char bad_type[] = "Z\0\0\0\x05I\x01\0\0\0\x04";
    check_splits(bad_type, sizeof bad_type - 1, RH_PG_BACKEND, false, 100);
    static const char bad_length[] = "D\0\0\0\x06\0\0Z\0\0\0\x06II";
    check_splits(bad_length, sizeof bad_length - 1, RH_PG_BACKEND, false, 100);
}

static void test_the_frontend_begins_without_a_type(void **state)
{
    (void) state;
    static const char ssl[] = "\0\0\0\x08\x04\xd2\x16\x2f";
    static const char startup[] = "\0\0\0\x09\0\x03\0\0\0";
    struct feed f;
    feed_init(&f, RH_PG_FRONTEND, true, 100);
    feed_piece(&f, ssl, sizeof ssl - 1);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.seen[0].type, RH_PG_UNTYPED);
    assert_int_equal(f.seen[0].length, 4);
    assert_false(f.scan.untyped);
    f.scan.untyped = true;
    feed_piece(&f, startup, sizeof startup - 1);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.seen[1].length, 5);
    feed_release(&f);
}

static void assert_bad(const char *data, size_t n, enum rh_pg_side side, uint64_t offset)
{
    struct rh_pg_scan s;
    struct rh_pg_event ev;
    struct rh_error err = {0};
    rh_pg_scan_init(&s, side, 100);
    ptrdiff_t used = 0;
    size_t at = 0;
    while (at < n && (used = rh_pg_scan_next(&s, data + at, n - at, &ev, &err)) >= 0) {
        at += (size_t) used;
    }
    assert_int_equal(used, -1);
    assert_int_equal(err.code, RH_ERR_FORMAT);
    assert_int_equal(s.offset, offset);
    char number[40];
    snprintf(number, sizeof number, "byte %d", (int) offset);
    assert_non_null(strstr(err.text, number));
    /* It stays bad. */
    assert_int_equal(rh_pg_scan_next(&s, "Z\0\0\0\x05I", 6, &ev, &err), -1);
    rh_pg_scan_release(&s);
}
#define ASSERT_BAD(literal, side, offset) assert_bad(literal, sizeof(literal) - 1, side, offset)

static void test_what_cannot_be_is_found_at_its_byte(void **state)
{
    (void) state;
    ASSERT_BAD("\0", RH_PG_BACKEND, 0);
    ASSERT_BAD("@\0\0\0\x08"
               "abcd",
               RH_PG_FRONTEND, 0);
    ASSERT_BAD("Z\0\0\0\x05I\x80", RH_PG_BACKEND, 6);
    ASSERT_BAD("D\0\0\0\x05\0", RH_PG_BACKEND, 0); /* a DataRow has a column count */
    ASSERT_BAD("D\0\0\0\x06\0\0D\0\0\0\x03", RH_PG_BACKEND, 7);
    ASSERT_BAD("C\0\0\0\x03", RH_PG_BACKEND, 0);
    ASSERT_BAD("C\0\0\x80\0", RH_PG_BACKEND, 0);
    ASSERT_BAD("D\x80\0\0\0", RH_PG_BACKEND, 0);
    ASSERT_BAD("d\xff\xff\xff\xff", RH_PG_BACKEND, 0);
    ASSERT_BAD("Z\0\0\0\x04", RH_PG_BACKEND, 0);
    ASSERT_BAD("1\0\0\0\x05x", RH_PG_BACKEND, 0);
    ASSERT_BAD("S\0\0\0\x05x", RH_PG_FRONTEND, 0);
    ASSERT_BAD("K\0\0\x02\0", RH_PG_BACKEND, 0);
}

static void test_an_unknown_type_of_sane_length_is_an_event(void **state)
{
    (void) state;
    struct feed f;
    feed_init(&f, RH_PG_BACKEND, false, 100);
    feed_piece(&f, "y\0\0\0\x06hiZ\0\0\0\x05I", 13);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.seen[0].type, 'y');
    assert_int_equal(f.seen[1].type, 'Z');
    feed_release(&f);
}

static void test_a_body_is_cut_at_the_bound(void **state)
{
    (void) state;
    enum { LEN = 200000, BOUND = 1000 };
    char *data = rh_calloc(1, LEN + 5 + 6);
    static const char head[5] = {'E', 0, 0x03, 0x0d, 0x44}; /* 200000 + 4 */
    static const char ready[6] = {'Z', 0, 0, 0, 5, 'T'};
    memcpy(data, head, sizeof head);
    for (int i = 0; i < LEN; i++) {
        data[5 + i] = (char) ('a' + i % 23);
    }
    memcpy(data + 5 + LEN, ready, sizeof ready);
    const size_t n = LEN + 5 + 6;
    for (size_t piece = 777; piece <= n; piece += n - 777) {
        struct feed f;
        feed_init(&f, RH_PG_BACKEND, false, BOUND);
        for (size_t at = 0; at < n; at += piece) {
            feed_piece(&f, data + at, piece < n - at ? piece : n - at);
            assert_true(f.scan.body.cap <= BOUND);
        }
        assert_int_equal(f.count, 2);
        assert_int_equal(f.seen[0].length, LEN);
        assert_int_equal(f.seen[0].body_len, BOUND);
        assert_true(f.seen[0].cut);
        assert_memory_equal(f.seen[0].body, data + 5, BOUND);
        feed_release(&f);
    }
    rh_free(data);
}

/* A long message leaves no memory behind for the connection's life. */
static void test_memory_of_a_long_body_is_given_back(void **state)
{
    (void) state;
    char body[20000];
    memset(body, 'm', sizeof body);
    struct feed f;
    feed_init(&f, RH_PG_BACKEND, false, RH_PG_BODY_MAX);
    feed_piece(&f, "N\0\0\x4e\x24", 5);
    feed_piece(&f, body, sizeof body - 1);
    assert_true(f.scan.body.cap >= sizeof body - 1);
    feed_piece(&f, body, 1);
    assert_int_equal(f.count, 1);
    feed_piece(&f, "Z\0\0\0\x05I", 6);
    assert_int_equal(f.scan.body.cap, 0);
    feed_release(&f);
}

static void test_partial_tells_what_has_begun(void **state)
{
    (void) state;
    struct rh_pg_scan s;
    struct rh_pg_event ev;
    rh_pg_scan_init(&s, RH_PG_BACKEND, 100);
    assert_int_equal(rh_pg_scan_next(&s, "D", 1, &ev, NULL), 1);
    assert_int_equal(ev.type, 0);
    assert_int_equal(ev.partial, 'D');
    assert_int_equal(ev.row_bytes, 0);
    assert_int_equal(rh_pg_scan_next(&s, "\0\0\0\x08\0", 5, &ev, NULL), 5);
    assert_int_equal(ev.partial, 'D');
    assert_int_equal(ev.row_bytes, 6);
    assert_int_equal(ev.rows, 0);
    assert_int_equal(rh_pg_scan_next(&s, "", 0, &ev, NULL), 0);
    assert_int_equal(ev.partial, 'D');
    assert_int_equal(rh_pg_scan_next(&s, "\0\0\0", 3, &ev, NULL), 3);
    assert_int_equal(ev.rows, 1);
    assert_int_equal(ev.row_bytes, 3);
    assert_int_equal(ev.partial, 0);
    rh_pg_scan_release(&s);
}

/* The input ends where memory ends. */
static void test_nothing_is_read_past_the_input(void **state)
{
    (void) state;
    const size_t page = (size_t) sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
    for (size_t n = 1; n < sizeof BACKEND; n++) {
        for (size_t from = 0; from < n; from += 7) {
            char *at = map + page - (n - from);
            memcpy(at, BACKEND + from, n - from);
            struct feed f;
            feed_init(&f, RH_PG_BACKEND, false, 50);
            char *before = malloc(from + 1); /* a heap block of its own: checked there too */
            memcpy(before, BACKEND, from);
            feed_piece(&f, before, from);
            feed_piece(&f, at, n - from);
            assert_int_equal(f.scan.offset, n);
            free(before);
            feed_release(&f);
        }
    }
    munmap(map, 2 * page);
}

/* Many rows in one call, without an allocation. */
static void test_rows_pass_by_count(void **state)
{
    (void) state;
    enum { ROWS = 10000 };
    char *data = rh_calloc(ROWS, 20);
    size_t n = 0;
    for (int i = 0; i < ROWS; i++) {
        size_t body = 2 + (size_t) i % 12;
        data[n] = 'D';
        data[n + 4] = (char) (4 + body);
        n += 5 + body;
    }
    struct rh_pg_scan s;
    struct rh_pg_event ev;
    rh_pg_scan_init(&s, RH_PG_BACKEND, 100);
    uint64_t allocations = rh_alloc_count();
    assert_int_equal(rh_pg_scan_next(&s, data, n, &ev, NULL), n);
    assert_int_equal(rh_alloc_count(), allocations);
    assert_int_equal(ev.rows, ROWS);
    assert_int_equal(ev.row_bytes, n);
    rh_pg_scan_release(&s);
    rh_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_of_a_stream),
        cmocka_unit_test(test_every_split_gives_the_same_events),
        cmocka_unit_test(test_the_frontend_begins_without_a_type),
        cmocka_unit_test(test_what_cannot_be_is_found_at_its_byte),
        cmocka_unit_test(test_an_unknown_type_of_sane_length_is_an_event),
        cmocka_unit_test(test_a_body_is_cut_at_the_bound),
        cmocka_unit_test(test_memory_of_a_long_body_is_given_back),
        cmocka_unit_test(test_partial_tells_what_has_begun),
        cmocka_unit_test(test_nothing_is_read_past_the_input),
        cmocka_unit_test(test_rows_pass_by_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
