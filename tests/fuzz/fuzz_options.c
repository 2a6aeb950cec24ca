/*
 * What people type: values of options, and connection strings.  The input is lines; the first says
 * -d, then come -h, -p, -U, and the user, database and startup parameters of a session.
 */
#include <math.h>
#include <string.h>

#include "common/alloc.h"
#include "common/opt.h"
#include "fuzz_target.h"
#include "replay/conninfo.h"

enum { LINES_MAX = 12, LINE_SESSION = 4, LINE_STARTUP = 6 };

static void values(const char *line)
{
    struct rh_error err;
    double number = 0;
    uint32_t count = 0;
    uint64_t bytes = 0;
    int64_t time_ns = 0;
    if (rh_opt_double(line, &number, &err) == 0) {
        rh_fuzz_require(number > 0 && isfinite(number), "a number is above 0");
    }
    if (rh_opt_count(line, &count, &err) == 0) {
        rh_fuzz_require(count > 0, "a count is 1 or more");
    }
    (void) rh_opt_bytes(line, &bytes, &err);
    if (rh_opt_duration(line, &time_ns, &err) == 0) {
        rh_fuzz_require(time_ns >= 0, "a duration is not negative");
    }
    (void) rh_opt_time(line, &time_ns, &err);
}

static const char *given(const char *line)
{
    return line && *line ? line : NULL;
}

static struct rh_span span_of(const char *line)
{
    return line ? rh_span(line, strlen(line)) : RH_SPAN_NONE;
}

static void connections(const char *const *lines, uint32_t count)
{
    struct rh_error err;
    struct rh_conninfo target;
    struct rh_conninfo info;
    struct rh_setting startup[LINES_MAX];
    struct rh_conninfo_session session = {.user = span_of(lines[LINE_SESSION]),
                                          .database = span_of(lines[LINE_SESSION + 1]),
                                          .startup = startup};
    for (uint32_t i = LINE_STARTUP; i + 1 < count; i += 2) {
        startup[session.startup_count++] =
            (struct rh_setting){.name = span_of(lines[i]), .value = span_of(lines[i + 1])};
    }
    rh_conninfo_init(&target);
    rh_conninfo_init(&info);
    if (rh_conninfo_set_target(&target, given(lines[0]), given(lines[1]), given(lines[2]),
                               given(lines[3]), &err) == 0 &&
        rh_conninfo_add_session(&info, &target, &session, &err) == 0) {
        rh_fuzz_require(info.count <= RH_CONNINFO_MAX && !info.keywords[info.count],
                        "the list of keywords ends");
        for (uint32_t i = 0; i < info.count; i++) {
            rh_fuzz_require(rh_conninfo_get(&info, info.keywords[i]) == info.values[i],
                            "a keyword is there once");
        }
    }
    rh_conninfo_release(&info);
    rh_conninfo_release(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *lines[LINES_MAX] = {0};
    uint32_t count = 0;
    char *text = rh_malloc(size + 1);
    if (size) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    for (char *at = text; at && count < LINES_MAX;) {
        lines[count++] = at;
        at = strchr(at, '\n');
        if (at) {
            *at++ = '\0';
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        values(lines[i]);
    }
    connections(lines, count);
    rh_free(text);
    return 0;
}
