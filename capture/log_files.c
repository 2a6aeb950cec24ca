/* capture/log_files.c */
#include "capture/log_files.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/log_sniff.h"
#include "common/alloc.h"
#include "common/infile.h"
#include "common/log.h"
#include "common/noun.h"

enum { SNIFF_BYTES = 256 * 1024 };

struct log_file {
    const char *path;
    struct rh_infile *in; /* kept open from the sniffing on: standard input cannot be reopened */
    char *head;           /* read while sniffing, given again */
    size_t head_len;
    size_t head_pos;
    int64_t start_ns;
    uint64_t size_bytes;
    uint64_t device, inode;
};

struct rh_log_files {
    struct log_file *files;
    uint32_t count;
    uint32_t empty;
    uint32_t passed; /* logs of another form beside a csvlog that was given */
    const char *first_passed;
    uint32_t current;
    bool started;
    uint64_t done_bytes; /* of files that are finished */
    struct rh_log_reader reader;
};

static void file_release(struct log_file *f)
{
    rh_infile_close(f->in);
    f->in = NULL;
    rh_free(f->head);
    f->head = NULL;
}

static int head_read(struct log_file *f, struct rh_error *err)
{
    f->head = rh_malloc(SNIFF_BYTES);
    while (f->head_len < SNIFF_BYTES) {
        ssize_t n = rh_infile_read(f->in, f->head + f->head_len, SNIFF_BYTES - f->head_len, err);
        if (n < 0 && f->head_len == 0) {
            return -1;
        }
        if (n <= 0) {
            break; /* an error comes again on the next read */
        }
        f->head_len += (size_t) n;
    }
    return 0;
}

/* Open for sniffing.  Only standard input stays open: a capture may have more files than
 * descriptors. */
static int file_open(struct log_file *f, struct rh_error *err)
{
    if (rh_infile_open(&f->in, f->path, err) != 0) {
        return -1;
    }
    f->size_bytes = rh_infile_size_bytes(f->in);
    struct stat st;
    if (strcmp(f->path, "-") != 0 && stat(f->path, &st) == 0 && S_ISREG(st.st_mode)) {
        f->device = st.st_dev;
        f->inode = st.st_ino;
    }
    return head_read(f, err);
}

/* The server puts a ".log" (and with jsonlog a ".json") beside each ".csv": whether the csv of that
 * one is given too, perhaps compressed. */
static bool has_csv_given(const char *path, const char *const *paths, size_t count)
{
    const char *dot = strrchr(path, '.');
    size_t stem = dot ? (size_t) (dot - path) : 0;
    if (!dot || (strcmp(dot, ".log") != 0 && strcmp(dot, ".json") != 0)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(paths[i], path, stem) == 0 && strncmp(paths[i] + stem, ".csv", 4) == 0 &&
            (paths[i][stem + 4] == '\0' || paths[i][stem + 4] == '.')) {
            return true;
        }
    }
    return false;
}

static int file_sniff(struct log_file *f, enum rh_log_kind *kind, struct rh_error *err)
{
    if (file_open(f, err) != 0) {
        return -1;
    }
    *kind = rh_log_sniff(f->head, f->head_len, &f->start_ns);
    if (f->inode != 0) {
        file_release(f);
        f->head_len = 0;
    }
    return 0;
}

static bool is_given_before(const struct rh_log_files *f, const struct log_file *file)
{
    for (uint32_t i = 0; file->inode != 0 && i < f->count; i++) {
        if (f->files[i].inode == file->inode && f->files[i].device == file->device) {
            rh_log(RH_LOG_WARNING, "\"%s\" is the same file as \"%s\" and is read once", file->path,
                   f->files[i].path);
            return true;
        }
    }
    return false;
}

/* 1: it is to be read; 0: there is nothing to read in it. */
static int file_look_at(struct rh_log_files *f, struct log_file *file, const char *const *paths,
                        size_t count, struct rh_error *err)
{
    enum rh_log_kind kind;
    if (file_sniff(file, &kind, err) != 0) {
        return -1;
    }
    bool is_other = kind == RH_LOG_KIND_STDERR || kind == RH_LOG_KIND_JSON;
    if (kind == RH_LOG_KIND_EMPTY) {
        f->empty++;
        return 0;
    }
    if (is_other && has_csv_given(file->path, paths, count)) {
        f->first_passed = f->passed++ == 0 ? file->path : f->first_passed;
        return 0;
    }
    if (kind != RH_LOG_KIND_CSV) {
        return rh_error_set(err, RH_ERR_FORMAT, "\"%s\" %s", file->path, rh_log_kind_advice(kind));
    }
    return !is_given_before(f, file);
}

/* Files that begin at the same time keep the order they were given in. */
static void sort_files(struct rh_log_files *f)
{
    for (uint32_t i = 1; i < f->count; i++) {
        struct log_file file = f->files[i];
        uint32_t at = i;
        while (at > 0 && f->files[at - 1].start_ns > file.start_ns) {
            f->files[at] = f->files[at - 1];
            at--;
        }
        f->files[at] = file;
    }
}

static void say_passed(const struct rh_log_files *f)
{
    if (f->passed > 0) {
        rh_log(RH_LOG_WARNING,
               "%" PRIu32 " file%s passed over, as the csvlog of the same name is given too; the "
               "first is \"%s\"",
               f->passed, rh_noun(f->passed, " was", "s were"), f->first_passed);
    }
}

int rh_log_files_open(struct rh_log_files **out, const char *const *paths, size_t count,
                      struct rh_error *err)
{
    struct rh_log_files *f = rh_calloc(1, sizeof *f);
    f->files = rh_calloc(count ? count : 1, sizeof *f->files);
    rh_log_reader_init(&f->reader);
    for (size_t i = 0; i < count; i++) {
        struct log_file file = {.path = paths[i]};
        int rc = file_look_at(f, &file, paths, count, err);
        if (rc > 0) {
            f->files[f->count++] = file;
            continue;
        }
        file_release(&file);
        if (rc < 0) {
            rh_log_files_close(f);
            return -1;
        }
    }
    say_passed(f);
    if (f->count == 0) {
        rh_log_files_close(f);
        return rh_error_set(err, RH_ERR_FORMAT, "%s%s%s %s", count == 1 ? "\"" : "",
                            count == 1 ? paths[0] : "every file given", count == 1 ? "\"" : "",
                            rh_log_kind_advice(RH_LOG_KIND_EMPTY));
    }
    sort_files(f);
    *out = f;
    return 0;
}

static ssize_t file_read(void *context, void *data, size_t n, struct rh_error *err)
{
    struct log_file *f = context;
    if (f->head_pos < f->head_len) {
        size_t left = f->head_len - f->head_pos;
        size_t take = left < n ? left : n;
        memcpy(data, f->head + f->head_pos, take);
        f->head_pos += take;
        return (ssize_t) take;
    }
    return rh_infile_read(f->in, data, n, err);
}

/* 1 begun, 0 no more files, -1 it cannot be opened any more. */
static int file_begin(struct rh_log_files *f, struct rh_error *err)
{
    if (f->current == f->count) {
        return 0;
    }
    struct log_file *file = &f->files[f->current];
    if (!file->in && rh_infile_open(&file->in, file->path, err) != 0) {
        f->current++;
        return -1;
    }
    rh_log_reader_start(&f->reader, file->path, file_read, file);
    f->started = true;
    return 1;
}

static void file_finish(struct rh_log_files *f)
{
    struct log_file *file = &f->files[f->current];
    f->done_bytes += file->size_bytes;
    file_release(file);
    f->current++;
    f->started = false;
}

int rh_log_files_next(struct rh_log_files *f, struct rh_log_entry *e, struct rh_error *err)
{
    for (;;) {
        if (!f->started) {
            int rc = file_begin(f, err);
            if (rc <= 0) {
                return rc;
            }
        }
        int rc = rh_log_reader_next(&f->reader, e, err);
        if (rc == 1) {
            return 1;
        }
        file_finish(f);
        if (rc < 0) {
            return -1;
        }
    }
}

struct rh_log_reader *rh_log_files_reader(struct rh_log_files *f)
{
    return &f->reader;
}

uint32_t rh_log_files_count(const struct rh_log_files *f)
{
    return f->count;
}

uint32_t rh_log_files_empty(const struct rh_log_files *f)
{
    return f->empty;
}

uint64_t rh_log_files_size_bytes(const struct rh_log_files *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        sum += f->files[i].size_bytes;
    }
    return sum;
}

uint64_t rh_log_files_consumed_bytes(const struct rh_log_files *f)
{
    uint64_t sum = f->done_bytes;
    if (f->current < f->count && f->files[f->current].in) {
        sum += rh_infile_consumed_bytes(f->files[f->current].in);
    }
    return sum;
}

void rh_log_files_close(struct rh_log_files *f)
{
    if (!f) {
        return;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        file_release(&f->files[i]);
    }
    rh_log_reader_release(&f->reader);
    rh_free(f->files);
    rh_free(f);
}
