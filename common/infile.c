#include "common/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/stop.h"

enum { INFILE_BUFFER_BYTES = 256 * 1024, MAGIC_BYTES = 4 };

enum infile_coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD };

struct rh_infile {
    int fd;
    bool may_wait; /* a pipe or terminal, whose read may block for ever */
    bool at_eof;
    bool in_frame; /* a compressed member or frame is not finished */
    bool ended;    /* the compressed stream is finished or failed */
    enum infile_coding coding;
    char *path;
    uint64_t size_bytes;
    uint64_t read_bytes;
    char *buffer; /* pos .. len is read and not yet used */
    size_t pos;
    size_t len;
    z_stream gzip;
    ZSTD_DStream *zstd;
    struct rh_error pending; /* reported by the read after the one that gave the last bytes */
};

/* A signal that comes before read() starts would otherwise not end it. */
static int wait_for_input(struct rh_infile *f, struct rh_error *err)
{
    struct pollfd fds[2] = {{.fd = f->fd, .events = POLLIN},
                            {.fd = rh_stop_fd(), .events = POLLIN}};
    while (poll(fds, 2, -1) < 0) {
        if (errno != EINTR) {
            return rh_error_set_errno(err, "cannot wait for \"%s\"", f->path);
        }
        if (rh_stop_requested()) {
            break;
        }
    }
    if (rh_stop_requested()) {
        return rh_error_set(err, RH_ERR_STOPPED, "reading \"%s\" was stopped", f->path);
    }
    return 0;
}

static ssize_t infile_read_raw(struct rh_infile *f, void *data, size_t n, struct rh_error *err)
{
    for (;;) {
        if (f->may_wait && wait_for_input(f, err) != 0) {
            return -1;
        }
        ssize_t got = read(f->fd, data, n);
        if (got >= 0) {
            f->read_bytes += (uint64_t) got;
            f->at_eof = got == 0;
            return got;
        }
        if (errno != EINTR && errno != EAGAIN) {
            return rh_error_set_errno(err, "cannot read \"%s\" at byte %llu", f->path,
                                      (unsigned long long) f->read_bytes);
        }
    }
}

/* More bytes behind those in the buffer, until it has `want` or the input ends. */
static int infile_fill(struct rh_infile *f, size_t want, struct rh_error *err)
{
    if (f->pos > 0) {
        memmove(f->buffer, f->buffer + f->pos, f->len - f->pos);
        f->len -= f->pos;
        f->pos = 0;
    }
    while (f->len < want && !f->at_eof) {
        ssize_t got = infile_read_raw(f, f->buffer + f->len, INFILE_BUFFER_BYTES - f->len, err);
        if (got < 0) {
            return -1;
        }
        f->len += (size_t) got;
    }
    return 0;
}

static bool buffer_has(const struct rh_infile *f, const char *magic, size_t n)
{
    return n <= f->len - f->pos && memcmp(f->buffer + f->pos, magic, n) == 0;
}

/* What parallel compressors put before zstd frames (RFC 8878, 3.1.2). */
static bool buffer_has_skippable_frame(const struct rh_infile *f)
{
    const char *at = f->buffer + f->pos;
    return f->len - f->pos >= 4 && (at[0] & 0xf0) == 0x50 && memcmp(at + 1, "\x2a\x4d\x18", 3) == 0;
}

static int infile_start_coding(struct rh_infile *f, struct rh_error *err)
{
    if (buffer_has(f, "\x1f\x8b", 2)) {
        f->coding = CODING_GZIP;
        f->in_frame = true;
        /* 15 window bits, 16 for a gzip header. */
        if (inflateInit2(&f->gzip, 15 + 16) != Z_OK) {
            return rh_error_set(err, RH_ERR_IO, "cannot start zlib for \"%s\"", f->path);
        }
    } else if (buffer_has(f, "\x28\xb5\x2f\xfd", 4) || buffer_has_skippable_frame(f)) {
        f->coding = CODING_ZSTD;
        f->in_frame = true;
        f->zstd = ZSTD_createDStream();
        if (!f->zstd) {
            return rh_error_set(err, RH_ERR_IO, "cannot start zstd for \"%s\"", f->path);
        }
    }
    return 0;
}

static int infile_open_fd(struct rh_infile *f, const char *path, struct rh_error *err)
{
    if (strcmp(path, "-") == 0) {
        f->fd = STDIN_FILENO;
        f->path = rh_strdup("standard input");
    } else {
        f->path = rh_strdup(path);
        f->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (f->fd < 0) {
            return rh_error_set_errno(err, "cannot open \"%s\"", path);
        }
    }
    struct stat st;
    if (fstat(f->fd, &st) != 0) {
        return rh_error_set_errno(err, "cannot examine \"%s\"", f->path);
    }
    if (S_ISDIR(st.st_mode)) {
        return rh_error_set(err, RH_ERR_IO, "cannot read \"%s\": it is a directory", f->path);
    }
    f->may_wait = !S_ISREG(st.st_mode);
    if (S_ISREG(st.st_mode)) {
        f->size_bytes = (uint64_t) st.st_size;
        posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return 0;
}

int rh_infile_open(struct rh_infile **out, const char *path, struct rh_error *err)
{
    struct rh_infile *f = rh_calloc(1, sizeof *f);
    f->fd = -1;
    f->buffer = rh_malloc(INFILE_BUFFER_BYTES);
    if (infile_open_fd(f, path, err) != 0 || infile_fill(f, MAGIC_BYTES, err) != 0 ||
        infile_start_coding(f, err) != 0) {
        rh_infile_close(f);
        return -1;
    }
    *out = f;
    return 0;
}

/* What is in the buffer first; then straight into the caller's memory. */
static ssize_t read_plain(struct rh_infile *f, char *data, size_t n, struct rh_error *err)
{
    size_t have = f->len - f->pos;
    if (have == 0) {
        return f->at_eof ? 0 : infile_read_raw(f, data, n, err);
    }
    size_t take = have < n ? have : n;
    memcpy(data, f->buffer + f->pos, take);
    f->pos += take;
    return (ssize_t) take;
}

static int bad_stream(struct rh_infile *f, const char *what)
{
    f->ended = true;
    return rh_error_set(&f->pending, RH_ERR_FORMAT, "\"%s\": %s at byte %llu", f->path, what,
                        (unsigned long long) rh_infile_consumed_bytes(f));
}

/* Both return how many bytes they made, or -1 after bad_stream(). */
static ssize_t inflate_gzip(struct rh_infile *f, char *data, size_t n)
{
    f->gzip.next_in = (unsigned char *) f->buffer + f->pos;
    f->gzip.avail_in = (unsigned) (f->len - f->pos);
    f->gzip.next_out = (unsigned char *) data;
    f->gzip.avail_out = n > UINT32_MAX ? UINT32_MAX : (unsigned) n;
    unsigned room = f->gzip.avail_out;
    int status = inflate(&f->gzip, Z_NO_FLUSH);
    f->pos = f->len - f->gzip.avail_in;
    if (status == Z_STREAM_END) {
        f->in_frame = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        bad_stream(f, "the gzip data are damaged");
    }
    return (ssize_t) (room - f->gzip.avail_out);
}

static ssize_t inflate_zstd(struct rh_infile *f, char *data, size_t n)
{
    ZSTD_inBuffer in = {f->buffer + f->pos, f->len - f->pos, 0};
    ZSTD_outBuffer out = {data, n, 0};
    size_t status = ZSTD_decompressStream(f->zstd, &out, &in);
    f->pos += in.pos;
    if (ZSTD_isError(status)) {
        char what[160];
        snprintf(what, sizeof what, "the zstd data are damaged (%s)", ZSTD_getErrorName(status));
        bad_stream(f, what);
    } else {
        f->in_frame = status != 0;
    }
    return (ssize_t) out.pos;
}

/* Between members: the next one, the end, or zeros that a tape or a block device left. */
static int next_member(struct rh_infile *f, struct rh_error *err)
{
    if (infile_fill(f, MAGIC_BYTES, err) != 0) {
        return -1;
    }
    if (f->coding == CODING_GZIP && buffer_has(f, "\x1f\x8b", 2)) {
        inflateReset(&f->gzip);
        f->in_frame = true;
    } else if (f->coding == CODING_ZSTD && f->pos < f->len) {
        f->in_frame = true;
    } else {
        while (f->pos < f->len && f->buffer[f->pos] == '\0') {
            f->pos++;
        }
        if (f->pos < f->len) {
            bad_stream(f, "what follows the gzip data is not gzip");
        } else if (f->at_eof) {
            f->ended = true;
        }
    }
    return 0;
}

static ssize_t read_compressed(struct rh_infile *f, char *data, size_t n, struct rh_error *err)
{
    while (!f->ended) {
        if (!f->in_frame) {
            if (next_member(f, err) != 0) {
                return -1;
            }
            continue;
        }
        if (f->pos == f->len && infile_fill(f, 1, err) != 0) {
            return -1;
        }
        bool starved = f->pos == f->len;
        ssize_t made =
            f->coding == CODING_GZIP ? inflate_gzip(f, data, n) : inflate_zstd(f, data, n);
        if (starved && made == 0 && f->in_frame && !f->ended) {
            bad_stream(f, "the compressed data end early");
        }
        if (made > 0) {
            return made;
        }
    }
    if (f->pending.code != RH_ERR_NONE) {
        return rh_error_set(err, f->pending.code, "%s", f->pending.text);
    }
    return 0;
}

ssize_t rh_infile_read(struct rh_infile *f, void *data, size_t n, struct rh_error *err)
{
    if (n == 0) {
        return 0;
    }
    return f->coding == CODING_PLAIN ? read_plain(f, data, n, err)
                                     : read_compressed(f, data, n, err);
}

uint64_t rh_infile_size_bytes(const struct rh_infile *f)
{
    return f->size_bytes;
}

uint64_t rh_infile_consumed_bytes(const struct rh_infile *f)
{
    return f->read_bytes - (f->len - f->pos);
}

void rh_infile_close(struct rh_infile *f)
{
    if (!f) {
        return;
    }
    if (f->coding == CODING_GZIP) {
        inflateEnd(&f->gzip);
    }
    ZSTD_freeDStream(f->zstd);
    if (f->fd > STDERR_FILENO) {
        close(f->fd);
    }
    rh_free(f->buffer);
    rh_free(f->path);
    rh_free(f);
}
