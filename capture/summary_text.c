#include "capture/summary_text.h"

#include <inttypes.h>

const char *rh_size_text(uint64_t bytes, char text[RH_SIZE_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < 1000) {
        snprintf(text, RH_SIZE_TEXT, "%" PRIu64 " bytes", bytes);
        return text;
    }
    double v = (double) bytes / 1000;
    size_t unit = 0;
    while (v >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        v /= 1000;
        unit++;
    }
    snprintf(text, RH_SIZE_TEXT, "%.3g %s", v, units[unit]);
    return text;
}

const char *rh_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
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
