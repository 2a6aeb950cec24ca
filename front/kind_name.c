#include "front/kind_name.h"

#include <string.h>

static const char *const kind_names[] = {
    [RH_KIND_QUERY] = "query",       [RH_KIND_EXECUTE] = "execute",
    [RH_KIND_FUNCTION] = "function", [RH_KIND_FETCH] = "fetch",
    [RH_KIND_PROTOCOL] = "protocol", [RH_KIND_CANCEL] = "cancel",
    [RH_KIND_OPEN] = "open",         [RH_KIND_CLOSE] = "close",
    [RH_KIND_GAP] = "gap",           [RH_KIND_COPY_DATA] = "copy-data",
};

enum { KIND_NAMES = sizeof kind_names / sizeof *kind_names };

const char *rh_kind_name(enum rh_kind kind)
{
    unsigned i = (unsigned) kind;
    return i < KIND_NAMES && kind_names[i] ? kind_names[i] : "unknown";
}

int rh_kind_by_name(const char *name)
{
    for (int i = 0; i < KIND_NAMES; i++) {
        if (kind_names[i] && strcmp(kind_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *rh_fate_name(enum rh_fate fate)
{
    switch (fate) {
    case RH_FATE_DONE:
        return "done";
    case RH_FATE_LOST:
        return "lost";
    case RH_FATE_SKIPPED:
        return "skipped";
    case RH_FATE_NOT_SENT:
        return "not-sent";
    case RH_FATE_NONE:
        break;
    }
    return NULL;
}
