#include "formats/report_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct json_t *rh_report_file_read(const char *path, const char *what, const char *hint,
                                   struct rh_error *err)
{
    struct stat st;
    json_error_t why;
    json_t *root = NULL;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &st) != 0) {
        rh_error_set(err, RH_ERR_IO, "\"%s\" cannot be read: %s", path, strerror(errno));
    } else if (st.st_size > RH_REPORT_FILE_MAX_BYTES) {
        rh_error_set(err, RH_ERR_LIMIT, "\"%s\" is too large for %s", path, what);
    } else {
        root = json_loadf(file, 0, &why);
        if (!root) {
            rh_error_set(err, RH_ERR_FORMAT, "\"%s\" is no JSON: line %d: %s%s", path, why.line,
                         why.text, hint);
        }
    }
    if (file) {
        fclose(file);
    }
    return root;
}

uint64_t rh_report_file_count(const struct json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t) value : 0;
}
