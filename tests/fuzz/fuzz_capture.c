/*
 * The whole capture from the bytes of a csvlog: records, messages, sessions, statements.  The first
 * byte of an input is options, the second the length of the pieces in which it is read; the rest is
 * the log.  In pieces or whole, the same is read of it.
 */
#include <string.h>

#include "capture/assembler.h"
#include "capture/assembly.h"
#include "capture/log_reader.h"
#include "fuzz_target.h"

struct bytes {
    const uint8_t *data;
    size_t left;
    size_t piece; /* 0: no limit */
};

static ssize_t read_bytes(void *context, void *data, size_t n, struct rh_error *err)
{
    (void) err;
    struct bytes *b = context;
    size_t take = b->left < n ? b->left : n;
    take = b->piece && take > b->piece ? b->piece : take;
    if (take) {
        memcpy(data, b->data, take);
    }
    b->data += take;
    b->left -= take;
    return (ssize_t) take;
}

/* Every byte is read, so that a sanitizer sees spans that lead nowhere. */
static uint64_t touch(struct rh_span s)
{
    uint64_t sum = s.len;
    for (size_t i = 0; s.data && i < s.len; i++) {
        sum += (unsigned char) s.data[i];
    }
    return sum;
}

static int take_session(void *context, const struct rh_session *s, struct rh_error *err)
{
    (void) err;
    uint64_t *sum = context;
    rh_fuzz_require(s->number > 0, "a session has a number");
    *sum += touch(s->user) + touch(s->database) + touch(s->application) + touch(s->client);
    return 0;
}

static int take_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    (void) err;
    uint64_t *sum = context;
    rh_fuzz_require(r->session > 0 || !rh_kind_has_ordinal(r->kind),
                    "a statement belongs to a session");
    rh_fuzz_require(r->ordinal > 0 || !rh_kind_has_ordinal(r->kind), "a statement has an ordinal");
    *sum += touch(r->text) + touch(r->statement_name) + touch(r->portal_name) +
            touch(r->application) + touch(r->prepare_text) + touch(r->detail);
    for (uint32_t i = 0; i < r->param_count; i++) {
        *sum += touch(rh_span(r->params[i].data, r->params[i].len));
    }
    return 0;
}

static void take_end(void *context, uint32_t number)
{
    (void) context;
    rh_fuzz_require(number > 0, "a session that ends has a number");
}

static struct rh_log_reader_counts capture(const uint8_t *data, size_t size, uint8_t options,
                                           size_t piece)
{
    static volatile uint64_t sink_sum;
    uint64_t sum = 0;
    const struct rh_capture_sink sink = {&sum, take_session, take_record, take_end};
    struct bytes bytes = {data, size, piece};
    struct rh_capture_filter filter;
    struct rh_capture_stats stats;
    struct rh_log_reader reader;
    struct rh_log_entry e;
    struct rh_error err = {0};
    rh_capture_filter_init(&filter);
    rh_capture_stats_init(&stats);
    rh_log_reader_init(&reader);
    struct rh_assembler *a = rh_assembler_new(&sink, &filter, &reader, &stats);
    if (options & 1) {
        rh_assembler_redact(a);
    }
    if (options & 2) {
        a->waiting_bytes_max = 200;
    }
    if (options & 4) {
        a->sessions_max = 2;
    }
    rh_log_reader_start(&reader, "input", read_bytes, &bytes);
    while (rh_log_reader_next(&reader, &e, &err) == 1) {
        rh_fuzz_require(rh_assembler_add(a, &e, &err) == 0,
                        "the assembler fails by its sink alone");
    }
    rh_fuzz_require(rh_assembler_finish(a, &err) == 0, "the assembler fails by its sink alone");
    rh_assembler_free(a);
    struct rh_log_reader_counts counts = reader.counts;
    rh_fuzz_require(counts.records == counts.entries + rh_log_reader_bad(&counts),
                    "what is read is an entry or bad");
    rh_fuzz_require(counts.bytes == size, "all is read");
    rh_log_reader_release(&reader);
    rh_capture_stats_release(&stats);
    rh_capture_filter_release(&filter);
    sink_sum = sum;
    (void) sink_sum;
    return counts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    struct rh_log_reader_counts whole = capture(data + 2, size - 2, data[0], 0);
    struct rh_log_reader_counts pieces = capture(data + 2, size - 2, data[0], data[1] + 1U);
    rh_fuzz_require(whole.entries == pieces.entries && whole.records == pieces.records &&
                        whole.bad_bytes == pieces.bad_bytes,
                    "in pieces the same is read");
    return 0;
}
