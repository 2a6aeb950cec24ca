/*
 * The decoder of a block's two parts, behind checksums and zstd where chance would never get.
 * Input: a byte of options, how many records the frame announces (2 bytes), how long the state part
 * is (2 bytes), the state part, the data part; all that is left of it serves as blobs too.
 */
#include "formats/trace_block.h"
#include "fuzz_target.h"

static uint64_t touch(struct rh_span s)
{
    uint64_t sum = s.len;
    for (size_t i = 0; s.data && i < s.len; i++) {
        sum += (unsigned char) s.data[i];
    }
    return sum;
}

/* Every byte that the record points to is read. */
static uint64_t touch_record(const struct rh_record *r)
{
    uint64_t sum = touch(r->tmpl) + touch(r->statement_name) + touch(r->portal_name) +
                   touch(r->application) + touch(r->prepare_text) + touch(r->steps) +
                   touch(r->detail) + touch(r->outcome.tag);
    for (uint32_t i = 0; i < r->literal_count; i++) {
        sum += touch(r->literals[i]);
    }
    for (uint32_t i = 0; i < r->param_count; i++) {
        sum += touch(rh_span(r->params[i].data, r->params[i].len)) + r->params[i].type;
    }
    for (uint32_t i = 0; i < r->result_format_count; i++) {
        sum += r->result_formats[i];
    }
    return sum;
}

static uint64_t touch_state(const struct rh_block_state *st)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < st->session_count; i++) {
        const struct rh_session *s = &st->sessions[i].s;
        sum += touch(s->user) + touch(s->database) + touch(s->application) + touch(s->client);
        for (uint32_t k = 0; k < s->startup_count; k++) {
            sum += touch(s->startup[k].name) + touch(s->startup[k].value);
        }
    }
    for (uint32_t i = 0; i < st->item_count; i++) {
        sum += touch(st->items[i].name) + touch(st->items[i].text);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile uint64_t sink;
    const char *bytes = (const char *) data;
    if (size < 5) {
        return 0;
    }
    size_t state_bytes = (size_t) data[3] | (size_t) data[4] << 8;
    size_t left = size - 5;
    state_bytes = state_bytes < left ? state_bytes : left;
    struct rh_trace_block block;
    struct rh_block_bytes parts = {
        .frame = {.record_count = (uint32_t) data[1] | (uint32_t) data[2] << 8,
                  .min = data[0] & 2 ? INT64_C(1735689600000000) : 0},
        .state = rh_span(bytes + 5, state_bytes),
        .data = rh_span(bytes + 5 + state_bytes, left - state_bytes),
        .blobs = rh_span(bytes + 5, data[0] & 4 ? left : 0),
    };
    rh_trace_block_init(&block);
    /* A chunk for every piece, so that a sanitizer sees each piece's end. */
    block.arena.chunk_bytes = 1;
    block.is_run = data[0] & 1;
    block.unit_ns = block.is_run ? 1 : 1000;
    if (rh_trace_block_decode(&block, &parts) == 0) {
        sink += touch_state(&block.state);
        /* With damaged values the rest is still read (trace_reader.h, RH_WANT_OUTCOMES). */
        bool with_values = rh_trace_block_decode_values(&block) == 0;
        for (uint32_t row = 0; row < block.row_count; row++) {
            struct rh_record r;
            rh_trace_block_record(&block, row, &r);
            sink += (with_values ? touch_record(&r) : r.tmpl.len) + (uint64_t) r.start_ns;
        }
    }
    rh_arena_clear(&block.arena);
    struct rh_block_state sessions;
    if (rh_block_state_decode_sessions(&sessions, parts.state, parts.blobs, parts.frame.min,
                                       block.unit_ns, &block.arena) == 0) {
        sink += touch_state(&sessions);
    }
    rh_trace_block_release(&block);
    (void) sink;
    return 0;
}
