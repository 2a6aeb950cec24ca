#include "capture/summary_text.h"

#include <inttypes.h>

enum { KILO = 1024 };

const char *rh_size_text(uint64_t bytes, char text[RH_SIZE_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < KILO) {
        snprintf(text, RH_SIZE_TEXT, "%" PRIu64 " byte%s", bytes, rh_plural(bytes));
        return text;
    }
    double v = (double) bytes / KILO;
    size_t unit = 0;
    while (v >= KILO && unit + 1 < sizeof units / sizeof units[0]) {
        v /= KILO;
        unit++;
    }
    snprintf(text, RH_SIZE_TEXT, "%.3g %s", v, units[unit]);
    return text;
}

void rh_summary_rows(const char *label, const struct rh_summary_row *rows, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].count > 0) {
            fprintf(out, "%-13s%9" PRIu64 "  %s\n", label, rows[i].count, rows[i].what);
            label = "";
        }
    }
}
