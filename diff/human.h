/*
 * diff/human.h
 *
 * Numbers and text for a terminal: three digits and a unit, thousands separated, and text that can
 * neither break the layout nor command the terminal.
 */
#ifndef RH_DIFF_HUMAN_H
#define RH_DIFF_HUMAN_H

#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

enum { RH_HUMAN_SIZE = 32 };

/* "850 ns", "2.10 ms", "160 s", "26.7 min", "-" for NAN.  Returns text. */
char *rh_human_duration(double ns, char text[RH_HUMAN_SIZE]);
/* The same with "+" before what is not negative. */
char *rh_human_duration_signed(double ns, char text[RH_HUMAN_SIZE]);
/* "1,204,331". */
char *rh_human_count(uint64_t n, char text[RH_HUMAN_SIZE]);
/* "2.58x", "-" for NAN. */
char *rh_human_ratio(double ratio, char text[RH_HUMAN_SIZE]);
/* "99.94 %": rounded down, so that "100.00 %" is all of it; "-" when whole is 0. */
char *rh_human_share(uint64_t part, uint64_t whole, char text[RH_HUMAN_SIZE]);

/* Append s in one line of at most max_columns (wide characters count two), "..." where it was cut.
 * Blanks and line breaks become one blank; control, direction and invalid bytes become '?'. */
void rh_human_text(struct rh_buf *out, struct rh_span s, unsigned max_columns);

#endif
