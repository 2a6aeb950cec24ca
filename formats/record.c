#include "formats/record.h"

#include "common/sql_template.h"

struct reason_words {
    const char *text;
    const char *name;
};

static const struct reason_words reason_words[RH_REASON_COUNT] = {
    [RH_REASON_NONE] = {"none", "none"},
    [RH_REASON_CUT_TEXT] = {"the text is cut", "cut-text"},
    [RH_REASON_CUT_PARAMETER] = {"a parameter is cut", "cut-parameter"},
    [RH_REASON_NO_PARAMETERS] = {"parameter values not logged", "no-parameters"},
    [RH_REASON_SECRET] = {"password removed", "secret"},
    [RH_REASON_NO_COPY_DATA] = {"COPY data not captured", "no-copy-data"},
    [RH_REASON_NO_ARGUMENTS] = {"function arguments not captured", "no-arguments"},
    [RH_REASON_NO_ROW_LIMIT] = {"row limit not captured", "no-row-limit"},
    [RH_REASON_NOT_PREPARED] = {"prepared before the capture began", "not-prepared"},
    [RH_REASON_ENCODING] = {"client encoding of a log", "encoding"},
    [RH_REASON_NO_EXECUTION] = {"execution not logged", "no-execution"},
    [RH_REASON_REDACTED] = {"literals redacted", "redacted"},
    [RH_REASON_REPLICATION] = {"replication command", "replication"},
    [RH_REASON_CONNECT_FAILED] = {"connection refused", "connect-failed"},
    [RH_REASON_SESSION_LOST] = {"connection lost before", "session-lost"},
    [RH_REASON_STOPPED] = {"replay stopped before", "stopped"},
    [RH_REASON_OUTSIDE_WINDOW] = {"outside the time window", "outside-window"},
    [RH_REASON_READ_ONLY] = {"writes are not replayed", "read-only"},
    [RH_REASON_PROTOCOL] = {"skipped by the server after an error", "protocol"},
    [RH_REASON_DAMAGED] = {"trace is damaged there", "damaged"},
    [RH_REASON_CANCEL_NOT_NEEDED] = {"cancel not needed", "cancel-not-needed"},
    [RH_REASON_TRANSACTION_LOST] = {"its transaction lost its connection", "transaction-lost"},
};

static const struct reason_words *find_reason(enum rh_reason reason)
{
    static const struct reason_words unknown = {"unknown reason", "unknown"};
    unsigned i = (unsigned) reason;
    return i < RH_REASON_COUNT && reason_words[i].text ? &reason_words[i] : &unknown;
}

const char *rh_reason_text(enum rh_reason reason)
{
    return find_reason(reason)->text;
}

const char *rh_reason_name(enum rh_reason reason)
{
    return find_reason(reason)->name;
}

uint32_t rh_sqlstate_pack(struct rh_span text)
{
    uint32_t packed = 0;
    if (text.len != 5 || !text.data) {
        return RH_SQLSTATE_UNKNOWN;
    }
    for (size_t i = 0; i < 5; i++) {
        char c = text.data[i];
        if (c >= '0' && c <= '9') {
            packed = packed * 36 + (uint32_t) (c - '0');
        } else if (c >= 'A' && c <= 'Z') {
            packed = packed * 36 + (uint32_t) (c - 'A' + 10);
        } else {
            return RH_SQLSTATE_UNKNOWN;
        }
    }
    return packed;
}

char *rh_sqlstate_unpack(uint32_t sqlstate, char text[6])
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (sqlstate >= 36u * 36 * 36 * 36 * 36) {
        text[0] = '\0';
        return text;
    }
    for (size_t i = 5; i > 0; i--) {
        text[i - 1] = digits[sqlstate % 36];
        sqlstate /= 36;
    }
    text[5] = '\0';
    return text;
}

bool rh_sqlstate_is_of_types(uint32_t sqlstate)
{
    static const char *const states[] = {"42725", "42P18", "42804", "42883"};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (sqlstate == rh_sqlstate_pack(rh_span_cstr(states[i]))) {
            return true;
        }
    }
    return false;
}

const char *rh_vantage_text(enum rh_vantage vantage)
{
    switch (vantage) {
    case RH_VANTAGE_SERVER_LOG:
        return "server log";
    case RH_VANTAGE_WIRE:
        return "wire";
    case RH_VANTAGE_CLIENT:
        return "replay client";
    }
    return "unknown vantage";
}

void rh_outcome_clear(struct rh_outcome *o)
{
    *o = (struct rh_outcome){
        .first_ns = RH_TIME_UNKNOWN,
        .done_ns = RH_TIME_UNKNOWN,
        .parse_ns = -1,
        .bind_ns = -1,
        .execute_ns = -1,
        .sqlstate = RH_SQLSTATE_UNKNOWN,
        .rows = RH_COUNT_UNKNOWN,
        .bytes = RH_COUNT_UNKNOWN,
    };
}

void rh_record_init(struct rh_record *r)
{
    *r = (struct rh_record){
        .kind = RH_KIND_QUERY,
        .start_ns = RH_TIME_UNKNOWN,
        .run =
            {
                .planned_ns = RH_TIME_UNKNOWN,
                .sent_ns = RH_TIME_UNKNOWN,
                .ready_ns = RH_TIME_UNKNOWN,
            },
    };
    rh_outcome_clear(&r->outcome);
}

void rh_record_init_gap(struct rh_record *r, int64_t start_ns, uint64_t count, const char *what)
{
    rh_record_init(r);
    r->kind = RH_KIND_GAP;
    r->start_ns = start_ns;
    r->count = count;
    r->detail = rh_span_cstr(what);
}

int rh_record_text(const struct rh_record *r, struct rh_buf *out)
{
    if (r->tmpl.data && r->literal_count > 0 && !r->literals) {
        return -1;
    }
    if (r->tmpl.data) {
        return rh_template_join(r->tmpl, r->literals, r->literal_count, out);
    }
    return rh_buf_add_span(out, r->text);
}

static const void *copy_array(struct rh_arena *arena, const void *from, size_t count, size_t size)
{
    if (count == 0) {
        return NULL;
    }
    void *to = rh_arena_alloc(arena, count * size);
    memcpy(to, from, count * size);
    return to;
}

static const struct rh_param *copy_params(struct rh_arena *arena, const struct rh_param *from,
                                          uint32_t count)
{
    if (count == 0) {
        return NULL;
    }
    struct rh_param *to = rh_arena_alloc(arena, count * sizeof *to);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].data = rh_arena_copy(arena, rh_span(from[i].data, from[i].len)).data;
    }
    return to;
}

static const struct rh_span *copy_spans(struct rh_arena *arena, const struct rh_span *from,
                                        uint32_t count)
{
    if (count == 0) {
        return NULL;
    }
    struct rh_span *to = rh_arena_alloc(arena, count * sizeof *to);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = rh_arena_copy(arena, from[i]);
    }
    return to;
}

void rh_record_copy(struct rh_record *to, const struct rh_record *from, struct rh_arena *arena)
{
    *to = *from;
    to->text = rh_arena_copy(arena, from->text);
    to->tmpl = rh_arena_copy(arena, from->tmpl);
    to->literals = copy_spans(arena, from->literals, from->literal_count);
    to->statement_name = rh_arena_copy(arena, from->statement_name);
    to->portal_name = rh_arena_copy(arena, from->portal_name);
    to->application = rh_arena_copy(arena, from->application);
    to->prepare_text = rh_arena_copy(arena, from->prepare_text);
    to->params = copy_params(arena, from->params, from->param_count);
    to->result_formats = copy_array(arena, from->result_formats, from->result_format_count,
                                    sizeof *from->result_formats);
    to->steps = rh_arena_copy(arena, from->steps);
    to->outcome.tag = rh_arena_copy(arena, from->outcome.tag);
    to->detail = rh_arena_copy(arena, from->detail);
}

void rh_session_copy(struct rh_session *to, const struct rh_session *from, struct rh_arena *arena)
{
    *to = *from;
    to->user = rh_arena_copy(arena, from->user);
    to->database = rh_arena_copy(arena, from->database);
    to->application = rh_arena_copy(arena, from->application);
    to->client = rh_arena_copy(arena, from->client);
    to->startup = NULL;
    if (from->startup_count > 0) {
        struct rh_setting *startup = rh_arena_alloc(arena, from->startup_count * sizeof *startup);
        for (uint32_t i = 0; i < from->startup_count; i++) {
            startup[i].name = rh_arena_copy(arena, from->startup[i].name);
            startup[i].value = rh_arena_copy(arena, from->startup[i].value);
        }
        to->startup = startup;
    }
}
