/* capture/cut_evidence.c */
#include "capture/cut_evidence.h"

enum {
    RUN_MIN = 4,    /* values in a row that outweigh a longer one long ago */
    CLIP_SLACK = 3, /* the server does not cut within a character */
};

void rh_cut_evidence_init(struct rh_cut_evidence *c)
{
    *c = (struct rh_cut_evidence){.longest_whole = -1, .run_length = -1};
}

static bool same_length(int64_t a, int64_t b)
{
    return a <= b + CLIP_SLACK && b <= a + CLIP_SLACK;
}

void rh_cut_evidence_add(struct rh_cut_evidence *c, int64_t whole, int64_t dotted)
{
    if (whole > c->longest_whole) {
        c->longest_whole = whole;
    }
    if (c->run_count > 0 && whole > c->run_length + CLIP_SLACK) {
        c->run_count = 0;
    }
    if (dotted < 0) {
        return;
    }
    if (c->run_count > 0 && same_length(dotted, c->run_length)) {
        c->run_count += c->run_count < UINT32_MAX;
        if (dotted > c->run_length) {
            c->run_length = dotted;
        }
        return;
    }
    c->run_length = dotted;
    c->run_count = 1;
}

bool rh_cut_evidence_judge(const struct rh_cut_evidence *c, int64_t dotted)
{
    bool contradicted = c->longest_whole > dotted + CLIP_SLACK;
    return !contradicted || (c->run_count >= RUN_MIN && same_length(dotted, c->run_length));
}
