/* Damaged logs: what was not hit comes out unchanged, and records = entries + bad. */
#include "rh_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "capture/log_reader.h"
#include "capture_probe.h"
#include "common/alloc.h"
#include "common/hash.h"
#include "log_maker.h"

/* A record of a log: where it lies, and a hash of all that was read from it. */
struct seen {
    uint64_t start;
    uint64_t end;
    uint64_t hash;
};

struct seen_list {
    struct seen *items;
    size_t count;
    size_t cap;
    uint64_t records;
    uint64_t entries;
    uint64_t bad;
};

struct bytes {
    const char *data;
    size_t n;
    size_t at;
    size_t chunk;
};

static ssize_t read_bytes(void *context, void *data, size_t n, struct rh_error *err)
{
    (void) err;
    struct bytes *b = context;
    size_t take = b->n - b->at < n ? b->n - b->at : n;
    if (b->chunk && take > b->chunk) {
        take = b->chunk;
    }
    memcpy(data, b->data + b->at, take);
    b->at += take;
    return (ssize_t) take;
}

static uint64_t mix(uint64_t hash, struct rh_span s)
{
    return hash * 31 + rh_hash(s) + (s.data ? 1 : 0);
}

static uint64_t hash_entry(const struct rh_log_entry *e)
{
    uint64_t h = (uint64_t) e->stamp.local_ns * 31 + e->session_key;
    h = h * 31 + e->line + e->lxid * 7 + e->pid;
    h = mix(mix(mix(mix(h, e->user), e->database), e->client), e->tag);
    h = mix(mix(mix(mix(h, e->message), e->detail), e->context), e->query);
    return mix(mix(h, e->application), e->sqlstate) + e->severity;
}

/* One for all: its window is costly to make thousands of times. */
static struct rh_log_reader reader;

static void read_all(struct seen_list *list, const char *data, size_t n, size_t chunk)
{
    struct bytes b = {data, n, 0, chunk};
    struct rh_log_entry e;
    struct rh_error err;
    memset(list, 0, sizeof *list);
    memset(&reader.counts, 0, sizeof reader.counts);
    rh_log_reader_start(&reader, "memory", read_bytes, &b);
    while (rh_log_reader_next(&reader, &e, &err) == 1) {
        RH_GROW(list->items, list->count, list->cap);
        struct seen *s = &list->items[list->count++];
        s->end = reader.window_offset + reader.pos;
        s->start = list->count > 1 ? s[-1].end : 0;
        s->hash = hash_entry(&e);
    }
    list->records = reader.counts.records;
    list->entries = reader.counts.entries;
    list->bad = rh_log_reader_bad(&reader.counts);
    assert_int_equal(list->entries, list->count);
    assert_int_equal(list->records, list->entries + list->bad);
}

static void list_release(struct seen_list *list)
{
    rh_free(list->items);
}

/* A log of everything: the driver's, or a made one where there is no corpus. */
static char *load_log(size_t *n)
{
    char *data = rh_probe_load(RH_DATA_DIR "/logs/generated/pg15/D_stmt_all_mindur0.csv", n);
    if (data) {
        return data;
    }
    print_message("SKIPPED: no corpus, a made log instead\n");
    struct rh_log_maker m;
    rh_log_maker_init(&m);
    for (int i = 0; i < 400; i++) {
        LOG(&m, .tag = "idle", .message = "statement: SELECT 'a\nb', \"c\"");
        LOG(&m, .message = "duration: 1.000 ms");
    }
    data = rh_memdup(m.out.data, m.out.len);
    *n = m.out.len;
    rh_log_maker_release(&m);
    return data;
}

static void test_cut_by_every_length(void **state)
{
    (void) state;
    size_t n;
    char *data = load_log(&n);
    struct seen_list whole, cut;
    read_all(&whole, data, n, 0);
    assert_int_equal(whole.bad, 0);
    size_t tail = n > 40000 ? n - 40000 : 0;
    /* From a record's start on, so that 4,000 cuts stay quick. */
    size_t from = 0;
    while (from + 1 < whole.count && whole.items[from].start < tail) {
        from++;
    }
    size_t offset = whole.items[from].start;
    for (size_t by = 1; by <= 4000; by++) {
        read_all(&cut, data + offset, n - offset - by, 0);
        size_t intact = 0;
        while (from + intact < whole.count && whole.items[from + intact].end <= n - by) {
            assert_int_equal(cut.items[intact].hash, whole.items[from + intact].hash);
            intact++;
        }
        /* The record that was hit is read as it is now, or is bad; at a record's end nothing is. */
        assert_true(cut.count == intact || cut.count == intact + 1);
        bool hit = whole.items[from + intact].start < n - by;
        assert_int_equal(cut.records, intact + hit);
        list_release(&cut);
    }
    list_release(&whole);
    rh_free(data);
}

static bool is_hit(const struct seen *s, const size_t *hits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (hits[i] >= s->start && hits[i] < s->end) {
            return true;
        }
    }
    return false;
}

/* Every record that was not hit is found, in order, among those read. */
static void check_unhit(const struct seen_list *whole, const struct seen_list *now,
                        const size_t *hits, size_t hit_count)
{
    size_t at = 0, unhit = 0;
    for (size_t i = 0; i < whole->count; i++) {
        if (is_hit(&whole->items[i], hits, hit_count)) {
            continue;
        }
        unhit++;
        while (at < now->count && now->items[at].hash != whole->items[i].hash) {
            at++;
        }
        if (at == now->count) {
            fail_msg("the record at byte %llu was not hit and did not come out",
                     (unsigned long long) whole->items[i].start);
        }
        at++;
    }
    assert_true(unhit > 0);
    /* A hit record comes out once or not at all, but it may have become two. */
    assert_true(now->count <= whole->count + hit_count);
}

static unsigned long long next_random(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return *seed >> 33;
}

static void test_a_thousand_bytes_overwritten(void **state)
{
    (void) state;
    size_t n;
    char *data = load_log(&n);
    struct seen_list whole, now;
    size_t *hits = rh_calloc(1000, sizeof *hits);
    unsigned long long seed = 7;
    read_all(&whole, data, n, 0);
    for (int round = 0; round < 40; round++) {
        char *damaged = rh_memdup(data, n);
        /* All at once, and a few at a time, which leaves more records whole. */
        size_t count = round < 10 ? 1000 : 30;
        for (size_t i = 0; i < count; i++) {
            static const char nasty[] = "\",\n\r\0"
                                        "2- ";
            hits[i] = next_random(&seed) % n;
            unsigned long long any = next_random(&seed);
            damaged[hits[i]] = round % 2 ? (char) any : nasty[any % (sizeof nasty - 1)];
        }
        read_all(&now, damaged, n, 0);
        check_unhit(&whole, &now, hits, count);
        list_release(&now);
        rh_free(damaged);
    }
    list_release(&whole);
    rh_free(hits);
    rh_free(data);
}

/* Each byte of one record, by each of the bytes that matter. */
static void test_every_byte_of_a_record(void **state)
{
    (void) state;
    struct rh_log_maker m;
    struct seen_list whole, now;
    rh_log_maker_init(&m);
    for (int i = 0; i < 5; i++) {
        LOG(&m, .tag = "idle", .message = "statement: SELECT 'a', \"b\"\nFROM c",
            .detail = i % 2 ? "parameters: $1 = 'x'" : NULL);
    }
    read_all(&whole, m.out.data, m.out.len, 0);
    assert_int_equal(whole.count, 5);
    static const char bytes[] = "\",\n\r\0"
                                "2";
    for (size_t at = whole.items[2].start; at < whole.items[2].end; at++) {
        for (size_t k = 0; k < sizeof bytes - 1; k++) {
            char *damaged = rh_memdup(m.out.data, m.out.len);
            damaged[at] = bytes[k];
            read_all(&now, damaged, m.out.len, 0);
            check_unhit(&whole, &now, &at, 1);
            list_release(&now);
            rh_free(damaged);
        }
    }
    list_release(&whole);
    rh_log_maker_release(&m);
}

static void test_chunks_of_any_size(void **state)
{
    (void) state;
    size_t n;
    char *data = load_log(&n);
    struct seen_list whole, now;
    static const size_t chunks[] = {1, 7, 63, 64, 65, 1000, 4096};
    read_all(&whole, data, n, 0);
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        /* Byte by byte is slow: the first part will do. */
        size_t limit = chunks[i] == 1 && n > 20000 ? 20000 : n;
        read_all(&now, data, limit, chunks[i]);
        for (size_t k = 0; k + 1 < now.count; k++) {
            assert_int_equal(now.items[k].hash, whole.items[k].hash);
        }
        assert_true(limit < n || now.count == whole.count);
        list_release(&now);
    }
    list_release(&whole);
    rh_free(data);
}

/* Two lines of real logs with unescaped quotes and without a line end. */
static void test_field_cases(void **state)
{
    (void) state;
    static const char bad_quotes[] =
        "2026-01-01 00:00:00.001 UTC,\"u\",\"d\",1,\"1.1.1.1:1\",65.1,1,\"SELECT\",2026-01-01 "
        "00:00:00 UTC,3/1,0,LOG,00000,\"duration: 1.0 ms  statement: SELECT \"bad\" "
        "quote\",,,,,,,,,\"a\"\n"
        "2026-01-01 00:00:00.002 UTC,\"u\",\"d\",1,\"1.1.1.1:1\",65.1,2,\"SELECT\",2026-01-01 "
        "00:00:00 UTC,3/2,0,LOG,00000,\"duration: 1.000 ms  statement: SELECT 2\",,,,,,,,,\"a\"\n";
    static const char glued[] =
        "2026-01-01 00:00:00.001 UTC,\"u\",\"d\",1,\"1.1.1.1:1\",65.1,1,\"SELECT\",2026-01-01 "
        "00:00:00 UTC,3/1,0,LOG,00000,\"execute x: SELECT 1\",\"parameters: $1 = "
        "'{\"\"content\"\":\"\"/9j/4QEG/ABRQAUUAF2026-01-01 00:00:11.174 "
        "UTC,\"u\",\"d\",1,\"1.1.1.1:1\",65.1,3871,\"SELECT\",2026-01-01 00:00:00 "
        "UTC,3/9,0,LOG,00000,\"duration: 0.100 ms  statement: SELECT 1\",,,,,,,,,\"a\"\n";
    struct rh_probe p;
    rh_probe_init(&p);
    rh_probe_run_bytes(&p, bad_quotes, sizeof bad_quotes - 1, 0);
    assert_int_equal(p.counts.bad[RH_CSVLOG_QUOTING], 1);
    assert_int_equal(p.counts.samples[0].line, 1);
    assert_int_equal(p.counts.records, 2);
    rh_assert_span(rh_probe_statement(&p, 0)->text, "SELECT 2");
    assert_null(rh_probe_statement(&p, 1));
    rh_probe_release(&p);

    rh_probe_init(&p);
    rh_probe_run_bytes(&p, glued, sizeof glued - 1, 0);
    assert_int_equal(rh_log_reader_bad(&p.counts), 1);
    assert_int_equal(p.counts.records, 2);
    rh_assert_span(rh_probe_statement(&p, 0)->text, "SELECT 1");
    rh_probe_release(&p);
}

static void add_text(struct rh_buf *b, const char *text, size_t n)
{
    assert_int_equal(rh_buf_add(b, text, n), 0);
}

static void test_garbage_between_records(void **state)
{
    (void) state;
    struct rh_log_maker m;
    struct rh_probe p;
    rh_log_maker_init(&m);
    add_text(&m.out, "\xef\xbb\xbf\n\r\n",
             6); /* a byte order mark and empty lines are no records */
    LOG(&m, .tag = "idle", .message = "statement: SELECT 1");
    add_text(&m.out, "pg_ctl: could not start server\nExamine the log output.\n", 55);
    LOG(&m, .tag = "idle", .message = "statement: SELECT 2");
    add_text(&m.out, "\0\0\0\0\0\0\0\0", 8); /* a hole after a crash */
    LOG(&m, .tag = "idle", .message = "statement: SELECT 3");
    add_text(&m.out, "2026-01-01 00:00:01.000 UTC,\"u\",\"d\",4001,\"[local]\",695", 54);
    rh_probe_init(&p);
    rh_probe_run_bytes(&p, m.out.data, m.out.len, 0);
    assert_int_equal(rh_capture_stats_statements(&p.stats), 3);
    assert_int_equal(p.counts.records, 6);
    assert_int_equal(p.counts.bad[RH_CSVLOG_NO_STAMP], 1);
    assert_int_equal(p.counts.bad[RH_CSVLOG_NUL], 1);
    assert_int_equal(p.counts.bad[RH_CSVLOG_TRUNCATED], 1);
    assert_int_equal(p.counts.samples[0].line, 4);
    assert_int_equal(p.counts.samples[0].bytes, 55);
    assert_int_equal(p.counts.samples[1].line, 7);
    rh_probe_release(&p);
    rh_log_maker_release(&m);
}

/* A record without end is given up at 64 MiB, in bounded memory; what follows is read. */
static void test_a_record_without_end(void **state)
{
    (void) state;
    struct rh_log_maker m;
    struct seen_list list;
    rh_log_maker_init(&m);
    rh_buf_release(&m.out);
    rh_buf_init(&m.out, 256 * 1024 * 1024);
    LOG(&m, .message = "statement: SELECT 1");
    add_text(&m.out, "2026-01-01 00:00:01.000 UTC,\"u\",\"d\",4001,\"[local]\",6955b900.fa1,9,\"",
             67);
    size_t n = RH_CSVLOG_RECORD_MAX_BYTES + 1024 * 1024;
    char *p = rh_buf_reserve(&m.out, n);
    memset(p, 'x', n);
    for (size_t i = 0; i < n; i += 1000) {
        p[i] = '\n';
    }
    m.out.len += n;
    LOG(&m, .message = "statement: SELECT 2");
    read_all(&list, m.out.data, m.out.len, 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.bad, 1);
    list_release(&list);
    rh_log_maker_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_by_every_length),
        cmocka_unit_test(test_a_thousand_bytes_overwritten),
        cmocka_unit_test(test_every_byte_of_a_record),
        cmocka_unit_test(test_chunks_of_any_size),
        cmocka_unit_test(test_field_cases),
        cmocka_unit_test(test_garbage_between_records),
        cmocka_unit_test(test_a_record_without_end),
    };
    rh_log_reader_init(&reader);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rh_log_reader_release(&reader);
    return failed;
}
