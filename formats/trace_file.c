#include "formats/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "formats/mp.h"
#include "formats/trace_block_state.h"
#include "formats/trace_file_private.h"
#include "formats/trace_layout.h"
#include "formats/trace_part.h"

enum {
    SEARCH_CHUNK_BYTES = 256 * 1024,
    /* A file that does not begin with a block is given up after this many bytes. */
    FIRST_SEARCH_BYTES = 4 * 1024 * 1024,
    FILE_CHUNK_BYTES = 64 * 1024,
};

bool rh_trace_file_is_trace(const char *path)
{
    char start[RH_FRAME_MAGIC_BYTES];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_trace = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                    read(fd, start, sizeof start) == (ssize_t) sizeof start &&
                    memcmp(start, rh_frame_magic, sizeof start) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_trace;
}

struct rh_trace_file {
    int fd;
    char *path;
    uint64_t size;
    struct rh_arena arena;
    struct rh_trace_header header;
    bool has_header;
    struct rh_trace_header end_header; /* the end block's copy */
    bool has_end_header;
    const struct rh_setting *notes;
    uint32_t note_count;
    struct rh_block_info *blocks;
    uint32_t block_count;
    uint32_t block_cap;
    struct rh_trace_damage *damages;
    uint32_t damage_count;
    uint32_t damage_cap;
    struct rh_trace_totals totals;
    bool has_end;
    bool end_complete;
    bool is_cut;
    bool is_newer;       /* it has blocks of a later version */
    bool expects_number; /* false behind damage, where blocks may be missing */
    uint32_t next_number;
    uint64_t cut_offset;
    char reason[256];
};

int rh_trace_file_read(const struct rh_trace_file *f, uint64_t offset, void *data, size_t n,
                       struct rh_error *err)
{
    char *at = data;
    while (n > 0) {
        ssize_t got = pread(f->fd, at, n, (off_t) offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return rh_error_set_errno(err, "cannot read \"%s\" at byte %llu", f->path,
                                      (unsigned long long) offset);
        }
        if (got == 0) {
            return 0;
        }
        at += got;
        n -= (size_t) got;
        offset += (uint64_t) got;
    }
    return 1;
}

static void add_damage(struct rh_trace_file *f, uint64_t offset, uint64_t bytes, const char *what)
{
    RH_GROW(f->damages, f->damage_count, f->damage_cap);
    f->damages[f->damage_count++] = (struct rh_trace_damage){offset, bytes, what};
}

/* 1 and *frame if a block's header is at offset; 0 if not; -1. */
static int frame_at(const struct rh_trace_file *f, uint64_t offset, struct rh_frame *frame,
                    struct rh_error *err)
{
    char head[RH_FRAME_BYTES];
    int result = rh_trace_file_read(f, offset, head, sizeof head, err);
    return result == 1 ? rh_frame_get(frame, head) : result;
}

/* The next block's header at or after `from`, before `limit`: 1 and *found, 0, or -1. */
static int find_frame(const struct rh_trace_file *f, uint64_t from, uint64_t limit, uint64_t *found,
                      struct rh_error *err)
{
    char *chunk = rh_malloc(SEARCH_CHUNK_BYTES);
    int result = 0;
    limit = limit < f->size ? limit : f->size;
    while (result == 0 && from < limit) {
        size_t n = limit - from < SEARCH_CHUNK_BYTES ? limit - from : SEARCH_CHUNK_BYTES;
        result = rh_trace_file_read(f, from, chunk, n, err);
        if (result != 1) {
            break;
        }
        result = 0;
        const char *at = chunk;
        size_t left = n;
        while (result == 0 &&
               (at = memmem(at, left, rh_frame_magic, RH_FRAME_MAGIC_BYTES)) != NULL) {
            struct rh_frame frame;
            *found = from + (uint64_t) (at - chunk);
            result = frame_at(f, *found, &frame, err);
            at++;
            left = n - (size_t) (at - chunk);
        }
        /* A magic may lie across two chunks. */
        from += n < SEARCH_CHUNK_BYTES ? n : n - (RH_FRAME_MAGIC_BYTES - 1);
    }
    rh_free(chunk);
    return result;
}

/* The one part of a header or end block: 1 and *raw (in the arena), 0 if damaged, -1. */
static int load_plain(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame,
                      struct rh_span *raw, struct rh_error *err)
{
    char *packed = rh_malloc(frame->data_bytes);
    char *data = rh_arena_alloc(&f->arena, frame->data_raw_bytes);
    ZSTD_DCtx *dctx = ZSTD_createDCtx();
    int result = rh_trace_file_read(f, offset + RH_FRAME_BYTES + frame->state_bytes, packed,
                                    frame->data_bytes, err);
    if (result == 1) {
        struct rh_span part = rh_span(packed, frame->data_bytes);
        result = rh_frame_hash(part) == frame->data_hash &&
                 rh_trace_part_decompress(dctx, part, data, frame->data_raw_bytes) == 0;
        *raw = rh_span(data, frame->data_raw_bytes);
    }
    ZSTD_freeDCtx(dctx);
    rh_free(packed);
    return result;
}

static int take_header(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame,
                       struct rh_error *err)
{
    struct rh_span raw;
    int result = load_plain(f, offset, frame, &raw, err);
    if (result == 1 && rh_trace_header_get(&f->header, raw, &f->arena) == 0) {
        f->has_header = true;
        f->header.format_version = frame->version;
        return 0;
    }
    if (result >= 0) {
        add_damage(f, offset, rh_frame_total_bytes(frame), "header block damaged");
    }
    return result < 0 ? -1 : 0;
}

static int get_notes(struct rh_trace_file *f, struct rh_mp *m)
{
    uint32_t n;
    if (rh_mp_get_array(m, &n) != 0 || n % 2 != 0) {
        return -1;
    }
    struct rh_setting *notes = rh_arena_alloc(&f->arena, n / 2 * sizeof *notes);
    for (uint32_t i = 0; i < n / 2; i++) {
        if (rh_mp_get_bin(m, &notes[i].name) != 0 || rh_mp_get_bin(m, &notes[i].value) != 0) {
            return -1;
        }
    }
    f->notes = notes;
    f->note_count = n / 2;
    return 0;
}

static int get_end_field(struct rh_trace_file *f, struct rh_span key, struct rh_mp *m)
{
    int64_t v = 0;
    int result;
    if (rh_span_is(key, "complete")) {
        return rh_mp_get_bool(m, &f->end_complete);
    }
    if (rh_span_is(key, "records")) {
        result = rh_mp_get_int_in(m, 0, INT64_MAX, &v);
        f->totals.records = (uint64_t) v;
        return result;
    }
    if (rh_span_is(key, "statements")) {
        result = rh_mp_get_int_in(m, 0, INT64_MAX, &v);
        f->totals.statements = (uint64_t) v;
        return result;
    }
    if (rh_span_is(key, "notes")) {
        return get_notes(f, m);
    }
    if (rh_span_is(key, "header")) {
        const char *from = (const char *) m->data;
        result = rh_mp_skip(m);
        size_t bytes = (size_t) ((const char *) m->data - from);
        f->has_end_header = result == 0 && rh_trace_header_get(&f->end_header, rh_span(from, bytes),
                                                               &f->arena) == 0;
        return result;
    }
    return rh_mp_skip(m);
}

static int take_end(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame,
                    struct rh_error *err)
{
    struct rh_span raw;
    uint32_t n = 0;
    struct rh_mp m;
    int result = load_plain(f, offset, frame, &raw, err);
    if (result < 0) {
        return -1;
    }
    bool good = result == 1;
    if (good) {
        rh_mp_init(&m, raw);
        good = rh_mp_get_map(&m, &n) == 0;
    }
    for (uint32_t i = 0; good && i < n; i++) {
        struct rh_span key;
        good = rh_mp_get_str(&m, &key) == 0 && get_end_field(f, key, &m) == 0;
    }
    if (!good) {
        add_damage(f, offset, rh_frame_total_bytes(frame), "end block damaged");
    }
    f->has_end = good;
    f->end_header.format_version = frame->version;
    return 0;
}

static void add_block(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame,
                      uint64_t blob_bytes)
{
    if (frame->blob_bytes != blob_bytes) {
        /* Its large values are lost, and with them the block. */
        add_damage(f, offset, rh_frame_total_bytes(frame), "large values of the block missing");
        return;
    }
    RH_GROW(f->blocks, f->block_count, f->block_cap);
    f->blocks[f->block_count++] = (struct rh_block_info){
        .offset = offset,
        .blob_bytes = frame->blob_bytes,
        .state_bytes = frame->state_bytes,
        .state_raw_bytes = frame->state_raw_bytes,
        .data_bytes = frame->data_bytes,
        .data_raw_bytes = frame->data_raw_bytes,
        .record_count = frame->record_count,
        .statement_count = frame->statement_count,
        .flags = frame->flags,
        /* In the file's unit until the header is known for sure. */
        .min_ns = frame->min,
        .max_ns = frame->max,
    };
}

/* One whole block; *blob_bytes counts the blob blocks that came right before. */
static int take_block(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame,
                      uint64_t *blob_bytes, struct rh_error *err)
{
    uint64_t blobs = *blob_bytes;
    *blob_bytes = 0;
    if (frame->version > RH_TRACE_VERSION) {
        f->is_newer = true;
        return 0;
    }
    switch (frame->type) {
    case RH_BLOCK_HEADER:
        return f->has_header ? 0 : take_header(f, offset, frame, err);
    case RH_BLOCK_DATA:
        add_block(f, offset, frame, blobs);
        return 0;
    case RH_BLOCK_BLOB:
        *blob_bytes = blobs + rh_frame_total_bytes(frame);
        return 0;
    case RH_BLOCK_END:
        return take_end(f, offset, frame, err);
    default:
        return 0; /* of a later writer, who says by the version that it may be passed over */
    }
}

/* No block at `offset`, or one that does not end where the next begins: where the walk goes on. */
static int resynchronise(struct rh_trace_file *f, uint64_t offset, uint64_t search_from,
                         const char *what, uint64_t *next, struct rh_error *err)
{
    uint64_t limit = offset == 0 ? FIRST_SEARCH_BYTES : UINT64_MAX;
    int result = find_frame(f, search_from, limit, next, err);
    if (result < 0) {
        return -1;
    }
    if (result == 0) {
        *next = f->size;
        f->is_cut = true;
        f->cut_offset = f->size;
        if (what) {
            add_damage(f, offset, f->size - offset, what);
        }
        return 0;
    }
    add_damage(f, offset, *next - offset, what ? what : "block damaged");
    return 0;
}

/* Whether a block, or the file's end, is at offset. */
static int is_boundary(const struct rh_trace_file *f, uint64_t offset, struct rh_error *err)
{
    struct rh_frame frame;
    return offset == f->size ? 1 : frame_at(f, offset, &frame, err);
}

/* Blocks that are gone without a trace of damage leave a hole in the numbers. */
static void check_number(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame)
{
    if (f->expects_number && frame->number != f->next_number) {
        add_damage(f, offset, 0, "blocks missing");
    }
    f->expects_number = true;
    f->next_number = frame->number + 1;
}

/*
 * Whether the block at offset is whole: 1; 0: it is not, *next is where the walk goes on; -1.  When
 * no block follows right behind, bytes of this one may be missing: then the next one begins in it.
 */
static int is_whole(struct rh_trace_file *f, uint64_t offset, const struct rh_frame *frame,
                    uint64_t *next, struct rh_error *err)
{
    uint64_t bytes = rh_frame_total_bytes(frame);
    bool fits = bytes <= f->size - offset;
    *next = offset + bytes;
    int result = fits ? is_boundary(f, *next, err) : 0;
    if (result != 0) {
        return result;
    }
    uint64_t inner = 0;
    uint64_t limit = *next + RH_FRAME_MAGIC_BYTES - 1;
    result = find_frame(f, offset + RH_FRAME_BYTES, limit, &inner, err);
    if (result == 1) {
        add_damage(f, offset, inner - offset, "block damaged");
        *next = inner;
        return 0;
    }
    if (result == 0 && !fits) {
        f->is_cut = true;
        f->cut_offset = f->size;
        *next = f->size;
        return 0;
    }
    return result < 0 ? -1 : 1;
}

static int walk(struct rh_trace_file *f, struct rh_error *err)
{
    uint64_t offset = 0;
    uint64_t blob_bytes = 0;
    while (offset < f->size) {
        struct rh_frame frame = {0};
        uint64_t next = f->size;
        int result = frame_at(f, offset, &frame, err);
        if (result == 1) {
            result = is_whole(f, offset, &frame, &next, err);
        } else if (result == 0) {
            /* A piece of a header at the very end is a cut, not damage. */
            bool cut = f->size - offset < RH_FRAME_BYTES;
            result = resynchronise(f, offset, offset + 1, cut ? NULL : "block header damaged",
                                   &next, err);
        }
        if (result < 0) {
            return -1;
        }
        if (result == 0) {
            blob_bytes = 0;
            f->expects_number = false;
        } else {
            check_number(f, offset, &frame);
            f->has_end = false; /* only the last block counts */
            if (take_block(f, offset, &frame, &blob_bytes, err) != 0) {
                return -1;
            }
        }
        offset = next;
    }
    return 0;
}

/* Notes of the end block come last among the settings, so that they win. */
static void settle_header(struct rh_trace_file *f)
{
    if (!f->has_header) {
        f->header = f->end_header;
    }
    uint32_t n = f->header.setting_count + f->note_count;
    struct rh_setting *all = rh_arena_alloc(&f->arena, n * sizeof *all);
    uint32_t k = 0;
    for (uint32_t i = 0; i < f->header.setting_count; i++) {
        all[k++] = f->header.settings[i];
    }
    for (uint32_t i = 0; i < f->note_count; i++) {
        all[k++] = f->notes[i];
        if (rh_span_is(f->notes[i].name, "server_version") && !f->header.server_version.data) {
            f->header.server_version = f->notes[i].value;
        }
        if (rh_span_is(f->notes[i].name, "server_address") && !f->header.server_address.data) {
            f->header.server_address = f->notes[i].value;
        }
    }
    f->header.settings = all;
    f->header.setting_count = n;
    for (uint32_t i = 0; i < f->block_count; i++) {
        f->blocks[i].min_ns = rh_block_time_ns(f->blocks[i].min_ns, rh_trace_file_unit_ns(f));
        f->blocks[i].max_ns = rh_block_time_ns(f->blocks[i].max_ns, rh_trace_file_unit_ns(f));
    }
}

static void settle_totals(struct rh_trace_file *f)
{
    if (f->has_end) {
        return;
    }
    f->totals = (struct rh_trace_totals){0};
    for (uint32_t i = 0; i < f->block_count; i++) {
        f->totals.records += f->blocks[i].record_count;
        f->totals.statements += f->blocks[i].statement_count;
    }
}

static void explain(struct rh_trace_file *f)
{
    if (f->is_cut) {
        snprintf(f->reason, sizeof f->reason, "cut at byte %llu (whole blocks before it: %u)",
                 (unsigned long long) f->cut_offset, f->block_count);
    } else if (f->damage_count > 0) {
        snprintf(f->reason, sizeof f->reason, "%s at byte %llu (damaged places: %u)",
                 f->damages[0].what, (unsigned long long) f->damages[0].offset, f->damage_count);
    } else if (f->is_newer) {
        snprintf(f->reason, sizeof f->reason, "it has blocks of a later format version");
    } else if (!f->has_end) {
        snprintf(f->reason, sizeof f->reason,
                 "no end block: its writer was killed or the file was cut at byte %llu "
                 "(whole blocks before it: %u)",
                 (unsigned long long) f->size, f->block_count);
    } else if (!f->end_complete &&
               rh_span_is(rh_trace_header_setting(&f->header, "incomplete"), "input")) {
        snprintf(f->reason, sizeof f->reason, "its input was cut, or could not be read to its end");
    } else if (!f->end_complete) {
        snprintf(f->reason, sizeof f->reason, "its writer was stopped early");
    }
}

static int open_file(struct rh_trace_file *f, const char *path, struct rh_error *err)
{
    struct stat st;
    f->path = rh_strdup(path);
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */
    if (f->fd < 0) {
        return rh_error_set_errno(err, "cannot open \"%s\"", path);
    }
    if (fstat(f->fd, &st) != 0) {
        return rh_error_set_errno(err, "cannot read \"%s\"", path);
    }
    if (!S_ISREG(st.st_mode)) {
        return rh_error_set(err, RH_ERR_FORMAT,
                            "\"%s\" is not a regular file: a trace is read from any place in it",
                            path);
    }
    f->size = (uint64_t) st.st_size;
    if (walk(f, err) != 0) {
        return -1;
    }
    if (!f->has_header && !f->has_end_header) {
        const char *what =
            f->is_newer ? "is of a later format version: use a newer pgrehearse"
            : f->block_count > 0 || f->damage_count > 1
                ? "is a trace, but its header block is damaged and it has no end"
                : "is not a pgrehearse trace, or it was cut before the first block ended";
        return rh_error_set(err, RH_ERR_FORMAT, "\"%s\" %s", path, what);
    }
    return 0;
}

int rh_trace_file_open(struct rh_trace_file **out, const char *path, struct rh_error *err)
{
    struct rh_trace_file *f = rh_calloc(1, sizeof *f);
    rh_arena_init(&f->arena, FILE_CHUNK_BYTES);
    if (open_file(f, path, err) != 0) {
        rh_trace_file_close(f);
        return -1;
    }
    settle_header(f);
    settle_totals(f);
    explain(f);
    *out = f;
    return 0;
}

void rh_trace_file_close(struct rh_trace_file *f)
{
    if (!f) {
        return;
    }
    if (f->fd >= 0) {
        close(f->fd);
    }
    rh_arena_release(&f->arena);
    rh_free(f->blocks);
    rh_free(f->damages);
    rh_free(f->path);
    rh_free(f);
}

const char *rh_trace_file_path(const struct rh_trace_file *f)
{
    return f->path;
}

const struct rh_trace_header *rh_trace_file_header(const struct rh_trace_file *f)
{
    return &f->header;
}

int64_t rh_trace_file_unit_ns(const struct rh_trace_file *f)
{
    return f->header.kind == RH_FILE_RUN ? 1 : 1000;
}

uint64_t rh_trace_file_bytes(const struct rh_trace_file *f)
{
    return f->size;
}

uint32_t rh_trace_file_block_count(const struct rh_trace_file *f)
{
    return f->block_count;
}

const struct rh_block_info *rh_trace_file_block(const struct rh_trace_file *f, uint32_t index)
{
    return &f->blocks[index];
}

bool rh_trace_file_complete(const struct rh_trace_file *f)
{
    return f->reason[0] == '\0';
}

const char *rh_trace_file_incomplete_reason(const struct rh_trace_file *f)
{
    return f->reason;
}

uint32_t rh_trace_file_damage_count(const struct rh_trace_file *f)
{
    return f->damage_count;
}

const struct rh_trace_damage *rh_trace_file_damage(const struct rh_trace_file *f, uint32_t index)
{
    return &f->damages[index];
}

struct rh_trace_totals rh_trace_file_totals(const struct rh_trace_file *f)
{
    return f->totals;
}
