#include "rh_test.h"

#include "log_maker.h"

void rh_log_maker_init(struct rh_log_maker *m)
{
    rh_buf_init(&m->out, 64 * 1024 * 1024);
    m->line = 0;
}

void rh_log_maker_release(struct rh_log_maker *m)
{
    rh_buf_release(&m->out);
}

static void add_quoted(struct rh_buf *out, const char *text, const char *fallback)
{
    const char *s = text ? text : fallback;
    if (!s) {
        return;
    }
    rh_buf_add_byte(out, '"');
    for (; *s; s++) {
        if (*s == '"') {
            rh_buf_add_byte(out, '"');
        }
        rh_buf_add_byte(out, (uint8_t) *s);
    }
    rh_buf_add_byte(out, '"');
}

static void add_name(struct rh_buf *out, const char *text, const char *fallback)
{
    if (!text || *text) {
        add_quoted(out, text, fallback);
    }
}

void rh_log_maker_add(struct rh_log_maker *m, const struct rh_log_line *l)
{
    struct rh_buf *out = &m->out;
    m->line = l->line ? l->line : m->line + 1;
    rh_buf_addf(out, "2026-01-01 %s UTC,", l->stamp ? l->stamp : "00:00:01.000");
    add_name(out, l->user, "u");
    rh_buf_add_byte(out, ',');
    add_name(out, l->database, "d");
    rh_buf_addf(out, ",%u,", l->pid ? l->pid : 4001);
    add_name(out, l->client, "[local]");
    rh_buf_addf(out, ",%s,%u,", l->session ? l->session : "6955b900.fa1", m->line);
    add_quoted(out, l->tag, "SELECT");
    rh_buf_addf(out, ",2026-01-01 %s UTC,%s,0,%s,%s,", l->start ? l->start : "00:00:00",
                l->vxid ? l->vxid : "3/5", l->severity ? l->severity : "LOG",
                l->sqlstate ? l->sqlstate : "00000");
    add_quoted(out, l->message, "");
    rh_buf_add_byte(out, ',');
    add_quoted(out, l->detail, NULL);
    rh_buf_add_cstr(out, ",,,,");
    add_quoted(out, l->context, NULL);
    rh_buf_add_byte(out, ',');
    add_quoted(out, l->query, NULL);
    rh_buf_add_cstr(out, ",,");
    int columns = l->columns ? l->columns : 26;
    if (columns >= 23) {
        rh_buf_add_byte(out, ',');
        add_quoted(out, l->application, "app");
    }
    if (columns >= 24) {
        rh_buf_add_byte(out, ',');
        add_quoted(out, l->backend_type, "client backend");
    }
    if (columns >= 26) {
        rh_buf_add_cstr(out, ",,0");
    }
    if (columns >= 27) {
        rh_buf_add_cstr(out, ",new");
    }
    rh_buf_add_byte(out, '\n');
}
