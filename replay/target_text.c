#include "replay/target_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/noun.h"

const char *rh_duration_text(int64_t ns, char text[RH_DURATION_TEXT_SIZE])
{
    if (ns < 1000) {
        snprintf(text, RH_DURATION_TEXT_SIZE, "%" PRId64 " ns", ns);
    } else if (ns < 1000000) {
        snprintf(text, RH_DURATION_TEXT_SIZE, "%.3g us", (double) ns / 1e3);
    } else if (ns < 1000000000) {
        snprintf(text, RH_DURATION_TEXT_SIZE, "%.3g ms", (double) ns / 1e6);
    } else {
        snprintf(text, RH_DURATION_TEXT_SIZE, "%.2f s", (double) ns / 1e9);
    }
    return text;
}

void rh_target_write(const struct rh_target *target, struct rh_buf *out)
{
    char text[RH_DURATION_TEXT_SIZE];
    rh_buf_addf(out, "target       %s, PostgreSQL %s, empty round trip %s\n", target->address,
                target->version[0] ? target->version : "of unknown version",
                target->round_trip_ns < 0 ? "unknown"
                                          : rh_duration_text(target->round_trip_ns, text));
}

static void write_count(struct rh_buf *out, uint32_t count, const char *what, const char *done)
{
    if (count > 0) {
        rh_buf_addf(out, "             %" PRIu32 " %s%s %s\n", count, what, rh_plural(count), done);
    }
}

void rh_left_out_write(const struct rh_plan *plan, bool is_past, struct rh_buf *out)
{
    const char *left_out = is_past ? "left out" : "would be left out";
    write_count(out, plan->login_failed_count, "login",
                is_past ? "failed in production, not repeated"
                        : "failed in production, would not be repeated");
    write_count(out, plan->replication_count, "replication session", left_out);
    write_count(out, plan->encrypted_count, "encrypted session", left_out);
}
