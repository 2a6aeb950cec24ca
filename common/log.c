#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOG_LINE_SIZE = 4096 };

static const char *log_program = "pgrehearse";
static enum rh_log_level log_level = RH_LOG_INFO;
static void (*log_before_message)(void);

void rh_log_setup(const char *program, enum rh_log_level level)
{
    log_program = program;
    log_level = level;
}

void rh_log_set_before_message(void (*hook)(void))
{
    log_before_message = hook;
}

static const char *level_prefix(enum rh_log_level level)
{
    switch (level) {
    case RH_LOG_ERROR:
        return "error: ";
    case RH_LOG_WARNING:
        return "warning: ";
    case RH_LOG_DEBUG:
        return "debug: ";
    case RH_LOG_INFO:
        break;
    }
    return "";
}

/* Messages quote statements and file names; those must not drive the terminal. */
static void blunt_controls(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char) text[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
            text[i] = '?';
        }
    }
}

static void write_all(const char *data, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDERR_FILENO, data, n);
        if (done <= 0) {
            return;
        }
        data += done;
        n -= (size_t) done;
    }
}

static void log_line(const char *prefix, const char *format, va_list args)
{
    char line[LOG_LINE_SIZE];
    int head = snprintf(line, sizeof line / 2, "%s: %s", log_program, prefix);
    size_t used = head < 0 ? 0 : (size_t) head;
    if (used >= sizeof line / 2) {
        used = sizeof line / 2 - 1;
    }
    size_t room = sizeof line - used - 1;
    /* The declarations' format attribute has checked the arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int n = vsnprintf(line + used, room, format, args);
#pragma GCC diagnostic pop
    if (n > 0) {
        size_t body = (size_t) n;
        if (body >= room) {
            body = room - 1;
            memset(line + used + body - 3, '.', 3);
        }
        blunt_controls(line + used, body);
        used += body;
    }
    line[used++] = '\n';

    /* The lock of stderr also keeps a line of progress from coming between. */
    flockfile(stderr);
    if (log_before_message) {
        log_before_message();
    }
    write_all(line, used);
    funlockfile(stderr);
}

void rh_log(enum rh_log_level level, const char *format, ...)
{
    if (level <= log_level) {
        va_list args;
        va_start(args, format);
        log_line(level_prefix(level), format, args);
        va_end(args);
    }
}

void rh_log_hint(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_line("hint: ", format, args);
    va_end(args);
}

void rh_log_error(const struct rh_error *err)
{
    rh_log(RH_LOG_ERROR, "%s", err->text);
}
