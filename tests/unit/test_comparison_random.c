#include "rh_test.h"

#include <stdlib.h>

#include "diff/report.h"
#include "diff_fixture.h"

enum { SESSIONS = 12, PER_SESSION = 250, COUNT = SESSIONS * PER_SESSION, QUERIES = 9 };

static const char *const sqls[QUERIES] = {
    "select a from t where id = 1",
    "select b from t where id in (1, 2, 3)",
    "update t set a = 5 where id = 7",
    "insert into t values (1, 'x')",
    "delete from t where id = 3",
    "begin",
    "commit",
    "select count(*) from u",
    "select f('y')",
};
static const char *const states[] = {NULL, NULL, NULL, NULL, NULL, "23505", "40001", "", "57014"};

/* The same statement on both sides; sql is NULL where a side does not have it. */
static struct fx_statement twins[COUNT][RH_SIDES];
static uint8_t query_of[COUNT];

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t) (seed >> 33) % n;
}

static void set_outcome(struct fx_statement *s)
{
    static const enum rh_fate fates[] = {RH_FATE_SKIPPED, RH_FATE_NOT_SENT, RH_FATE_LOST};
    s->service_us = 1 + random_below(random_below(2) ? 100 : 100000);
    s->sqlstate = states[random_below(FX_COUNT(states))];
    s->rows_plus_1 = random_below(4);
    if (random_below(12) == 0) {
        s->fate = fates[random_below(3)];
        s->reason = s->fate == RH_FATE_LOST ? RH_REASON_NONE : RH_REASON_STOPPED;
        s->sqlstate = "";
        s->service_us = 0;
    }
}

/* shift_us: how far the candidate's sessions are from where the base has them. */
static void make_twins(int64_t shift_us)
{
    for (int session = 0; session < SESSIONS; session++) {
        int64_t at[RH_SIDES] = {random_below(1000), random_below(1000)};
        at[RH_CANDIDATE] += (session % 3) * shift_us;
        for (int i = 0; i < PER_SESSION; i++) {
            int k = session * PER_SESSION + i;
            query_of[k] = (uint8_t) random_below(QUERIES);
            for (int side = 0; side < RH_SIDES; side++) {
                at[side] += random_below(400);
                twins[k][side] = (struct fx_statement){
                    .session = (uint32_t) session + 1,
                    .ordinal = (uint64_t) i + 1,
                    .start_us = at[side],
                    .sql = random_below(40) ? sqls[query_of[k]] : NULL,
                };
                set_outcome(&twins[k][side]);
            }
        }
    }
}

static int order_by_start(const void *a, const void *b)
{
    const struct fx_statement *x = a;
    const struct fx_statement *y = b;
    if (x->start_us != y->start_us) {
        return x->start_us < y->start_us ? -1 : 1;
    }
    if (x->session != y->session) {
        return x->session < y->session ? -1 : 1;
    }
    return x->ordinal < y->ordinal ? -1 : 1;
}

static void compare_twins(struct rh_comparison *c, uint64_t memory_bytes)
{
    static struct fx_statement lines[RH_SIDES][COUNT];
    size_t count[RH_SIDES] = {0, 0};
    for (int k = 0; k < COUNT; k++) {
        for (int side = 0; side < RH_SIDES; side++) {
            if (twins[k][side].sql) {
                lines[side][count[side]++] = twins[k][side];
            }
        }
    }
    for (int side = 0; side < RH_SIDES; side++) {
        qsort(lines[side], count[side], sizeof lines[side][0], order_by_start);
    }
    struct fx_file base = fx_run("base.run", 2, lines[RH_BASE], count[RH_BASE]);
    struct fx_file candidate = fx_run("candidate.run", 3, lines[RH_CANDIDATE], count[RH_CANDIDATE]);
    fx_compare(c, &base, &candidate, memory_bytes, 0);
}

static bool ran(const struct fx_statement *s)
{
    return s->sql && !s->fate;
}

static bool succeeded(const struct fx_statement *s)
{
    return ran(s) && !s->sqlstate;
}

static bool failed(const struct fx_statement *s)
{
    return ran(s) && s->sqlstate && s->sqlstate[0];
}

static void count_rows(struct rh_query_pairs *want, const struct fx_statement *b,
                       const struct fx_statement *c)
{
    if (b->rows_plus_1 && c->rows_plus_1) {
        want->rows_compared++;
        want->row_mismatches += b->rows_plus_1 != c->rows_plus_1;
    }
}

static void check_query(const struct rh_comparison *cmp, uint8_t query)
{
    struct rh_query_pairs want = {0};
    uint64_t calls[RH_SIDES] = {0, 0};
    uint64_t errors[RH_SIDES] = {0, 0};
    for (int k = 0; k < COUNT; k++) {
        const struct fx_statement *b = &twins[k][RH_BASE];
        const struct fx_statement *c = &twins[k][RH_CANDIDATE];
        if (query_of[k] != query) {
            continue;
        }
        calls[RH_BASE] += ran(b);
        calls[RH_CANDIDATE] += ran(c);
        errors[RH_BASE] += failed(b);
        errors[RH_CANDIDATE] += failed(c);
        want.missing += ran(b) && !ran(c);
        want.broke += succeeded(b) && failed(c);
        want.fixed += failed(b) && succeeded(c);
        if (succeeded(b) && succeeded(c)) {
            want.timed++;
            want.base_ns += (uint64_t) b->service_us * 1000;
            want.candidate_ns += (uint64_t) c->service_us * 1000;
            count_rows(&want, b, c);
        }
    }
    const struct rh_query *q = fx_query(cmp, sqls[query]);
    for (int side = 0; side < RH_SIDES; side++) {
        assert_int_equal(q->side[side].calls, calls[side]);
        assert_int_equal(q->side[side].errors, errors[side]);
    }
    assert_true(want.timed > 50 && want.missing > 0 && want.broke > 0 && want.row_mismatches > 0);
    assert_memory_equal(&q->pairs, &want, sizeof want);
}

static void check_error(const struct rh_comparison *cmp, const char *state, uint8_t query)
{
    uint64_t counts[RH_SIDES] = {0, 0};
    for (int k = 0; k < COUNT; k++) {
        for (int side = 0; side < RH_SIDES; side++) {
            const struct fx_statement *s = &twins[k][side];
            counts[side] += query_of[k] == query && failed(s) && strcmp(s->sqlstate, state) == 0;
        }
    }
    const struct rh_query *q = fx_query(cmp, sqls[query]);
    for (uint32_t i = 1; i < cmp->errors.count; i++) {
        const struct rh_error_group *g = &cmp->errors.items[i];
        if (g->sqlstate == rh_sqlstate_pack(rh_span_cstr(state)) &&
            &cmp->queries.items[g->query] == q) {
            assert_int_equal(g->counts[RH_BASE], counts[RH_BASE]);
            assert_int_equal(g->counts[RH_CANDIDATE], counts[RH_CANDIDATE]);
            return;
        }
    }
    assert_int_equal(counts[RH_BASE] + counts[RH_CANDIDATE], 0);
}

static void check_all(const struct rh_comparison *cmp)
{
    uint64_t both = 0;
    uint64_t candidate_only = 0;
    for (int k = 0; k < COUNT; k++) {
        both += twins[k][RH_BASE].sql && twins[k][RH_CANDIDATE].sql;
        candidate_only += !twins[k][RH_BASE].sql && ran(&twins[k][RH_CANDIDATE]);
    }
    assert_int_equal(cmp->pairs.paired, both);
    assert_int_equal(cmp->pairs.candidate_only, candidate_only);
    assert_int_equal(cmp->pairs.unpairable, 0);
    for (int query = 0; query < QUERIES; query++) {
        check_query(cmp, (uint8_t) query);
        check_error(cmp, "23505", (uint8_t) query);
        check_error(cmp, "40001", (uint8_t) query);
        check_error(cmp, "57014", (uint8_t) query);
    }
}

static void test_against_brute_force(void **state)
{
    (void) state;
    for (uint64_t round = 1; round <= 6; round++) {
        struct rh_comparison cmp;
        seed = round;
        make_twins(round <= 3 ? 0 : 40000);
        compare_twins(&cmp, 0);
        assert_int_equal(cmp.passes, 1);
        check_all(&cmp);
        fx_close(&cmp);
    }
}

/* The whole report but for the number of passes; the caller frees it. */
static char *json_of(const struct rh_comparison *cmp)
{
    struct rh_error err = {0};
    struct rh_result result;
    struct rh_report_sink sink;
    rh_result_make(&result, cmp, NULL);
    struct rh_report report = {.result = &result, .limit = 20};
    rh_report_sink_init(&sink, NULL, &err);
    assert_int_equal(rh_report_json(&report, &sink), 0);
    char *text = strdup(rh_buf_cstr(&sink.buf));
    char *passes = strstr(text, "\"passes\": ");
    assert_non_null(passes);
    size_t digits = strcspn(passes + 10, "\n");
    memmove(passes + 10, passes + 10 + digits, strlen(passes + 10 + digits) + 1);
    rh_report_sink_release(&sink);
    rh_result_release(&result);
    return text;
}

/* With too little memory the files are read several times and the report is the same, byte for
 * byte. */
static void test_several_passes(void **state)
{
    (void) state;
    struct rh_comparison once;
    struct rh_comparison often;
    seed = 7;
    make_twins(40000);
    compare_twins(&once, 0);
    assert_int_equal(once.passes, 1);
    char *want = json_of(&once);
    fx_close(&once);

    static const uint64_t sizes[] = {60000, 25000};
    uint32_t passes = 1;
    for (size_t i = 0; i < FX_COUNT(sizes); i++) {
        compare_twins(&often, sizes[i]);
        assert_true(often.passes > passes);
        passes = often.passes;
        check_all(&often);
        char *got = json_of(&often);
        size_t same = 0;
        while (got[same] && got[same] == want[same]) {
            same++;
        }
        if (got[same] != want[same]) {
            size_t from = same < 300 ? 0 : same - 300;
            fail_msg("%.400s\ninstead of\n%.400s", got + from, want + from);
        }
        free(got);
        fx_close(&often);
    }
    free(want);
}

/* Swapping the sides swaps every number. */
static void test_sides_swap(void **state)
{
    (void) state;
    struct rh_comparison cmp;
    struct rh_query_pairs forth[QUERIES];
    seed = 11;
    make_twins(5000);
    compare_twins(&cmp, 0);
    for (int i = 0; i < QUERIES; i++) {
        forth[i] = fx_query(&cmp, sqls[i])->pairs;
    }
    uint64_t pairs = cmp.pairs.paired;
    fx_close(&cmp);
    for (int k = 0; k < COUNT; k++) {
        struct fx_statement s = twins[k][RH_BASE];
        twins[k][RH_BASE] = twins[k][RH_CANDIDATE];
        twins[k][RH_CANDIDATE] = s;
    }
    compare_twins(&cmp, 0);
    assert_int_equal(cmp.pairs.paired, pairs);
    for (int i = 0; i < QUERIES; i++) {
        const struct rh_query_pairs *back = &fx_query(&cmp, sqls[i])->pairs;
        assert_int_equal(back->timed, forth[i].timed);
        assert_int_equal(back->base_ns, forth[i].candidate_ns);
        assert_int_equal(back->candidate_ns, forth[i].base_ns);
        assert_int_equal(back->broke, forth[i].fixed);
        assert_int_equal(back->row_mismatches, forth[i].row_mismatches);
    }
    fx_close(&cmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_several_passes),
        cmocka_unit_test(test_sides_swap),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
