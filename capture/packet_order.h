/*
 * capture/packet_order.h
 *
 * Capture files of one rotation, put in the order of their first packets: names do not tell it
 * (tcpdump's FILE9 and FILE10).
 */
#ifndef RH_CAPTURE_PACKET_ORDER_H
#define RH_CAPTURE_PACKET_ORDER_H

#include <stddef.h>

#include "common/error.h"

/* Each file is opened and its first packet read; one without packets comes first.  -1: a file
 * cannot be read, is no capture file, or is given twice; standard input ("-") can only be the only
 * one, and is not touched. */
int rh_packet_order_sort(const char **paths, size_t count, struct rh_error *err);

#endif
