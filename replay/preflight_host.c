#include "replay/preflight_host.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "common/noun.h"

/* File descriptors beside those of the sessions. */
enum { SPARE_FILES = 64 };

uint32_t rh_preflight_host_limit(const struct rh_plan *plan,
                                 const struct rh_replay_options *options,
                                 struct rh_findings *findings)
{
    struct rlimit files;
    uint32_t limit = options->max_connections;
    uint32_t wanted = limit && limit < plan->peak_count ? limit : plan->peak_count;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return limit;
    }
    files.rlim_cur = files.rlim_max;
    (void) setrlimit(RLIMIT_NOFILE, &files);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
        return limit;
    }
    rlim_t room = files.rlim_cur > 2 * SPARE_FILES ? files.rlim_cur - SPARE_FILES : SPARE_FILES;
    if (wanted > room) {
        limit = (uint32_t) room;
        rh_findings_add(findings, RH_GRADE_WARNING, "open-files",
                        "at most %" PRIu32 " session%s can be open at once here, and %" PRIu32
                        " would be: the others wait",
                        limit, rh_plural(limit), wanted);
        rh_findings_advise(findings, "raise the limit of open files (ulimit -Hn)");
    }
    return limit;
}
