/* Plans without the values of the call that was planned. */
#include "rh_test.h"

#include "formats/plan_mask.h"

static void check(void (*mask)(struct rh_buf *out, struct rh_span text), const char *text,
                  const char *wanted)
{
    struct rh_buf out;
    rh_buf_init(&out, 65536);
    mask(&out, rh_span_cstr(text));
    assert_string_equal(rh_buf_cstr(&out), wanted);
    rh_buf_release(&out);
}

static void test_expressions(void **state)
{
    (void) state;
    check(rh_plan_expression_mask, "", "");
    check(rh_plan_expression_mask, "(customer = 7)", "(customer = ?)");
    check(rh_plan_expression_mask, "((note)::text = 'it''s E'::text)", "((note)::text = ?::text)");
    check(rh_plan_expression_mask, "(a = E'x\\\\''y'::text)", "(a = ?::text)");
    check(rh_plan_expression_mask, "(id = ANY ('{1,2,3}'::integer[]))",
          "(id = ANY (?::integer[]))");
    check(rh_plan_expression_mask, "(a > '-5'::integer) AND (b < -1.5e3)",
          "(a > ?::integer) AND (b < ?)");
    check(rh_plan_expression_mask, "(t1.a2 = $1)", "(t1.a2 = $1)");
    check(rh_plan_expression_mask, "(NOT (hashed SubPlan 1)) AND (InitPlan 2).col1 = 3",
          "(NOT (hashed SubPlan 1)) AND (InitPlan 2).col1 = ?");
    check(rh_plan_expression_mask, "\"odd 7\" = 'x", "\"odd 7\" = ?");
    check(rh_plan_expression_mask, "order by 3, 'x'", "order by ?, ?");
    check(rh_plan_expression_mask, "(a = ?)", "(a = ?)");
}

static void test_plans(void **state)
{
    (void) state;
    check(rh_plan_text_mask, "", "");
    check(rh_plan_text_mask,
          "Limit  (cost=0.29..8.31 rows=1 width=4)\n"
          "  Output: 5\n"
          "  InitPlan 1 (returns $0)\n"
          "    ->  Seq Scan on t2 \"it's\"  (cost=0.00..1.01 rows=1 width=4)\n"
          "          Filter: (a = 'secret'::text)\n"
          "  ->  Index Scan using orders_7 on orders  (cost=0.29..8.31 rows=1 width=4)\n"
          "        Index Cond: ((id = 4711) AND (state = 'open'::text))\n"
          "        Workers Planned: 2\n"
          "Settings: work_mem = '64kB'",
          "Limit  (cost=0.29..8.31 rows=1 width=4)\n"
          "  Output: ?\n"
          "  InitPlan 1 (returns $0)\n"
          "    ->  Seq Scan on t2 \"it's\"  (cost=0.00..1.01 rows=1 width=4)\n"
          "          Filter: (a = ?::text)\n"
          "  ->  Index Scan using orders_7 on orders  (cost=0.29..8.31 rows=1 width=4)\n"
          "        Index Cond: ((id = ?) AND (state = ?::text))\n"
          "        Workers Planned: 2\n"
          "Settings: work_mem = '64kB'");
}

/* A value may have line breaks, and lines that look like those of a plan. */
static void test_values_that_look_like_a_plan(void **state)
{
    (void) state;
    check(rh_plan_text_mask,
          "Seq Scan on t  (cost=0.00..1.01 rows=1 width=4)\n"
          "  Filter: (a = 'first\n  ->  secret  (cost=1)\nSettings: secret'::text)\n"
          "  Filter: (b = 1)\n",
          "Seq Scan on t  (cost=0.00..1.01 rows=1 width=4)\n"
          "  Filter: (a = ?::text)\n"
          "  Filter: (b = ?)\n");
    /* Cut within a value. */
    check(rh_plan_text_mask, "Seq Scan on t  (cost=0)\n  Filter: (a = 'sec\nret",
          "Seq Scan on t  (cost=0)\n  Filter: (a = ?");
}

static void test_names(void **state)
{
    (void) state;
    assert_true(rh_plan_member_is_name(rh_span_cstr("Index Name")));
    assert_false(rh_plan_member_is_name(rh_span_cstr("Index Cond")));
    assert_false(rh_plan_member_is_name(rh_span_cstr("")));
}

static void test_errors(void **state)
{
    (void) state;
    check(rh_plan_error_mask, "42P01: relation \"orders\" does not exist",
          "42P01: relation \"orders\" does not exist");
    check(rh_plan_error_mask, "22P02: invalid input syntax for type integer: \"secret\"",
          "22P02: (the message may hold values: --with-examples)");
    check(rh_plan_error_mask, "it is not in this trace", "it is not in this trace");
    check(rh_plan_error_mask, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_values_that_look_like_a_plan),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
