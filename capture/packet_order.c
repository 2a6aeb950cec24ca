#include "capture/packet_order.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/packet_files.h"
#include "common/alloc.h"

struct place {
    const char *path;
    int64_t first_ns;
    size_t index; /* files of one time stay as they were given */
    dev_t device;
    ino_t inode;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->first_ns != y->first_ns) {
        return x->first_ns < y->first_ns ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static int look(struct place *p, struct rh_error *err)
{
    struct rh_pcap_packet packet;
    struct stat st;
    struct rh_packet_files *files = rh_packet_files_new(&p->path, 1);
    int got = rh_packet_files_next(files, &packet, err);
    p->first_ns = got > 0 ? packet.time_ns : INT64_MIN;
    rh_packet_files_free(files);
    if (got < 0) {
        return -1;
    }
    if (stat(p->path, &st) != 0) {
        return rh_error_set_errno(err, "cannot look at \"%s\"", p->path);
    }
    p->device = st.st_dev;
    p->inode = st.st_ino;
    return 0;
}

static int check_single(const struct place *places, size_t count, struct rh_error *err)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count && places[k].first_ns == places[i].first_ns; k++) {
            if (places[k].device == places[i].device && places[k].inode == places[i].inode) {
                return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is given twice", places[k].path);
            }
        }
    }
    return 0;
}

int rh_packet_order_sort(const char **paths, size_t count, struct rh_error *err)
{
    if (count == 1 && strcmp(paths[0], "-") == 0) {
        return 0;
    }
    struct place *places = rh_calloc(count, sizeof *places);
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        places[i] = (struct place){.path = paths[i], .index = i};
        rc = strcmp(paths[i], "-") == 0
                 ? rh_error_set(err, RH_ERR_USAGE,
                                "standard input cannot be one of several files: put them together "
                                "with mergecap")
                 : look(&places[i], err);
    }
    if (rc == 0) {
        qsort(places, count, sizeof *places, compare);
        rc = check_single(places, count, err);
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        paths[i] = places[i].path;
    }
    rh_free(places);
    return rc;
}
