#include "front/record_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/opt.h"
#include "formats/record_query.h"
#include "front/kind_name.h"

/* The longest text a trace may hold. */
#define TEXT_MAX_BYTES ((size_t) 1 << 30)

void rh_record_filter_init(struct rh_record_filter *f)
{
    *f = (struct rh_record_filter){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    rh_buf_init(&f->whole, TEXT_MAX_BYTES);
    rh_buf_init(&f->scratch, TEXT_MAX_BYTES);
}

void rh_record_filter_release(struct rh_record_filter *f)
{
    rh_free(f->sessions);
    rh_buf_release(&f->whole);
    rh_buf_release(&f->scratch);
    rh_record_filter_init(f);
}

static bool is_error(const struct rh_record *r)
{
    return rh_kind_has_ordinal(r->kind) && r->outcome.sqlstate != 0 &&
           r->outcome.sqlstate != RH_SQLSTATE_UNKNOWN;
}

static bool session_is_taken(const struct rh_record_filter *f, uint32_t session)
{
    for (uint32_t i = 0; i < f->session_count; i++) {
        if (f->sessions[i] == session) {
            return true;
        }
    }
    return f->session_count == 0;
}

static bool is_of_query(struct rh_record_filter *f, const struct rh_record *r)
{
    if (!rh_kind_has_ordinal(r->kind) || r->kind == RH_KIND_CANCEL) {
        return false;
    }
    struct rh_span text;
    enum rh_query_text kind = rh_record_query(r, &f->whole, &text);
    return rh_query_fingerprint(kind, text, &f->scratch) == f->fingerprint;
}

bool rh_record_filter_takes(struct rh_record_filter *f, const struct rh_record *r)
{
    bool numbered = rh_kind_has_ordinal(r->kind) || r->kind == RH_KIND_COPY_DATA;
    if (f->first_ordinal &&
        (!numbered || r->ordinal < f->first_ordinal || r->ordinal > f->last_ordinal)) {
        return false;
    }
    if (f->kinds && !(f->kinds & 1U << r->kind)) {
        return false;
    }
    if (f->sqlstate && !(is_error(r) && r->outcome.sqlstate == f->sqlstate)) {
        return false;
    }
    return session_is_taken(f, r->session) && (!f->only_errors || is_error(r)) &&
           (!f->by_fingerprint || is_of_query(f, r));
}

int rh_record_filter_read_session(const char *arg, void *target, struct rh_error *err)
{
    struct rh_record_filter *f = target;
    RH_GROW(f->sessions, f->session_count, f->session_cap);
    if (rh_opt_count(arg, &f->sessions[f->session_count], err) != 0) {
        return -1;
    }
    f->session_count++;
    return 0;
}

/* Digits, then *end; 0 for what is no number. */
static uint64_t read_ordinal(const char *arg, char **end)
{
    errno = 0;
    uint64_t v = arg[0] >= '0' && arg[0] <= '9' ? strtoull(arg, end, 10) : 0;
    return errno ? 0 : v;
}

int rh_record_filter_read_ordinal(const char *arg, void *target, struct rh_error *err)
{
    struct rh_record_filter *f = target;
    char *end = NULL;
    uint64_t first = read_ordinal(arg, &end);
    uint64_t last = first;
    if (first && *end == '-') {
        last = read_ordinal(end + 1, &end);
    }
    if (first == 0 || last < first || *end) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a number such as 7 or a range 7-20",
                            arg);
    }
    f->first_ordinal = first;
    f->last_ordinal = last;
    return 0;
}

int rh_record_filter_read_kind(const char *arg, void *target, struct rh_error *err)
{
    struct rh_record_filter *f = target;
    int kind = rh_kind_by_name(arg);
    if (kind < 0) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" is none of query, execute, function, fetch, protocol, cancel, "
                            "open, close, gap, copy-data",
                            arg);
    }
    f->kinds |= 1U << kind;
    return 0;
}

int rh_record_filter_read_fingerprint(const char *arg, void *target, struct rh_error *err)
{
    struct rh_record_filter *f = target;
    if (strlen(arg) != 16 || strspn(arg, "0123456789abcdefABCDEF") != 16) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" is not a fingerprint such as 4c8cd3185a81d1f2", arg);
    }
    f->fingerprint = strtoull(arg, NULL, 16);
    f->by_fingerprint = true;
    return 0;
}

int rh_record_filter_read_sqlstate(const char *arg, void *target, struct rh_error *err)
{
    struct rh_record_filter *f = target;
    f->sqlstate = rh_sqlstate_pack(rh_span_cstr(arg));
    if (f->sqlstate == RH_SQLSTATE_UNKNOWN || f->sqlstate == 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not the code of an error such as 42703",
                            arg);
    }
    return 0;
}
