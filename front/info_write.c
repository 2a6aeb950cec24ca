#include "front/info_write.h"

void rh_info_write_begin(struct rh_info_writer *w, struct rh_buf *out, bool as_json)
{
    *w = (struct rh_info_writer){.out = out, .as_json = as_json};
    if (as_json) {
        rh_json_init(&w->json, out, true);
        rh_json_open(&w->json, '[');
    }
}

void rh_info_write_file(struct rh_info_writer *w, const struct rh_trace_file *file,
                        const struct rh_trace_summary *summary)
{
    if (w->as_json) {
        rh_info_json(&w->json, file, summary);
        return;
    }
    if (w->out->len > 0) {
        rh_buf_add_byte(w->out, '\n');
    }
    rh_info_text(w->out, file, summary);
}

void rh_info_write_end(struct rh_info_writer *w)
{
    if (w->as_json) {
        rh_json_close(&w->json);
        rh_buf_add_byte(w->out, '\n');
    }
}
