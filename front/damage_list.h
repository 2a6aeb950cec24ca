/*
 * front/damage_list.h
 *
 * Everything that makes a file less than whole: places that the walk over its blocks could not
 * read, and blocks whose content cannot be decoded.
 */
#ifndef RH_FRONT_DAMAGE_LIST_H
#define RH_FRONT_DAMAGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace_file.h"
#include "formats/trace_reader.h"

struct rh_damage_list {
    struct rh_trace_damage *items; /* by offset within each of the two kinds */
    uint32_t count;
    uint32_t cap;
    uint64_t lost_records; /* that the headers of undecodable blocks announce */
};

void rh_damage_list_init(struct rh_damage_list *l);
void rh_damage_list_release(struct rh_damage_list *l);
/* What the file knows, and what the reader met on its way. */
void rh_damage_list_collect(struct rh_damage_list *l, const struct rh_trace_file *file,
                            const struct rh_trace_reader *reader);
/* A warning for each (the first ten), and one if the file is incomplete.  True if there was any. */
bool rh_damage_list_tell(const struct rh_damage_list *l, const struct rh_trace_file *file);

#endif
