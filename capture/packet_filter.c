#include "capture/packet_filter.h"

#include <pcap/pcap.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/packet_link.h"

enum { SNAPLEN = 262144, PROGRAMS_MAX = 8 };

struct program {
    uint32_t link_type;
    struct bpf_program code;
};

struct rh_packet_filter {
    const char *text;
    struct program programs[PROGRAMS_MAX]; /* one for each link type that was met */
    size_t count;
};

/* The flags and offset of IPv4's header; the next header of IPv6's: hop-by-hop options, routing,
 * fragment, destination options. */
#define HIDDEN_PORTS                                                                               \
    " or (ip proto 6 and ip[6:2] & 0x1fff != 0)"                                                   \
    " or (ip6 and (ip6[6] = 0 or ip6[6] = 43 or ip6[6] = 44 or ip6[6] = 60))"

static void put_segments(struct rh_buf *out, const uint16_t *ports, size_t port_count,
                         const char *narrowed_by)
{
    rh_buf_add_cstr(out, "(");
    for (size_t i = 0; i < port_count; i++) {
        rh_buf_addf(out, "%stcp port %u", i > 0 ? " or " : "", (unsigned) ports[i]);
    }
    rh_buf_add_cstr(out, HIDDEN_PORTS ")");
    if (narrowed_by) {
        rh_buf_addf(out, " and (%s)", narrowed_by);
    }
}

void rh_packet_filter_put(struct rh_buf *out, const uint16_t *ports, size_t port_count,
                          uint32_t link_type, const char *narrowed_by)
{
    rh_buf_add_cstr(out, "(");
    put_segments(out, ports, port_count, narrowed_by);
    rh_buf_add_cstr(out, ")");
    if (link_type == RH_LINK_ETHERNET) {
        /* "vlan" moves the offsets of all that stands behind it, so this comes last. */
        rh_buf_add_cstr(out, " or (vlan and ");
        put_segments(out, ports, port_count, narrowed_by);
        rh_buf_add_cstr(out, ")");
    }
}

int rh_packet_filter_dlt(uint32_t link_type)
{
    return link_type == RH_LINK_RAW ? DLT_RAW : (int) link_type;
}

static int compile(const char *text, uint32_t link_type, struct bpf_program *code,
                   struct rh_error *err)
{
    pcap_t *p = pcap_open_dead(rh_packet_filter_dlt(link_type), SNAPLEN);
    if (!p) {
        return rh_error_set(err, RH_ERR_LIMIT, "no memory for the filter \"%s\"", text);
    }
    int result = 0;
    if (pcap_compile(p, code, text, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        result = rh_error_set(err, RH_ERR_USAGE, "the filter \"%s\" cannot be used%s: %s", text,
                              link_type == RH_LINK_ETHERNET ? "" : " for packets of this link type",
                              pcap_geterr(p));
    }
    pcap_close(p);
    return result;
}

int rh_packet_filter_new(struct rh_packet_filter **out, const char *text, struct rh_error *err)
{
    struct rh_packet_filter *f = rh_calloc(1, sizeof *f);
    f->text = text;
    f->programs[0].link_type = RH_LINK_ETHERNET;
    if (compile(text, RH_LINK_ETHERNET, &f->programs[0].code, err) != 0) {
        rh_free(f);
        return -1;
    }
    f->count = 1;
    *out = f;
    return 0;
}

void rh_packet_filter_free(struct rh_packet_filter *f)
{
    if (!f) {
        return;
    }
    for (size_t i = 0; i < f->count; i++) {
        pcap_freecode(&f->programs[i].code);
    }
    rh_free(f);
}

/* Files hold packets of one link type, of a few at most. */
static const struct program *program_for(struct rh_packet_filter *f, uint32_t link_type,
                                         struct rh_error *err)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->programs[i].link_type == link_type) {
            return &f->programs[i];
        }
    }
    if (f->count == PROGRAMS_MAX) {
        rh_error_set(err, RH_ERR_LIMIT, "packets of more than %d link types, too many for a filter",
                     PROGRAMS_MAX);
        return NULL;
    }
    struct program *p = &f->programs[f->count];
    p->link_type = link_type;
    if (compile(f->text, link_type, &p->code, err) != 0) {
        return NULL;
    }
    f->count++;
    return p;
}

int rh_packet_filter_match(struct rh_packet_filter *f, const struct rh_pcap_packet *packet,
                           struct rh_error *err)
{
    const struct program *p = program_for(f, packet->link_type, err);
    if (!p) {
        return -1;
    }
    const struct pcap_pkthdr header = {
        .caplen = (bpf_u_int32) packet->bytes.len,
        .len = packet->original_bytes > packet->bytes.len ? packet->original_bytes
                                                          : (bpf_u_int32) packet->bytes.len,
    };
    return pcap_offline_filter(&p->code, &header, (const u_char *) packet->bytes.data) != 0;
}
