#include "capture/wire_upkeep.h"

#include "common/clock.h"

static const int64_t ask_every_ns = RH_NS_PER_SEC;

int rh_wire_upkeep_drops(struct rh_wire_upkeep *u, int64_t last_ns, struct rh_error *err)
{
    uint64_t drops = u->live ? rh_live_source_drops(u->live) : 0;
    if (drops == u->drops) {
        return 0;
    }
    struct rh_record gap;
    rh_record_init_gap(&gap, last_ns != RH_TIME_UNKNOWN ? last_ns : rh_clock_wall_ns(),
                       drops - u->drops, "packets dropped by the kernel");
    u->drops = drops;
    return u->output->sink.record(u->output->sink.context, &gap, err);
}

/* Of files the time that they tell of goes by, not ours. */
enum rh_upkeep rh_wire_upkeep_tick(struct rh_wire_upkeep *u, int64_t last_ns, struct rh_error *err)
{
    int64_t now_ns = u->live ? rh_clock_mono_ns() : last_ns;
    if (now_ns == RH_TIME_UNKNOWN) {
        return RH_UPKEEP_GO_ON;
    }
    if (u->begun_ns == RH_TIME_UNKNOWN) {
        u->begun_ns = u->asked_ns = now_ns;
    }
    if (now_ns - u->asked_ns >= ask_every_ns) {
        u->asked_ns = now_ns;
        if (rh_wire_upkeep_drops(u, last_ns, err) != 0) {
            return RH_UPKEEP_FAILED;
        }
    }
    if (rh_wire_rotation_tick(u->output, now_ns, err) != 0) {
        return RH_UPKEEP_FAILED;
    }
    const struct rh_capture_limit *limit = &u->options->stop_after;
    bool is_over = (limit->duration_ns > 0 && now_ns - u->begun_ns >= limit->duration_ns) ||
                   (limit->bytes > 0 && rh_wire_rotation_bytes(u->output) >= limit->bytes);
    return is_over ? RH_UPKEEP_END : RH_UPKEEP_GO_ON;
}
