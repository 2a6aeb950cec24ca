#include "replay/step_gate.h"

#include "replay/step_message.h"

void rh_step_gate_init(struct rh_step_gate *g)
{
    *g = (struct rh_step_gate){.since_unsent = RH_STEP_GATE_KEPT};
}

void rh_step_gate_note_extra(struct rh_step_gate *g, char letter)
{
    if (rh_step_flushes(letter)) {
        g->unflushed = 0;
    } else if (rh_step_is_answered(letter)) {
        g->unflushed++;
    }
}

void rh_step_gate_note(struct rh_step_gate *g, char letter, bool sent)
{
    if (rh_step_is_answered(letter)) {
        g->unsent[g->at++ % RH_STEP_GATE_KEPT] = !sent;
        if (!sent) {
            g->since_unsent = 0;
        } else if (g->since_unsent < RH_STEP_GATE_KEPT) {
            g->since_unsent++;
        }
    }
    if (sent) {
        rh_step_gate_note_extra(g, letter);
    }
}

void rh_step_gate_uncover(struct rh_step_gate *g, uint32_t outstanding)
{
    g->unflushed = outstanding;
}

static uint32_t limit_of(const struct rh_step_gate *g, uint32_t awaits)
{
    uint32_t limit = awaits;
    for (uint32_t i = 1; g->since_unsent < awaits && i <= awaits; i++) {
        limit -= g->unsent[(g->at - i) % RH_STEP_GATE_KEPT];
    }
    return limit;
}

bool rh_step_gate_is_open(const struct rh_step_gate *g, uint32_t awaits, uint32_t outstanding)
{
    return awaits >= RH_STEP_AWAITS_MANY || outstanding <= g->unflushed ||
           outstanding <= limit_of(g, awaits);
}

bool rh_step_gate_is_covered(const struct rh_step_gate *g)
{
    return g->unflushed == 0;
}
