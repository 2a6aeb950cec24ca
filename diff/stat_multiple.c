#include "diff/stat_multiple.h"

#include <stdlib.h>

#include "common/alloc.h"

struct ranked {
    double p;
    size_t place;
};

static int compare_p(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->p != y->p) {
        return x->p < y->p ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

/* From the largest p down: p * factor * count / rank, never above what a larger p got. */
static void adjust(const double *p, size_t count, double factor, double *adjusted)
{
    struct ranked *order = rh_calloc(count ? count : 1, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        order[i] = (struct ranked){p[i], i};
    }
    qsort(order, count, sizeof *order, compare_p);
    double least = 1;
    for (size_t rank = count; rank > 0; rank--) {
        double value = order[rank - 1].p * factor * (double) count / (double) rank;
        least = value < least ? value : least;
        adjusted[order[rank - 1].place] = least;
    }
    rh_free(order);
}

void rh_adjust_benjamini_hochberg(const double *p, size_t count, double *adjusted)
{
    adjust(p, count, 1, adjusted);
}

void rh_adjust_benjamini_yekutieli(const double *p, size_t count, double *adjusted)
{
    double harmonic = 0;
    for (size_t i = count; i > 0; i--) {
        harmonic += 1 / (double) i;
    }
    adjust(p, count, harmonic, adjusted);
}
