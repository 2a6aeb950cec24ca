#include "capture/packet_files.h"

#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "common/infile.h"

enum { WINDOW_BYTES = 256 * 1024, WINDOW_BYTES_MAX = RH_PCAP_RECORD_MAX + 64 };

/* A packet so far ahead of the one before shall be confirmed by the one behind it. */
static const int64_t clock_step_ns = INT64_C(3600) * 1000000000;

struct rh_packet_files {
    const char *const *paths;
    size_t count;
    size_t next;
    const char *path; /* of the file that is open */
    struct rh_infile *file;
    bool at_end;
    char *window; /* pos .. end is read and not yet used */
    size_t cap;
    size_t pos;
    size_t end;
    struct rh_pcap_parser parser;
    bool any; /* last_ns is one */
    int64_t last_ns;
    bool have_held; /* read, to be given next */
    struct rh_pcap_packet held;
    char *copy; /* bytes of the packet before the held one */
    size_t copy_cap;
    uint64_t size_bytes; /* of all on disk */
    uint64_t read_bytes; /* of those that are closed */
    struct rh_packet_files_counts counts;
};

struct rh_packet_files *rh_packet_files_new(const char *const *paths, size_t count)
{
    struct rh_packet_files *f = rh_calloc(1, sizeof *f);
    f->paths = paths;
    f->count = count;
    f->cap = WINDOW_BYTES;
    f->window = rh_malloc(f->cap);
    rh_pcap_parser_init(&f->parser);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &st) == 0 && S_ISREG(st.st_mode)) {
            f->size_bytes += (uint64_t) st.st_size;
        }
    }
    return f;
}

void rh_packet_files_free(struct rh_packet_files *f)
{
    if (!f) {
        return;
    }
    rh_infile_close(f->file);
    rh_pcap_parser_release(&f->parser);
    rh_free(f->window);
    rh_free(f->copy);
    rh_free(f);
}

const struct rh_packet_files_counts *rh_packet_files_count(struct rh_packet_files *f)
{
    f->counts.parser = f->parser.counts;
    return &f->counts;
}

double rh_packet_files_progress(const struct rh_packet_files *f)
{
    uint64_t done = f->read_bytes + (f->file ? rh_infile_consumed_bytes(f->file) : 0);
    return f->size_bytes > 0 ? (double) done / (double) f->size_bytes : 0;
}

static int file_open(struct rh_packet_files *f, struct rh_error *err)
{
    f->path = f->paths[f->next++];
    f->pos = 0;
    f->end = 0;
    f->at_end = false;
    rh_pcap_parser_start(&f->parser);
    if (rh_infile_open(&f->file, f->path, err) != 0) {
        return -1;
    }
    f->counts.files++;
    return 0;
}

static void file_close(struct rh_packet_files *f)
{
    f->read_bytes += rh_infile_consumed_bytes(f->file);
    rh_infile_close(f->file);
    f->file = NULL;
}

/* The rest of the file is lost. */
static void file_damaged(struct rh_packet_files *f, const struct rh_error *why)
{
    if (f->counts.damaged_files++ == 0) {
        rh_error_set(&f->counts.first_damage, why->code, "\"%s\": %s", f->path, why->text);
    }
    file_close(f);
}

/* More bytes behind those in the window, which grows as long as one record fills it. */
static int window_fill(struct rh_packet_files *f, struct rh_error *err)
{
    if (f->pos > 0) {
        memmove(f->window, f->window + f->pos, f->end - f->pos);
        f->end -= f->pos;
        f->pos = 0;
    }
    if (f->end == f->cap) {
        f->cap = f->cap > WINDOW_BYTES_MAX / 2 ? WINDOW_BYTES_MAX : f->cap * 2;
        f->window = rh_realloc(f->window, f->cap, 1);
    }
    ssize_t got = rh_infile_read(f->file, f->window + f->end, f->cap - f->end, err);
    if (got < 0) {
        return -1;
    }
    f->at_end = got == 0;
    f->end += (size_t) got;
    f->counts.bytes += (uint64_t) got;
    return 0;
}

/* The file has no whole record any more. */
static int file_ended(struct rh_packet_files *f, struct rh_error *err)
{
    if (f->parser.kind == RH_PCAP_START) {
        return rh_error_set(err, RH_ERR_FORMAT, "\"%s\" holds %zu bytes: no capture file", f->path,
                            f->end - f->pos);
    }
    f->counts.cut_files += f->end > f->pos;
    file_close(f);
    return 0;
}

/* As rh_packet_files_next() for the open file, 0 also where it is to be called again. */
static int file_next(struct rh_packet_files *f, struct rh_pcap_packet *packet, struct rh_error *err)
{
    struct rh_error why;
    bool begun = f->parser.kind != RH_PCAP_START;
    ptrdiff_t used = rh_pcap_next(&f->parser, f->window + f->pos, f->end - f->pos, packet, &why);
    if (used > 0) {
        f->pos += (size_t) used;
        return packet->bytes.data != NULL;
    }
    if (used < 0) {
        if (!begun) {
            return rh_error_set(err, why.code, "\"%s\": %s", f->path, why.text);
        }
        file_damaged(f, &why);
        return 0;
    }
    if (f->at_end) {
        return file_ended(f, err);
    }
    if (window_fill(f, &why) != 0) {
        if (why.code == RH_ERR_STOPPED || !begun) {
            return rh_error_set(err, why.code, "%s", why.text);
        }
        file_damaged(f, &why);
    }
    return 0;
}

static int read_packet(struct rh_packet_files *f, struct rh_pcap_packet *packet,
                       struct rh_error *err)
{
    for (;;) {
        if (!f->file) {
            if (f->next == f->count) {
                return 0;
            }
            if (file_open(f, err) != 0) {
                return -1;
            }
        }
        int got = file_next(f, packet, err);
        if (got != 0) {
            return got;
        }
    }
}

/* A clock that is set gives a packet or two a time years away.  So a packet far ahead is held until
 * the next one is read: if that is back, its time was wrong. */
static int confirm_time(struct rh_packet_files *f, struct rh_pcap_packet *packet,
                        struct rh_error *err)
{
    if (packet->bytes.len >= f->copy_cap) {
        f->copy_cap = packet->bytes.len + 1;
        f->copy = rh_realloc(f->copy, f->copy_cap, 1);
    }
    memcpy(f->copy, packet->bytes.data, packet->bytes.len);
    packet->bytes.data = f->copy;
    int got = read_packet(f, &f->held, err);
    if (got < 0) {
        return -1;
    }
    f->have_held = got > 0;
    if (f->have_held && packet->time_ns - f->held.time_ns > clock_step_ns) {
        packet->time_ns = f->last_ns;
        f->counts.clock_steps++;
    }
    return 1;
}

int rh_packet_files_next(struct rh_packet_files *f, struct rh_pcap_packet *packet,
                         struct rh_error *err)
{
    int got = 1;
    if (f->have_held) {
        *packet = f->held;
        f->have_held = false;
    } else {
        got = read_packet(f, packet, err);
    }
    if (got > 0 && f->any && packet->time_ns - f->last_ns > clock_step_ns) {
        got = confirm_time(f, packet, err);
    }
    if (got > 0) {
        f->any = true;
        f->last_ns = packet->time_ns;
    }
    return got;
}
