#include "common/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edit distance with swaps of neighbours, by rows of the usual table; both lengths are at most
 * RH_NEAREST_LENGTH_MAX. */
static size_t distance_of(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][RH_NEAREST_LENGTH_MAX + 1];
    size_t *before = rows[0];
    size_t *above = rows[1];
    size_t *row = rows[2];
    for (size_t j = 0; j <= b_len; j++) {
        above[j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < row[j]) {
                row[j] = before[j - 2] + 1;
            }
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_len];
}

void rh_nearest_init(struct rh_nearest *n, const char *wanted)
{
    *n = (struct rh_nearest){.wanted = wanted, .distance = SIZE_MAX};
}

void rh_nearest_offer(struct rh_nearest *n, const char *name)
{
    size_t wanted_len = strlen(n->wanted);
    size_t name_len = strlen(name);
    if (wanted_len > RH_NEAREST_LENGTH_MAX || name_len > RH_NEAREST_LENGTH_MAX) {
        return;
    }
    size_t distance = distance_of(n->wanted, wanted_len, name, name_len);
    if (wanted_len >= 2 && strncmp(n->wanted, name, wanted_len) == 0) {
        distance = 0;
    }
    if (distance <= (name_len + 2) / 3 && distance < n->distance) {
        n->best = name;
        n->distance = distance;
    }
}
