#include "replay/null_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/span.h"
#include "formats/record.h"

void rh_null_options_init(struct rh_null_options *o)
{
    *o = (struct rh_null_options){
        .server_version = "17.0",
        .rows = 1,
        .columns = 1,
        .width = 1,
        .error_state = rh_sqlstate_pack(RH_SPAN_LITERAL("XX000")),
    };
}

uint32_t rh_null_version_number(const char *version)
{
    unsigned long parts[3] = {0};
    const char *at = version;
    int count = 0;
    while (count < 3 && *at >= '0' && *at <= '9') {
        char *end;
        parts[count++] = strtoul(at, &end, 10);
        at = end + (*end == '.');
    }
    if (count == 0 || parts[0] > 999 || parts[1] > 99 || parts[2] > 99) {
        return 0;
    }
    /* Since 10 a version has two parts: PG_VERSION_NUM. */
    return (uint32_t) (parts[0] >= 10 ? parts[0] * 10000 + parts[1]
                                      : parts[0] * 10000 + parts[1] * 100 + parts[2]);
}

int rh_null_options_check(struct rh_null_options *o, struct rh_error *err)
{
    if (rh_null_version_number(o->server_version) == 0 || strlen(o->server_version) > 100) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "--server-version: \"%.120s\" is not a version such as 17.2",
                            o->server_version);
    }
    if ((uint64_t) o->columns * o->width > RH_NULL_ROW_BYTES_MAX) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "a row of --columns times --width has more than %d "
                            "bytes",
                            RH_NULL_ROW_BYTES_MAX);
    }
    snprintf(o->max_connections_text, sizeof o->max_connections_text, "%" PRIu32,
             o->max_connections);
    snprintf(o->version_number_text, sizeof o->version_number_text, "%" PRIu32,
             rh_null_version_number(o->server_version));
    return 0;
}
