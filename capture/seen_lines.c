/* capture/seen_lines.c */
#include "capture/seen_lines.h"

#include <string.h>

static void remove_hole(struct rh_seen_lines *s, uint32_t i)
{
    s->hole_count--;
    memmove(&s->holes[i], &s->holes[i + 1], (s->hole_count - i) * sizeof s->holes[0]);
}

void rh_seen_lines_add(struct rh_seen_lines *s, uint64_t line)
{
    if (line <= s->last) {
        s->hole_count = 0;
        s->forgotten_to = 0;
    } else if (line > s->last + 1) {
        if (s->hole_count == RH_LINE_HOLES_MAX) {
            s->forgotten_to = s->holes[0].to;
            remove_hole(s, 0);
        }
        s->holes[s->hole_count++] = (struct rh_line_hole){s->last + 1, line - 1};
    }
    s->last = line;
}

/* Lines that come late come mostly in order, so a hole shrinks from its start; one in its middle
 * leaves the hole as it is and would count as not read again. */
bool rh_seen_lines_fill(struct rh_seen_lines *s, uint64_t line)
{
    for (uint32_t i = 0; i < s->hole_count; i++) {
        struct rh_line_hole *h = &s->holes[i];
        if (line < h->from || line > h->to) {
            continue;
        }
        if (h->from == h->to) {
            remove_hole(s, i);
        } else if (line == h->from) {
            h->from++;
        } else if (line == h->to) {
            h->to--;
        }
        return true;
    }
    return line <= s->forgotten_to;
}
