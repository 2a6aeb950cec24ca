/*
 * formats/pg_wire_match.c
 *
 * Which answer belongs to which message.
 */
#include <string.h>

#include "formats/pg_message.h"
#include "formats/pg_wire_private.h"
#include "formats/record.h"

void rh_pg_wire_answer_clear(struct rh_pg_wire_answer *a)
{
    *a = (struct rh_pg_wire_answer){
        .first_ns = RH_TIME_UNKNOWN, .rows = RH_COUNT_UNKNOWN, .sqlstate = 0};
}

static void add_rows(struct rh_pg_wire_answer *a, int64_t rows)
{
    if (rows == RH_COUNT_UNKNOWN && a->rows_since > 0) {
        rows = (int64_t) a->rows_since;
    }
    if (rows != RH_COUNT_UNKNOWN &&
        __builtin_add_overflow(a->rows == RH_COUNT_UNKNOWN ? 0 : a->rows, rows, &a->rows)) {
        a->rows = INT64_MAX;
    }
    a->rows_since = 0;
}

/* The head of the queue has its answer, or will never have one. */
static void settle(struct rh_pg_wire *w, enum rh_pg_wire_end end, char status)
{
    struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_ANSWER);
    ev.serial = w->queue.serial;
    char type = rh_pg_wire_queue_pop(&w->queue);
    if (type != 'c' && type != 'f') {
        ev.message = type;
        ev.status = status;
        if (w->unsure) {
            rh_pg_wire_answer_clear(&w->now);
            ev.status = '\0';
            end = RH_PG_WIRE_UNKNOWN;
        }
        if (w->now.rows_since > 0) {
            add_rows(&w->now, RH_COUNT_UNKNOWN);
        }
        w->now.end = end;
        ev.answer = &w->now;
        w->event(w->context, &ev);
    }
    rh_pg_wire_answer_clear(&w->now);
}

static bool is_silent(char type)
{
    return type == 'c' || type == 'f' || type == RH_PG_WIRE_MUTE;
}

static void settle_silent(struct rh_pg_wire *w)
{
    while (w->queue.silent > 0 && is_silent(rh_pg_wire_queue_at(&w->queue, 0))) {
        struct rh_pg_wire_answer kept = w->now;
        rh_pg_wire_answer_clear(&w->now);
        settle(w, RH_PG_WIRE_DONE, '\0');
        w->now = kept;
    }
}

/* A message whose answer comes with ReadyForQuery. */
static bool ends_group(char type)
{
    return type == 'Q' || type == 'S' || type == 'F' || type == RH_PG_UNTYPED;
}

/* The server looks at nothing before the next Sync. */
static void skip_to_sync(struct rh_pg_wire *w)
{
    char type;
    while ((type = rh_pg_wire_queue_at(&w->queue, 0)) != '\0' && type != 'S') {
        bool silent = is_silent(type);
        settle(w, silent ? RH_PG_WIRE_DONE : RH_PG_WIRE_SKIPPED, '\0');
    }
    w->skipping = type == '\0';
}

void rh_pg_wire_give_up(struct rh_pg_wire *w)
{
    while (w->queue.count > 0) {
        settle(w, RH_PG_WIRE_UNKNOWN, '\0');
    }
    w->skipping = w->copying = w->copy_closed = false;
}

void rh_pg_wire_ask(struct rh_pg_wire *w, char type)
{
    if (type == 'c' || type == 'f') {
        if (w->copying) {
            w->copy_closed = true;
        } else if (w->queue.count > 0) {
            rh_pg_wire_queue_push(&w->queue, type);
        }
        return;
    }
    if (!rh_pg_wire_queue_push(&w->queue, type)) {
        rh_pg_wire_give_up(w);
        w->counts.anomalies++;
        w->unsure = true;
        rh_pg_wire_queue_push(&w->queue, type);
    }
    if (w->skipping) {
        skip_to_sync(w);
    } else if (type == 'S' && w->copying && !w->copy_closed) {
        rh_pg_wire_queue_mute(&w->queue, w->queue.count - 1);
    }
}

/* CopyInResponse: a Sync that was sent before the data ended is taken without an answer. */
static void begin_copy(struct rh_pg_wire *w)
{
    char type;
    w->copying = true;
    w->copy_closed = false;
    for (uint32_t i = 1; (type = rh_pg_wire_queue_at(&w->queue, i)) != '\0'; i++) {
        if (type == 'c' || type == 'f') {
            w->copy_closed = true;
            return;
        }
        if (type == 'S') {
            rh_pg_wire_queue_mute(&w->queue, i);
        }
    }
}

static void end_copy(struct rh_pg_wire *w)
{
    w->copying = w->copy_closed = false;
}

uint32_t rh_pg_wire_groups(const struct rh_pg_wire *w)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < w->queue.count && groups < 2; i++) {
        groups += ends_group(rh_pg_wire_queue_at(&w->queue, i));
    }
    return groups;
}

/* What a message of the server may answer. */
static bool answers(char answer, char asked)
{
    switch (answer) {
    case '1':
        return asked == 'P';
    case '2':
        return asked == 'B';
    case '3':
        return asked == 'C' || asked == 'p';
    case 't':
        return asked == 't';
    case 'n':
        return asked == 'D' || asked == 't';
    case 'T':
        return asked == 'D' || asked == 't' || asked == 'Q';
    case 's':
        return asked == 'E';
    case 'V':
        return asked == 'F';
    case 'D':
    case 'C':
    case 'I':
    case 'G':
    case 'H':
    case 'd':
    case 'c':
        return asked == 'Q' || asked == 'E';
    default:
        return true;
    }
}

/* Answers that do not fit what was asked are those of messages that were not seen, and so may the
 * next ones be that do.  Who speaks himself knows what he has asked. */
static void doubt(struct rh_pg_wire *w)
{
    if (w->overheard) {
        w->unsure = true;
        w->unsure_once = false;
    }
}

/* Bring what this message answers to the head; false if nothing fits before the next Sync. */
static bool align(struct rh_pg_wire *w, char answer)
{
    settle_silent(w);
    if (answers(answer, rh_pg_wire_queue_at(&w->queue, 0))) {
        return w->queue.count > 0;
    }
    uint32_t skip = 0;
    char type;
    while ((type = rh_pg_wire_queue_at(&w->queue, skip)) != '\0' && !answers(answer, type)) {
        if (ends_group(type)) {
            break;
        }
        skip++;
    }
    if (type == '\0' || !answers(answer, type)) {
        w->counts.strays++;
        doubt(w);
        return false;
    }
    w->counts.anomalies++;
    doubt(w);
    while (skip-- > 0) {
        settle(w, RH_PG_WIRE_UNKNOWN, '\0');
    }
    return true;
}

static void take_tag(struct rh_pg_wire *w, struct rh_span body)
{
    struct rh_pg_tag tag;
    w->now.results++;
    if (rh_pg_tag_decode(body, &tag) != 0) {
        add_rows(&w->now, RH_COUNT_UNKNOWN);
        return;
    }
    add_rows(&w->now, tag.rows);
    size_t n = tag.name.len < sizeof w->tag_text ? tag.name.len : sizeof w->tag_text;
    memcpy(w->tag_text, tag.name.data, n);
    w->now.tag = rh_span(w->tag_text, n);
}

static void take_error(struct rh_pg_wire *w, const struct rh_pg_event *e)
{
    struct rh_pg_report report;
    uint32_t sqlstate = RH_SQLSTATE_UNKNOWN;
    bool fatal = false;
    if (rh_pg_report_decode(e->body, true, &report) == 0) {
        sqlstate = rh_sqlstate_pack(report.sqlstate);
        fatal = rh_pg_report_is_fatal(&report);
    }
    settle_silent(w);
    char type = rh_pg_wire_queue_at(&w->queue, 0);
    if (w->now.sqlstate == 0) {
        w->now.sqlstate = sqlstate;
    }
    end_copy(w);
    if (fatal) {
        struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_FATAL);
        ev.sqlstate = sqlstate;
        w->event(w->context, &ev);
        if (type != '\0') {
            settle(w, RH_PG_WIRE_FAILED, '\0');
        }
        rh_pg_wire_give_up(w);
        return;
    }
    if (type == '\0') {
        w->counts.strays++;
        doubt(w);
        rh_pg_wire_answer_clear(&w->now);
    } else if (!ends_group(type)) {
        settle(w, RH_PG_WIRE_FAILED, '\0');
        skip_to_sync(w);
    }
}

/* ReadyForQuery is right: what stands before the message that it ends is unknown. */
static void take_ready(struct rh_pg_wire *w, char status)
{
    uint32_t at = 0;
    char type;
    settle_silent(w);
    while ((type = rh_pg_wire_queue_at(&w->queue, at)) != '\0' && !ends_group(type)) {
        at++;
    }
    bool passed_some = at > 0 && w->logged_in;
    w->counts.anomalies += passed_some;
    w->counts.strays += type == '\0';
    if (passed_some || type == '\0') {
        doubt(w);
    }
    while (at-- > 0) {
        settle(w, RH_PG_WIRE_UNKNOWN, '\0');
    }
    if (type != '\0') {
        settle(w, w->now.sqlstate != 0 ? RH_PG_WIRE_FAILED : RH_PG_WIRE_DONE, status);
    }
    settle_silent(w);
    rh_pg_wire_answer_clear(&w->now);
    w->skipping = false;
    w->unsure = w->unsure && !w->unsure_once;
    end_copy(w);
    struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_READY);
    ev.status = status;
    w->event(w->context, &ev);
}

void rh_pg_wire_settle_plain(struct rh_pg_wire *w, struct rh_span tag, char status)
{
    if (tag.data) {
        take_tag(w, tag);
    }
    if (status != '\0') {
        take_ready(w, status);
    } else {
        settle(w, RH_PG_WIRE_DONE, '\0');
    }
}

/* Messages that end what is asked at the head. */
static void take_end(struct rh_pg_wire *w, const struct rh_pg_event *e)
{
    char asked = rh_pg_wire_queue_at(&w->queue, 0);
    enum rh_pg_wire_end end = RH_PG_WIRE_DONE;
    switch (e->type) {
    case 'C':
        take_tag(w, e->body);
        end_copy(w);
        break;
    case 'I':
        w->now.results++;
        break;
    case 's':
        w->now.results++;
        add_rows(&w->now, RH_COUNT_UNKNOWN);
        end = RH_PG_WIRE_SUSPENDED;
        break;
    case 'V':
        w->now.results++;
        return;
    case 'G':
        begin_copy(w);
        return;
    case 'T':
    case 'n':
        if (asked == 'Q') {
            return;
        }
        break;
    case '1':
    case '2':
    case '3':
        break;
    default: /* t, H, c: more follows */
        return;
    }
    if (asked != 'Q') {
        settle(w, end, '\0');
    }
}

/* Nobody asked for these. */
static bool is_unasked(char type)
{
    switch (type) {
    case 'N':
    case 'A':
    case 'S':
    case 'R':
    case 'K':
    case 'v':
    case 'W':
        return true;
    default:
        return false;
    }
}

static bool is_known_answer(char type)
{
    switch (type) {
    case '1':
    case '2':
    case '3':
    case 'C':
    case 'D':
    case 'I':
    case 'G':
    case 'H':
    case 'T':
    case 'V':
    case 'd':
    case 'c':
    case 'n':
    case 's':
    case 't':
        return true;
    default:
        return false;
    }
}

/* To the head of the queue: the time of its first answer, and bytes. */
static void note_bytes(struct rh_pg_wire *w, const struct rh_pg_event *e)
{
    char type = e->type ? e->type : e->partial;
    uint64_t bytes = e->row_bytes + e->copy_bytes;
    if (type != '\0' && is_unasked(type) && bytes == 0) {
        return;
    }
    if (e->type && !is_unasked(e->type)) {
        bytes += (uint64_t) e->length + 5;
    }
    if (w->now.first_ns == RH_TIME_UNKNOWN && (bytes > 0 || type != '\0')) {
        w->now.first_ns = w->time_ns;
    }
    w->now.bytes += (int64_t) bytes;
}

void rh_pg_wire_answer(struct rh_pg_wire *w, const struct rh_pg_event *e)
{
    uint64_t data = e->rows + e->copies;
    if (data > 0 && align(w, 'D')) {
        w->now.rows_since += data;
    }
    if (w->queue.count > 0) {
        note_bytes(w, e);
    }
    switch (e->type) {
    case '\0':
        return;
    case 'E':
        take_error(w, e);
        return;
    case 'Z':
        take_ready(w, rh_pg_ready_decode(e->body));
        return;
    default:
        if (is_unasked(e->type)) {
            return;
        }
        if (!is_known_answer(e->type)) {
            w->counts.unknown++;
        } else if (align(w, e->type)) {
            take_end(w, e);
        }
    }
}
