/*
 * The protocol scanner and the decoders of bodies.  The first byte of an input says which side it
 * is and how it begins, the second the length of the pieces; the rest is the stream.  Cut in pieces
 * or whole, it must give the same events.
 */
#include <string.h>

#include "formats/pg_message.h"
#include "formats/pg_scan.h"
#include "fuzz_target.h"

enum { BODY_MAX = 300 };

/* What a run over the stream saw; equal for every way to cut it. */
struct sight {
    uint64_t hash;
    uint64_t events;
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t copies;
    uint64_t copy_bytes;
    uint64_t offset;
    uint64_t bad;
};

static void sight_mix(struct sight *s, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->hash = (s->hash ^ ((const uint8_t *) data)[i]) * UINT64_C(1099511628211);
    }
}

static void decode(const struct rh_pg_event *ev)
{
    struct rh_pg_tag tag;
    struct rh_pg_report report;
    struct rh_pg_copy copy;
    struct rh_pg_notification notification;
    struct rh_span name;
    struct rh_span value;
    uint32_t pid;
    if (rh_pg_tag_decode(ev->body, &tag) == 0) {
        rh_fuzz_require(tag.name.len < ev->body.len, "the tag lies in its body");
        rh_fuzz_require(tag.rows >= -1, "a count is not negative");
    }
    if (rh_pg_report_decode(ev->body, ev->body_cut, &report) == 0) {
        rh_pg_report_is_fatal(&report);
        rh_fuzz_require(report.position >= 0, "a position is not negative");
        rh_fuzz_require(report.message.len <= ev->body.len, "the message lies in its body");
    }
    rh_pg_copy_decode(ev->body, &copy);
    rh_pg_notification_decode(ev->body, &notification);
    rh_pg_key_decode(ev->body, &pid, &value);
    rh_pg_ready_decode(ev->body);
    if (rh_pg_parameter_decode(ev->body, &name, &value) == 0) {
        rh_fuzz_require(name.len + value.len + 2 == ev->body.len, "name and value fill the body");
    }
}

static void sight_add(struct sight *s, const struct rh_pg_event *ev)
{
    s->rows += ev->rows;
    s->row_bytes += ev->row_bytes;
    s->copies += ev->copies;
    s->copy_bytes += ev->copy_bytes;
    if (ev->type == 0) {
        return;
    }
    s->events++;
    sight_mix(s, &ev->type, 1);
    sight_mix(s, &ev->length, sizeof ev->length);
    sight_mix(s, &s->row_bytes, sizeof s->row_bytes);
    sight_mix(s, &s->copy_bytes, sizeof s->copy_bytes);
    sight_mix(s, ev->body.data, ev->body.len);
    rh_fuzz_require(ev->body.len <= BODY_MAX, "a body is kept up to the bound");
    rh_fuzz_require(ev->body_cut == (ev->body.len < ev->length), "a cut body says so");
    decode(ev);
}

static struct sight look(const uint8_t *data, size_t size, uint8_t mode, size_t piece)
{
    struct sight sight = {0};
    struct rh_pg_scan scan;
    rh_pg_scan_init(&scan, mode & 1 ? RH_PG_FRONTEND : RH_PG_BACKEND, BODY_MAX);
    scan.untyped = (mode & 3) == 3;
    for (size_t at = 0; at < size && !sight.bad;) {
        size_t n = piece && piece < size - at ? piece : size - at;
        for (size_t end = at + n; at < end;) {
            struct rh_pg_event ev;
            ptrdiff_t used = rh_pg_scan_next(&scan, (const char *) data + at, end - at, &ev, NULL);
            sight_add(&sight, &ev);
            if (used < 0) {
                sight.bad = 1;
                break;
            }
            rh_fuzz_require(used > 0 && (size_t) used <= end - at, "it uses what it is given");
            rh_fuzz_require(ev.type || at + (size_t) used == end, "without an event it uses all");
            at += (size_t) used;
        }
    }
    sight.offset = scan.offset;
    rh_pg_scan_release(&scan);
    return sight;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    struct sight whole = look(data + 2, size - 2, data[0], 0);
    struct sight cut = look(data + 2, size - 2, data[0], data[1] + 1U);
    rh_fuzz_require(memcmp(&whole, &cut, sizeof whole) == 0, "pieces give the same events");
    return 0;
}
