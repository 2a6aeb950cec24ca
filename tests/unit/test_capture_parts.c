/* capture/: cut_evidence, known_names, statement_class, capture_filter, pending */
#include "rh_test.h"

#include <stdio.h>

#include "capture/capture_filter.h"
#include "capture/cut_evidence.h"
#include "capture/ended_sessions.h"
#include "capture/known_names.h"
#include "capture/pending.h"
#include "capture/statement_class.h"
#include "common/alloc.h"

static void test_cut_evidence(void **state)
{
    (void) state;
    struct rh_cut_evidence c;
    rh_cut_evidence_init(&c);
    /* Without evidence it counts as cut. */
    rh_cut_evidence_add(&c, -1, 10);
    assert_true(rh_cut_evidence_judge(&c, 10));
    /* One longer value in full: the dots are honest. */
    rh_cut_evidence_add(&c, 500, 20);
    assert_false(rh_cut_evidence_judge(&c, 20));
    assert_false(rh_cut_evidence_judge(&c, 10));
    /* But nothing speaks for a text longer than all that were whole. */
    rh_cut_evidence_add(&c, -1, 2000);
    assert_true(rh_cut_evidence_judge(&c, 2000));
    /* A limit that was set later: the same length again and again, give or take a character. */
    for (int i = 0; i < 4; i++) {
        rh_cut_evidence_add(&c, 64, 64 - i % 3);
    }
    assert_true(rh_cut_evidence_judge(&c, 64));
    assert_true(rh_cut_evidence_judge(&c, 62));
    assert_false(rh_cut_evidence_judge(&c, 30));
    /* A longer whole value again: the limit is gone. */
    rh_cut_evidence_add(&c, 100, 64);
    assert_false(rh_cut_evidence_judge(&c, 64));
}

static void test_known_names(void **state)
{
    (void) state;
    struct rh_known_names k;
    struct rh_span name, portal;
    rh_known_names_init(&k);
    assert_true(rh_known_names_put(&k, rh_span_cstr("S_1"), rh_span_cstr("SELECT 1")));
    assert_false(rh_known_names_put(&k, rh_span_cstr("S_1"), rh_span_cstr("SELECT 1")));
    assert_true(rh_known_names_put(&k, rh_span_cstr("S_1"), rh_span_cstr("SELECT 2")));
    assert_true(rh_known_names_put(&k, rh_span_cstr("a/b"), rh_span_cstr("SELECT 3")));
    assert_true(rh_known_names_has(&k, rh_span_cstr("a/b")));
    assert_false(rh_known_names_has(&k, rh_span_cstr("a")));

    rh_known_names_cut(&k, rh_span_cstr("a/b"), &name, &portal);
    rh_assert_span(name, "a/b");
    assert_null(portal.data);
    rh_known_names_cut(&k, rh_span_cstr("a/b/c/d"), &name, &portal);
    rh_assert_span(name, "a/b");
    rh_assert_span(portal, "c/d");
    rh_known_names_cut(&k, rh_span_cstr("x/y/z"), &name, &portal);
    rh_assert_span(name, "x");
    rh_assert_span(portal, "y/z");
    rh_known_names_cut(&k, rh_span_cstr("plain"), &name, &portal);
    rh_assert_span(name, "plain");
    rh_known_names_cut(&k, rh_span_cstr("ends/"), &name, &portal);
    rh_assert_span(name, "ends");
    rh_known_names_cut(&k, RH_SPAN_NONE, &name, &portal);
    assert_int_equal(name.len, 0);

    rh_known_names_clear(&k);
    assert_false(rh_known_names_has(&k, rh_span_cstr("a/b")));
    for (int i = 0; i < RH_KNOWN_NAMES_MAX + 10; i++) {
        char text[20];
        snprintf(text, sizeof text, "S_%d", i);
        assert_true(rh_known_names_put(&k, rh_span_cstr(text), rh_span_cstr("SELECT 1")));
        assert_true(k.count <= RH_KNOWN_NAMES_MAX);
    }
    assert_true(rh_known_names_has(&k, rh_span_cstr("S_4105")));
    rh_known_names_release(&k);
}

static void test_statement_class(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        enum rh_txn_effect effect;
        bool control;
    } rows[] = {
        {"SELECT 1", RH_TXN_STAYS, false},
        {"BEGIN", RH_TXN_OPENS, true},
        {"begin;", RH_TXN_OPENS, true},
        {" Rollback ;; ", RH_TXN_CLOSES, true},
        {"commit\v", RH_TXN_CLOSES, true},
        {"COMMENT", RH_TXN_STAYS, false},
        {"/* x */ BEGIN", RH_TXN_OPENS, true},
        {"START TRANSACTION READ ONLY", RH_TXN_OPENS, true},
        {"end", RH_TXN_CLOSES, true},
        {"COMMIT PREPARED 'x'", RH_TXN_STAYS, true},
        {"ROLLBACK TO s1", RH_TXN_STAYS, true},
        {"ROLLBACK; BEGIN", RH_TXN_OPENS, true},
        {"BEGIN; SELECT 1; COMMIT", RH_TXN_CLOSES, false},
        {"COMMIT AND CHAIN", RH_TXN_CHAINS, true},
        {"SET search_path = x", RH_TXN_STAYS, true},
        {"DEALLOCATE ALL", RH_TXN_STAYS, true},
        {"SELECT 'a; COMMIT'", RH_TXN_STAYS, false},
        {"ENDOW", RH_TXN_STAYS, false},
        {"", RH_TXN_STAYS, false},
        {"COPY t FROM STDIN", RH_TXN_STAYS, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_statement_class c;
        rh_statement_classify(rh_span_cstr(rows[i].text), &c);
        if (c.effect != rows[i].effect || rh_statement_is_control(&c) != rows[i].control) {
            fail_msg("%s: effect %d, control %d", rows[i].text, c.effect,
                     rh_statement_is_control(&c));
        }
    }
    assert_true(rh_statement_has_params(rh_span_cstr("SELECT $1")));
    assert_true(rh_statement_has_params(rh_span_cstr("SELECT '$2', x$y, $12")));
    assert_false(rh_statement_has_params(rh_span_cstr("SELECT '$1', $$ $2 $$, \"$3\" -- $4")));
    assert_false(rh_statement_has_params(rh_span_cstr("")));
}

static void test_what_must_stay(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        bool alone; /* as a transaction of its own */
        bool within;
    } rows[] = {
        {"SELECT 'COMMIT'", false, false},
        {"COMMENT ON TABLE t IS 'x'", false, false},
        {"END", true, true},
        {"SAVEPOINT a", true, true},
        {"INSERT INTO t VALUES (1); COMMIT", false, true},
        {"BEGIN; INSERT INTO t VALUES (1)", false, true},
        {"SET LOCAL x = 1; SELECT 1", false, true},
        {"SET x = 1; SELECT 1", true, true},
        {"/* a */ ROLLBACK PREPARED 'x'", true, true},
        {"SET CONSTRAINTS ALL DEFERRED; DELETE FROM t", true, true},
        {"DISCARD TEMP", true, true},
        {"COPY t FROM STDIN", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_statement_class c;
        rh_statement_classify(rh_span_cstr(rows[i].text), &c);
        if (rh_statement_must_stay(&c, true) != rows[i].alone ||
            rh_statement_must_stay(&c, false) != rows[i].within) {
            fail_msg("%s: %d %d", rows[i].text, rh_statement_must_stay(&c, true),
                     rh_statement_must_stay(&c, false));
        }
    }
}

static void test_sample(void **state)
{
    (void) state;
    struct rh_capture_filter f;
    rh_capture_filter_init(&f);
    assert_true(rh_capture_filter_sampled(&f, 1));
    unsigned kept = 0, tenth = 0;
    for (uint64_t key = 0; key < 20000; key++) {
        uint64_t id = UINT64_C(0x6955b900) << 32 | (4000 + key);
        rh_capture_filter_sample(&f, 0.1);
        bool small = rh_capture_filter_sampled(&f, id);
        rh_capture_filter_sample(&f, 0.25);
        bool large = rh_capture_filter_sampled(&f, id);
        assert_true(large || !small); /* a larger part holds the smaller one */
        tenth += small;
        kept += large;
    }
    assert_in_range(tenth, 1800, 2200);
    assert_in_range(kept, 4750, 5250);
    rh_capture_filter_sample(&f, 1);
    assert_true(rh_capture_filter_sampled(&f, 7));
    assert_false(rh_capture_filter_is_partial(&f));
}

static void test_filter(void **state)
{
    (void) state;
    struct rh_capture_filter f;
    struct rh_error err;
    const char *names[] = {"app"}, *yes[] = {"orders", "items"}, *no[] = {"(?i)delete"};
    const char *wrong[] = {"("};
    struct rh_str_list none = {0}, include = {yes, 2, 2}, exclude = {no, 1, 1};
    struct rh_str_list broken = {wrong, 1, 1};
    rh_capture_filter_init(&f);
    assert_true(rh_capture_filter_session(&f, rh_span_cstr("u"), RH_SPAN_NONE));
    assert_true(rh_capture_filter_time(&f, 0));
    assert_false(rh_capture_filter_is_partial(&f));
    assert_int_equal(rh_capture_filter_add_patterns(&f, &broken, &none, &err), -1);
    rh_capture_filter_release(&f);
    assert_int_equal(rh_capture_filter_add_patterns(&f, &include, &exclude, &err), 0);
    f.applications = (struct rh_str_list){names, 1, 1};
    assert_true(rh_capture_filter_is_partial(&f));
    struct rh_span app = rh_span_cstr("app");
    assert_true(rh_capture_filter_text(&f, rh_span_cstr("SELECT * FROM items")));
    assert_false(rh_capture_filter_text(&f, rh_span_cstr("SELECT 1")));
    assert_true(rh_capture_filter_application(&f, app));
    assert_false(rh_capture_filter_text(&f, rh_span_cstr("DELETE FROM orders")));
    assert_false(rh_capture_filter_application(&f, rh_span_cstr("application")));
    rh_capture_filter_release(&f);
}

static void test_pendings_are_reused(void **state)
{
    (void) state;
    struct rh_pending_pool pool;
    rh_pending_pool_init(&pool);
    char *large = rh_malloc(300000);
    memset(large, 'x', 300000);
    uint64_t before = 0;
    for (int round = 0; round < 10; round++) {
        struct rh_pending *p = rh_pending_get(&pool, RH_KIND_QUERY);
        struct rh_piece text, none, empty;
        rh_pending_store(&pool, p, &text, rh_span_cstr("SELECT 1"));
        rh_pending_store(&pool, p, &none, RH_SPAN_NONE);
        rh_pending_store(&pool, p, &empty, rh_span_cstr(""));
        rh_assert_span(rh_pending_span(p, text), "SELECT 1");
        assert_null(rh_pending_span(p, none).data);
        assert_non_null(rh_pending_span(p, empty).data);
        if (round == 4) {
            rh_pending_store(&pool, p, &none, rh_span(large, 300000));
            rh_assert_span(rh_pending_span(p, text), "SELECT 1");
            assert_true(pool.bytes >= 300000);
        }
        rh_pending_put(&pool, p);
        assert_int_equal(pool.bytes, 0);
        if (round > 5) {
            assert_int_equal(rh_alloc_count(), before);
        }
        before = rh_alloc_count();
    }
    rh_free(large);
    rh_pending_pool_release(&pool);
}

static void test_seen_lines(void **state)
{
    (void) state;
    struct rh_seen_lines s = {0};
    for (uint64_t line = 10; line <= 10 * (RH_LINE_HOLES_MAX + 2); line += 10) {
        rh_seen_lines_add(&s, line);
    }
    assert_int_equal(s.hole_count, RH_LINE_HOLES_MAX);
    assert_true(rh_seen_lines_fill(&s, 10)); /* forgotten: on the safe side */
    assert_false(rh_seen_lines_fill(&s, 30));
    assert_true(rh_seen_lines_fill(&s, 31));
    assert_false(rh_seen_lines_fill(&s, 31));
    rh_seen_lines_add(&s, 1);
    assert_false(rh_seen_lines_fill(&s, 1));
}

static void test_ended_sessions_are_bounded(void **state)
{
    (void) state;
    struct rh_ended_sessions e;
    struct rh_seen_lines s = {0}, got;
    rh_ended_sessions_init(&e);
    e.max = 8;
    rh_seen_lines_add(&s, 5);
    for (uint64_t key = 1; key <= 11; key++) {
        rh_ended_sessions_put(&e, key, &s);
    }
    assert_false(rh_ended_sessions_get(&e, 4, &got));
    assert_true(rh_ended_sessions_get(&e, 5, &got));
    assert_true(rh_ended_sessions_get(&e, 11, &got));
    assert_int_equal(got.last, 5);
    assert_int_equal(got.hole_count, 1);
    assert_int_equal(got.holes[0].to, 4);
    rh_ended_sessions_release(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_evidence),
        cmocka_unit_test(test_known_names),
        cmocka_unit_test(test_statement_class),
        cmocka_unit_test(test_what_must_stay),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_pendings_are_reused),
        cmocka_unit_test(test_seen_lines),
        cmocka_unit_test(test_ended_sessions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
