/* Captures of the wild, mangled in every way: what loses nothing gives the records of the file as
 * it is, through packets, TCP, protocol, trace and reader; what loses something is marked and
 * invents nothing. */
#include "rh_test.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/wire/wire_variants.h"

static const char folder[] = RH_DATA_DIR "/pcaps";

struct row {
    const char *file;
    uint16_t port;
    uint64_t seed;
    bool every_link;
};

static const struct row rows[] = {
    {"packetbeat/pgsql_extended_query.pcap", 5432, 1, true},
    {"packetbeat/pgsql_insert.pcap", 5432, 2, false},
    {"packetbeat/pgsql_insert_error.pcap", 5432, 3, false},
    {"packetbeat/pgsql_long_result.pcap", 5432, 4, false},
    {"packetbeat/pgsql_request_response.pcap", 5432, 5, false},
    /* A keep-alive's byte comes while the answer to the SSLRequest, which is one byte, waits. */
    {"packetbeat/pgsql_rt.pcap", 5432, 26, false},
    {"suricata-verify/pgsql-bug-5579__input.pcap", 5432, 6, false},
    {"suricata-verify/pgsql-cancel-request__input.pcap", 5432, 7, true},
    {"suricata-verify/pgsql-copy-data-out__input.pcap", 5432, 8, false},
    {"suricata-verify/pgsql-pwd-output-disabled__input.pcap", 5432, 9, false},
    {"suricata-verify/pgsql-query-keyword-01__input.pcap", 5432, 10, false},
    {"suricata-verify/pgsql-simple-query-rollback__input.pcap", 5432, 11, true},
    {"suricata-verify/pgsql-ssl-rejected-md5-auth-simple-query__input.pcap", 5432, 12, false},
    {"suricata-verify/pgsql-upgrade-tls__input.pcap", 5432, 13, false},
    {"zeek/psql-aws-ssl-disable-15432.pcap", 15432, 14, false},
    {"zeek/psql-aws-ssl-disable.pcap", 5432, 15, false},
    {"zeek/psql-insert-fail-drop-fail.pcap", 5432, 16, false},
    {"zeek/psql-login-no-role.pcap", 5432, 17, false},
    {"zeek/psql-login-no-sslrequest.pcap", 5432, 18, false},
    {"zeek/psql-select-now.pcap", 5432, 19, false},
};

enum { ROWS = sizeof rows / sizeof *rows };

static void open_row(struct wire_variants *v, const struct row *row)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, row->file);
    wire_variants_open(v, path, row->port);
    if (v->fault[0] || v->conversations.left_out > 0) {
        fail_msg("%s: %zu connections left out; %s", row->file, v->conversations.left_out,
                 v->fault);
    }
    assert_true(v->whole.count > 0);
}

static void close_row(struct wire_variants *v, const struct row *row)
{
    if (v->fault[0]) {
        fail_msg("%s: %s", row->file, v->fault);
    }
    wire_variants_release(v);
}

static void skip_without_corpus(void)
{
    if (access(folder, R_OK) != 0) {
        print_message("SKIPPED: no captures in %s\n", folder);
        skip();
    }
}

/* What was taken apart and put together again is what the file says. */
static void test_conversations_are_the_files(void **state)
{
    (void) state;
    skip_without_corpus();
    for (size_t i = 0; i < ROWS; i++) {
        char path[1024];
        struct wire_variants v;
        struct wire_records file;
        open_row(&v, &rows[i]);
        snprintf(path, sizeof path, "%s/%s", folder, rows[i].file);
        wire_records_of_file(&file, path, rows[i].port);
        assert_int_equal(file.count, v.whole.count);
        for (size_t k = 0; k < file.count; k++) {
            assert_string_equal(wire_records_said(&file, k), wire_records_said(&v.whole, k));
        }
        wire_records_release(&file);
        close_row(&v, &rows[i]);
    }
}

static void test_nothing_is_lost(void **state)
{
    (void) state;
    skip_without_corpus();
    for (size_t i = 0; i < ROWS; i++) {
        struct wire_variants v;
        open_row(&v, &rows[i]);
        wire_variants_try_lossless(&v, rows[i].seed, true);
        close_row(&v, &rows[i]);
    }
}

static void test_other_links_and_formats(void **state)
{
    (void) state;
    skip_without_corpus();
    for (size_t i = 0; i < ROWS; i++) {
        struct wire_variants v;
        if (rows[i].every_link) {
            open_row(&v, &rows[i]);
            wire_variants_try_links(&v, rows[i].seed);
            close_row(&v, &rows[i]);
        }
    }
}

static void test_loss_is_marked(void **state)
{
    (void) state;
    uint64_t kept = 0;
    uint64_t could_keep = 0;
    skip_without_corpus();
    for (size_t i = 0; i < ROWS; i++) {
        struct wire_variants v;
        open_row(&v, &rows[i]);
        wire_variants_try_lossy(&v, rows[i].seed, 3);
        kept += v.kept;
        could_keep += v.could_keep;
        close_row(&v, &rows[i]);
    }
    assert_in_range(kept, could_keep / 3, could_keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversations_are_the_files),
        cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_other_links_and_formats),
        cmocka_unit_test(test_loss_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
