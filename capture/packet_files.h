/*
 * capture/packet_files.h
 *
 * Packets of capture files, one file after the other as one stream: those of a rotation, compressed
 * ones, "-" for standard input.
 */
#ifndef RH_CAPTURE_PACKET_FILES_H
#define RH_CAPTURE_PACKET_FILES_H

#include "common/error.h"
#include "formats/pcap_parser.h"

struct rh_packet_files_counts {
    uint64_t files;
    uint64_t bytes;         /* uncompressed */
    uint64_t cut_files;     /* that end within a packet */
    uint64_t damaged_files; /* of which the rest could not be read */
    struct rh_error first_damage;
    uint64_t
        clock_steps; /* a time that jumped and came back, replaced by that of the packet before */
    struct rh_pcap_counts parser;
};

struct rh_packet_files;

/* paths must live as long. */
struct rh_packet_files *rh_packet_files_new(const char *const *paths, size_t count);
void rh_packet_files_free(struct rh_packet_files *f);

/* 1 and a packet, whose bytes are valid until the next call; 0 at the end of the last file; -1: a
 * file cannot be opened or is no capture.  One that turns out damaged or cannot be read on is
 * counted, and the next one begun; a stop (common/stop.h) is an error. */
int rh_packet_files_next(struct rh_packet_files *f, struct rh_pcap_packet *packet,
                         struct rh_error *err);
const struct rh_packet_files_counts *rh_packet_files_count(struct rh_packet_files *f);
/* How far the files are read, of their bytes on disk, 0 to 1; 0 where that is not known. */
double rh_packet_files_progress(const struct rh_packet_files *f);

#endif
