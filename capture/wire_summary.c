#include "capture/wire_summary.h"

#include <inttypes.h>

#include "capture/summary_text.h"
#include "common/clock.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

uint64_t rh_wire_summary_statements(const struct rh_wire_capture_counts *c)
{
    return c->kinds[RH_KIND_QUERY] + c->kinds[RH_KIND_EXECUTE] + c->kinds[RH_KIND_FUNCTION];
}

static void print_files(const struct rh_packet_files_counts *f, FILE *out)
{
    const struct rh_summary_row rows[] = {
        {f->cut_files, "files end within a packet"},
        {f->damaged_files, "files could not be read to their ends"},
        {f->parser.damaged_blocks, "damaged blocks of pcapng passed over"},
        {f->parser.timeless, "packets without a time took that of the packet before"},
        {f->clock_steps, "packets with a time far ahead took that of the packet before"},
    };
    rh_summary_rows("", rows, COUNT_OF(rows), out);
    if (f->damaged_files > 0) {
        fprintf(out, "             %s\n", f->first_damage.text);
    }
}

static void print_input(const struct rh_wire_summary *m, FILE *out)
{
    char size[RH_SIZE_TEXT];
    fprintf(out, "read         %" PRIu64 " packet%s", m->packets->packets,
            rh_plural(m->packets->packets));
    if (m->files) {
        fprintf(out, ", %s, %" PRIu64 " file%s", rh_size_text(m->files->bytes, size),
                m->files->files, rh_plural(m->files->files));
    }
    fputc('\n', out);
    if (m->first_ns != RH_TIME_UNKNOWN) {
        char first[RH_TIME_TEXT_SIZE], last[RH_TIME_TEXT_SIZE];
        fprintf(out, "             from %s to %s\n", rh_time_format(m->first_ns, first),
                rh_time_format(m->last_ns, last));
    }
    if (m->files) {
        print_files(m->files, out);
    }
}

static void print_packets(const struct rh_wire_counts *p, FILE *out)
{
    const struct rh_summary_row rows[] = {
        {p->other_ports, "of other ports"},
        {p->kinds[RH_PACKET_NOT_IP], "not of IP"},
        {p->kinds[RH_PACKET_NOT_TCP], "not of TCP"},
        {p->kinds[RH_PACKET_LINK_UNKNOWN], "of a link type that is not known"},
        {p->kinds[RH_PACKET_CUT], "captured too short for their headers"},
        {p->kinds[RH_PACKET_MALFORMED], "malformed"},
        {p->datagrams_incomplete, "IP datagrams of which a fragment is missing"},
    };
    rh_summary_rows("left out", rows, COUNT_OF(rows), out);
}

static void print_loss(const struct rh_wire_summary *m, FILE *out)
{
    const struct rh_wire_counts *p = m->packets;
    const struct rh_wire_capture_counts *c = m->sessions;
    const struct rh_summary_row rows[] = {
        {m->drops, "packets dropped by the kernel"},
        {p->gaps, "holes in the streams, of bytes that were never captured"},
        {p->gap_bytes, "bytes missing in those whose length is known"},
        {p->cut_bytes, "of them cut off by the capture (snaplen)"},
        {p->budget_gaps, "of the holes for want of memory"},
        {c->held[RH_REASON_NOT_PREPARED], "executions of statements prepared before the capture"},
        {c->cancels_unlinked, "cancel requests of sessions that were not captured"},
        {c->anomalies, "answers that did not fit"},
    };
    rh_summary_rows("missing", rows, COUNT_OF(rows), out);
}

static void print_sessions(const struct rh_wire_capture_counts *c, FILE *out)
{
    const struct rh_summary_row rows[] = {
        {c->joined_midway, "open before the capture began"},
        {c->left_open, "without an end"},
        {c->logins_failed, "failed logins"},
        {c->encrypted, "encrypted: cannot be captured"},
        {c->replication, "of replication: not captured"},
    };
    fprintf(out, "connections  %" PRIu64 "\n", c->connections);
    const struct rh_summary_row others[] = {
        {c->foreign, "of another protocol"},
        {c->opaque, "joined midway and not understood"},
        {c->logins_unfinished, "given up during the login"},
        {c->cancels, "with a cancel request"},
    };
    rh_summary_rows("", others, COUNT_OF(others), out);
    fprintf(out, "sessions     %" PRIu64 "\n", c->sessions);
    rh_summary_rows("", rows, COUNT_OF(rows), out);
}

static void print_statements(const struct rh_wire_capture_counts *c, FILE *out)
{
    fprintf(out, "statements   %" PRIu64 ": %" PRIu64 " simple, %" PRIu64 " extended",
            rh_wire_summary_statements(c), c->kinds[RH_KIND_QUERY], c->kinds[RH_KIND_EXECUTE]);
    if (c->kinds[RH_KIND_FUNCTION] > 0) {
        fprintf(out, ", %" PRIu64 " function call%s", c->kinds[RH_KIND_FUNCTION],
                rh_plural(c->kinds[RH_KIND_FUNCTION]));
    }
    fputc('\n', out);
    const struct rh_summary_row rows[] = {
        {c->failed, "failed"},
        {c->outcome_unknown, "of unknown outcome"},
    };
    rh_summary_rows("", rows, COUNT_OF(rows), out);
}

void rh_wire_summary_print(const struct rh_wire_summary *m, FILE *out)
{
    print_input(m, out);
    print_packets(m->packets, out);
    print_sessions(m->sessions, out);
    print_statements(m->sessions, out);
    print_loss(m, out);
    if (m->output) {
        char size[RH_SIZE_TEXT];
        uint64_t statements = rh_wire_summary_statements(m->sessions);
        fprintf(out, "wrote        %s", m->output);
        if (m->output_files > 1) {
            fprintf(out, " and %" PRIu32 " more", m->output_files - 1);
        }
        fprintf(out, ": %s", rh_size_text(m->output_bytes, size));
        if (statements > 0) {
            fprintf(out, ", %.1f bytes a statement",
                    (double) m->output_bytes / (double) statements);
        }
        fputc('\n', out);
    }
}

void rh_wire_summary_why_empty(const struct rh_wire_summary *m, const char **reason,
                               const char **hint)
{
    const struct rh_wire_counts *p = m->packets;
    const struct rh_wire_capture_counts *c = m->sessions;
    *hint = NULL;
    if (p->packets == 0) {
        *reason = "there is no packet";
        if (!m->files) {
            *hint = "-i names the interface that clients come through, any means all; "
                    "--server-port the server's port, 5432 if it is not given";
        }
    } else if (p->segments == 0 && p->other_ports > 0) {
        *reason = "no packet is of the server's port";
        *hint = "--server-port tells it, 5432 if it is not given";
    } else if (p->segments == 0) {
        *reason = "no packet is of TCP";
    } else if (c->encrypted > 0 && c->encrypted == c->sessions) {
        *reason = "all sessions are encrypted";
        *hint = "the wire shows a statement only with sslmode=disable and gssencmode=disable; "
                "capture from the log instead";
    } else if (c->sessions == 0 && c->foreign + c->opaque > 0) {
        *reason = "no connection speaks PostgreSQL's protocol";
    } else {
        *reason = "no statement was captured";
    }
}
