#include "tests/wire/wire_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/packet_files.h"
#include "capture/trace_sink.h"
#include "capture/wire_capture.h"
#include "capture/wire_stack.h"
#include "common/alloc.h"
#include "formats/trace_reader.h"
#include "front/record_json.h"

enum { TEXT_MAX = 1 << 30 };

static void die(const char *what, const struct rh_error *err)
{
    fprintf(stderr, "wire_records: %s: %s\n", what, err ? err->text : "");
    abort();
}

/* ------------------------------------------------------------------------------------------------
 * Conversations to a file
 */

struct next {
    const struct wire_talk *talk;
    size_t at;
    int64_t key_ns; /* the latest time of its segments up to this one */
};

static void advance(struct next *n)
{
    if (n->at < n->talk->count && n->talk->segments[n->at].time_ns > n->key_ns) {
        n->key_ns = n->talk->segments[n->at].time_ns;
    }
}

static struct next *earliest(struct next *list, size_t count)
{
    struct next *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (list[i].at < list[i].talk->count && (!found || list[i].key_ns < found->key_ns)) {
            found = &list[i];
        }
    }
    return found;
}

static void add_frame(void *context, struct rh_span frame, int64_t time_ns)
{
    wire_file_add(context, frame, time_ns);
}

static void put_conversations(struct wire_file *file, const struct wire_recorded *conversations,
                              const struct wire_link *link)
{
    struct next *list = rh_calloc(conversations->count + 1, sizeof *list);
    struct next *n;
    for (size_t i = 0; i < conversations->count; i++) {
        list[i] = (struct next){.talk = &conversations->talks[i], .key_ns = INT64_MIN};
        advance(&list[i]);
    }
    while ((n = earliest(list, conversations->count))) {
        const struct wire_segment *s = &n->talk->segments[n->at];
        struct rh_tcp_segment header = wire_talk_header(n->talk, s);
        wire_frame_make(link, s->side, &header, s->time_ns, add_frame, file);
        n->at++;
        advance(n);
    }
    rh_free(list);
}

/* ------------------------------------------------------------------------------------------------
 * A file to records
 */

/* What the command does, without its messages and without its end when there is no statement. */
static void capture(const char *pcap, const char *trace, uint16_t port)
{
    struct rh_error err = {0};
    const struct rh_trace_header header = {.kind = RH_FILE_WORKLOAD, .vantage = RH_VANTAGE_WIRE};
    /* Less than the writer's own, which is far more than these captures need. */
    const struct rh_trace_writer_options small = {.window_records = 2000, .window_bytes = 4 << 20};
    struct rh_wire_options options = rh_wire_options_default();
    struct rh_trace_writer *writer;
    struct rh_capture_sink sink;
    struct rh_tcp_sink tcp;
    struct rh_pcap_packet packet;
    int64_t last_ns = 0;
    int got;
    options.ports[0] = port;
    if (rh_trace_writer_open(&writer, trace, &header, &small, &err) != 0) {
        die(trace, &err);
    }
    rh_trace_sink_init(&sink, writer);
    struct rh_wire_capture *c = rh_wire_capture_new(&sink, NULL);
    rh_wire_capture_tcp_sink(c, &tcp);
    struct rh_wire_stack *stack = rh_wire_stack_new(&options, &tcp);
    struct rh_packet_files *files = rh_packet_files_new(&pcap, 1);
    while ((got = rh_packet_files_next(files, &packet, &err)) > 0) {
        rh_wire_stack_packet(stack, &packet);
        last_ns = packet.time_ns > last_ns ? packet.time_ns : last_ns;
    }
    rh_wire_stack_finish(stack);
    if (got < 0 || rh_wire_capture_finish(c, last_ns, &err) != 0 ||
        rh_trace_writer_finish(writer, false, &err) != 0) {
        die(pcap, &err);
    }
    rh_packet_files_free(files);
    rh_wire_stack_free(stack);
    rh_wire_capture_free(c);
}

static size_t put_json(struct wire_records *to, const struct rh_record *r,
                       const struct rh_session *session)
{
    struct rh_json j;
    struct rh_buf scratch;
    size_t at = to->text.len;
    rh_buf_init(&scratch, TEXT_MAX);
    rh_json_init(&j, &to->text, false);
    rh_record_json(&j, r, session, false, &scratch);
    rh_buf_add_byte(&to->text, '\0');
    rh_buf_release(&scratch);
    return at;
}

static size_t put_said(struct wire_records *to, const struct rh_record *r)
{
    struct rh_record said = *r;
    struct rh_record none;
    rh_record_init(&none);
    said.outcome = none.outcome;
    said.session = 0;
    said.start_ns = 0;
    said.ordinal = 0;
    said.txn = 0;
    said.flags = 0;
    said.hold = RH_REASON_NONE;
    said.application = RH_SPAN_NONE;
    return put_json(to, &said, NULL);
}

static uint32_t port_of(struct rh_span client)
{
    uint32_t port = 0;
    size_t at = client.len;
    while (at > 0 && client.data[at - 1] != ':') {
        at--;
    }
    for (; at < client.len; at++) {
        port = port * 10 + (uint32_t) (client.data[at] - '0');
    }
    return port;
}

static void put_record(struct wire_records *to, const struct rh_record *r,
                       const struct rh_session *session, bool by_port, bool without_times)
{
    struct rh_record own = *r;
    struct rh_session without_client;
    RH_GROW(to->list, to->count, to->cap);
    struct wire_record *w = &to->list[to->count];
    *w = (struct wire_record){
        .session = session && by_port ? port_of(session->client) : r->session,
        .ordinal = rh_kind_has_ordinal(r->kind) ? r->ordinal : 0,
        .kind = r->kind,
        .hold = r->hold,
        .sqlstate = r->outcome.sqlstate,
        .rows = r->outcome.rows,
        .joined_midway = session && session->flags & RH_SESSION_JOINED_MIDWAY,
        .place = (uint32_t) to->count,
    };
    to->count++;
    if (session) {
        without_client = *session;
        without_client.client = RH_SPAN_NONE;
        session = &without_client;
    }
    own.session = w->session;
    if (without_times) {
        own.start_ns = 0;
        own.outcome.done_ns = own.outcome.done_ns == RH_TIME_UNKNOWN ? RH_TIME_UNKNOWN : 0;
    }
    w->said = put_said(to, &own);
    w->line = put_json(to, &own, session);
}

static int by_session(const void *a, const void *b)
{
    const struct wire_record *one = a;
    const struct wire_record *two = b;
    if (one->session == two->session) {
        return one->place < two->place ? -1 : one->place > two->place;
    }
    return one->session < two->session ? -1 : 1;
}

static void read_trace(struct wire_records *to, const char *trace, bool by_port, bool without_times)
{
    struct rh_error err = {0};
    struct rh_trace_file *file = NULL;
    struct rh_trace_reader *reader = NULL;
    struct rh_record r;
    int got;
    if (rh_trace_file_open(&file, trace, &err) != 0 ||
        rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err) != 0) {
        die(trace, &err);
    }
    while ((got = rh_trace_reader_next(reader, &r, &err)) > 0) {
        put_record(to, &r, rh_trace_reader_session(reader), by_port, without_times);
    }
    if (got < 0) {
        die(trace, &err);
    }
    rh_trace_reader_close(reader);
    rh_trace_file_close(file);
    if (to->count > 0) {
        qsort(to->list, to->count, sizeof *to->list, by_session);
    }
}

static void make(struct wire_records *r, const char *pcap, const char *trace, uint16_t port,
                 bool by_port, bool without_times)
{
    *r = (struct wire_records){0};
    rh_buf_init(&r->text, TEXT_MAX);
    capture(pcap, trace, port);
    read_trace(r, trace, by_port, without_times);
}

struct folder {
    char path[64];
    char pcap[80];
    char trace[80];
};

static void folder_make(struct folder *f)
{
    /* A trace is brought to the disk when it is finished; here that is a waste. */
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(f->path, sizeof f->path, "%s/pgrehearse-records.XXXXXX", base);
    if (!mkdtemp(f->path)) {
        die(f->path, NULL);
    }
    snprintf(f->pcap, sizeof f->pcap, "%s/a.pcap", f->path);
    snprintf(f->trace, sizeof f->trace, "%s/a.trace", f->path);
}

static void folder_remove(struct folder *f)
{
    unlink(f->pcap);
    unlink(f->trace);
    rmdir(f->path);
}

void wire_records_make(struct wire_records *r, const struct wire_recorded *conversations,
                       const struct wire_records_options *options)
{
    struct folder folder;
    struct wire_file file;
    folder_make(&folder);
    wire_file_begin(&file, options->format, options->swapped, options->link->type,
                    options->snaplen);
    put_conversations(&file, conversations, options->link);
    FILE *out = fopen(folder.pcap, "w");
    if (!out || fwrite(file.bytes.data, 1, file.bytes.len, out) != file.bytes.len ||
        fclose(out) != 0) {
        die(folder.pcap, NULL);
    }
    wire_file_release(&file);
    uint16_t port = conversations->count > 0 ? conversations->talks[0].port[RH_TCP_SERVER] : 0;
    make(r, folder.pcap, folder.trace, port, true, options->without_times);
    folder_remove(&folder);
}

void wire_records_of_file(struct wire_records *r, const char *path, uint16_t port)
{
    struct folder folder;
    folder_make(&folder);
    make(r, path, folder.trace, port, false, false);
    folder_remove(&folder);
}

void wire_records_release(struct wire_records *r)
{
    rh_free(r->list);
    rh_buf_release(&r->text);
}

const char *wire_records_said(const struct wire_records *r, size_t i)
{
    return r->text.data + r->list[i].said;
}

const char *wire_records_line(const struct wire_records *r, size_t i)
{
    return r->text.data + r->list[i].line;
}
