#include "replay/round.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "replay/session_parts.h"

void rh_round_init(struct rh_round *round, struct rh_ring *ring)
{
    *round = (struct rh_round){.ring = ring};
    if (ring) {
        round->input = rh_malloc((size_t) RH_RING_OPS_MAX * RH_ROUND_INPUT_BYTES);
        round->output = rh_malloc((size_t) RH_RING_OPS_MAX * RH_ROUND_OUTPUT_BYTES);
    }
}

void rh_round_release(struct rh_round *round)
{
    rh_ring_free(round->ring);
    rh_free(round->input);
    rh_free(round->output);
    *round = (struct rh_round){0};
}

bool rh_round_read(struct rh_round *round, struct rh_replay_session *s)
{
    if (!round->ring || !rh_conn_is_bare(s->conn)) {
        return false;
    }
    for (unsigned i = 0; i < round->read_count; i++) {
        if (round->reads[i] == s) {
            return true;
        }
    }
    if (round->read_count == RH_RING_OPS_MAX) {
        rh_round_run(round);
    }
    round->reads[round->read_count++] = s;
    return true;
}

void rh_round_flush(struct rh_round *round)
{
    struct rh_ring_op ops[RH_RING_OPS_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < round->send_count; i++) {
        const struct rh_round_send *send = &round->sends[i];
        if (send->session) {
            ops[count] = (struct rh_ring_op){.fd = rh_conn_fd(send->session->conn),
                                             .data = round->output + send->at,
                                             .n = send->n};
            round->sends[count++] = *send;
        }
    }
    round->send_count = count;
    if (count > 0) {
        rh_ring_send(round->ring, ops, count);
    }
    for (unsigned i = 0; i < count; i++) {
        struct rh_replay_session *s = round->sends[i].session;
        if (s) {
            rh_replay_session_sent(s, rh_span(ops[i].data, ops[i].n), ops[i].result);
        }
    }
    round->send_count = 0;
}

bool rh_round_send(struct rh_round *round, struct rh_replay_session *s, struct rh_span bytes)
{
    if (!round->is_open) {
        return false;
    }
    for (unsigned i = 0; i < round->send_count; i++) {
        if (round->sends[i].session == s) {
            rh_round_flush(round); /* the order of its bytes */
            return false;
        }
    }
    if (bytes.len > RH_ROUND_OUTPUT_BYTES || !rh_conn_is_bare(s->conn)) {
        return false;
    }
    if (round->send_count == RH_RING_OPS_MAX) {
        rh_round_flush(round);
    }
    struct rh_round_send *send = &round->sends[round->send_count];
    *send =
        (struct rh_round_send){s, (size_t) round->send_count * RH_ROUND_OUTPUT_BYTES, bytes.len};
    memcpy(round->output + send->at, bytes.data, bytes.len);
    round->send_count++;
    return true;
}

void rh_round_run(struct rh_round *round)
{
    struct rh_ring_op ops[RH_RING_OPS_MAX];
    unsigned count = 0;
    assert(!round->is_open);
    for (unsigned i = 0; i < round->read_count; i++) {
        if (round->reads[i]) {
            round->reads[count] = round->reads[i];
            ops[count] = (struct rh_ring_op){.fd = rh_conn_fd(round->reads[i]->conn),
                                             .data = round->input + count * RH_ROUND_INPUT_BYTES,
                                             .n = RH_ROUND_INPUT_BYTES};
            count++;
        }
    }
    round->read_count = count;
    if (count < 2) {
        round->read_count = 0;
        if (count == 1) {
            rh_replay_session_read(round->reads[0]);
        }
        return;
    }
    rh_ring_receive(round->ring, ops, count);
    int64_t now_ns = rh_clock_mono_ns();
    round->is_open = true;
    for (unsigned i = 0; i < count; i++) {
        struct rh_replay_session *s = round->reads[i];
        if (s) {
            rh_replay_session_received(s, ops[i].data, ops[i].result, now_ns);
        }
    }
    round->read_count = 0;
    round->is_open = false;
    rh_round_flush(round);
}

void rh_round_drop(struct rh_round *round, const struct rh_replay_session *s)
{
    for (unsigned i = 0; i < round->read_count; i++) {
        if (round->reads[i] == s) {
            round->reads[i] = NULL;
        }
    }
    for (unsigned i = 0; i < round->send_count; i++) {
        if (round->sends[i].session == s) {
            round->sends[i].session = NULL;
        }
    }
}
