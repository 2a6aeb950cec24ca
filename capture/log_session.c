/* capture/log_session.c */
#include "capture/log_session.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

void rh_log_sessions_init(struct rh_log_sessions *t)
{
    rh_map_init(&t->by_key);
    rh_map_init(&t->by_pid);
    t->last = NULL;
}

static void session_free(struct rh_log_session *s)
{
    rh_known_names_release(&s->known);
    rh_session_keep_release(&s->keep);
    rh_free(s->names);
    rh_free(s->application_heap);
    rh_free(s->current_application);
    rh_free(s);
}

void rh_log_sessions_release(struct rh_log_sessions *t)
{
    size_t pos = 0;
    struct rh_log_session *s;
    while ((s = rh_map_next(&t->by_key, &pos, NULL))) {
        session_free(s);
    }
    rh_map_release(&t->by_key);
    rh_map_release(&t->by_pid);
}

struct rh_log_session *rh_log_sessions_find(struct rh_log_sessions *t, uint64_t key)
{
    if (t->last && t->last->key == key) {
        return t->last;
    }
    struct rh_log_session *s = rh_map_get(&t->by_key, key);
    if (s) {
        t->last = s;
    }
    return s;
}

struct rh_log_session *rh_log_sessions_by_pid(struct rh_log_sessions *t, uint32_t pid)
{
    return rh_map_get(&t->by_pid, pid);
}

struct rh_log_session *rh_log_sessions_add(struct rh_log_sessions *t, uint64_t key, uint32_t pid)
{
    struct rh_log_session *s = rh_calloc(1, sizeof *s);
    s->key = key;
    s->pid = pid;
    s->offset_s = RH_LOG_OFFSET_UNKNOWN;
    s->close_sqlstate = RH_SQLSTATE_UNKNOWN;
    s->opened_ns = s->last_stamp_ns = RH_TIME_UNKNOWN;
    s->last_start_ns = s->last_end_ns = RH_TIME_UNKNOWN;
    rh_known_names_init(&s->known);
    rh_map_put(&t->by_key, key, s);
    rh_map_put(&t->by_pid, pid, s);
    t->last = s;
    return s;
}

void rh_log_sessions_remove(struct rh_log_sessions *t, struct rh_log_session *s)
{
    rh_map_remove(&t->by_key, s->key);
    if (rh_map_get(&t->by_pid, s->pid) == s) {
        rh_map_remove(&t->by_pid, s->pid);
    }
    if (t->last == s) {
        t->last = NULL;
    }
    session_free(s);
}

struct rh_log_session **rh_log_sessions_list(const struct rh_log_sessions *t,
                                             int (*compare)(const void *, const void *))
{
    size_t n = 0, pos = 0, count = t->by_key.count;
    struct rh_log_session **list = rh_calloc(count ? count : 1, sizeof(struct rh_log_session *));
    struct rh_log_session *s;
    while ((s = rh_map_next(&t->by_key, &pos, NULL))) {
        list[n++] = s;
    }
    qsort(list, n, sizeof(struct rh_log_session *), compare);
    return list;
}

static struct rh_span put(char **at, struct rh_span s)
{
    if (!s.data) {
        return s;
    }
    memcpy(*at, s.data, s.len);
    struct rh_span copy = rh_span(*at, s.len);
    *at += s.len;
    return copy;
}

void rh_log_session_set_names(struct rh_log_session *s, struct rh_span user,
                              struct rh_span database, struct rh_span client)
{
    char *old = s->names;
    s->names = rh_malloc(user.len + database.len + client.len + 1);
    char *at = s->names;
    s->user = put(&at, user);
    s->database = put(&at, database);
    s->client = put(&at, client);
    rh_free(old);
}

void rh_log_session_set_application(struct rh_log_session *s, struct rh_span name)
{
    char *copy = rh_memdup(name.data ? name.data : "", name.len);
    rh_free(s->application_heap);
    s->application_heap = copy;
    s->application = rh_span(copy, name.len);
}

void rh_log_session_see_application(struct rh_log_session *s, struct rh_span name)
{
    if (name.len == s->current_application_len &&
        (name.len == 0 || memcmp(name.data, s->current_application, name.len) == 0)) {
        return;
    }
    if (name.len > s->current_application_cap) {
        s->current_application = rh_realloc(s->current_application, name.len, 1);
        s->current_application_cap = (uint32_t) name.len;
    }
    if (name.len > 0) {
        memcpy(s->current_application, name.data, name.len);
    }
    s->current_application_len = (uint32_t) name.len;
}

struct rh_span rh_log_session_current_application(const struct rh_log_session *s)
{
    return rh_span(s->current_application ? s->current_application : "",
                   s->current_application_len);
}
