#include "common/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

enum { LINE_SIZE = 512, DEFAULT_COLUMNS = 80 };

/* Columns of the line that stands on the terminal; guarded by the lock of stderr. */
static int shown_columns;

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return DEFAULT_COLUMNS;
}

static void write_line(const char *line, size_t n)
{
    if (write(STDERR_FILENO, line, n) < 0) {
        /* The terminal went away; nobody is left to be told. */
    }
}

/* Replace what stands there by text, cut to the terminal: a line that wraps cannot be taken back.
 */
static void rewrite(const char *text)
{
    char line[LINE_SIZE];
    int columns = (int) strlen(text);
    int limit = terminal_columns() - 1;
    limit = limit < LINE_SIZE - 16 ? limit : LINE_SIZE - 16;
    columns = columns < limit ? columns : limit;
    int pad = shown_columns > columns ? shown_columns - columns : 0;
    pad = pad < limit - columns ? pad : limit - columns;
    int n =
        snprintf(line, sizeof line, "\r%.*s%*s%s", columns, text, pad, "", columns > 0 ? "" : "\r");
    write_line(line, (size_t) n);
    shown_columns = columns;
}

static void erase_before_message(void)
{
    if (shown_columns > 0) {
        rewrite("");
    }
}

void rh_progress_init(struct rh_progress *p)
{
    *p = (struct rh_progress){.on_terminal = isatty(STDERR_FILENO) == 1,
                              .last_ns = rh_clock_mono_ns(),
                              .every_ns = RH_NS_PER_SEC / 2};
    rh_log_set_before_message(erase_before_message);
}

bool rh_progress_due(struct rh_progress *p)
{
    if (!p->on_terminal) {
        return false;
    }
    int64_t now = rh_clock_mono_ns();
    if (now - p->last_ns < p->every_ns) {
        return false;
    }
    p->last_ns = now;
    return true;
}

void rh_progress_show(struct rh_progress *p, const char *format, ...)
{
    if (!p->on_terminal) {
        return;
    }
    char text[LINE_SIZE];
    va_list args;
    va_start(args, format);
    /* The declaration's format attribute has checked the arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(text, sizeof text, format, args);
#pragma GCC diagnostic pop
    va_end(args);
    flockfile(stderr);
    rewrite(text);
    funlockfile(stderr);
    p->shown = true;
}

void rh_progress_end(struct rh_progress *p)
{
    if (p->shown) {
        flockfile(stderr);
        rewrite("");
        funlockfile(stderr);
        p->shown = false;
    }
}
