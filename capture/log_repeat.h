/*
 * capture/log_repeat.h
 *
 * Most records of a csvlog differ from others of their session in few columns only: stamp, line
 * number, process display, transaction ids, message and detail.  Such a record is read here by
 * comparing the rest of its bytes with what the session's records had there (log_entry.h keeps
 * it); any other one is left to csvlog.h and rh_log_entry_from_csv(), which tell what it is and
 * teach the next ones.  Both give the same entry for the same bytes.
 */
#ifndef RH_CAPTURE_LOG_REPEAT_H
#define RH_CAPTURE_LOG_REPEAT_H

#include "capture/log_entry.h"

/* The record at the start of data[0..n), which must hold it whole: how many bytes it has, with its
 * line feeds in *lines; 0 if it is not such a record.  Doubled quotes are folded in place. */
size_t rh_log_repeat_read(struct rh_log_heads *heads, char *data, size_t n,
                          const struct rh_log_clock *clock, struct rh_log_entry *e,
                          uint32_t *lines);

/* Keep of a row what its session's next ones may repeat.  Before its fields are folded. */
void rh_log_repeat_learn(struct rh_log_heads *heads, struct rh_log_head *head,
                         const struct rh_csvlog_row *row);

#endif
