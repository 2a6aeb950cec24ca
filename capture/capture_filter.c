/* capture/capture_filter.c */
#include "capture/capture_filter.h"

#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"

void rh_capture_filter_init(struct rh_capture_filter *f)
{
    memset(f, 0, sizeof *f);
    f->from_ns = INT64_MIN;
    f->to_ns = INT64_MAX;
    f->sample_below = UINT64_MAX;
}

static int compile(const struct rh_str_list *patterns, struct rh_regex ***compiled, uint32_t *count,
                   struct rh_error *err)
{
    *compiled = rh_calloc(patterns->count ? patterns->count : 1, sizeof(struct rh_regex *));
    for (size_t i = 0; i < patterns->count; i++) {
        if (rh_regex_new(&(*compiled)[i], patterns->items[i], err) != 0) {
            return -1;
        }
        (*count)++;
    }
    return 0;
}

int rh_capture_filter_add_patterns(struct rh_capture_filter *f, const struct rh_str_list *include,
                                   const struct rh_str_list *exclude, struct rh_error *err)
{
    if (compile(include, &f->include, &f->include_count, err) != 0) {
        return -1;
    }
    return compile(exclude, &f->exclude, &f->exclude_count, err);
}

int rh_capture_filter_open(struct rh_capture_filter *f, const struct rh_capture_options *o,
                           struct rh_error *err)
{
    rh_capture_filter_init(f);
    f->from_ns = o->from_ns;
    f->to_ns = o->to_ns;
    f->users = o->users;
    f->databases = o->databases;
    f->applications = o->applications;
    rh_capture_filter_sample(f, o->sample);
    return rh_capture_filter_add_patterns(f, &o->include, &o->exclude, err);
}

void rh_capture_filter_release(struct rh_capture_filter *f)
{
    for (uint32_t i = 0; i < f->include_count; i++) {
        rh_regex_free(f->include[i]);
    }
    for (uint32_t i = 0; i < f->exclude_count; i++) {
        rh_regex_free(f->exclude[i]);
    }
    rh_free(f->include);
    rh_free(f->exclude);
    f->include = f->exclude = NULL;
    f->include_count = f->exclude_count = 0;
}

static bool is_in(const struct rh_str_list *list, struct rh_span s)
{
    for (size_t i = 0; i < list->count; i++) {
        if (rh_span_is(s.data ? s : RH_SPAN_LITERAL(""), list->items[i])) {
            return true;
        }
    }
    return list->count == 0;
}

bool rh_capture_filter_session(const struct rh_capture_filter *f, struct rh_span user,
                               struct rh_span database)
{
    return is_in(&f->users, user) && is_in(&f->databases, database);
}

void rh_capture_filter_sample(struct rh_capture_filter *f, double fraction)
{
    f->sample_below = fraction >= 1 ? UINT64_MAX : (uint64_t) (fraction * 0x1p64);
}

bool rh_capture_filter_sampled(const struct rh_capture_filter *f, uint64_t session_key)
{
    if (f->sample_below == UINT64_MAX) {
        return true;
    }
    char bytes[sizeof session_key];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char) (session_key >> (8 * i) & 0xff);
    }
    return rh_hash_stable(rh_span(bytes, sizeof bytes)) < f->sample_below;
}

bool rh_capture_filter_time(const struct rh_capture_filter *f, int64_t begin_ns)
{
    return begin_ns >= f->from_ns && begin_ns < f->to_ns;
}

/* Another pattern may match where one ran away; if none does, *ran_away. */
static bool matches_any(struct rh_regex **patterns, uint32_t count, struct rh_span text,
                        bool *ran_away)
{
    *ran_away = false;
    for (uint32_t i = 0; i < count; i++) {
        struct rh_error err;
        int rc = rh_regex_match(patterns[i], text.data ? text : RH_SPAN_LITERAL(""), &err);
        if (rc == 1) {
            *ran_away = false;
            return true;
        }
        *ran_away |= rc < 0;
    }
    return false;
}

bool rh_capture_filter_application(const struct rh_capture_filter *f, struct rh_span application)
{
    return is_in(&f->applications, application);
}

bool rh_capture_filter_text(struct rh_capture_filter *f, struct rh_span text)
{
    bool ran_away;
    if (f->exclude_count > 0) {
        bool matches = matches_any(f->exclude, f->exclude_count, text, &ran_away);
        f->exclude_runaways += ran_away;
        if (matches || ran_away) {
            return false;
        }
    }
    if (f->include_count == 0) {
        return true;
    }
    bool matches = matches_any(f->include, f->include_count, text, &ran_away);
    f->include_runaways += ran_away;
    return matches;
}

bool rh_capture_filter_is_partial(const struct rh_capture_filter *f)
{
    return f->from_ns != INT64_MIN || f->to_ns != INT64_MAX || f->applications.count > 0 ||
           f->include_count > 0 || f->exclude_count > 0;
}
