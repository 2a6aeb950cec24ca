/*
 * capture/live_source.h
 *
 * An interface as a source of packets: it ends when a stop is asked for and all packets of before
 * have been given.
 */
#ifndef RH_CAPTURE_LIVE_SOURCE_H
#define RH_CAPTURE_LIVE_SOURCE_H

#include "capture/packet_live.h"
#include "capture/packet_source.h"
#include "capture/privileges.h"

struct rh_live_source;

/* Opens the interface, then becomes `who` for good.  *source is set; its context is *out. */
int rh_live_source_open(struct rh_live_source **out, struct rh_packet_source *source,
                        const struct rh_live_options *options, const struct rh_run_as *who,
                        struct rh_error *err);
/* NULL is allowed. */
void rh_live_source_close(struct rh_live_source *s);
/* Packets that the kernel dropped, all of them; asks the kernel. */
uint64_t rh_live_source_drops(struct rh_live_source *s);

#endif
