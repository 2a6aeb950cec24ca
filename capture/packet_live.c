#include "capture/packet_live.h"

#include <errno.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/packet_filter.h"
#include "common/alloc.h"
#include "common/clock.h"
#include "common/stop.h"
#include "formats/packet_link.h"

enum {
    /* 65,535, the customary one, cuts the loopback's largest packets by 14 bytes. */
    SNAPLEN = 262144,
    BLOCK_TIMEOUT_MS = 100, /* a block of the ring that is not full is handed over after it */
    FILTER_TEXT_MAX = 64 * 1024,
};

struct rh_packet_live {
    pcap_t *pcap;
    int fd;
    uint32_t link_type;
    int64_t tick_ns;     /* what a unit of tv_usec is */
    uint32_t last_drops; /* the kernel's counter, which wraps */
    char device[IFNAMSIZ];
};

/* " (there are: eth0, lo)", as far as they fit. */
static void list_devices(char *text, size_t size)
{
    char reason[PCAP_ERRBUF_SIZE];
    pcap_if_t *all = NULL;
    size_t len = 0;
    text[0] = '\0';
    if (pcap_findalldevs(&all, reason) != 0) {
        return;
    }
    for (pcap_if_t *d = all; d; d = d->next) {
        bool is_network = if_nametoindex(d->name) != 0 || strcmp(d->name, "any") == 0;
        if (is_network && strlen(d->name) + 16 < size - len) {
            len += (size_t) snprintf(text + len, size - len, "%s%s",
                                     len ? ", " : "; there are: ", d->name);
        }
    }
    pcap_freealldevs(all);
}

static int fail_no_device(const char *device, struct rh_error *err)
{
    char list[512];
    list_devices(list, sizeof list);
    return rh_error_set(err, RH_ERR_USAGE, "there is no interface \"%s\"%s", device, list);
}

static int fail_no_permission(const char *device, struct rh_error *err)
{
    char program[256];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    return rh_error_set(err, RH_ERR_IO,
                        "no permission to capture on \"%s\": run it with sudo, or give the program "
                        "the right once: sudo setcap cap_net_raw=ep %s",
                        device, n > 0 ? program : "pgrehearse-capture");
}

static int fail_activate(struct rh_packet_live *l, int status, struct rh_error *err)
{
    bool exists = if_nametoindex(l->device) != 0 || strcmp(l->device, "any") == 0;
    switch (status) {
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
        return exists ? fail_no_permission(l->device, err) : fail_no_device(l->device, err);
    case PCAP_ERROR_NO_SUCH_DEVICE:
        return fail_no_device(l->device, err);
    case PCAP_ERROR_IFACE_NOT_UP:
        return rh_error_set(err, RH_ERR_IO, "the interface \"%s\" is down", l->device);
    default:
        return rh_error_set(err, RH_ERR_IO, "cannot capture on \"%s\": %s", l->device,
                            status == PCAP_ERROR ? pcap_geterr(l->pcap) : pcap_statustostr(status));
    }
}

/* Times in nanoseconds; a kernel or device that cannot leaves microseconds, which is as good as
 * what the trace keeps. */
static int activate(struct rh_packet_live *l, const struct rh_live_options *o, struct rh_error *err)
{
    uint64_t bytes = o->buffer_bytes ? o->buffer_bytes : RH_LIVE_BUFFER_DEFAULT_BYTES;
    pcap_set_snaplen(l->pcap, SNAPLEN);
    pcap_set_promisc(l->pcap, 0);
    pcap_set_timeout(l->pcap, BLOCK_TIMEOUT_MS);
    pcap_set_buffer_size(l->pcap, (int) (bytes < INT32_MAX ? bytes : INT32_MAX));
    pcap_set_tstamp_precision(l->pcap, PCAP_TSTAMP_PRECISION_NANO);
    int status = pcap_activate(l->pcap);
    if (status < 0) {
        return fail_activate(l, status, err);
    }
    l->tick_ns =
        pcap_get_tstamp_precision(l->pcap) == PCAP_TSTAMP_PRECISION_NANO ? 1 : RH_NS_PER_US;
    return 0;
}

/* Of "any" v2 of the cooked headers: v1 tells nothing of the interface. */
static int choose_link_type(struct rh_packet_live *l, struct rh_error *err)
{
    struct rh_span ip;
    int dlt = pcap_datalink(l->pcap);
    if (dlt == DLT_LINUX_SLL && pcap_set_datalink(l->pcap, DLT_LINUX_SLL2) == 0) {
        dlt = DLT_LINUX_SLL2;
    }
    l->link_type = dlt == DLT_RAW ? RH_LINK_RAW : (uint32_t) dlt;
    if (dlt < 0 ||
        rh_packet_link_strip(l->link_type, rh_span("", 0), &ip) == RH_PACKET_LINK_UNKNOWN) {
        const char *name = dlt < 0 ? NULL : pcap_datalink_val_to_description(dlt);
        return rh_error_set(err, RH_ERR_USAGE,
                            "the packets of \"%s\" are of a link type that is not known here: %s",
                            l->device, name ? name : "none");
    }
    return 0;
}

static int set_filter(struct rh_packet_live *l, const struct rh_live_options *o,
                      struct rh_error *err)
{
    struct rh_packet_filter *check = NULL;
    struct bpf_program code;
    struct rh_buf text;
    /* Alone it tells whose mistake it is. */
    if (o->filter && rh_packet_filter_new(&check, o->filter, err) != 0) {
        return -1;
    }
    rh_packet_filter_free(check);
    rh_buf_init(&text, FILTER_TEXT_MAX);
    rh_packet_filter_put(&text, o->ports, o->port_count, l->link_type, o->filter);
    int result = 0;
    if (text.over) {
        result =
            rh_error_set(err, RH_ERR_LIMIT, "the filter is longer than %d bytes", FILTER_TEXT_MAX);
    } else if (pcap_compile(l->pcap, &code, rh_buf_cstr(&text), 1, PCAP_NETMASK_UNKNOWN) != 0) {
        result = rh_error_set(err, RH_ERR_USAGE, "the filter cannot be used on \"%s\": %s",
                              l->device, pcap_geterr(l->pcap));
    } else {
        if (pcap_setfilter(l->pcap, &code) != 0) {
            result = rh_error_set(err, RH_ERR_IO, "cannot filter the packets of \"%s\": %s",
                                  l->device, pcap_geterr(l->pcap));
        }
        pcap_freecode(&code);
    }
    rh_buf_release(&text);
    return result;
}

static int open_device(struct rh_packet_live *l, const struct rh_live_options *o,
                       struct rh_error *err)
{
    char reason[PCAP_ERRBUF_SIZE] = "";
    if (strlen(o->device) >= sizeof l->device) {
        return fail_no_device(o->device, err);
    }
    snprintf(l->device, sizeof l->device, "%s", o->device);
    l->pcap = pcap_create(l->device, reason);
    if (!l->pcap) {
        return rh_error_set(err, RH_ERR_IO, "cannot capture on \"%s\": %s", l->device, reason);
    }
    if (activate(l, o, err) != 0 || choose_link_type(l, err) != 0 || set_filter(l, o, err) != 0) {
        return -1;
    }
    l->fd = pcap_get_selectable_fd(l->pcap);
    if (pcap_setnonblock(l->pcap, 1, reason) != 0 || l->fd < 0) {
        return rh_error_set(err, RH_ERR_IO, "cannot wait for packets of \"%s\": %s", l->device,
                            reason);
    }
    (void) rh_packet_live_drops(l);
    return 0;
}

int rh_packet_live_open(struct rh_packet_live **out, const struct rh_live_options *o,
                        struct rh_error *err)
{
    struct rh_packet_live *l = rh_calloc(1, sizeof *l);
    if (open_device(l, o, err) != 0) {
        rh_packet_live_close(l);
        return -1;
    }
    *out = l;
    return 0;
}

void rh_packet_live_close(struct rh_packet_live *l)
{
    if (!l) {
        return;
    }
    if (l->pcap) {
        pcap_close(l->pcap);
    }
    rh_free(l);
}

int rh_packet_live_next(struct rh_packet_live *l, struct rh_pcap_packet *packet,
                        struct rh_error *err)
{
    struct pcap_pkthdr *header = NULL;
    const u_char *bytes = NULL;
    int got = pcap_next_ex(l->pcap, &header, &bytes);
    if (got == 0) {
        return 0;
    }
    if (got < 0) {
        return rh_error_set(err, RH_ERR_IO, "cannot capture on \"%s\" any longer: %s", l->device,
                            pcap_geterr(l->pcap));
    }
    *packet = (struct rh_pcap_packet){
        .time_ns = header->ts.tv_sec * RH_NS_PER_SEC + header->ts.tv_usec * l->tick_ns,
        .link_type = l->link_type,
        .original_bytes = header->len,
        .bytes = rh_span((const char *) bytes, header->caplen),
    };
    return 1;
}

void rh_packet_live_wait(struct rh_packet_live *l, int64_t timeout_ns)
{
    struct pollfd fds[2] = {{.fd = l->fd, .events = POLLIN},
                            {.fd = rh_stop_fd(), .events = POLLIN}};
    struct timespec timeout = {
        .tv_sec = timeout_ns / RH_NS_PER_SEC,
        .tv_nsec = timeout_ns % RH_NS_PER_SEC,
    };
    /* Once a stop was asked for its descriptor stays readable. */
    (void) ppoll(fds, rh_stop_requested() ? 1 : 2, &timeout, NULL);
}

int64_t rh_packet_live_delay_ns(void)
{
    return 2 * BLOCK_TIMEOUT_MS * RH_NS_PER_MS;
}

uint64_t rh_packet_live_drops(struct rh_packet_live *l)
{
    struct pcap_stat stat;
    if (pcap_stats(l->pcap, &stat) != 0) {
        return 0;
    }
    uint32_t more = stat.ps_drop - l->last_drops;
    l->last_drops = stat.ps_drop;
    return more;
}
