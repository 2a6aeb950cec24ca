#include "rh_test.h"

#include "replay/tally.h"

static void set(struct rh_tally *t, uint64_t sent, uint64_t failed, uint64_t known, uint64_t there)
{
    t->statements_sent = sent;
    t->statements_failed = failed;
    t->production_known = known;
    t->production_failed = there;
}

static void test_excess(void **state)
{
    (void) state;
    struct rh_tally t;
    rh_tally_init(&t);
    assert_int_equal(rh_tally_excess(&t), 0);
    set(&t, 10000, 1727, 10000, 12);
    assert_int_equal(rh_tally_excess(&t), 1715);
    set(&t, 10000, 12, 10000, 1727); /* fewer than in production */
    assert_int_equal(rh_tally_excess(&t), 0);
    set(&t, 10000, 112, 10000, 12); /* just 1 % */
    assert_int_equal(rh_tally_excess(&t), 0);
    set(&t, 10000, 113, 10000, 12);
    assert_int_equal(rh_tally_excess(&t), 101);
    set(&t, 20, 9, 20, 0); /* a handful */
    assert_int_equal(rh_tally_excess(&t), 0);
    set(&t, 20, 10, 20, 0);
    assert_int_equal(rh_tally_excess(&t), 10);
    set(&t, 1000, 500, 0, 0); /* a log without outcomes */
    assert_int_equal(rh_tally_excess(&t), 0);
    set(&t, 1000, 500, 900, 50);
    assert_int_equal(rh_tally_excess(&t), 350);
    rh_tally_release(&t);
}

static void add(struct rh_tally *t, const char *sqlstate, uint32_t flags, int times)
{
    struct rh_record r = {.kind = RH_KIND_EXECUTE, .flags = flags, .param_count = 1};
    r.outcome.sqlstate = rh_sqlstate_pack(rh_span_cstr(sqlstate));
    r.run.fate = RH_FATE_DONE;
    for (int i = 0; i < times; i++) {
        rh_tally_add(t, &r);
    }
}

static void test_top_state(void **state)
{
    (void) state;
    struct rh_tally t;
    uint64_t count;
    rh_tally_init(&t);
    assert_int_equal(rh_tally_top_state(&t, &count), 0);
    assert_int_equal(count, 0);
    add(&t, "42883", 0, 3); /* in two rows: with and without the types of parameters */
    add(&t, "23505", 0, 4);
    add(&t, "42883", RH_FLAG_NO_TYPES, 2);
    assert_int_equal(t.state_count, 3);
    assert_int_equal(rh_tally_top_state(&t, &count), rh_sqlstate_pack(rh_span_cstr("42883")));
    assert_int_equal(count, 5);
    rh_tally_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_top_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
