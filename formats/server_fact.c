#include "formats/server_fact.h"

void rh_server_fact_texts(struct rh_server_fact *f,
                          struct rh_span *texts[static RH_SERVER_FACT_TEXTS])
{
    texts[0] = &f->kind;
    texts[1] = &f->database;
    texts[2] = &f->name;
    texts[3] = &f->value;
    texts[4] = &f->unit;
    texts[5] = &f->source;
}

struct rh_server_fact rh_server_fact_copy(const struct rh_server_fact *f, struct rh_arena *arena)
{
    struct rh_server_fact copy = *f;
    struct rh_span *texts[RH_SERVER_FACT_TEXTS];
    rh_server_fact_texts(&copy, texts);
    for (int i = 0; i < RH_SERVER_FACT_TEXTS; i++) {
        *texts[i] = rh_arena_copy(arena, *texts[i]);
    }
    return copy;
}

const struct rh_server_fact *rh_server_facts_copy(const struct rh_server_fact *facts,
                                                  uint32_t count, struct rh_arena *arena)
{
    struct rh_server_fact *items = rh_arena_alloc(arena, count * sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = rh_server_fact_copy(&facts[i], arena);
    }
    return items;
}

bool rh_server_facts_cover(const struct rh_server_fact *facts, uint32_t count,
                           struct rh_span database)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rh_span_is(facts[i].kind, "statistics") && rh_span_equal(facts[i].database, database)) {
            return true;
        }
    }
    return false;
}

void rh_server_facts_put(const struct rh_server_fact *facts, uint32_t count, struct rh_buf *out)
{
    rh_mp_put_array(out, count * RH_SERVER_FACT_TEXTS);
    for (uint32_t i = 0; i < count; i++) {
        struct rh_server_fact fact = facts[i];
        struct rh_span *texts[RH_SERVER_FACT_TEXTS];
        rh_server_fact_texts(&fact, texts);
        for (int k = 0; k < RH_SERVER_FACT_TEXTS; k++) {
            if (texts[k]->data) {
                rh_mp_put_bin(out, *texts[k]);
            } else {
                rh_mp_put_nil(out);
            }
        }
    }
}

static int get_fact(struct rh_mp *m, struct rh_arena *arena, struct rh_server_fact *fact)
{
    struct rh_span *texts[RH_SERVER_FACT_TEXTS];
    *fact = (struct rh_server_fact){0};
    rh_server_fact_texts(fact, texts);
    for (int i = 0; i < RH_SERVER_FACT_TEXTS; i++) {
        bool is_none = rh_mp_peek(m) == RH_MP_NIL;
        if ((is_none ? rh_mp_get_nil(m) : rh_mp_get_bin(m, texts[i])) != 0) {
            return -1;
        }
    }
    *fact = rh_server_fact_copy(fact, arena);
    return 0;
}

int rh_server_facts_get(struct rh_mp *m, struct rh_arena *arena,
                        const struct rh_server_fact **facts, uint32_t *count)
{
    uint32_t n;
    if (rh_mp_get_array(m, &n) != 0 || n % RH_SERVER_FACT_TEXTS != 0 ||
        n / RH_SERVER_FACT_TEXTS > RH_SERVER_FACTS_MAX) {
        return -1;
    }
    n /= RH_SERVER_FACT_TEXTS;
    struct rh_server_fact *items = rh_arena_alloc(arena, n * sizeof *items);
    for (uint32_t i = 0; i < n; i++) {
        if (get_fact(m, arena, &items[i]) != 0) {
            return -1;
        }
    }
    *facts = items;
    *count = n;
    return 0;
}
