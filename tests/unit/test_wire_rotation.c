/* capture/wire_rotation: a capture in several files, on records made here. */
#include "rh_test.h"

#include <string.h>

#include "capture/wire_rotation.h"
#include "trace_testing.h"

enum { SESSIONS = 6, FILES_MAX = 64 };

static const int64_t begin_ns = INT64_C(1735689600000000000);

struct run {
    struct rh_wire_rotation r;
    struct rh_rotation_options options;
    struct rh_wire_server server;
    char *path;
    uint64_t seed;
    int64_t now_ns; /* of the ticks, and of the records */
    uint64_t ordinals[SESSIONS + 1];
    bool inside[SESSIONS + 1];
    uint64_t open[SESSIONS + 1]; /* a statement that has no outcome yet, 0: none */
};

static void run_open(struct run *run, uint64_t bytes, int64_t every_ns, int64_t seal_ns)
{
    struct rh_error err = {0};
    *run = (struct run){.path = testing_path("rotation.trace"), .seed = 4711, .now_ns = begin_ns};
    run->options = (struct rh_rotation_options){
        .path = run->path,
        .bytes = bytes,
        .every_ns = every_ns,
        .seal_ns = seal_ns,
    };
    snprintf(run->server.address, sizeof run->server.address, "192.0.2.1:5432");
    if (rh_wire_rotation_open(&run->r, &run->options, &run->server, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static uint32_t run_finish(struct run *run)
{
    struct rh_error err = {0};
    uint32_t count = run->r.count;
    if (rh_wire_rotation_finish(&run->r, false, &err) != 0) {
        fail_msg("%s", err.text);
    }
    rh_wire_rotation_release(&run->r);
    return count;
}

static void run_remove(struct run *run, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        testing_remove(rh_wire_rotation_name(run->path, i));
    }
    rh_free(run->path);
}

static void tick(struct run *run, int64_t after_ns)
{
    struct rh_error err = {0};
    run->now_ns += after_ns;
    if (rh_wire_rotation_tick(&run->r, run->now_ns, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void tell(struct run *run, uint32_t number)
{
    struct rh_error err = {0};
    const struct rh_session s = {
        .number = number,
        .user = RH_SPAN_LITERAL("shop"),
        .opened_ns = run->now_ns,
        .closed_ns = RH_TIME_UNKNOWN,
    };
    assert_int_equal(run->r.sink.session(&run->r, &s, &err), 0);
}

static void put(struct run *run, struct rh_record *r)
{
    struct rh_error err = {0};
    r->start_ns = run->now_ns;
    run->now_ns += 1000;
    if (run->r.sink.record(&run->r, r, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* A statement with these marks; without an outcome it is left open. */
static void statement(struct run *run, uint32_t session, uint8_t txn, bool done)
{
    char text[64];
    struct rh_record r;
    rh_record_init(&r);
    r.session = session;
    r.ordinal = ++run->ordinals[session];
    r.txn = txn;
    snprintf(text, sizeof text, "SELECT '%u %llu'", session, (unsigned long long) r.ordinal);
    r.text = rh_span_cstr(text);
    if (done) {
        r.outcome.done_ns = run->now_ns + 500;
        r.outcome.sqlstate = 0;
    }
    run->open[session] = done ? 0 : r.ordinal;
    run->inside[session] = !(txn & RH_TXN_ENDS);
    put(run, &r);
}

static void of_open(struct run *run, uint32_t session, enum rh_kind kind)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = kind;
    r.session = session;
    r.ordinal = run->open[session];
    if (kind == RH_KIND_COPY_DATA) {
        r.detail = RH_SPAN_LITERAL("d\0\0\0\6x\n");
        r.count = 1;
    } else {
        r.outcome.sqlstate = 0;
        r.outcome.done_ns = run->now_ns;
        run->open[session] = 0;
    }
    put(run, &r);
}

static void random_step(struct run *run)
{
    uint32_t s = 1 + (uint32_t) testing_below(&run->seed, SESSIONS);
    if (run->open[s]) {
        of_open(run, s, testing_chance(&run->seed, 50) ? RH_KIND_COPY_DATA : RH_KIND_OUTCOME);
        return;
    }
    uint8_t txn = run->inside[s] ? 0 : RH_TXN_BEGINS;
    txn |= testing_chance(&run->seed, 30) ? RH_TXN_ENDS : RH_TXN_BLOCK;
    statement(run, s, txn, testing_chance(&run->seed, 80));
}

/* What the files hold, in their order. */
struct found {
    uint64_t last[SESSIONS + 1];
    uint64_t outcomes;
    uint64_t copies;
    uint64_t torn; /* a file begins a session within a transaction */
    uint64_t dropped;
    uint64_t drops; /* of the kernel, session 0 */
};

static void read_file(struct found *f, const char *path, bool is_first)
{
    struct rh_error err = {0};
    struct rh_trace_reader *reader = NULL;
    struct rh_record r;
    bool seen[SESSIONS + 1] = {false};
    struct rh_trace_file *file = testing_open_file(path);
    const struct rh_trace_header *h = rh_trace_file_header(file);
    assert_true(rh_trace_file_complete(file));
    assert_int_equal(rh_trace_header_setting(h, "continues").data == NULL, is_first);
    testing_assert_span(h->server_address, rh_span_cstr("192.0.2.1:5432"), "server");
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    while (rh_trace_reader_next(reader, &r, &err) == 1) {
        assert_true(r.session <= SESSIONS);
        if (rh_kind_has_ordinal(r.kind)) {
            assert_int_equal(r.ordinal, f->last[r.session] + 1);
            f->last[r.session] = r.ordinal;
            f->outcomes += r.outcome.sqlstate == 0;
            f->torn += !seen[r.session] && !(r.txn & RH_TXN_BEGINS);
            seen[r.session] = true;
        } else if (r.kind == RH_KIND_COPY_DATA) {
            f->copies++;
            assert_true(r.ordinal <= f->last[r.session]);
        } else if (r.kind == RH_KIND_GAP && r.session == 0) {
            f->drops += r.count;
        } else if (r.kind == RH_KIND_GAP) {
            f->dropped += r.count;
        }
    }
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
}

static void read_files(struct found *f, const struct run *run, uint32_t count)
{
    *f = (struct found){0};
    for (uint32_t i = 0; i < count; i++) {
        char *path = rh_wire_rotation_name(run->path, i);
        read_file(f, path, i == 0);
        rh_free(path);
    }
}

/* Each record is in one file, whole transactions are, and what belongs to a statement is with it.
 */
static void test_random(void **state)
{
    (void) state;
    for (uint64_t round = 0; round < 20; round++) {
        struct run run;
        struct found found;
        run_open(&run, 0, 400000, round % 2 ? 50000 : 0);
        run.seed = 99 + round * 7919;
        for (uint32_t s = 1; s <= SESSIONS; s++) {
            tell(&run, s);
        }
        for (int i = 0; i < 3000; i++) {
            random_step(&run);
            if (testing_chance(&run.seed, 20)) {
                tick(&run, 0);
            }
        }
        for (uint32_t s = 1; s <= SESSIONS; s++) {
            if (run.open[s]) {
                of_open(&run, s, RH_KIND_OUTCOME);
            }
        }
        uint32_t count = run_finish(&run);
        assert_in_range(count, 3, FILES_MAX);
        read_files(&found, &run, count);
        uint64_t total = 0;
        for (uint32_t s = 1; s <= SESSIONS; s++) {
            assert_int_equal(found.last[s], run.ordinals[s]);
            total += run.ordinals[s];
        }
        assert_int_equal(found.outcomes, total);
        assert_int_equal(found.torn, 0);
        assert_int_equal(found.dropped, 0);
        assert_true(found.copies > 0);
        run_remove(&run, count);
    }
}

/* A transaction that lasts longer than the file before is kept: its rest is in the next file; what
 * came late of statements in the one before is counted as missing. */
static void test_grace(void **state)
{
    (void) state;
    struct run run;
    struct found found;
    run_open(&run, 0, 1000000, 0);
    tell(&run, 1);
    tell(&run, 2);
    tick(&run, 0);
    statement(&run, 1, RH_TXN_BEGINS | RH_TXN_BLOCK, true);
    statement(&run, 2, RH_TXN_BEGINS | RH_TXN_ENDS, false); /* COPY that goes on */
    of_open(&run, 2, RH_KIND_COPY_DATA);
    tick(&run, 1000000);
    assert_int_equal(run.r.count, 2);
    assert_int_equal(run.r.behind, 2);
    run.options.every_ns = run.r.options.every_ns = 0;
    statement(&run, 1, RH_TXN_BLOCK, true); /* still in the first file */
    tick(&run, RH_ROTATION_GRACE_NS - 100000);
    assert_non_null(run.r.before);
    of_open(&run, 2, RH_KIND_COPY_DATA);
    tick(&run, 100000);
    assert_null(run.r.before);
    uint64_t cut = run.open[2];
    of_open(&run, 2, RH_KIND_COPY_DATA); /* its statement is in the first file */
    run.open[2] = cut;
    of_open(&run, 2, RH_KIND_OUTCOME);
    statement(&run, 1, RH_TXN_BLOCK | RH_TXN_ENDS, true);
    statement(&run, 2, RH_TXN_BEGINS | RH_TXN_ENDS, true);
    struct rh_record gap;
    rh_record_init(&gap);
    gap.kind = RH_KIND_GAP;
    gap.count = 17;
    gap.detail = RH_SPAN_LITERAL("packets dropped by the kernel");
    put(&run, &gap);
    run.r.sink.end_session(&run.r, 1);
    uint32_t count = run_finish(&run);
    assert_int_equal(count, 2);
    read_files(&found, &run, count);
    assert_int_equal(found.last[1], 3);
    assert_int_equal(found.last[2], 2);
    assert_int_equal(found.outcomes, 4);
    assert_int_equal(found.copies, 2);
    assert_int_equal(found.dropped, 2);
    assert_int_equal(found.torn, 1);
    assert_int_equal(found.drops, 17);
    run_remove(&run, count);
}

static void test_size(void **state)
{
    (void) state;
    struct run run;
    struct found found;
    run_open(&run, 4000, 0, 1);
    tell(&run, 1);
    for (int i = 0; i < 2000; i++) {
        statement(&run, 1, RH_TXN_BEGINS | RH_TXN_ENDS, true);
        if (i % 50 == 0) {
            tick(&run, 1);
        }
    }
    uint32_t count = run_finish(&run);
    assert_in_range(count, 3, FILES_MAX);
    read_files(&found, &run, count);
    assert_int_equal(found.last[1], 2000);
    /* A session that ended before is in no later file. */
    run_remove(&run, count);
}

static void test_names(void **state)
{
    (void) state;
    static const struct {
        const char *path;
        uint32_t number;
        const char *want;
    } cases[] = {
        {"a.trace", 0, "a.trace"},
        {"a.trace", 1, "a.0001.trace"},
        {"/x/a.b.trace", 2, "/x/a.b.0002.trace"},
        {"a", 3, "a.0003"},
        {".trace", 1, ".trace.0001"},
        {"a.trace", 12345, "a.12345.trace"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *name = rh_wire_rotation_name(cases[i].path, cases[i].number);
        assert_string_equal(name, cases[i].want);
        rh_free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_grace),
        cmocka_unit_test(test_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
