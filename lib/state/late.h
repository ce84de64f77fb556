/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late - where a trace shows time lost waiting, and who was late: plain data, as lib/trace finds it and a
 * report shows it.  On its way it is JSON, an object a line (docs/TRACES.md), which is untrusted.
 */
#ifndef MPIQ_LATE_H
#define MPIQ_LATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/arena.h"

/* X(identifier, word in JSON, name) */
#define MPIQ_LATE_KINDS(X)                                                                \
    X(LATE_SENDER, "late_sender", "Late Sender")                                          \
    X(LATE_RECEIVER, "late_receiver", "Late Receiver")                                    \
    X(BARRIER, "wait_at_barrier", "Wait at Barrier")                                      \
    X(NXN, "wait_at_nxn", "Wait at N x N")                                                \
    X(BROADCAST, "late_broadcast", "Late Broadcast")                                      \
    X(REDUCE, "early_reduce", "Early Reduce")                                             \
    X(SCAN, "early_scan", "Early Scan")                                                   \
    X(NONBLOCKING, "wait_for_nonblocking_collective", "Wait for Non-blocking Collective") \
    X(FENCE, "wait_at_fence", "Wait at Fence")                                            \
    X(NEIGHBORS, "wait_for_neighbors", "Wait for Neighbors")

enum mpiq_late_kind {
#define MPIQ_ENUM(id, word, name) MPIQ_LATE_##id,
    MPIQ_LATE_KINDS(MPIQ_ENUM)
#undef MPIQ_ENUM
        MPIQ_LATE_KIND_COUNT
};

const char *mpiq_late_word(enum mpiq_late_kind kind);
const char *mpiq_late_name(enum mpiq_late_kind kind);

/* Where in the program; strings belong to the report, NULL not known. */
struct mpiq_late_site {
    const char *call; /* "MPI_Recv"; NULL: outside MPI */
    const char *function;
    const char *file;
    const char *path; /* "main > exchange > MPI_Recv" */
    int32_t line;
};

/* Orders by call, file, line and function: not by path. */
int mpiq_late_compare_sites(const struct mpiq_late_site *a, const struct mpiq_late_site *b);

/* Waiting of one kind by one rank on one call path; times in seconds. */
struct mpiq_late_waiting {
    struct mpiq_late_site site;
    uint64_t count;
    double seconds;
    double longest;
    uint32_t rank;
    uint8_t kind; /* enum mpiq_late_kind */
};

/* A rank's call path that made others wait. */
struct mpiq_lateness {
    struct mpiq_late_site site;
    double late;    /* by how much in all */
    double direct;  /* waiting that it caused directly */
    double further; /* and what spread from there */
    uint32_t rank;
};

/* How a rank waited over time, and how others waited for it: seconds in each part of the trace. */
enum { MPIQ_LATE_BINS = 240 };
struct mpiq_late_lane {
    uint32_t rank;
    double width; /* of a part */
    double waited[MPIQ_LATE_BINS];
    double caused[MPIQ_LATE_BINS]; /* of all others together */
};

struct mpiq_late_report {
    struct mpiq_arena *arena;
    struct mpiq_late_waiting *waits;
    size_t wait_count, wait_room;
    struct mpiq_lateness *delays;
    size_t delay_count, delay_room;
    struct mpiq_late_lane *lanes; /* of those ranks for which there is most to see */
    size_t lane_count, lane_room;
    const char *creator;
    uint64_t ranks, events, messages, unreceived, collectives;
    uint64_t
        contradictions; /* times of messages and collectives that contradict each other, and were not used */
    uint64_t backwards; /* events before the one before them */
    uint64_t wrong_orders;
    uint64_t broken; /* ranks whose events are missing or cut short */
    double seconds, waiting, mpi, wrong_order, barrier_completion, nxn_completion, unattributed;
};

/* Adds what a line says.  CORRUPT if it cannot be. */
struct mpiq_error *mpiq_late_report_take(struct mpiq_late_report *report, const char *line);
void mpiq_late_report_deinit(struct mpiq_late_report *report);

#endif
