/*
 * formats/start_order.h
 *
 * A stable order of times.  Times that are nearly in order (a log is in order of ends) are put
 * right by insertion; others by radix sort over as many bits as they differ in.
 */
#ifndef RH_FORMATS_START_ORDER_H
#define RH_FORMATS_START_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct rh_start_order {
    uint32_t *order;   /* indexes, earliest first; equal times as they came */
    uint64_t *keys[2]; /* distance from the smallest time, and below it the index */
    uint32_t cap;
};

void rh_start_order_init(struct rh_start_order *o);
void rh_start_order_release(struct rh_start_order *o);
/* Fill o->order; memory is kept from call to call. */
void rh_start_order_make(struct rh_start_order *o, const int64_t *starts, uint32_t n);

#endif
