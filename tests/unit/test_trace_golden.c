/*
 * The stored trace of format version 1: it is read for ever, what is written now is the same before
 * compression, and another MessagePack reader finds in it what FORMAT.md says.
 * With --update the stored files are made anew: only for a new format version.
 */
#include "rh_test.h"

#include <fcntl.h>
#include <msgpack.h>

#include "formats/trace_block.h"
#include "golden_trace.h"

static const char golden_path[] = RH_SOURCE_DIR "/tests/golden/trace/v1.trace";
static const char dump_path[] = RH_SOURCE_DIR "/tests/golden/trace/v1.txt";

static void dump_text(struct rh_buf *out, const char *name, struct rh_span s)
{
    if (!s.data) {
        return;
    }
    rh_buf_addf(out, " %s=\"", name);
    for (size_t i = 0; i < s.len && i < 80; i++) {
        unsigned char c = (unsigned char) s.data[i];
        if (c >= ' ' && c < 127 && c != '"' && c != '\\') {
            rh_buf_add_byte(out, c);
        } else {
            rh_buf_addf(out, "\\x%02x", c);
        }
    }
    rh_buf_addf(out, s.len > 80 ? "...\"(%zu)" : "\"", s.len);
}

static void dump_number(struct rh_buf *out, const char *name, int64_t v, int64_t unknown)
{
    if (v != unknown) {
        rh_buf_addf(out, " %s=%lld", name, (long long) v);
    }
}

static void dump_outcome(struct rh_buf *out, const struct rh_record *r)
{
    const struct rh_outcome *o = &r->outcome;
    char sqlstate[6];
    int64_t start = r->start_ns;
    dump_number(out, "first", o->first_ns == RH_TIME_UNKNOWN ? -1 : o->first_ns - start, -1);
    dump_number(out, "done", o->done_ns == RH_TIME_UNKNOWN ? -1 : o->done_ns - start, -1);
    dump_number(out, "parse", o->parse_ns, -1);
    dump_number(out, "bind", o->bind_ns, -1);
    dump_number(out, "execute", o->execute_ns, -1);
    if (o->sqlstate != RH_SQLSTATE_UNKNOWN) {
        rh_buf_addf(out, " sqlstate=%s", rh_sqlstate_unpack(o->sqlstate, sqlstate));
    }
    dump_text(out, "tag", o->tag);
    dump_number(out, "rows", o->rows, -1);
    dump_number(out, "bytes", o->bytes, -1);
    dump_number(out, "results", o->results, 0);
    dump_number(out, "tx", o->tx_status, 0);
}

static void dump_record(struct rh_buf *out, const struct rh_record *r)
{
    struct rh_buf text;
    rh_buf_init(&text, 1 << 20);
    rh_buf_addf(out, "kind=%d session=%u ordinal=%llu start=%lld", (int) r->kind, r->session,
                (unsigned long long) r->ordinal, (long long) (r->start_ns - GOLDEN_T0));
    dump_number(out, "flags", r->flags, 0);
    dump_number(out, "txn", r->txn, 0);
    dump_number(out, "hold", r->hold, 0);
    if (r->tmpl.data) {
        assert_int_equal(rh_record_text(r, &text), 0);
        dump_text(out, "text", rh_buf_span(&text));
        dump_number(out, "literals", r->literal_count, -1);
    }
    dump_text(out, "statement", r->statement_name);
    dump_text(out, "portal", r->portal_name);
    dump_text(out, "application", r->application);
    dump_text(out, "prepare", r->prepare_text);
    dump_text(out, "steps", r->steps);
    for (uint32_t i = 0; i < r->param_count; i++) {
        const struct rh_param *p = &r->params[i];
        rh_buf_addf(out, " $%u:%u:%u", i + 1, p->type, p->format);
        dump_text(out, "", rh_span(p->data, p->len));
    }
    for (uint32_t i = 0; i < r->result_format_count; i++) {
        rh_buf_addf(out, " format=%u", r->result_formats[i]);
    }
    dump_number(out, "limit", r->row_limit, 0);
    dump_number(out, "function", r->function_oid, 0);
    dump_outcome(out, r);
    dump_text(out, "detail", r->detail);
    dump_number(out, "count", (int64_t) r->count, 0);
    rh_buf_add_byte(out, '\n');
    rh_buf_release(&text);
}

static void dump_file(struct rh_buf *out, const char *path)
{
    struct rh_trace_file *file = testing_open_file(path);
    const struct rh_trace_header *h = rh_trace_file_header(file);
    struct rh_trace_reader *reader;
    struct rh_record r;
    struct rh_error err = {0};
    char uuid[37];
    rh_buf_addf(out, "version=%u uuid=%s vantage=%s", h->format_version,
                rh_uuid_format(h->uuid, uuid), rh_vantage_text(h->vantage));
    dump_text(out, "source", h->source);
    for (uint32_t i = 0; i < h->setting_count; i++) {
        dump_text(out, "setting", h->settings[i].name);
        dump_text(out, "value", h->settings[i].value);
    }
    rh_buf_addf(out, " complete=%d\n", rh_trace_file_complete(file));
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    uint32_t last = 0;
    while (rh_trace_reader_next(reader, &r, &err) == 1) {
        const struct rh_session *s = rh_trace_reader_session(reader);
        if (s && s->number != last) {
            rh_buf_addf(out, "session %u pid=%u", s->number, s->backend_pid);
            dump_text(out, "user", s->user);
            dump_text(out, "database", s->database);
            dump_text(out, "client", s->client);
            dump_number(out, "startup", s->startup_count, 0);
            rh_buf_add_byte(out, '\n');
            last = s->number;
        }
        dump_record(out, &r);
    }
    assert_int_equal(rh_trace_reader_damaged(reader, NULL), 0);
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
}

static void load(struct rh_buf *out, const char *path)
{
    char chunk[4096];
    size_t n;
    FILE *f = fopen(path, "r");
    if (!f) {
        fail_msg("cannot open %s", path);
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        rh_buf_add(out, chunk, n);
    }
    fclose(f);
}

static void save(const struct rh_buf *data, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(data->data, 1, data->len, f), data->len);
    fclose(f);
}

static void test_stored_trace_is_read(void **state)
{
    (void) state;
    struct rh_buf got;
    struct rh_buf want;
    rh_buf_init(&got, 1 << 20);
    rh_buf_init(&want, 1 << 20);
    dump_file(&got, golden_path);
    load(&want, dump_path);
    assert_string_equal(rh_buf_cstr(&got), rh_buf_cstr(&want));
    rh_buf_release(&got);
    rh_buf_release(&want);
}

/* The next frame of a file in memory, its parts decompressed one after the other. */
static size_t next_frame(const struct rh_buf *file, size_t at, struct rh_frame *frame, char **raw)
{
    ZSTD_DCtx *dctx = ZSTD_createDCtx();
    assert_true(rh_frame_get(frame, file->data + at));
    const char *part = file->data + at + RH_FRAME_BYTES;
    *raw = rh_malloc((size_t) frame->state_raw_bytes + frame->data_raw_bytes + 1);
    if (frame->state_bytes > 0) {
        assert_int_equal(rh_trace_part_decompress(dctx, rh_span(part, frame->state_bytes), *raw,
                                                  frame->state_raw_bytes),
                         0);
    }
    assert_int_equal(rh_trace_part_decompress(dctx,
                                              rh_span(part + frame->state_bytes, frame->data_bytes),
                                              *raw + frame->state_raw_bytes, frame->data_raw_bytes),
                     0);
    ZSTD_freeDCtx(dctx);
    return at + rh_frame_total_bytes(frame);
}

/* Compressed bytes depend on the version of zstd; all else must be as it was. */
static void test_written_trace_is_the_same(void **state)
{
    (void) state;
    char *path = testing_path("golden.trace");
    struct rh_buf old;
    struct rh_buf new;
    size_t a = 0;
    size_t b = 0;
    rh_buf_init(&old, 1 << 20);
    rh_buf_init(&new, 1 << 20);
    golden_write(path);
    load(&old, golden_path);
    load(&new, path);
    while (a < old.len && b < new.len) {
        struct rh_frame x;
        struct rh_frame y;
        char *x_raw;
        char *y_raw;
        a = next_frame(&old, a, &x, &x_raw);
        b = next_frame(&new, b, &y, &y_raw);
        assert_int_equal(x.type, y.type);
        assert_int_equal(x.flags, y.flags);
        assert_int_equal(x.number, y.number);
        assert_int_equal(x.record_count, y.record_count);
        assert_int_equal(x.statement_count, y.statement_count);
        assert_int_equal(x.min, y.min);
        assert_int_equal(x.max, y.max);
        assert_int_equal(x.state_raw_bytes, y.state_raw_bytes);
        assert_int_equal(x.data_raw_bytes, y.data_raw_bytes);
        assert_memory_equal(x_raw, y_raw, x.state_raw_bytes + x.data_raw_bytes);
        rh_free(x_raw);
        rh_free(y_raw);
    }
    assert_int_equal(a, old.len);
    assert_int_equal(b, new.len);
    rh_buf_release(&old);
    rh_buf_release(&new);
    testing_remove(path);
}

/* FORMAT.md, "integer columns", as msgpack-c sees it. */
static void check_int_column(const msgpack_object *o, uint64_t n, bool nested)
{
    if (o->type != MSGPACK_OBJECT_ARRAY) {
        assert_true(o->type == MSGPACK_OBJECT_NIL || o->type == MSGPACK_OBJECT_POSITIVE_INTEGER ||
                    o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER);
        return;
    }
    const msgpack_object *items = o->via.array.ptr;
    assert_int_equal(items[0].type, MSGPACK_OBJECT_POSITIVE_INTEGER);
    uint64_t form = items[0].via.u64;
    if (form == 3) {
        assert_false(nested);
        assert_int_equal(o->via.array.size, 5);
        assert_int_equal(items[2].type, MSGPACK_OBJECT_POSITIVE_INTEGER);
        assert_true(items[2].via.u64 <= n);
        check_int_column(&items[3], items[2].via.u64, true);
        check_int_column(&items[4], items[2].via.u64, true);
        return;
    }
    assert_in_range(form, 1, 2);
    assert_int_equal(o->via.array.size, 4);
    assert_in_range(items[2].via.u64, 1, 8);
    assert_int_equal(items[3].type, MSGPACK_OBJECT_BIN);
    assert_int_equal(items[3].via.bin.size, n * items[2].via.u64);
}

static void check_value_column(const msgpack_object *o)
{
    if (o->type != MSGPACK_OBJECT_ARRAY) {
        assert_true(o->type == MSGPACK_OBJECT_NIL || o->type == MSGPACK_OBJECT_BIN);
        return;
    }
    const uint32_t sizes[] = {0, 2, 3, 3, 7};
    uint64_t form = o->via.array.ptr[0].via.u64;
    assert_in_range(form, 1, 4);
    assert_int_equal(o->via.array.size, sizes[form]);
    if (form == 4) {
        assert_int_equal(o->via.array.ptr[4].type, MSGPACK_OBJECT_BIN);
        assert_int_equal(o->via.array.ptr[6].type, MSGPACK_OBJECT_POSITIVE_INTEGER);
    }
}

static void check_state(const msgpack_object *o)
{
    bool seen[5] = {false};
    assert_int_equal(o->type, MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; i < o->via.map.size; i++) {
        const msgpack_object *value = &o->via.map.ptr[i].val;
        uint64_t key = o->via.map.ptr[i].key.via.u64;
        assert_in_range(key, 1, 4);
        seen[key] = true;
        assert_int_equal(value->type, MSGPACK_OBJECT_ARRAY);
        const msgpack_object *items = value->via.array.ptr;
        uint64_t n = items[0].via.u64;
        if (key == RH_STATE_KEY_STRINGS || key == RH_STATE_KEY_TEMPLATES) {
            check_value_column(&items[1]);
        } else if (key == RH_STATE_KEY_SESSIONS) {
            assert_int_equal(items[1].type, MSGPACK_OBJECT_MAP);
            for (uint32_t k = 0; k < items[1].via.map.size; k++) {
                const msgpack_object_kv *kv = &items[1].via.map.ptr[k];
                if (kv->key.via.u64 < RH_SESSION_COLUMN_COUNT) {
                    check_int_column(&kv->val, n, false);
                }
            }
        } else {
            assert_in_range(value->via.array.size, 6, 7);
            check_int_column(&items[1], n, false);
        }
    }
    assert_true(seen[1] && seen[2] && seen[3]);
}

static void check_data(const msgpack_object *o, uint32_t rows)
{
    bool has_literals = false;
    assert_int_equal(o->type, MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; i < o->via.map.size; i++) {
        const msgpack_object *value = &o->via.map.ptr[i].val;
        uint64_t key = o->via.map.ptr[i].key.via.u64;
        if (key < RH_ROW_COLUMN_COUNT) {
            check_int_column(value, rows, false);
        } else if (key == RH_COLUMN_LITERALS || key == RH_COLUMN_PARAMS) {
            has_literals = true;
            assert_int_equal(value->type, MSGPACK_OBJECT_ARRAY);
            for (uint32_t k = 0; k < value->via.array.size; k++) {
                check_value_column(&value->via.array.ptr[k]);
            }
        } else {
            assert_in_range(key, RH_COLUMN_START_UNITS, RH_COLUMN_DETAILS);
        }
    }
    assert_true(has_literals || rows < 10);
}

static void check_part(const char *raw, size_t n, void (*check)(const msgpack_object *, uint32_t),
                       uint32_t rows)
{
    msgpack_unpacked unpacked;
    size_t used = 0;
    msgpack_unpacked_init(&unpacked);
    assert_int_equal(msgpack_unpack_next(&unpacked, raw, n, &used), MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(used, n);
    check(&unpacked.data, rows);
    msgpack_unpacked_destroy(&unpacked);
}

static void check_state_part(const msgpack_object *o, uint32_t rows)
{
    (void) rows;
    check_state(o);
}

static void check_text_map(const msgpack_object *o, uint32_t rows)
{
    (void) rows;
    assert_int_equal(o->type, MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; i < o->via.map.size; i++) {
        assert_int_equal(o->via.map.ptr[i].key.type, MSGPACK_OBJECT_STR);
    }
}

static void test_another_reader_agrees(void **state)
{
    (void) state;
    struct rh_buf file;
    unsigned types[5] = {0};
    rh_buf_init(&file, 1 << 20);
    load(&file, golden_path);
    for (size_t at = 0; at < file.len;) {
        struct rh_frame frame;
        char *raw;
        at = next_frame(&file, at, &frame, &raw);
        types[frame.type]++;
        const char *data = raw + frame.state_raw_bytes;
        if (frame.type == RH_BLOCK_DATA) {
            check_part(raw, frame.state_raw_bytes, check_state_part, 0);
            check_part(data, frame.data_raw_bytes, check_data, frame.record_count);
        } else if (frame.type != RH_BLOCK_BLOB) {
            check_part(data, frame.data_raw_bytes, check_text_map, 0);
        }
        rh_free(raw);
    }
    assert_int_equal(types[RH_BLOCK_HEADER], 1);
    assert_in_range(types[RH_BLOCK_DATA], 4, 10);
    assert_int_equal(types[RH_BLOCK_BLOB], 1);
    assert_int_equal(types[RH_BLOCK_END], 1);
    rh_buf_release(&file);
}

/* A later writer may add keys: the same parts with one more in each map. */
static void add_unknown_key(struct rh_buf *part)
{
    assert_int_equal((unsigned char) part->data[0], 0xde);
    part->data[2]++;
    rh_mp_put_int(part, 63);
    rh_mp_put_array(part, 2);
    rh_mp_put_str(part, rh_span_cstr("news"));
    rh_mp_put_map(part, 0);
}

static void test_unknown_keys_are_passed_over(void **state)
{
    (void) state;
    struct rh_buf file;
    rh_buf_init(&file, 1 << 20);
    load(&file, golden_path);
    for (size_t at = 0; at < file.len;) {
        struct rh_frame frame;
        char *raw;
        at = next_frame(&file, at, &frame, &raw);
        if (frame.type == RH_BLOCK_DATA && frame.blob_bytes == 0) {
            struct rh_buf parts[2];
            struct rh_trace_block block;
            rh_buf_init(&parts[0], 1 << 20);
            rh_buf_init(&parts[1], 1 << 20);
            rh_buf_add(&parts[0], raw, frame.state_raw_bytes);
            rh_buf_add(&parts[1], raw + frame.state_raw_bytes, frame.data_raw_bytes);
            add_unknown_key(&parts[0]);
            add_unknown_key(&parts[1]);
            struct rh_block_bytes bytes = {frame, rh_buf_span(&parts[0]), rh_buf_span(&parts[1]),
                                           RH_SPAN_LITERAL("")};
            rh_trace_block_init(&block);
            block.unit_ns = 1000;
            assert_int_equal(rh_trace_block_decode(&block, &bytes), 0);
            assert_int_equal(block.row_count, frame.record_count);
            /* One byte less is another matter. */
            bytes.data.len--;
            rh_arena_clear(&block.arena);
            assert_int_equal(rh_trace_block_decode(&block, &bytes), -1);
            rh_trace_block_release(&block);
            rh_buf_release(&parts[0]);
            rh_buf_release(&parts[1]);
        }
        rh_free(raw);
    }
    rh_buf_release(&file);
}

static void write_example(const char *path)
{
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct rh_record r;
    struct golden_text text = {.texts = {"42"}};
    golden_statement(&r, 1, 1, 5, 1234, "");
    golden_split(&r, &text, "SELECT ?");
    testing_add(w, &r);
    golden_statement(&r, 1, 2, 7, 300, "");
    snprintf(text.texts[0], sizeof text.texts[0], "43");
    golden_split(&r, &text, "SELECT ?");
    testing_add(w, &r);
    testing_finish(w);
}

/* "    0010  93 01 ...", sixteen bytes a line. */
static void add_hex(struct rh_buf *out, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        rh_buf_addf(out, "    %04zx ", i);
        for (size_t k = i; k < n && k < i + 16; k++) {
            rh_buf_addf(out, " %02x", (unsigned char) data[k]);
        }
        rh_buf_add_byte(out, '\n');
    }
}

/* The dumps in FORMAT.md are what the writer gives today. */
static void test_example_of_the_specification(void **state)
{
    (void) state;
    char *path = testing_path("example.trace");
    struct rh_buf file;
    struct rh_buf text;
    rh_buf_init(&file, 1 << 20);
    rh_buf_init(&text, 1 << 20);
    write_example(path);
    load(&file, path);
    load(&text, RH_SOURCE_DIR "/formats/FORMAT.md");
    for (size_t at = 0; at < file.len;) {
        struct rh_frame frame;
        char *raw;
        at = next_frame(&file, at, &frame, &raw);
        const size_t sizes[2] = {frame.state_raw_bytes, frame.data_raw_bytes};
        for (int part = 0; frame.type == RH_BLOCK_DATA && part < 2; part++) {
            struct rh_buf hex;
            rh_buf_init(&hex, 1 << 20);
            add_hex(&hex, part ? raw + sizes[0] : raw, sizes[part]);
            if (!strstr(rh_buf_cstr(&text), rh_buf_cstr(&hex))) {
                fail_msg("FORMAT.md lacks:\n%s", rh_buf_cstr(&hex));
            }
            rh_buf_release(&hex);
        }
        rh_free(raw);
    }
    rh_buf_release(&file);
    rh_buf_release(&text);
    testing_remove(path);
}

static void update(void)
{
    struct rh_buf dump;
    rh_buf_init(&dump, 1 << 20);
    golden_write(golden_path);
    dump_file(&dump, golden_path);
    save(&dump, dump_path);
    rh_buf_release(&dump);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored_trace_is_read),
        cmocka_unit_test(test_written_trace_is_the_same),
        cmocka_unit_test(test_another_reader_agrees),
        cmocka_unit_test(test_unknown_keys_are_passed_over),
        cmocka_unit_test(test_example_of_the_specification),
    };
    if (argc > 1 && strcmp(argv[1], "--update") == 0) {
        update();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
