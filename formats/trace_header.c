#include "formats/trace_header.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "common/buf.h"
#include "common/clock.h"
#include "formats/mp.h"

enum { SETTINGS_MAX = 4096 };

void rh_uuid_make(uint8_t uuid[16])
{
    if (getrandom(uuid, 16, 0) != 16) {
        /* No entropy source (a bare chroot of an old kernel): still different from run to run. */
        int64_t now[2] = {rh_clock_wall_ns(), rh_clock_mono_ns()};
        memcpy(uuid, now, 16);
    }
    uuid[6] = (uint8_t) ((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t) ((uuid[8] & 0x3f) | 0x80);
}

char *rh_uuid_format(const uint8_t uuid[16], char text[37])
{
    char *at = text;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *at++ = '-';
        }
        at += snprintf(at, 3, "%02x", uuid[i]);
    }
    return text;
}

struct rh_span rh_trace_header_setting(const struct rh_trace_header *h, const char *name)
{
    for (uint32_t i = h->setting_count; i > 0; i--) {
        if (rh_span_is(h->settings[i - 1].name, name)) {
            return h->settings[i - 1].value;
        }
    }
    return RH_SPAN_NONE;
}

static void put_key(struct rh_buf *out, const char *key)
{
    rh_mp_put_str(out, rh_span_cstr(key));
}

static void put_text(struct rh_buf *out, const char *key, struct rh_span value)
{
    put_key(out, key);
    if (value.data) {
        rh_mp_put_bin(out, value);
    } else {
        rh_mp_put_nil(out);
    }
}

int rh_trace_header_put(const struct rh_trace_header *h, struct rh_buf *out)
{
    bool has_facts = h->server_fact_count > 0;
    rh_mp_put_map(out, 10 + has_facts);
    put_key(out, "kind");
    rh_mp_put_int(out, h->kind);
    put_text(out, "uuid", rh_span((const char *) h->uuid, 16));
    put_text(out, "trace_uuid", rh_span((const char *) h->trace_uuid, 16));
    put_key(out, "vantage");
    rh_mp_put_int(out, h->vantage);
    put_text(out, "source", h->source);
    put_text(out, "tool", h->tool);
    put_text(out, "server_version", h->server_version);
    put_text(out, "server_address", h->server_address);
    put_key(out, "created_ns");
    rh_mp_put_int(out, h->created_ns);
    put_key(out, "settings");
    rh_mp_put_array(out, h->setting_count * 2);
    for (uint32_t i = 0; i < h->setting_count; i++) {
        rh_mp_put_bin(out, h->settings[i].name);
        rh_mp_put_bin(out, h->settings[i].value);
    }
    if (has_facts) {
        put_key(out, "server");
        rh_server_facts_put(h->server_facts, h->server_fact_count, out);
    }
    return out->over ? -1 : 0;
}

static int get_text(struct rh_mp *m, struct rh_arena *arena, struct rh_span *out)
{
    if (rh_mp_peek(m) == RH_MP_NIL) {
        *out = RH_SPAN_NONE;
        return rh_mp_get_nil(m);
    }
    struct rh_span s;
    if (rh_mp_get_bin(m, &s) != 0) {
        return -1;
    }
    *out = rh_arena_copy(arena, s);
    return 0;
}

static int get_uuid(struct rh_mp *m, uint8_t uuid[16])
{
    struct rh_span s;
    if (rh_mp_get_bin(m, &s) != 0 || s.len != 16) {
        return -1;
    }
    memcpy(uuid, s.data, 16);
    return 0;
}

static int get_settings(struct rh_trace_header *h, struct rh_mp *m, struct rh_arena *arena)
{
    uint32_t n;
    if (rh_mp_get_array(m, &n) != 0 || n % 2 != 0 || n / 2 > SETTINGS_MAX) {
        return -1;
    }
    struct rh_setting *settings = rh_arena_alloc(arena, n / 2 * sizeof *settings);
    for (uint32_t i = 0; i < n / 2; i++) {
        if (get_text(m, arena, &settings[i].name) != 0 ||
            get_text(m, arena, &settings[i].value) != 0) {
            return -1;
        }
    }
    h->settings = settings;
    h->setting_count = n / 2;
    return 0;
}

static int get_field(struct rh_trace_header *h, struct rh_span key, struct rh_mp *m,
                     struct rh_arena *arena)
{
    int64_t v;
    if (rh_span_is(key, "kind")) {
        int result = rh_mp_get_int_in(m, RH_FILE_WORKLOAD, RH_FILE_RUN, &v);
        h->kind = result == 0 ? (enum rh_file_kind) v : h->kind;
        return result;
    }
    if (rh_span_is(key, "vantage")) {
        int result = rh_mp_get_int_in(m, RH_VANTAGE_SERVER_LOG, RH_VANTAGE_CLIENT, &v);
        h->vantage = result == 0 ? (enum rh_vantage) v : h->vantage;
        return result;
    }
    if (rh_span_is(key, "uuid")) {
        return get_uuid(m, h->uuid);
    }
    if (rh_span_is(key, "trace_uuid")) {
        return get_uuid(m, h->trace_uuid);
    }
    if (rh_span_is(key, "source")) {
        return get_text(m, arena, &h->source);
    }
    if (rh_span_is(key, "tool")) {
        return get_text(m, arena, &h->tool);
    }
    if (rh_span_is(key, "server_version")) {
        return get_text(m, arena, &h->server_version);
    }
    if (rh_span_is(key, "server_address")) {
        return get_text(m, arena, &h->server_address);
    }
    if (rh_span_is(key, "created_ns")) {
        return rh_mp_get_int(m, &h->created_ns);
    }
    if (rh_span_is(key, "server")) {
        return rh_server_facts_get(m, arena, &h->server_facts, &h->server_fact_count);
    }
    return rh_span_is(key, "settings") ? get_settings(h, m, arena) : rh_mp_skip(m);
}

int rh_trace_header_get(struct rh_trace_header *h, struct rh_span map, struct rh_arena *arena)
{
    struct rh_mp m;
    uint32_t n;
    *h = (struct rh_trace_header){0};
    rh_mp_init(&m, map);
    if (rh_mp_get_map(&m, &n) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct rh_span key;
        if (rh_mp_get_str(&m, &key) != 0 || get_field(h, key, &m, arena) != 0) {
            return -1;
        }
    }
    return 0;
}
