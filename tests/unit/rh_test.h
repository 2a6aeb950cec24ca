/*
 * tests/unit/rh_test.h
 *
 * The only file that includes cmocka, in the order it needs.
 */
#ifndef RH_TESTS_UNIT_RH_TEST_H
#define RH_TESTS_UNIT_RH_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "common/span.h"

/* The same bytes, shown as text when they differ. */
static inline void rh_assert_span(struct rh_span got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.data, want, got.len);
}

#endif
