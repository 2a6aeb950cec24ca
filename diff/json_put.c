#include "diff/json_put.h"

void rh_json_put_ns_as_us(struct rh_json *j, const char *key, double ns)
{
    rh_json_key(j, key);
    rh_json_double(j, ns / 1e3, 3);
}

void rh_json_put_count(struct rh_json *j, const char *key, uint64_t n)
{
    rh_json_key(j, key);
    rh_json_int(j, n <= INT64_MAX ? (int64_t) n : INT64_MAX);
}

void rh_json_put_text(struct rh_json *j, const char *key, struct rh_span text)
{
    rh_json_key(j, key);
    rh_json_text(j, text);
}
