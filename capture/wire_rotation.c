#include "capture/wire_rotation.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"

/* One session, while it is open. */
struct place {
    struct rh_wire_trace *in;
    bool inside;           /* a transaction has begun and not ended */
    bool moved;            /* its beginning is in an earlier file */
    uint64_t last_ordinal; /* of its records with one */
    uint64_t open_ordinal; /* the last one is written, its outcome is not; 0: it is */
    uint64_t cut_ordinal;  /* up to here its records are in an earlier file that is closed */
    uint64_t dropped;      /* outcomes and COPY data of those, to be told */
};

static bool is_idle(const struct place *p)
{
    return !p->inside && p->open_ordinal == 0;
}

/* A session that was never told of has records all the same, in tests at least. */
static struct place *place_of(struct rh_wire_rotation *r, uint32_t number)
{
    struct place *p = rh_map_get(&r->sessions, number);
    if (!p) {
        p = rh_calloc(1, sizeof *p);
        p->in = r->now;
        rh_map_put(&r->sessions, number, p);
    }
    return p;
}

/* A file that could not be begun anew has no writer. */
static uint64_t bytes_of(const struct rh_wire_trace *t)
{
    return t && t->writer ? rh_trace_writer_bytes(t->writer) : 0;
}

static int finish_file(struct rh_wire_rotation *r, struct rh_wire_trace *t, bool stopped_early,
                       struct rh_error *err)
{
    struct stat st;
    uint64_t bytes = bytes_of(t);
    int result = rh_wire_trace_finish(t, stopped_early, err);
    bool is_file = strcmp(t->path, "-") != 0 && stat(t->path, &st) == 0 && S_ISREG(st.st_mode);
    r->finished_bytes += is_file ? (uint64_t) st.st_size : bytes;
    return result;
}

/* ------------------------------------------------------------------------------------------------
 * From one file to the next
 */

static void move(struct rh_wire_rotation *r, uint32_t number, struct place *p)
{
    rh_trace_writer_hand_over(p->in->writer, r->now->writer, number);
    r->now->has_records = true;
    if (!is_idle(p)) {
        p->cut_ordinal = p->last_ordinal;
        p->open_ordinal = 0;
    }
    p->in = r->now;
    p->moved = true;
    r->behind--;
}

/* The file before is complete. */
static int end_before(struct rh_wire_rotation *r, struct rh_error *err)
{
    size_t pos = 0;
    uint64_t number;
    struct place *p;
    while (r->behind > 0 && (p = rh_map_next(&r->sessions, &pos, &number))) {
        if (p->in == r->before) {
            move(r, (uint32_t) number, p);
        }
    }
    struct rh_wire_trace *before = r->before;
    r->before = NULL;
    return finish_file(r, before, false, err);
}

static int begin_next(struct rh_wire_rotation *r, int64_t now_ns, struct rh_error *err)
{
    struct rh_wire_trace *next = &r->files[r->now == &r->files[0]];
    if (r->before && end_before(r, err) != 0) {
        return -1;
    }
    /* What is sealed needs no search when sessions move. */
    if (rh_trace_writer_flush(r->now->writer, err) != 0) {
        return -1;
    }
    char **path = &r->paths[next == &r->files[1]];
    rh_free(*path);
    *path = rh_wire_rotation_name(r->options.path, r->count);
    struct rh_wire_trace_place place = {.number = r->count};
    memcpy(place.before, r->now->uuid, sizeof place.before);
    if (rh_wire_trace_open(next, *path, r->server, &place, err) != 0) {
        return -1;
    }
    r->count++;
    r->before = r->now;
    r->now = next;
    r->begun_ns = now_ns;

    size_t pos = 0;
    uint64_t number;
    struct place *p;
    r->behind = (uint32_t) r->sessions.count;
    while ((p = rh_map_next(&r->sessions, &pos, &number))) {
        if (is_idle(p)) {
            move(r, (uint32_t) number, p);
        }
    }
    return r->behind == 0 ? end_before(r, err) : 0;
}

static int seal(struct rh_wire_rotation *r, int64_t now_ns, struct rh_error *err)
{
    r->sealed_ns = now_ns;
    r->unsealed = false;
    if (r->before && rh_trace_writer_flush(r->before->writer, err) != 0) {
        return -1;
    }
    return rh_trace_writer_flush(r->now->writer, err);
}

static bool is_due(int64_t now_ns, int64_t since_ns, int64_t every_ns)
{
    return every_ns > 0 && now_ns - since_ns >= every_ns;
}

int rh_wire_rotation_tick(struct rh_wire_rotation *r, int64_t now_ns, struct rh_error *err)
{
    if (r->begun_ns == RH_TIME_UNKNOWN) {
        r->begun_ns = r->sealed_ns = now_ns;
    }
    bool is_full = r->options.bytes > 0 && bytes_of(r->now) >= r->options.bytes;
    if ((is_full || is_due(now_ns, r->begun_ns, r->options.every_ns)) &&
        begin_next(r, now_ns, err) != 0) {
        return -1;
    }
    if (r->before && (r->behind == 0 || is_due(now_ns, r->begun_ns, RH_ROTATION_GRACE_NS)) &&
        end_before(r, err) != 0) {
        return -1;
    }
    if (r->unsealed && is_due(now_ns, r->sealed_ns, r->options.seal_ns)) {
        return seal(r, now_ns, err);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Records
 */

static int put_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    struct rh_wire_rotation *r = context;
    struct rh_session told = *session;
    struct place *p = place_of(r, session->number);
    told.flags |= p->moved ? RH_SESSION_JOINED_MIDWAY : 0;
    return p->in->sink.session(p->in, &told, err);
}

static int tell_dropped(struct place *p, uint32_t session, int64_t time_ns, struct rh_error *err)
{
    struct rh_record gap;
    if (p->dropped == 0) {
        return 0;
    }
    rh_record_init_gap(&gap, time_ns, p->dropped,
                       "outcomes and COPY data of statements in the file before");
    gap.session = session;
    p->dropped = 0;
    return p->in->sink.record(p->in, &gap, err);
}

static void follow(struct place *p, const struct rh_record *record)
{
    if (record->kind == RH_KIND_OUTCOME && record->ordinal == p->open_ordinal) {
        p->open_ordinal = 0;
    }
    if (!rh_kind_has_ordinal(record->kind) || record->kind == RH_KIND_CANCEL) {
        return;
    }
    if (record->txn & (RH_TXN_BEGINS | RH_TXN_ENDS)) {
        p->inside = !(record->txn & RH_TXN_ENDS);
    }
    p->last_ordinal = record->ordinal;
    p->open_ordinal = record->outcome.done_ns == RH_TIME_UNKNOWN ? record->ordinal : 0;
}

static int add_record(void *context, const struct rh_record *record, struct rh_error *err)
{
    struct rh_wire_rotation *r = context;
    r->unsealed = true;
    if (record->session == 0) {
        return r->now->sink.record(r->now, record, err);
    }
    struct place *p = place_of(r, record->session);
    bool belongs_to_one = record->kind == RH_KIND_OUTCOME || record->kind == RH_KIND_COPY_DATA;
    if (belongs_to_one && record->ordinal <= p->cut_ordinal) {
        p->dropped++;
        return 0;
    }
    if (!belongs_to_one && tell_dropped(p, record->session, record->start_ns, err) != 0) {
        return -1;
    }
    if (p->in->sink.record(p->in, record, err) != 0) {
        return -1;
    }
    follow(p, record);
    if (p->in == r->before && is_idle(p)) {
        move(r, record->session, p);
    }
    return 0;
}

static void end_session(void *context, uint32_t number)
{
    struct rh_wire_rotation *r = context;
    struct place *p = rh_map_remove(&r->sessions, number);
    if (p) {
        p->in->sink.end_session(p->in, number);
        r->behind -= r->before && p->in == r->before;
        rh_free(p);
    }
}

/* ------------------------------------------------------------------------------------------------
 * The whole
 */

char *rh_wire_rotation_name(const char *path, uint32_t number)
{
    static const char suffix[] = ".trace";
    size_t len = strlen(path);
    size_t size = len + sizeof ".4294967295";
    size_t stem = len;
    if (len >= sizeof suffix && strcmp(path + len - (sizeof suffix - 1), suffix) == 0) {
        stem -= sizeof suffix - 1;
    }
    char *name = rh_malloc(size);
    if (number == 0) {
        snprintf(name, size, "%s", path);
    } else {
        snprintf(name, size, "%.*s.%04u%s", (int) stem, path, (unsigned) number, path + stem);
    }
    return name;
}

int rh_wire_rotation_open(struct rh_wire_rotation *r, const struct rh_rotation_options *options,
                          const struct rh_wire_server *server, struct rh_error *err)
{
    *r = (struct rh_wire_rotation){
        .sink = {.context = r,
                 .session = put_session,
                 .record = add_record,
                 .end_session = end_session},
        .options = *options,
        .server = server,
        .begun_ns = RH_TIME_UNKNOWN,
    };
    rh_map_init(&r->sessions);
    r->paths[0] = rh_strdup(options->path);
    const struct rh_wire_trace_place first = {0};
    if (rh_wire_trace_open(&r->files[0], r->paths[0], server, &first, err) != 0) {
        return -1;
    }
    r->now = &r->files[0];
    r->count = 1;
    return 0;
}

uint64_t rh_wire_rotation_bytes(const struct rh_wire_rotation *r)
{
    return r->finished_bytes + bytes_of(r->before) + bytes_of(r->now);
}

int rh_wire_rotation_finish(struct rh_wire_rotation *r, bool stopped_early, struct rh_error *err)
{
    struct rh_wire_trace *open[2] = {r->before, r->now};
    struct rh_error other;
    int result = 0;
    /* Sessions that are still in the file before end there. */
    r->before = r->now = NULL;
    for (int i = 0; i < 2; i++) {
        if (open[i] && finish_file(r, open[i], stopped_early, result == 0 ? err : &other) != 0) {
            result = -1;
        }
    }
    return result;
}

void rh_wire_rotation_discard(struct rh_wire_rotation *r)
{
    rh_wire_trace_discard(&r->files[0]);
    rh_wire_trace_discard(&r->files[1]);
    r->now = r->before = NULL;
}

void rh_wire_rotation_release(struct rh_wire_rotation *r)
{
    size_t pos = 0;
    struct place *p;
    while ((p = rh_map_next(&r->sessions, &pos, NULL))) {
        rh_free(p);
    }
    rh_map_release(&r->sessions);
    rh_free(r->paths[0]);
    rh_free(r->paths[1]);
}
