#include "diff/error_test.h"

#include <math.h>
#include <string.h>

#include "common/alloc.h"
#include "diff/stat_multiple.h"
#include "formats/record.h"

bool rh_sqlstate_comes_by_chance(uint32_t sqlstate)
{
    static const char *const classes[] = {"23", "40", "53"};
    char text[6];
    if (sqlstate == RH_SQLSTATE_UNKNOWN) {
        return false;
    }
    rh_sqlstate_unpack(sqlstate, text);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(text, classes[i], 2) == 0) {
            return true;
        }
    }
    return strcmp(text, "55P03") == 0 || strcmp(text, "57014") == 0;
}

static uint64_t at_most(uint64_t part, uint64_t whole)
{
    return part < whole ? part : whole;
}

void rh_error_test_make(struct rh_error_test *t, const struct rh_comparison *c,
                        const struct rh_error_group *group)
{
    const struct rh_query *q = &c->queries.items[group->query];
    uint64_t base = q->side[RH_BASE].calls, candidate = q->side[RH_CANDIDATE].calls;
    uint64_t both = at_most(base, candidate);

    *t = (struct rh_error_test){.p = NAN, .q = NAN, .difference = {NAN, NAN}};
    if (!rh_sqlstate_comes_by_chance(group->sqlstate)) {
        return;
    }
    if (c->paired) {
        /* Where the other side's outcome is not known there is nothing to test. */
        t->tested = group->broke + group->fixed > 0;
        t->p = rh_mcnemar_mid_p(group->broke, group->fixed);
        if (both > 0) {
            t->difference = rh_newcombe_paired_interval(at_most(group->broke, both),
                                                        at_most(group->fixed, both), both, 0.95);
        }
    } else if (both > 0) {
        /* Errors of messages that are no calls are counted too. */
        uint64_t failed_base = at_most(group->counts[RH_BASE], base);
        uint64_t failed_candidate = at_most(group->counts[RH_CANDIDATE], candidate);
        t->tested = true;
        t->p = rh_fisher_p(failed_base, base, failed_candidate, candidate);
        t->difference = rh_newcombe_interval(failed_candidate, candidate, failed_base, base, 0.95);
    }
}

void rh_error_tests_decide(struct rh_error_test **tests, size_t count, double false_share)
{
    double *p = rh_calloc(count + 1, sizeof *p);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (tests[i]->tested) {
            p[n++] = tests[i]->p;
        }
    }
    rh_adjust_benjamini_hochberg(p, n, p);
    for (size_t i = 0, k = 0; i < count; i++) {
        if (tests[i]->tested) {
            tests[i]->q = p[k++];
            tests[i]->by_chance = tests[i]->q > false_share;
        }
    }
    rh_free(p);
}
