#include "front/output.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* The longest line is a statement of 1 GB in which every byte is escaped by six. */
#define OUTPUT_MAX_BYTES ((size_t) 8 << 30)
enum { OUTPUT_LARGE_BYTES = 64 * 1024, OUTPUT_KEPT_BYTES = 16 * 1024 * 1024 };

void rh_output_init(struct rh_output *o)
{
    *o = (struct rh_output){0};
    rh_buf_init(&o->buf, OUTPUT_MAX_BYTES);
    signal(SIGPIPE, SIG_IGN);
}

void rh_output_release(struct rh_output *o)
{
    rh_buf_release(&o->buf);
}

int rh_output_flush_if_large(struct rh_output *o, struct rh_error *err)
{
    return o->buf.len >= OUTPUT_LARGE_BYTES || o->buf.over ? rh_output_flush(o, err) : 0;
}

static int write_out(struct rh_output *o, struct rh_error *err)
{
    size_t written = 0;
    while (written < o->buf.len && !o->gone) {
        ssize_t n = write(STDOUT_FILENO, o->buf.data + written, o->buf.len - written);
        if (n >= 0) {
            written += (size_t) n;
        } else if (errno == EPIPE) {
            o->gone = true;
        } else if (errno != EINTR) {
            return rh_error_set_errno(err, "cannot write to standard output");
        }
    }
    return 0;
}

int rh_output_flush(struct rh_output *o, struct rh_error *err)
{
    if (o->buf.over) {
        return rh_error_set(err, RH_ERR_LIMIT, "a record is too long to be shown");
    }
    int result = write_out(o, err);
    if (o->buf.cap > OUTPUT_KEPT_BYTES) {
        rh_buf_release(&o->buf);
    }
    rh_buf_clear(&o->buf);
    return result;
}
