/*
 * capture/wire_session.c
 *
 * From the events of one connection to groups of messages with their outcomes.
 */
#include "capture/wire_session.h"

#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "formats/pg_message.h"
#include "formats/pg_wire_outcome.h"

enum {
    COPY_CHUNK_BYTES = 64 * 1024,
};

static struct rh_wire_group *group_new(struct rh_wire_session *s, int64_t start_ns, uint64_t serial)
{
    struct rh_wire_capture *c = s->capture;
    struct rh_wire_group *g = c->unused;
    if (g) {
        c->unused = g->next;
        rh_wire_group_clear(g);
    } else {
        g = rh_malloc(sizeof *g);
        rh_wire_group_init(g);
    }
    g->next = NULL;
    g->start_ns = start_ns;
    g->first_serial = g->next_serial = serial;
    if (s->last) {
        s->last->next = g;
    } else {
        s->first = g;
    }
    s->last = g;
    return g;
}

/* Charge the session, and all, with what the group holds now. */
static void account(struct rh_wire_session *s, struct rh_wire_group *g)
{
    size_t bytes = rh_wire_group_bytes(g);
    s->waiting_bytes += bytes - g->accounted;
    s->capture->waiting_bytes += bytes - g->accounted;
    g->accounted = bytes;
}

static void group_drop_first(struct rh_wire_session *s)
{
    struct rh_wire_group *g = s->first;
    s->first = g->next;
    s->last = s->first ? s->last : NULL;
    s->answering = s->answering == g ? s->first : s->answering;
    s->waiting_bytes -= g->accounted;
    s->capture->waiting_bytes -= g->accounted;
    g->next = s->capture->unused;
    s->capture->unused = g;
}

static void bound_memory(struct rh_wire_session *s)
{
    struct rh_wire_capture *c = s->capture;
    if (s->waiting_bytes > c->limits.session_bytes || c->waiting_bytes > c->limits.bytes) {
        rh_wire_write_early(s, true);
        for (struct rh_wire_group *g = s->first; g; g = g->next) {
            account(s, g);
        }
    }
}

/* ------------------------------------------------------------------------------------------------
 * Messages of the client
 */

/* The group that COPY data belongs to: the last one that is no cancel request. */
static struct rh_wire_group *group_of_copy(const struct rh_wire_session *s)
{
    struct rh_wire_group *found = NULL;
    for (struct rh_wire_group *g = s->first; g; g = g->next) {
        found = g->kind == RH_KIND_CANCEL ? found : g;
    }
    return found;
}

static void take_copy(struct rh_wire_session *s, const struct rh_pg_wire_event *ev)
{
    struct rh_wire_group *g =
        s->last && s->last->kind != RH_KIND_CANCEL ? s->last : group_of_copy(s);
    if (!g) {
        /* Sent before the client knew that the server had given up.  It is kept, since a candidate
         * may not give up. */
        g = group_new(s, ev->time_ns, ev->serial);
        g->told = g->stray = g->synced = true;
        g->ordinal = s->capture->is_partial && !s->last_kept ? 0 : s->ordinal;
    }
    rh_wire_group_add_copy(g, ev);
    account(s, g);
    if (g->copy.len >= COPY_CHUNK_BYTES) {
        rh_wire_write_early(s, false);
    }
}

static void take_message(struct rh_wire_session *s, const struct rh_pg_wire_event *ev)
{
    struct rh_wire_said said;
    if (ev->message == 'X') {
        s->terminated = true;
        return;
    }
    if (ev->message == 'd' || ev->message == 'c' || ev->message == 'f') {
        take_copy(s, ev);
        return;
    }
    rh_wire_said_decode(&said, ev);
    struct rh_wire_group *g = s->last;
    if (!g || !rh_wire_group_takes(g, &said)) {
        g = group_new(s, ev->time_ns, ev->serial);
    }
    rh_wire_group_add(g, &said, ev);
    account(s, g);
    bound_memory(s);
}

/* ------------------------------------------------------------------------------------------------
 * Answers
 */

static struct rh_wire_group *group_of(struct rh_wire_session *s, uint64_t serial)
{
    struct rh_wire_group *g = s->answering ? s->answering : s->first;
    while (g && g->next_serial <= serial) {
        g = g->next;
    }
    if (!g || serial < g->first_serial) {
        return NULL;
    }
    s->answering = g;
    return g;
}

static void take_answer(struct rh_wire_session *s, const struct rh_pg_wire_event *ev)
{
    struct rh_wire_group *g = group_of(s, ev->serial);
    if (!g || g->kind == RH_KIND_CANCEL) {
        return;
    }
    uint32_t marks = rh_pg_wire_outcome_add(&g->outcome, g->tag, g->kind == RH_KIND_PROTOCOL, ev);
    g->settled = g->settled || (marks & RH_PG_WIRE_SETTLED);
    g->skipped = g->skipped || (marks & RH_PG_WIRE_NOT_RUN);
    g->lost = g->lost || (marks & RH_PG_WIRE_LOST);
    rh_wire_apply(s, g, ev);
    account(s, g);
    if (g->lost) {
        g->outcome.sqlstate = RH_SQLSTATE_UNKNOWN;
        g->outcome.done_ns = RH_TIME_UNKNOWN;
    }
}

/* What the server reported before ReadyForQuery counts from the next statement on. */
static void take_application(struct rh_wire_session *s)
{
    if (!s->application_is_new) {
        return;
    }
    s->application_is_new = false;
    struct rh_span value = rh_buf_span(&s->application_next);
    bool was_told = s->application.data != NULL;
    s->application_changed =
        s->application_changed || (was_told && !rh_span_equal(rh_buf_span(&s->application), value));
    rh_buf_clear(&s->application);
    rh_buf_add_span(&s->application, value);
    rh_buf_cstr(&s->application);
}

/* Write what is answered; the server waits for the client now. */
static void take_ready(struct rh_wire_session *s, const struct rh_pg_wire_event *ev)
{
    uint64_t answered = s->wire.queue.serial;
    if (s->info.joined_midway && !s->was_ready) {
        rh_wire_txn_join(s, answered, ev->status);
    }
    s->was_ready = true;
    while (s->first && (s->first->next_serial <= answered || s->first->kind == RH_KIND_CANCEL)) {
        struct rh_wire_group *g = s->first;
        struct rh_wire_group *next = g->next;
        while (next && next->kind == RH_KIND_CANCEL) {
            next = next->next;
        }
        bool is_last = !next || next->next_serial > answered;
        uint8_t txn = g->stray || g->kind == RH_KIND_CANCEL || g->told
                          ? 0
                          : rh_wire_txn(s, g, is_last ? ev->status : '\0');
        if (g->told && is_last && ev->status) {
            s->in_transaction = ev->status != 'I';
            s->in_block = ev->status != 'I';
        }
        rh_wire_write_group(s, g, txn);
        group_drop_first(s);
    }
    if (ev->status == 'I') {
        rh_wire_portals_clear(&s->names);
    }
    take_application(s);
}

/* ------------------------------------------------------------------------------------------------
 * The session itself
 */

static uint64_t key_hash(const char *address, uint32_t pid, struct rh_span key)
{
    uint64_t parts[3] = {rh_hash(rh_span_cstr(address)), pid, rh_hash(key)};
    return rh_hash(rh_span((const char *) parts, sizeof parts));
}

static void forget_key(struct rh_wire_session *s)
{
    struct rh_wire_capture *c = s->capture;
    if (s->key_len > 0) {
        if (rh_map_get(&c->keys, s->key_hash) == s) {
            rh_map_remove(&c->keys, s->key_hash);
            c->ended_keys[c->next_ended_key++ % RH_WIRE_ENDED_KEYS] = s->key_hash;
        }
        s->key_len = 0;
    }
}

/* A request that no open session has the key of (0: it has none): its own had ended, or was never
 * seen. */
static void count_unlinked(struct rh_wire_capture *c, uint64_t hash)
{
    bool had_ended = false;
    for (uint32_t i = 0; i < RH_WIRE_ENDED_KEYS && hash != 0 && !had_ended; i++) {
        had_ended = c->ended_keys[i] == hash;
    }
    c->counts.cancels_late += had_ended;
    c->counts.cancels_unlinked += !had_ended;
}

static void take_key(struct rh_wire_session *s, struct rh_span body)
{
    struct rh_span key;
    uint32_t pid;
    if (rh_pg_key_decode(body, &pid, &key) != 0) {
        s->pid = s->pid ? s->pid : rh_pg_untyped_code(body); /* a key of no length */
        return;
    }
    forget_key(s);
    s->pid = pid;
    s->key_len = (uint32_t) key.len;
    memcpy(s->key, key.data, key.len);
    s->key_hash = key_hash(s->info.peer[RH_TCP_SERVER].address, pid, key);
    rh_map_put(&s->capture->keys, s->key_hash, s);
}

/* A cancel request takes its place in the session that it is for. */
static void take_cancel(struct rh_wire_session *s, const struct rh_pg_wire_event *ev)
{
    struct rh_wire_capture *c = s->capture;
    struct rh_span key;
    uint32_t pid;
    struct rh_wire_session *target = NULL;
    uint64_t hash = 0;
    c->counts.cancels++;
    if (rh_pg_cancel_decode(ev->body, &pid, &key) == 0) {
        hash = key_hash(s->info.peer[RH_TCP_SERVER].address, pid, key);
        target = rh_map_get(&c->keys, hash);
    }
    if (!target || target->pid != pid || target->key_len != key.len ||
        memcmp(target->key, key.data, key.len) != 0) {
        count_unlinked(c, hash);
        return;
    }
    if (target->unwanted != RH_WIRE_WANTED) {
        return;
    }
    for (struct rh_wire_group *g = target->first; g; g = g->next) {
        g->canceled = true;
    }
    bool running = target->first != NULL;
    uint64_t serial = target->last ? target->last->next_serial : target->wire.queue.next_serial;
    struct rh_wire_group *g = group_new(target, ev->time_ns, serial);
    g->kind = RH_KIND_CANCEL;
    g->synced = true;
    g->idle_target = !running;
    account(target, g);
    if (!running) {
        rh_wire_write_group(target, g, 0);
        group_drop_first(target);
    }
}

/* "15.18 (Debian 15.18-1)": up to the blank. */
static void take_version(struct rh_wire_capture *c, struct rh_span value)
{
    size_t len = 0;
    while (len < value.len && value.data[len] != ' ') {
        len++;
    }
    if (len > 0 && len <= RH_WIRE_VERSION_MAX) {
        memcpy(c->server.version, value.data, len);
        c->server.version[len] = '\0';
    }
}

static void take_parameter(struct rh_wire_session *s, struct rh_span body)
{
    struct rh_span name;
    struct rh_span value;
    if (rh_pg_parameter_decode(body, &name, &value) != 0) {
        return;
    }
    if (rh_span_is(name, "server_version")) {
        take_version(s->capture, value);
        return;
    }
    if (!rh_span_is(name, "application_name")) {
        return;
    }
    rh_buf_clear(&s->application_next);
    rh_buf_add_span(&s->application_next, value);
    rh_buf_cstr(&s->application_next);
    s->application_is_new = true;
}

/* Of which nothing more is known; it may be one of those that the filters want. */
static void put_lost_session(struct rh_wire_session *s, const char *what)
{
    if (rh_wire_is_in_window(s)) {
        rh_wire_tell_session(s);
    }
    if (s->number != 0) {
        rh_wire_put_gap(s, what, 1);
    }
}

static void take_phase(struct rh_wire_session *s, enum rh_pg_wire_phase phase)
{
    struct rh_wire_capture_counts *n = &s->capture->counts;
    switch (phase) {
    case RH_PG_WIRE_ENCRYPTED:
        n->encrypted++;
        s->flags |= RH_SESSION_ENCRYPTED;
        put_lost_session(s, "encrypted session, cannot be captured");
        break;
    case RH_PG_WIRE_REPLICATION:
        n->replication++;
        s->flags |= RH_SESSION_REPLICATION;
        put_lost_session(s, "replication connection, not captured");
        break;
    case RH_PG_WIRE_FOREIGN:
        n->foreign++;
        break;
    default:
        break;
    }
}

static void take_loss(struct rh_wire_session *s, const struct rh_pg_wire_event *ev)
{
    uint64_t *lost = &s->lost[ev->loss];
    s->names_unsure = true;
    if (ev->side == RH_PG_FRONTEND) {
        /* A Parse of the unnamed statement may be among what is missing, and a Bind. */
        rh_wire_names_remove(&s->names, RH_SPAN_NONE);
        rh_wire_portals_clear(&s->names);
    }
    if (s->unwanted != RH_WIRE_WANTED || !rh_wire_is_in_window(s)) {
        return;
    }
    if (ev->bytes == UINT64_MAX || *lost > UINT64_MAX - ev->bytes) {
        *lost = UINT64_MAX;
    } else {
        *lost += ev->bytes;
        s->capture->counts.bytes_lost += ev->bytes;
    }
    if (s->number != 0 || s->authorized) {
        rh_wire_tell_session(s);
    }
}

void rh_wire_session_event(void *context, const struct rh_pg_wire_event *ev)
{
    struct rh_wire_session *s = context;
    s->last_ns = ev->time_ns;
    switch (ev->type) {
    case RH_PG_WIRE_ON_STARTUP:
        s->had_startup = true;
        rh_buf_add_span(&s->startup, ev->body);
        rh_wire_keep_startup(s);
        break;
    case RH_PG_WIRE_ON_CANCEL:
        take_cancel(s, ev);
        break;
    case RH_PG_WIRE_ON_PHASE:
        take_phase(s, ev->phase);
        break;
    case RH_PG_WIRE_ON_LOGIN:
        s->authorized = true;
        break;
    case RH_PG_WIRE_ON_KEY:
        take_key(s, ev->body);
        break;
    case RH_PG_WIRE_ON_PARAMETER:
        take_parameter(s, ev->body);
        break;
    case RH_PG_WIRE_ON_FATAL:
        s->fatal = ev->sqlstate;
        break;
    case RH_PG_WIRE_ON_MESSAGE:
        if (s->unwanted == RH_WIRE_WANTED) {
            take_message(s, ev);
        }
        break;
    case RH_PG_WIRE_ON_ANSWER:
        take_answer(s, ev);
        break;
    case RH_PG_WIRE_ON_READY:
        if (s->number == 0 && s->authorized && !s->info.joined_midway && !s->capture->is_partial) {
            rh_wire_tell_session(s);
        }
        take_ready(s, ev);
        break;
    case RH_PG_WIRE_ON_LOSS:
        take_loss(s, ev);
        break;
    }
}

static const char *end_text(const struct rh_wire_session *s, enum rh_tcp_end how)
{
    if (s->terminated) {
        return "disconnected";
    }
    if (s->fatal != RH_SQLSTATE_UNKNOWN) {
        return s->authorized ? "ended by the server" : "login refused";
    }
    switch (how) {
    case RH_TCP_END_FIN:
        return "closed without Terminate";
    case RH_TCP_END_RST:
        return "connection reset";
    case RH_TCP_END_REUSED:
        return "end not captured";
    case RH_TCP_END_IDLE:
        return "given up, idle or one of too many";
    case RH_TCP_END_CAPTURE_END:
        break;
    }
    return NULL;
}

/* How a replay has to end it; what the server did is not the client's. */
static uint32_t end_flag(const struct rh_wire_session *s, enum rh_tcp_end how)
{
    if (s->terminated || s->fatal != RH_SQLSTATE_UNKNOWN) {
        return 0;
    }
    return how == RH_TCP_END_FIN   ? RH_SESSION_NO_TERMINATE
           : how == RH_TCP_END_RST ? RH_SESSION_RESET
                                   : 0;
}

static void end_told(struct rh_wire_session *s, enum rh_tcp_end how)
{
    struct rh_record r;
    const char *text = end_text(s, how);
    if (s->not_prepared > 0) {
        rh_wire_put_gap(s, "executions of statements prepared before the capture", s->not_prepared);
    }
    if (s->capture->filter && s->last_ns >= s->capture->filter->to_ns) {
        text = NULL;
    }
    if (text) {
        s->flags |= end_flag(s, how);
        rh_record_init(&r);
        r.kind = RH_KIND_CLOSE;
        r.start_ns = s->last_ns;
        r.detail = rh_span_cstr(text);
        rh_wire_put_record(s, &r);
    } else {
        s->flags |= RH_SESSION_LEFT_OPEN;
        s->capture->counts.left_open++;
    }
    rh_wire_put_session(s, text ? s->last_ns : RH_TIME_UNKNOWN);
    s->capture->sink->end_session(s->capture->sink->context, s->number);
}

void rh_wire_session_end(struct rh_wire_session *s, enum rh_tcp_end how)
{
    struct rh_wire_capture_counts *n = &s->capture->counts;
    while (s->first) {
        struct rh_wire_group *g = s->first;
        uint8_t txn = g->stray || g->told || g->kind == RH_KIND_CANCEL ? 0 : rh_wire_txn(s, g, 0);
        rh_wire_write_group(s, g, txn);
        group_drop_first(s);
    }
    bool refused = !s->authorized && s->had_startup && s->fatal != RH_SQLSTATE_UNKNOWN;
    if (refused) {
        s->flags |= RH_SESSION_LOGIN_FAILED;
        n->logins_failed++;
    }
    bool is_of_use = (refused || s->authorized) && !s->capture->is_partial;
    if (is_of_use || s->lost[RH_PG_WIRE_LOSS_GAP] > 0) {
        rh_wire_tell_session(s);
    } else if (!refused && !s->authorized && s->number == 0 && s->had_startup) {
        n->logins_unfinished++;
    }
    n->opaque += s->number == 0 && s->info.joined_midway && s->lost[RH_PG_WIRE_LOSS_PASSED] > 0;
    n->sessions_filtered += s->unwanted == RH_WIRE_UNWANTED;
    n->sessions_unknown +=
        s->unwanted == RH_WIRE_UNWANTED_UNKNOWN && s->wire.counts.messages[0] > 0;
    if (s->number != 0) {
        end_told(s, how);
    }
    forget_key(s);
    n->anomalies += s->wire.counts.anomalies + s->wire.counts.strays;
    for (int side = 0; side < 2; side++) {
        n->messages[side] += s->wire.counts.messages[side];
    }
}
