#include "capture/wire_summary.h"

#include <inttypes.h>

#include "capture/summary_text.h"
#include "common/clock.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void print_files(const struct rh_packet_files_counts *f, FILE *out)
{
    const struct rh_summary_row rows[] = {
        {f->cut_files, "of the files, cut within a packet"},
        {f->damaged_files, "of the files, not readable to the end"},
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

static void print_left_out(const struct rh_wire_counts *p, FILE *out)
{
    const struct rh_summary_row rows[] = {
        {p->other_ports, "packets of other ports"},
        {p->kinds[RH_PACKET_NOT_IP], "not of IP"},
        {p->kinds[RH_PACKET_NOT_TCP], "not of TCP"},
        {p->kinds[RH_PACKET_LINK_UNKNOWN], "of a link type that is not known"},
        {p->kinds[RH_PACKET_CUT], "captured too short for their headers"},
        {p->kinds[RH_PACKET_MALFORMED] + p->fragments_malformed, "malformed"},
    };
    rh_summary_rows("left out", rows, COUNT_OF(rows), out);
}

static void print_streams(const struct rh_wire_counts *p, FILE *out)
{
    fprintf(out,
            "streams      %" PRIu64 " bytes in %" PRIu64 " segments; %" PRIu64
            " bytes came twice, %" PRIu64 " segments out of order\n",
            p->given_bytes, p->segments, p->duplicate_bytes, p->reordered);
    const struct rh_summary_row rows[] = {
        {p->connections_silent, "connections without a byte"},
        {p->connections_midway, "connections without their beginning"},
        {p->connections_reused, "connections whose ports began anew"},
        {p->connections_idle, "connections given up, idle or the oldest of too many"},
        {p->datagrams, "IP datagrams put together from fragments"},
        {p->keepalives, "keep-alives"},
        {p->duplicate_syns, "openings that came twice"},
        {p->conflicts, "segments with other bytes than the first copy had"},
        {p->odd_resets + p->odd_fins + p->odd_acks, "resets, ends and acknowledgements that do "
                                                    "not fit, ignored"},
        {p->resyncs, "times that the numbering began anew"},
        {p->times_back, "packets older than what their connection had been given"},
        {p->order_conflicts, "times that each side acknowledged what the other sent later"},
        {p->behind_fin_bytes + p->after_close_bytes + p->before_start_bytes,
         "bytes outside of their connections, dropped"},
    };
    rh_summary_rows("", rows, COUNT_OF(rows), out);
}

static void print_connections(const struct rh_wire_summary *m, FILE *out)
{
    const struct rh_wire_capture_counts *c = m->sessions;
    const struct rh_summary_row of_connections[] = {
        {c->foreign, "of another protocol"},
        {c->opaque, "joined midway and not understood"},
        {c->logins_unfinished, "ended during the login"},
        {c->cancels, "with a cancel request"},
    };
    const struct rh_summary_row of_sessions[] = {
        {c->joined_midway, "open before the capture began"},
        {c->left_open, "without an end"},
        {c->logins_failed, "with a failed login"},
        {c->encrypted, "encrypted, which shows no statement"},
        {c->replication, "of replication, not captured"},
        {c->sessions_filtered, "more left out by --user, --database or --sample"},
        {c->sessions_unknown, "more left out as it is not known whose they are"},
    };
    fprintf(out, "connections  %" PRIu64, c->connections);
    if (m->server->address[0]) {
        fprintf(out, ", server %s%s%s", m->server->address,
                m->server->version[0] ? ", PostgreSQL " : "", m->server->version);
    }
    fputc('\n', out);
    rh_summary_rows("", of_connections, COUNT_OF(of_connections), out);
    if (m->server->elsewhere > 0) {
        fprintf(out, "             %9" PRIu64 "  sessions with other addresses of servers\n",
                m->server->elsewhere);
    }
    fprintf(out, "sessions     %" PRIu64 "\n", c->sessions);
    rh_summary_rows("", of_sessions, COUNT_OF(of_sessions), out);
}

static void print_statements(const struct rh_wire_summary *m, FILE *out)
{
    const struct rh_capture_stats *s = m->stats;
    fprintf(out, "statements   %" PRIu64 ": %" PRIu64 " simple, %" PRIu64 " extended",
            rh_capture_stats_statements(s), s->kinds[RH_KIND_QUERY], s->kinds[RH_KIND_EXECUTE]);
    if (s->kinds[RH_KIND_FUNCTION] > 0) {
        fprintf(out, ", %" PRIu64 " function call%s", s->kinds[RH_KIND_FUNCTION],
                rh_plural(s->kinds[RH_KIND_FUNCTION]));
    }
    fputc('\n', out);
    const struct rh_summary_row beside[] = {
        {s->kinds[RH_KIND_FETCH], "later fetches of a portal, beside them"},
        {s->kinds[RH_KIND_PROTOCOL], "messages without an execution, beside them"},
        {s->kinds[RH_KIND_CANCEL], "cancel requests, beside them"},
        {m->sessions->cancels_late, "cancel requests that came when their session had ended"},
        {s->outcome_unknown, "of unknown outcome"},
    };
    rh_summary_rows("", beside, COUNT_OF(beside), out);
    rh_summary_filtered(s, out);
    if (s->failed > 0) {
        fprintf(out, "failed       %" PRIu64 "\n", s->failed);
        rh_summary_errors(s, out);
    }
    rh_summary_held(s, out);
}

static void print_missing(const struct rh_wire_summary *m, FILE *out)
{
    const struct rh_wire_counts *p = m->packets;
    const struct rh_wire_capture_counts *c = m->sessions;
    const struct rh_summary_row rows[] = {
        {m->drops, "packets dropped by the kernel"},
        {p->gaps, "holes in streams, of bytes that were not captured"},
        {p->gap_bytes, "bytes, in those holes whose length is known"},
        {p->cut_bytes, "of these bytes cut off by the capture (snaplen)"},
        {p->budget_gaps, "of these holes for want of memory"},
        {p->datagrams_incomplete, "IP datagrams of which a fragment is missing"},
        {c->cancels_unlinked, "cancel requests of sessions that were not captured"},
        {c->anomalies, "answers that did not fit"},
        {c->forgotten, "prepared statements forgotten for want of memory"},
    };
    rh_summary_rows("missing", rows, COUNT_OF(rows), out);
}

void rh_wire_summary_print(const struct rh_wire_summary *m, FILE *out)
{
    rh_capture_stats_sort(m->stats);
    print_input(m, out);
    print_left_out(m->packets, out);
    if (m->verbose) {
        print_streams(m->packets, out);
    }
    print_connections(m, out);
    print_statements(m, out);
    rh_summary_runaways("--include", m->filter->include_runaways, out);
    rh_summary_runaways("--exclude", m->filter->exclude_runaways, out);
    print_missing(m, out);
    if (m->redacted) {
        fputs(
            "redacted     literals, parameters, comments and COPY data: nothing can be replayed\n",
            out);
    }
    uint64_t statements = rh_capture_stats_statements(m->stats);
    char size[RH_SIZE_TEXT];
    if (m->output && m->output_bytes > 0 && statements > 0) {
        fprintf(out, "wrote        %s", m->output);
        if (m->output_files > 1) {
            fprintf(out, " and %" PRIu32 " more", m->output_files - 1);
        }
        fprintf(out, ": %s, %.1f bytes a statement\n", rh_size_text(m->output_bytes, size),
                (double) m->output_bytes / (double) statements);
    }
}

void rh_wire_summary_note(const struct rh_wire_summary *m, struct rh_trace_writer *w)
{
    const struct rh_wire_counts *p = m->packets;
    const struct rh_wire_capture_counts *c = m->sessions;
    if (m->files) {
        rh_summary_note(w, "packet_files", m->files->files);
        rh_summary_note(w, "packet_file_bytes", m->files->bytes);
        rh_summary_note(w, "packet_files_cut", m->files->cut_files);
        rh_summary_note(w, "packet_files_damaged", m->files->damaged_files);
    }
    rh_summary_note(w, "packets", p->packets);
    rh_summary_note(w, "packets_of_other_ports", p->other_ports);
    rh_summary_note(w, "packets_cut_in_headers", p->kinds[RH_PACKET_CUT]);
    rh_summary_note(w, "packets_malformed", p->kinds[RH_PACKET_MALFORMED] + p->fragments_malformed);
    rh_summary_note(w, "packets_dropped", m->drops);
    rh_summary_note(w, "stream_holes", p->gaps);
    rh_summary_note(w, "stream_hole_bytes", p->gap_bytes);
    rh_summary_note(w, "stream_bytes_cut_by_snaplen", p->cut_bytes);
    rh_summary_note(w, "stream_holes_for_memory", p->budget_gaps);
    rh_summary_note(w, "connections", c->connections);
    rh_summary_note(w, "connections_of_another_protocol", c->foreign);
    rh_summary_note(w, "connections_not_understood", c->opaque);
    rh_summary_note(w, "connections_without_login", c->logins_unfinished);
    rh_summary_note(w, "sessions_encrypted", c->encrypted);
    rh_summary_note(w, "sessions_of_replication", c->replication);
    rh_summary_note(w, "sessions_of_other_servers", m->server->elsewhere);
    rh_summary_note(w, "cancel_requests_unlinked", c->cancels_unlinked);
    rh_summary_note(w, "cancel_requests_late", c->cancels_late);
    rh_summary_note(w, "answers_that_did_not_fit", c->anomalies);
    rh_summary_note(w, "prepared_statements_forgotten", c->forgotten);
    rh_summary_note(w, "filtered_statements", c->filtered);
    rh_summary_note(w, "filtered_sessions", c->sessions_filtered);
    rh_summary_note(w, "filtered_sessions_unknown", c->sessions_unknown);
    rh_summary_note(w, "statements_from_before", c->carried);
    rh_summary_note(w, "include_pattern_ran_away", m->filter->include_runaways);
    rh_summary_note(w, "exclude_pattern_ran_away", m->filter->exclude_runaways);
    rh_summary_note(w, "redacted", m->redacted);
    if (m->sample < 1) {
        char text[32];
        snprintf(text, sizeof text, "%g", m->sample);
        rh_trace_writer_note(w, "sample", rh_span_cstr(text));
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
        *reason = "no packet is of TCP and can be read";
    } else if (m->filter->include_runaways + m->filter->exclude_runaways > 0) {
        *reason = "no statement passes the filters: a pattern ran away";
        *hint = "a simpler pattern of --include or --exclude, without nested repetition, does not";
    } else if (c->filtered + c->sessions_filtered + c->sessions_unknown > 0) {
        *reason = "no statement passes the filters";
        *hint = c->sessions_unknown > 0
                    ? "the user and database of sessions that were open before the capture are "
                      "not known: without --user and --database they are kept"
                    : "with --user, --database and --application names must be exactly as the "
                      "client sent them";
    } else if (c->encrypted > 0) {
        *reason = "the sessions are encrypted";
        *hint = "capture from the server's log, or let clients connect with sslmode=disable and "
                "gssencmode=disable";
    } else if (c->sessions == 0 && c->foreign + c->opaque > 0) {
        *reason = "no connection speaks PostgreSQL's protocol";
    } else {
        *reason = "no statement was captured";
    }
}
