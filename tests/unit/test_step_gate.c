/* replay/step_gate: when a message may be sent */
#include "rh_test.h"

#include "replay/step_gate.h"

static void note(struct rh_step_gate *g, const char *letters, bool sent)
{
    for (; *letters; letters++) {
        rh_step_gate_note(g, *letters, sent);
    }
}

static void test_waits_for_what_was_answered(void **state)
{
    (void) state;
    struct rh_step_gate g;
    rh_step_gate_init(&g);
    assert_true(rh_step_gate_is_open(&g, 0, 0));
    note(&g, "PBES", true);
    assert_false(rh_step_gate_is_open(&g, 0, 4));
    assert_false(rh_step_gate_is_open(&g, 0, 1));
    assert_true(rh_step_gate_is_open(&g, 0, 0));
    /* In a pipeline the capture's client had three answers to come. */
    assert_false(rh_step_gate_is_open(&g, 3, 4));
    assert_true(rh_step_gate_is_open(&g, 3, 3));
    assert_true(rh_step_gate_is_open(&g, 3, 0));
}

/* A count that was capped at capture waits for nothing. */
static void test_many(void **state)
{
    (void) state;
    struct rh_step_gate g;
    rh_step_gate_init(&g);
    for (int i = 0; i < 1000; i++) {
        note(&g, "Q", true);
    }
    assert_true(rh_step_gate_is_open(&g, 255, 1000));
    assert_false(rh_step_gate_is_open(&g, 254, 1000));
    assert_true(rh_step_gate_is_open(&g, 254, 254));
}

/* The server may keep what neither Flush nor Sync follows: waiting for it would be for ever. */
static void test_uncovered(void **state)
{
    (void) state;
    struct rh_step_gate g;
    rh_step_gate_init(&g);
    note(&g, "QPBE", true);
    assert_false(rh_step_gate_is_covered(&g));
    assert_false(rh_step_gate_is_open(&g, 0, 4)); /* the Query's answer will come */
    assert_true(rh_step_gate_is_open(&g, 0, 3));
    note(&g, "H", true);
    assert_true(rh_step_gate_is_covered(&g));
    assert_false(rh_step_gate_is_open(&g, 0, 3));
    note(&g, "B", true);
    assert_false(rh_step_gate_is_open(&g, 0, 4));
    assert_true(rh_step_gate_is_open(&g, 0, 1));
    rh_step_gate_uncover(&g, 4); /* COPY took Sync and Flush in silence */
    assert_true(rh_step_gate_is_open(&g, 0, 4));
    note(&g, "S", true);
    assert_false(rh_step_gate_is_open(&g, 0, 5));
}

/* Of the capture's unanswered messages those that are not sent here do not count. */
static void test_unsent(void **state)
{
    (void) state;
    struct rh_step_gate g;
    rh_step_gate_init(&g);
    note(&g, "Q", true);
    note(&g, "Q", false);
    note(&g, "Q", true);
    assert_false(rh_step_gate_is_open(&g, 2, 2)); /* of the last two one is not there */
    assert_true(rh_step_gate_is_open(&g, 2, 1));
    assert_true(rh_step_gate_is_open(&g, 3, 2));
    assert_true(rh_step_gate_is_open(&g, 1, 1));
    note(&g, "HHd", false); /* not answered: not counted */
    assert_true(rh_step_gate_is_open(&g, 3, 2));
    for (int i = 0; i < 300; i++) {
        note(&g, "Q", true);
    }
    assert_true(rh_step_gate_is_open(&g, 254, 254));
}

/* A message of our own takes no place among the capture's. */
static void test_extra(void **state)
{
    (void) state;
    struct rh_step_gate g;
    rh_step_gate_init(&g);
    note(&g, "Q", false);
    rh_step_gate_note_extra(&g, 'P');
    assert_false(rh_step_gate_is_covered(&g));
    note(&g, "S", true);
    assert_true(rh_step_gate_is_open(&g, 2, 1));
    assert_false(rh_step_gate_is_open(&g, 2, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_for_what_was_answered),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_uncovered),
        cmocka_unit_test(test_unsent),
        cmocka_unit_test(test_extra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
