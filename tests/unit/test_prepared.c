#include "rh_test.h"

#include <stdio.h>

#include "common/buf.h"
#include "replay/prepared.h"

static void apply(struct rh_prepared *p, const char *text)
{
    if (rh_prepared_concerns(rh_span_cstr(text))) {
        rh_prepared_apply(p, rh_span_cstr(text));
    }
}

static bool has(const struct rh_prepared *p, const char *name)
{
    return rh_prepared_has(p, rh_span_cstr(name));
}

static void test_put_and_forget(void **state)
{
    (void) state;
    struct rh_prepared p;
    uint64_t one = rh_prepared_text_hash(RH_SPAN_LITERAL("SELECT 1"));
    uint64_t two = rh_prepared_text_hash(RH_SPAN_LITERAL("SELECT 2"));
    assert_int_not_equal(one, two);
    rh_prepared_init(&p);
    assert_false(has(&p, "S_1"));
    rh_prepared_forget(&p, RH_SPAN_LITERAL("S_1"));
    rh_prepared_put(&p, RH_SPAN_LITERAL("S_1"), one);
    assert_true(rh_prepared_is(&p, RH_SPAN_LITERAL("S_1"), one));
    assert_false(rh_prepared_is(&p, RH_SPAN_LITERAL("S_1"), two));
    assert_false(rh_prepared_is(&p, RH_SPAN_LITERAL("S_2"), one));
    rh_prepared_put(&p, RH_SPAN_LITERAL("S_1"), two);
    assert_true(rh_prepared_is(&p, RH_SPAN_LITERAL("S_1"), two));
    rh_prepared_forget(&p, RH_SPAN_LITERAL("S_1"));
    assert_false(has(&p, "S_1"));
    rh_prepared_release(&p);
}

static void test_sql(void **state)
{
    (void) state;
    struct rh_prepared p;
    rh_prepared_init(&p);
    apply(&p, "PREPARE Find AS SELECT 1");
    assert_true(has(&p, "find"));
    apply(&p, "/* c */ prepare \"Odd Name\" (int) as select $1");
    assert_true(has(&p, "Odd Name"));
    apply(&p, "SELECT 'DEALLOCATE ALL'");
    apply(&p, "PREPARE TRANSACTION 'find'");
    assert_true(has(&p, "find"));
    apply(&p, "DEALLOCATE FIND");
    assert_false(has(&p, "find"));
    apply(&p, "ROLLBACK; DEALLOCATE ALL");
    assert_false(has(&p, "Odd Name"));
    apply(&p, "PREPARE a AS SELECT 1; PREPARE b AS SELECT 2;");
    assert_true(has(&p, "a") && has(&p, "b"));
    apply(&p, "discard all");
    assert_false(has(&p, "a") || has(&p, "b"));
    rh_prepared_release(&p);
}

static void test_concerns(void **state)
{
    (void) state;
    static const char *const no[] = {
        "", "SELECT 1", "SELECT 1;", "preparation", "UPDATE t SET a=1", "-- prepare\nSELECT 1"};
    static const char *const yes[] = {"PREPARE a AS SELECT 1", "  Deallocate all", "SELECT 1; x"};
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        assert_false(rh_prepared_concerns(rh_span_cstr(no[i])));
    }
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        assert_true(rh_prepared_concerns(rh_span_cstr(yes[i])));
    }
    assert_false(rh_prepared_concerns(RH_SPAN_NONE));
}

static void test_name(void **state)
{
    (void) state;
    struct rh_buf name;
    rh_buf_init(&name, 100);
    assert_true(rh_prepared_name(RH_SPAN_LITERAL("PREPARE Get(int) AS SELECT $1"), &name));
    rh_assert_span(rh_buf_span(&name), "get");
    assert_false(rh_prepared_name(RH_SPAN_LITERAL("SELECT 1"), &name));
    assert_false(rh_prepared_name(RH_SPAN_NONE, &name));
    rh_buf_release(&name);
}

/* However many names a session has, what is kept is bounded, and forgetting is harmless. */
static void test_bound(void **state)
{
    (void) state;
    struct rh_prepared p;
    char name[32];
    rh_prepared_init(&p);
    for (int i = 0; i < RH_PREPARED_MAX + 10; i++) {
        snprintf(name, sizeof name, "s%d", i);
        rh_prepared_put(&p, rh_span_cstr(name), 1);
        assert_true(p.names.count <= RH_PREPARED_MAX);
    }
    assert_true(has(&p, name));
    assert_false(has(&p, "s0"));
    rh_prepared_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_and_forget), cmocka_unit_test(test_sql),
        cmocka_unit_test(test_concerns),       cmocka_unit_test(test_name),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
