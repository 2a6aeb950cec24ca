#include "capture/live_source.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/stop.h"

/* So often the command looks after its files, with few packets too. */
static const int64_t pause_ns = 250 * RH_NS_PER_MS;

struct rh_live_source {
    struct rh_packet_live *live;
    uint64_t drops;
    int64_t rested_ns; /* when it last said that there is no packet */
    bool stopping;
    int64_t stop_wall_ns; /* packets of later are not wanted */
    int64_t give_up_ns;   /* what has not come by then will not */
};

/* The stop takes effect for the packets that the kernel has seen by now. */
static void begin_stop(struct rh_live_source *s)
{
    s->stopping = true;
    s->stop_wall_ns = rh_clock_wall_ns();
    s->give_up_ns = rh_clock_mono_ns() + rh_packet_live_delay_ns();
}

/* Nothing waits.  False: nothing will come any more. */
static bool rest(struct rh_live_source *s, enum rh_packet_next *answer)
{
    int64_t now = rh_clock_mono_ns();
    if (s->stopping && now >= s->give_up_ns) {
        *answer = RH_PACKET_NEXT_END;
        return false;
    }
    if (!s->stopping && now - s->rested_ns >= pause_ns) {
        s->rested_ns = now;
        *answer = RH_PACKET_NEXT_NONE;
        return false;
    }
    rh_packet_live_wait(s->live, s->stopping ? s->give_up_ns - now : s->rested_ns + pause_ns - now);
    return true;
}

static enum rh_packet_next next(void *context, struct rh_pcap_packet *packet, struct rh_error *err)
{
    struct rh_live_source *s = context;
    enum rh_packet_next answer = RH_PACKET_NEXT_ONE;
    for (;;) {
        if (!s->stopping && rh_stop_requested()) {
            begin_stop(s);
        }
        int got = rh_packet_live_next(s->live, packet, err);
        if (got < 0) {
            return RH_PACKET_NEXT_FAILED;
        }
        if (got > 0) {
            bool is_late = s->stopping && packet->time_ns > s->stop_wall_ns;
            return is_late ? RH_PACKET_NEXT_END : RH_PACKET_NEXT_ONE;
        }
        if (!rest(s, &answer)) {
            return answer;
        }
    }
}

static void describe(void *context, char *text, size_t size)
{
    const struct rh_live_source *s = context;
    snprintf(text, size, "%" PRIu64 " dropped", s->drops);
}

int rh_live_source_open(struct rh_live_source **out, struct rh_packet_source *source,
                        const struct rh_live_options *options, const struct rh_run_as *who,
                        struct rh_error *err)
{
    struct rh_live_source *s = rh_calloc(1, sizeof *s);
    if (rh_packet_live_open(&s->live, options, err) != 0 || rh_privileges_drop(who, err) != 0) {
        rh_live_source_close(s);
        return -1;
    }
    s->rested_ns = rh_clock_mono_ns();
    *source = (struct rh_packet_source){s, next, describe};
    *out = s;
    return 0;
}

void rh_live_source_close(struct rh_live_source *s)
{
    if (s) {
        rh_packet_live_close(s->live);
        rh_free(s);
    }
}

uint64_t rh_live_source_drops(struct rh_live_source *s)
{
    s->drops += rh_packet_live_drops(s->live);
    return s->drops;
}
