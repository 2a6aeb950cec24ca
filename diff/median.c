#include "diff/median.h"

#include <stdlib.h>

static int order(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

void rh_doubles_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, order);
}

double rh_doubles_median(double *values, size_t count)
{
    rh_doubles_sort(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
