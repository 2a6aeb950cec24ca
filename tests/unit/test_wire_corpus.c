/* Captures of the wild: each is read to its end, down to records; of those with a database's
 * traffic the bytes of both sides are as many as an independent reassembly gave, and come without a
 * gap, and messages and statements are as many as an independent decoder counted.  Other protocols
 * give no statement. */
#include "rh_test.h"

#include <dirent.h>
#include <stdio.h>

#include "capture/packet_files.h"
#include "capture/wire_capture.h"
#include "capture/wire_stack.h"

static const char folder[] = RH_DATA_DIR "/pcaps";

struct sums {
    uint64_t connections;
    uint64_t bytes[2];
    uint64_t open;
    struct rh_wire_counts counts;
    struct rh_packet_files_counts files;
};

static void *sink_open(void *context, const struct rh_tcp_connection_info *info)
{
    struct sums *s = context;
    (void) info;
    s->connections++;
    s->open++;
    return s;
}

static void sink_data(void *connection, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes)
{
    struct sums *s = connection;
    (void) time_ns;
    s->bytes[side] += bytes.len;
}

static void sink_gap(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes)
{
    (void) connection;
    (void) side;
    (void) time_ns;
    assert_true(bytes > 0);
}

static void sink_close(void *connection, int64_t time_ns, enum rh_tcp_end how)
{
    struct sums *s = connection;
    (void) time_ns;
    (void) how;
    s->open--;
}

static void read_all(struct sums *s, const char *const *paths, size_t count,
                     const struct rh_wire_options *options)
{
    struct rh_error err = {0};
    struct rh_pcap_packet packet;
    *s = (struct sums){0};
    struct rh_tcp_sink sink = {sink_open, sink_data, sink_gap, sink_close, s};
    struct rh_wire_stack *stack = rh_wire_stack_new(options, &sink);
    struct rh_packet_files *files = rh_packet_files_new(paths, count);
    int got;
    while ((got = rh_packet_files_next(files, &packet, &err)) > 0) {
        rh_wire_stack_packet(stack, &packet);
    }
    if (got < 0) {
        fail_msg("%s", err.text);
    }
    rh_wire_stack_finish(stack);
    s->counts = *rh_wire_stack_counts(stack);
    s->files = *rh_packet_files_count(files);
    rh_wire_stack_free(stack);
    rh_packet_files_free(files);
    assert_int_equal(s->open, 0);
    assert_int_equal(s->counts.given_bytes, s->bytes[0] + s->bytes[1]);
}

static bool have_corpus(void)
{
    DIR *d = opendir(folder);
    if (!d) {
        print_message("SKIPPED: no captures in %s\n", folder);
        return false;
    }
    closedir(d);
    return true;
}

struct row {
    const char *file;
    uint16_t port;
    uint64_t connections;
    uint64_t client;
    uint64_t server;
    uint64_t messages; /* by an independent decoder */
    uint64_t statements;
};

static const struct row rows[] = {
    {"packetbeat/pgsql_extended_query.pcap", 5432, 1, 270, 467, 34, 2},
    {"packetbeat/pgsql_insert.pcap", 5432, 1, 63, 22, 3, 1},
    {"packetbeat/pgsql_insert_error.pcap", 5432, 1, 63, 153, 3, 1},
    {"packetbeat/pgsql_long_result.pcap", 5432, 1, 34, 3192, 19, 1},
    {"packetbeat/pgsql_request_response.pcap", 5432, 1, 25, 208, 8, 1},
    {"packetbeat/pgsql_rt.pcap", 5432, 2, 84 + 150, 14 + 440, 27, 1},
    {"suricata-verify/pgsql-bug-5579__input.pcap", 5432, 1, 206, 560, 25, 1},
    {"suricata-verify/pgsql-cancel-request__input.pcap", 5432, 2, 16 + 156, 0 + 507, 24, 1},
    {"suricata-verify/pgsql-copy-data-out__input.pcap", 5432, 1, 214, 3225, 29, 1},
    {"suricata-verify/pgsql-events__UnknownMessage.pcap", 5432, 1, 8, 1, 1, 0},
    {"suricata-verify/pgsql-pwd-output-disabled__input.pcap", 5432, 1, 108, 340, 19, 0},
    {"suricata-verify/pgsql-query-keyword-01__input.pcap", 5432, 1, 166, 476, 28, 2},
    {"suricata-verify/pgsql-simple-query-rollback__input.pcap", 5432, 1, 1190, 2164, 97, 22},
    {"suricata-verify/pgsql-ssl-rejected-md5-auth-simple-query__input.pcap", 5432, 2, 90 + 182,
     14 + 1905, 29, 1},
    {"suricata-verify/pgsql-upgrade-tls__input.pcap", 5432, 2, 648 + 85, 1750 + 151, 2,
     0}, /* 3: the refusal of a replication connection is not looked at */
    {"zeek/bad-backend-message-1.pcap", 5432, 1, 19, 7, 1, 0},
    {"zeek/bad-startup-message-1.pcap", 5432, 1, 19, 24, 0,
     0}, /* 1: the server's answer to a startup message that is none */
    {"zeek/http-on-port-5432.pcap", 5432, 1, 136, 5007, 0, 0},
    {"zeek/mysql-on-port-5432.pcap", 5432, 1, 623, 239, 0,
     0}, /* 1: a byte of MySQL taken for a message */
    {"zeek/psql-aws-ssl-disable-15432.pcap", 15432, 1, 140, 420, 23, 1},
    {"zeek/psql-aws-ssl-disable.pcap", 5432, 1, 140, 420, 23, 1},
    {"zeek/psql-aws-ssl-require-15432.pcap", 15432, 1, 786, 4542, 1, 0},
    {"zeek/psql-aws-ssl-require.pcap", 5432, 1, 786, 4542, 1, 0},
    {"zeek/psql-insert-fail-drop-fail.pcap", 5432, 1, 431, 1106, 40, 5},
    {"zeek/psql-login-fail.pcap", 5432, 1, 248, 222, 6, 0},
    {"zeek/psql-login-no-role.pcap", 5432, 1, 70, 107, 4, 0},
    {"zeek/psql-login-no-sslrequest.pcap", 5432, 2, 76 + 245, 24 + 582, 25, 0},
    {"zeek/psql-login-wrong.pcap", 5432, 1, 248, 219, 7, 0},
    {"zeek/psql-login.pcap", 5432, 1, 248, 583, 23, 0},
    {"zeek/psql-select-now.pcap", 5432, 1, 271, 672, 29, 1},
};

static void test_database_traffic(void **state)
{
    (void) state;
    if (!have_corpus()) {
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[1024];
        struct sums s;
        struct rh_wire_options options = rh_wire_options_default();
        options.ports[0] = rows[i].port;
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        read_all(&s, (const char *const[]){path}, 1, &options);
        if (s.connections != rows[i].connections || s.bytes[0] != rows[i].client ||
            s.bytes[1] != rows[i].server || s.counts.gaps || s.counts.conflicts) {
            fail_msg("%s: %llu connections, %llu and %llu bytes, %llu gaps", rows[i].file,
                     (unsigned long long) s.connections, (unsigned long long) s.bytes[0],
                     (unsigned long long) s.bytes[1], (unsigned long long) s.counts.gaps);
        }
    }
}

/* What the protocol makes of it. */
struct found {
    uint64_t statements;
    uint64_t records;
    struct rh_wire_capture_counts counts;
};

static int take_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    (void) context;
    (void) err;
    assert_true(session->number > 0);
    return 0;
}

static int take_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    struct found *f = context;
    (void) err;
    f->records++;
    f->statements += rh_kind_is_statement(r->kind);
    if (r->outcome.done_ns != RH_TIME_UNKNOWN) {
        assert_true(r->outcome.done_ns >= r->start_ns);
    }
    return 0;
}

static void take_end(void *context, uint32_t number)
{
    (void) context;
    assert_true(number > 0);
}

static void capture_all(struct found *f, const char *path, const struct rh_wire_options *options)
{
    struct rh_error err = {0};
    struct rh_pcap_packet packet;
    struct rh_tcp_sink tcp;
    *f = (struct found){0};
    const struct rh_capture_sink sink = {f, take_session, take_record, take_end};
    struct rh_wire_capture *capture = rh_wire_capture_new(&sink, NULL);
    rh_wire_capture_tcp_sink(capture, &tcp);
    struct rh_wire_stack *stack = rh_wire_stack_new(options, &tcp);
    struct rh_packet_files *files = rh_packet_files_new(&path, 1);
    int64_t last_ns = 0;
    while (rh_packet_files_next(files, &packet, &err) > 0) {
        rh_wire_stack_packet(stack, &packet);
        last_ns = packet.time_ns;
    }
    rh_wire_stack_finish(stack);
    assert_int_equal(rh_wire_capture_finish(capture, last_ns, &err), 0);
    f->counts = *rh_wire_capture_counts(capture);
    rh_packet_files_free(files);
    rh_wire_stack_free(stack);
    rh_wire_capture_free(capture);
}

static void test_messages_and_statements(void **state)
{
    (void) state;
    if (!have_corpus()) {
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[1024];
        struct found f;
        struct rh_wire_options options = rh_wire_options_default();
        options.ports[0] = rows[i].port;
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        capture_all(&f, path, &options);
        uint64_t messages = f.counts.messages[0] + f.counts.messages[1];
        if (messages != rows[i].messages || f.statements != rows[i].statements) {
            fail_msg("%s: %llu messages, %llu statements", rows[i].file,
                     (unsigned long long) messages, (unsigned long long) f.statements);
        }
    }
}

/* Every port is a server's, so that all TCP of the file is put together. */
static void read_with_ports(const char *path)
{
    static const uint16_t ports[] = {22,  21,   25,   53,   80,   139,  443,  445,
                                     502, 3306, 5001, 5432, 8000, 8080, 9001, 15432};
    struct sums s;
    struct rh_wire_options options = rh_wire_options_default();
    memcpy(options.ports, ports, sizeof ports);
    options.port_count = sizeof ports / sizeof *ports;
    struct found f;
    read_all(&s, &path, 1, &options);
    capture_all(&f, path, &options);
    uint64_t sum = 0;
    for (int k = 0; k < RH_PACKET_KIND_COUNT; k++) {
        sum += s.counts.kinds[k];
    }
    assert_true(s.counts.packets > 0 || s.files.cut_files + s.files.damaged_files > 0);
    assert_int_equal(sum, s.counts.packets);
}

static void test_every_file(void **state)
{
    (void) state;
    if (!have_corpus()) {
        skip();
    }
    static const char *const parts[] = {"packetbeat", "robustness", "suricata-verify", "zeek"};
    unsigned files = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
        DIR *d = opendir(path);
        assert_non_null(d);
        struct dirent *entry;
        while ((entry = readdir(d))) {
            if (entry->d_name[0] != '.') {
                snprintf(path, sizeof path, "%s/%s/%s", folder, parts[i], entry->d_name);
                read_with_ports(path);
                files++;
            }
        }
        closedir(d);
    }
    assert_true(files > 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_database_traffic),
        cmocka_unit_test(test_messages_and_statements),
        cmocka_unit_test(test_every_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
