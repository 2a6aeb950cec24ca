#include "front/damage_list.h"

#include <inttypes.h>

#include "common/alloc.h"
#include "common/log.h"
#include "common/noun.h"

enum { TOLD_MAX = 10 };

void rh_damage_list_init(struct rh_damage_list *l)
{
    *l = (struct rh_damage_list){0};
}

void rh_damage_list_release(struct rh_damage_list *l)
{
    rh_free(l->items);
    rh_damage_list_init(l);
}

static void add(struct rh_damage_list *l, struct rh_trace_damage damage)
{
    RH_GROW(l->items, l->count, l->cap);
    l->items[l->count++] = damage;
}

void rh_damage_list_collect(struct rh_damage_list *l, const struct rh_trace_file *file,
                            const struct rh_trace_reader *reader)
{
    for (uint32_t i = 0; i < rh_trace_file_damage_count(file); i++) {
        add(l, *rh_trace_file_damage(file, i));
    }
    if (rh_trace_reader_damaged(reader, &l->lost_records) == 0) {
        return;
    }
    for (uint32_t i = 0; i < rh_trace_file_block_count(file); i++) {
        if (rh_trace_reader_block_is_damaged(reader, i)) {
            const struct rh_block_info *block = rh_trace_file_block(file, i);
            add(l, (struct rh_trace_damage){
                       .offset = block->offset,
                       .bytes = (uint64_t) block->state_bytes + block->data_bytes,
                       .what = "block that cannot be decoded",
                   });
        }
    }
}

bool rh_damage_list_tell(const struct rh_damage_list *l, const struct rh_trace_file *file)
{
    const char *path = rh_trace_file_path(file);
    bool complete = rh_trace_file_complete(file);
    for (uint32_t i = 0; i < l->count && i < TOLD_MAX; i++) {
        rh_log(RH_LOG_WARNING, "\"%s\": %s, %" PRIu64 " byte%s at byte %" PRIu64, path,
               l->items[i].what, l->items[i].bytes, rh_plural(l->items[i].bytes),
               l->items[i].offset);
    }
    if (l->count > TOLD_MAX) {
        rh_log(RH_LOG_WARNING, "\"%s\": %u more damaged place%s", path, l->count - TOLD_MAX,
               rh_plural(l->count - TOLD_MAX));
    }
    if (l->lost_records) {
        rh_log(RH_LOG_WARNING, "\"%s\": %" PRIu64 " record%s lost in damaged blocks", path,
               l->lost_records, rh_noun(l->lost_records, " is", "s are"));
    }
    if (!complete) {
        rh_log(RH_LOG_WARNING, "\"%s\" is incomplete: %s", path,
               rh_trace_file_incomplete_reason(file));
    }
    return !complete || l->count > 0;
}
