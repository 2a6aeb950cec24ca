#include "diff/pair_stat.h"

#include <math.h>
#include <string.h>

#include "common/alloc.h"

enum { LIST_MIN = 8, RATIO_MIDDLE = RH_RATIO_CELLS / 2 };

static bool room_take(struct rh_pair_room *room, uint64_t bytes)
{
    if (bytes > room->bytes_max || room->bytes > room->bytes_max - bytes) {
        return false;
    }
    room->bytes += bytes;
    return true;
}

static uint64_t section_bytes(const struct rh_section *s)
{
    return (s->side[RH_BASE].cell_count + (uint64_t) s->side[RH_CANDIDATE].cell_count) *
           sizeof(uint32_t);
}

static void release_sections(struct rh_pair_sums *sums)
{
    for (int i = 0; i < RH_SECTIONS; i++) {
        rh_hist_release(&sums->sections[i].side[RH_BASE]);
        rh_hist_release(&sums->sections[i].side[RH_CANDIDATE]);
    }
    sums->has_sections = false;
}

static uint64_t sections_bytes(const struct rh_pair_sums *sums)
{
    uint64_t bytes = 0;
    for (int i = 0; i < RH_SECTIONS; i++) {
        bytes += section_bytes(&sums->sections[i]);
    }
    return bytes;
}

/* The log is that of rh_batch_add(). */
static unsigned ratio_cell(int64_t scaled_log)
{
    double octaves = (double) scaled_log / (RH_LOG_SCALE * log(2));
    double cell = round(octaves * RH_RATIOS_PER_OCTAVE) + RATIO_MIDDLE;
    return cell < 0 ? 0 : cell < RH_RATIO_CELLS ? (unsigned) cell : RH_RATIO_CELLS - 1;
}

/* Returns the bytes that the sections grew by. */
static uint64_t sums_add(struct rh_pair_sums *sums, const struct rh_timed_pair *pair)
{
    struct rh_section *section = &sums->sections[pair->batch / (RH_BATCHES / RH_SECTIONS)];
    int64_t scaled_log =
        rh_batch_add(&sums->batches[pair->batch], pair->base_ns, pair->candidate_ns);
    uint32_t *cell = &sums->ratios[ratio_cell(scaled_log)];
    *cell += *cell < UINT32_MAX;
    sums->slower += pair->candidate_ns >= 2 * (uint64_t) pair->base_ns && pair->candidate_ns > 0;
    sums->faster += 2 * pair->candidate_ns <= pair->base_ns && pair->base_ns > 0;
    if (!sums->has_sections) {
        return 0;
    }
    uint64_t before = section_bytes(section);
    rh_hist_add(&section->side[RH_BASE], (int64_t) pair->base_ns);
    rh_hist_add(&section->side[RH_CANDIDATE], (int64_t) pair->candidate_ns);
    return section_bytes(section) - before;
}

static void sums_init(struct rh_pair_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    sums->has_sections = true;
    for (int i = 0; i < RH_SECTIONS; i++) {
        rh_hist_init(&sums->sections[i].side[RH_BASE]);
        rh_hist_init(&sums->sections[i].side[RH_CANDIDATE]);
    }
}

static void list_release(struct rh_pair_stat *s, struct rh_pair_room *room)
{
    room->bytes -= s->cap * sizeof *s->list;
    rh_free(s->list);
    s->list = NULL;
    s->count = s->cap = 0;
}

/* Nothing of this query is known to be all of it any more. */
static void give_up(struct rh_pair_stat *s, struct rh_pair_room *room)
{
    list_release(s, room);
    s->lacks_pairs = true;
}

static void add_to_sums(struct rh_pair_stat *s, const struct rh_timed_pair *pair,
                        struct rh_pair_room *room)
{
    uint64_t grown = sums_add(s->sums, pair);
    if (grown && !room_take(room, grown)) {
        room->bytes -= sections_bytes(s->sums) - grown;
        release_sections(s->sums);
    }
}

static void list_to_sums(struct rh_pair_stat *s, struct rh_pair_room *room)
{
    if (!room_take(room, sizeof *s->sums)) {
        give_up(s, room);
        return;
    }
    s->sums = rh_calloc(1, sizeof *s->sums);
    sums_init(s->sums);
    for (uint32_t i = 0; i < s->count; i++) {
        add_to_sums(s, &s->list[i], room);
    }
    list_release(s, room);
}

static bool list_grow(struct rh_pair_stat *s, struct rh_pair_room *room)
{
    uint32_t cap = s->cap ? s->cap * 2 : LIST_MIN;
    if (!room_take(room, (cap - s->cap) * sizeof *s->list)) {
        return false;
    }
    s->list = rh_realloc(s->list, cap, sizeof *s->list);
    s->cap = cap;
    return true;
}

void rh_pair_stat_add(struct rh_pair_stat *s, const struct rh_timed_pair *pair,
                      struct rh_pair_room *room)
{
    if (s->sums) {
        add_to_sums(s, pair, room);
        return;
    }
    if (s->lacks_pairs) {
        return;
    }
    if (s->count == RH_PAIR_LIST_MAX) {
        list_to_sums(s, room);
        rh_pair_stat_add(s, pair, room);
        return;
    }
    if (s->count == s->cap && !list_grow(s, room)) {
        give_up(s, room);
        return;
    }
    s->list[s->count++] = *pair;
}

void rh_pair_stat_release(struct rh_pair_stat *s, struct rh_pair_room *room)
{
    list_release(s, room);
    if (s->sums) {
        room->bytes -= sizeof *s->sums + sections_bytes(s->sums);
        release_sections(s->sums);
        rh_free(s->sums);
    }
    *s = (struct rh_pair_stat){0};
}

static void sums_merge(struct rh_pair_sums *into, const struct rh_pair_sums *from)
{
    for (int i = 0; i < RH_BATCHES; i++) {
        rh_batch_merge(&into->batches[i], &from->batches[i]);
    }
    into->slower += from->slower;
    into->faster += from->faster;
    for (int i = 0; i < RH_RATIO_CELLS; i++) {
        if (__builtin_add_overflow(into->ratios[i], from->ratios[i], &into->ratios[i])) {
            into->ratios[i] = UINT32_MAX;
        }
    }
    if (!into->has_sections || !from->has_sections) {
        release_sections(into);
        return;
    }
    for (int i = 0; i < RH_SECTIONS; i++) {
        for (int side = 0; side < RH_SIDES; side++) {
            rh_hist_merge(&into->sections[i].side[side], &from->sections[i].side[side]);
        }
    }
}

void rh_pair_stat_merge(struct rh_pair_stat *into, const struct rh_pair_stat *from,
                        struct rh_pair_room *room)
{
    if (from->sums && !into->sums && !into->lacks_pairs) {
        list_to_sums(into, room);
    }
    if (into->lacks_pairs || from->lacks_pairs) {
        rh_pair_stat_release(into, room);
        into->lacks_pairs = true;
        return;
    }
    if (from->sums) {
        room->bytes -= sections_bytes(into->sums);
        sums_merge(into->sums, from->sums);
        if (!room_take(room, sections_bytes(into->sums))) {
            release_sections(into->sums);
        }
    }
    for (uint32_t i = 0; i < from->count; i++) {
        rh_pair_stat_add(into, &from->list[i], room);
    }
}

void rh_pair_sums_make(struct rh_pair_sums *sums, const struct rh_pair_stat *s, bool without_first)
{
    sums_init(sums);
    if (s->sums) {
        sums_merge(sums, s->sums);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        if (!(without_first && s->list[i].is_first)) {
            sums_add(sums, &s->list[i]);
        }
    }
}

void rh_pair_sums_release(struct rh_pair_sums *sums)
{
    release_sections(sums);
}

uint64_t rh_pair_sums_count(const struct rh_pair_sums *sums)
{
    uint64_t n = 0;
    for (int i = 0; i < RH_BATCHES; i++) {
        n += sums->batches[i].count;
    }
    return n;
}
