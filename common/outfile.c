#include "common/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"

struct rh_outfile {
    int fd;
    char *path;    /* the final name, symbolic links resolved; "standard output" */
    char *partial; /* NULL: written in place (standard output, a device, a pipe) */
    uint64_t written_bytes;
};

/* The name behind symbolic links, so that a link to a file stays one; the path itself if new. */
static char *resolve_path(const char *path)
{
    char *real = realpath(path, NULL);
    if (!real) {
        return rh_strdup(path);
    }
    char *copy = rh_strdup(real);
    free(real);
    return copy;
}

/* A second writer must not truncate what the first one writes: lock first, then empty. */
static int open_partial(struct rh_outfile *f, struct rh_error *err)
{
    f->fd = open(f->partial, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (f->fd < 0) {
        return rh_error_set_errno(err, "cannot create \"%s\"", f->partial);
    }
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return rh_error_set(err, RH_ERR_IO, "\"%s\" is being written by another process",
                            f->partial);
    }
    if (ftruncate(f->fd, 0) != 0) {
        return rh_error_set_errno(err, "cannot empty \"%s\"", f->partial);
    }
    return 0;
}

static void outfile_free(struct rh_outfile *f)
{
    if (f->fd > STDERR_FILENO) {
        close(f->fd);
    }
    rh_free(f->path);
    rh_free(f->partial);
    rh_free(f);
}

static int outfile_open_named(struct rh_outfile *f, const char *path, struct rh_error *err)
{
    struct stat st;
    bool exists = stat(path, &st) == 0;
    f->path = resolve_path(path);
    if (exists && S_ISDIR(st.st_mode)) {
        return rh_error_set(err, RH_ERR_IO, "cannot write \"%s\": it is a directory", path);
    }
    if (exists && !S_ISREG(st.st_mode)) {
        /* To rename a file over a device or a pipe would destroy it. */
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
        return f->fd < 0 ? rh_error_set_errno(err, "cannot write \"%s\"", path) : 0;
    }
    size_t size = strlen(f->path) + sizeof ".partial";
    f->partial = rh_malloc(size);
    snprintf(f->partial, size, "%s.partial", f->path);
    if (open_partial(f, err) != 0) {
        return -1;
    }
    /* Who may read the old file may read the new one, and nobody else; best effort, as it may be
     * somebody else's. */
    if (exists && fchmod(f->fd, st.st_mode & 0777) != 0) {
        errno = 0;
    }
    return 0;
}

int rh_outfile_open(struct rh_outfile **out, const char *path, struct rh_error *err)
{
    struct rh_outfile *f = rh_calloc(1, sizeof *f);
    f->fd = -1;
    if (strcmp(path, "-") == 0) {
        f->fd = STDOUT_FILENO;
        f->path = rh_strdup("standard output");
    } else if (outfile_open_named(f, path, err) != 0) {
        outfile_free(f);
        return -1;
    }
    *out = f;
    return 0;
}

static const char *outfile_name(const struct rh_outfile *f)
{
    return f->partial ? f->partial : f->path;
}

/* A failure here changes nothing: the caller reports the first one. */
static void outfile_cut_back(struct rh_outfile *f)
{
    if (f->partial && ftruncate(f->fd, (off_t) f->written_bytes) == 0) {
        lseek(f->fd, (off_t) f->written_bytes, SEEK_SET);
    }
}

int rh_outfile_write(struct rh_outfile *f, const void *data, size_t n, struct rh_error *err)
{
    const char *at = data;
    size_t left = n;
    while (left > 0) {
        ssize_t done = write(f->fd, at, left);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            int saved = done == 0 ? ENOSPC : errno;
            outfile_cut_back(f);
            errno = saved;
            return rh_error_set_errno(err, "cannot write \"%s\" after %llu bytes", outfile_name(f),
                                      (unsigned long long) f->written_bytes);
        }
        at += done;
        left -= (size_t) done;
    }
    f->written_bytes += n;
    return 0;
}

uint64_t rh_outfile_written_bytes(const struct rh_outfile *f)
{
    return f->written_bytes;
}

int rh_outfile_sync(struct rh_outfile *f, struct rh_error *err)
{
    if (f->partial && fsync(f->fd) != 0) {
        return rh_error_set_errno(err, "cannot sync \"%s\"", outfile_name(f));
    }
    return 0;
}

/* A rename lasts only when its directory is on the disk.  Some file systems cannot sync one; the
 * data is safe all the same. */
static void sync_directory_of(const char *path)
{
    char *directory = rh_strdup(path);
    char *slash = strrchr(directory, '/');
    if (slash) {
        slash[slash == directory ? 1 : 0] = '\0';
    }
    int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    rh_free(directory);
}

int rh_outfile_finish(struct rh_outfile *f, struct rh_error *err)
{
    int result = rh_outfile_sync(f, err);
    if (result == 0 && f->partial) {
        if (rename(f->partial, f->path) != 0) {
            result = rh_error_set_errno(err, "cannot rename \"%s\" to \"%s\"", f->partial, f->path);
        } else {
            sync_directory_of(f->path);
        }
    }
    if (f->fd > STDERR_FILENO) {
        /* Network file systems report a full disk only here. */
        int fd = f->fd;
        f->fd = -1;
        if (close(fd) != 0 && result == 0) {
            result = rh_error_set_errno(err, "cannot close \"%s\"", f->path);
        }
    }
    outfile_free(f);
    return result;
}

void rh_outfile_keep(struct rh_outfile *f, struct rh_error *err)
{
    const char *name = outfile_name(f);
    /* link() does not replace; where a file system has no links the partial name stays. */
    if (f->partial && f->written_bytes > 0 && link(f->partial, f->path) == 0) {
        unlink(f->partial);
        name = f->path;
    }
    if (err && f->written_bytes > 0) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, "; what was written is in \"%s\"",
                 name);
    }
    outfile_free(f);
}

bool rh_outfile_is_same(const char *path, const char *other)
{
    struct stat a;
    struct stat b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

void rh_outfile_discard(struct rh_outfile *f)
{
    if (f) {
        if (f->partial) {
            unlink(f->partial);
        }
        outfile_free(f);
    }
}
