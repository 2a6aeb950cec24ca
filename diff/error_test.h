/*
 * diff/error_test.h
 *
 * Some errors come and go by chance: deadlocks, serialization failures, lock and statement
 * timeouts, full resources, and conflicts of keys between sessions that race.  Of these one more or
 * less tells nothing; a test tells whether there are more than chance gives.  All others fail at
 * the first one.
 */
#ifndef RH_DIFF_ERROR_TEST_H
#define RH_DIFF_ERROR_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff/comparison.h"
#include "diff/stat_count.h"

/* Classes 23, 40 and 53, 55P03 and 57014 (errcodes.txt of PostgreSQL). */
bool rh_sqlstate_comes_by_chance(uint32_t sqlstate);

struct rh_error_test {
    bool tested;
    bool by_chance; /* tested, and not more than chance gives */
    double p;       /* two-sided: McNemar's mid-p over twins, Fisher's exact test without pairs */
    double q;       /* adjusted for all tested groups (Benjamini, Hochberg 1995) */
    /* 95 % of the difference of the failure rates, candidate minus base (Newcombe 1998). */
    struct rh_interval difference;
};

/* p and the interval of one group; tested only when its errors come by chance. */
void rh_error_test_make(struct rh_error_test *t, const struct rh_comparison *c,
                        const struct rh_error_group *group);
/* q and by_chance of all. */
void rh_error_tests_decide(struct rh_error_test **tests, size_t count, double false_share);

#endif
