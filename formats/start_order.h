/*
 * formats/start_order.h
 *
 * A stable order of times: radix sort over as many bits as they differ in.
 */
#ifndef RH_FORMATS_START_ORDER_H
#define RH_FORMATS_START_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct rh_start_order_pair {
    uint64_t key;
    uint32_t index;
};

struct rh_start_order {
    uint32_t *order; /* indexes, earliest first; equal times as they came */
    struct rh_start_order_pair *pairs[2];
    uint32_t cap;
};

void rh_start_order_init(struct rh_start_order *o);
void rh_start_order_release(struct rh_start_order *o);
/* Fill o->order; memory is kept from call to call. */
void rh_start_order_make(struct rh_start_order *o, const int64_t *starts, uint32_t n);

#endif
