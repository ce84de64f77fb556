/* SPDX-License-Identifier: BSD-3-Clause */
/* lateness - what is known of the waiting in a trace so far: sums by place, and what they are made from. */
#ifndef MPIQ_TRACE_LATENESS_H
#define MPIQ_TRACE_LATENESS_H

#include "base/array.h"
#include "state/late.h"
#include "trace/journal.h"
#include "trace/lanes.h"
#include "trace/replay.h"

/* When one of two ranks last waited for the other. */
struct mpiq_late_pair {
    uint32_t ranks[2];
    uint64_t time;
};

/* The last messages that a rank waited for. */
enum { MPIQ_LATE_RECENT = 16 };
struct mpiq_late_waited {
    uint64_t sent;
    uint64_t ticks;
};
struct mpiq_late_recent {
    struct mpiq_late_waited waited[MPIQ_LATE_RECENT];
    uint32_t next;
};

/* Waiting of one kind by one rank on one call path. */
struct mpiq_late_wait {
    uint32_t rank, path;
    uint64_t count, ticks, most;
    uint8_t kind;
};

/* A rank's call path that made others wait. */
struct mpiq_late_delay {
    uint32_t rank, path;
    uint64_t instance; /* the last one */
    double ticks;      /* by how much it was late in all */
    double last;       /* the same in that instance */
    double brief;      /* waiting that it caused directly */
    double further;    /* waiting that spread from there */
};

struct mpiq_late {
    struct mpiq_trace_replay replay;
    struct mpiq_journal *journals; /* by location */
    uint64_t *comm_times;          /* by communicator: when all its members last waited for each other */
    struct mpiq_late_recent *recent;
    struct mpiq_trace_lanes lanes;
    struct mpiq_late_pair *pairs;
    uint32_t pair_count, pair_room;
    struct mpiq_hash_table pair_table;
    struct mpiq_late_wait *waits;
    uint32_t wait_count, wait_room;
    struct mpiq_hash_table wait_table;
    struct mpiq_late_delay *delays;
    uint32_t delay_count, delay_room;
    struct mpiq_hash_table delay_table;
    uint64_t instances;
    uint64_t collectives;
    uint64_t unordered;     /* times that contradict each other, and are not used */
    uint64_t waited;        /* ticks, of all */
    uint64_t mpi_ticks;     /* ticks in MPI, of all */
    uint64_t completion[2]; /* ticks after the first has left: of all-to-all, of barriers */
    uint64_t wrong_order, wrong_orders;
    double unattributed; /* ticks of waiting that nobody is to blame for */
    uint32_t world;      /* communicator of all ranks; MPIQ_TRACE_NONE */
    bool failed;
    /* Of one wait: time by call path, of the late one and of the one that waits. */
    double *spent[2];
    uint32_t spent_room;
    uint32_t *touched;
    uint32_t touched_count;
};

#endif
