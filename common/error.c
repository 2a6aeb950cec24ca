#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void error_fill(struct rh_error *err, enum rh_error_code code, const char *format,
                       va_list args)
{
    err->code = code;
    /* The callers' format attribute has checked the arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(err->text, sizeof err->text, format, args);
#pragma GCC diagnostic pop
}

int rh_error_set(struct rh_error *err, enum rh_error_code code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        error_fill(err, code, format, args);
        va_end(args);
    }
    return -1;
}

int rh_error_set_errno(struct rh_error *err, const char *format, ...)
{
    int saved = errno;
    if (err) {
        va_list args;
        va_start(args, format);
        error_fill(err, RH_ERR_IO, format, args);
        va_end(args);
        size_t used = strlen(err->text);
        char reason[128];
        snprintf(err->text + used, sizeof err->text - used, ": %s",
                 strerror_r(saved, reason, sizeof reason));
    }
    errno = saved;
    return -1;
}

void rh_error_clear(struct rh_error *err)
{
    err->code = RH_ERR_NONE;
    err->text[0] = '\0';
}
