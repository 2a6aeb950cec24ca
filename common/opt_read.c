#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/opt.h"

struct unit {
    const char *name;
    double factor;
};

int rh_opt_flag(const char *arg, void *target, struct rh_error *err)
{
    (void) arg;
    (void) err;
    *(bool *) target = true;
    return 0;
}

int rh_opt_string(const char *arg, void *target, struct rh_error *err)
{
    (void) err;
    *(const char **) target = arg;
    return 0;
}

static int read_whole(const char *arg, uint32_t least, uint32_t *value, struct rh_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = arg && arg[0] >= '0' && arg[0] <= '9' ? strtoull(arg, &end, 10) : 0;
    if (!end || *end || errno || v < least || v > UINT32_MAX) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a whole number from %u to %u",
                            arg ? arg : "", least, UINT32_MAX);
    }
    *value = (uint32_t) v;
    return 0;
}

int rh_opt_count(const char *arg, void *target, struct rh_error *err)
{
    return read_whole(arg, 1, target, err);
}

int rh_opt_number(const char *arg, void *target, struct rh_error *err)
{
    return read_whole(arg, 0, target, err);
}

/* A decimal number without sign, hexadecimal, "inf" and the like; *end is set behind it. */
static bool read_number(const char *arg, double *v, const char **end)
{
    if (!arg) {
        return false;
    }
    size_t len = strspn(arg, "0123456789.");
    char digits[64];
    if (len == 0 || len >= sizeof digits) {
        return false;
    }
    memcpy(digits, arg, len);
    digits[len] = '\0';
    char *rest;
    *v = strtod(digits, &rest);
    *end = arg + len;
    return rest == digits + len && isfinite(*v);
}

int rh_opt_double(const char *arg, void *target, struct rh_error *err)
{
    double v;
    const char *end;
    if (!read_number(arg, &v, &end) || *end || !(v > 0)) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a number above 0", arg ? arg : "");
    }
    *(double *) target = v;
    return 0;
}

/* A number with one of the units; *v in the smallest one. */
static bool read_with_unit(const char *arg, const struct unit *units, double *v)
{
    const char *unit;
    if (!read_number(arg, v, &unit)) {
        return false;
    }
    unit += strspn(unit, " ");
    for (; units->name; units++) {
        if (strcasecmp(unit, units->name) == 0) {
            *v *= units->factor;
            return *v < 9.2e18;
        }
    }
    return false;
}

int rh_opt_bytes(const char *arg, void *target, struct rh_error *err)
{
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"kB", 1024.0},
        {"MB", 1048576.0},
        {"GB", 1073741824.0},
        {"TB", 0x1p+40},
        {"KiB", 1024.0},
        {"MiB", 1048576.0},
        {"GiB", 1073741824.0},
        {NULL, 0},
    };
    double v;
    if (!read_with_unit(arg, units, &v)) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a size such as 10kB, 64MB or 1GB",
                            arg ? arg : "");
    }
    *(uint64_t *) target = (uint64_t) v;
    return 0;
}

int rh_opt_duration(const char *arg, void *target, struct rh_error *err)
{
    static const struct unit units[] = {
        {"", 1e9},     {"ns", 1},     {"us", 1e3},    {"ms", 1e6}, {"s", 1e9},
        {"min", 6e10}, {"h", 3.6e12}, {"d", 8.64e13}, {NULL, 0},
    };
    double v;
    if (!read_with_unit(arg, units, &v)) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" is not a duration such as 500us, 10ms, 30s, 5min or 2h",
                            arg ? arg : "");
    }
    *(int64_t *) target = llround(v);
    return 0;
}

int rh_opt_time(const char *arg, void *target, struct rh_error *err)
{
    return rh_time_parse(arg ? arg : "", target, err);
}
