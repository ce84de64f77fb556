/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal - how each thread has spent its time of late: stretches of computing, of MPI calls, and of waiting
 * in them, with who is to blame for the waiting.
 *
 * A thread's journal is bounded: when it is full, the older half is summed up by call path, and then says no
 * longer in which order things were.
 */
#ifndef MPIQ_TRACE_JOURNAL_H
#define MPIQ_TRACE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

enum { MPIQ_JOURNAL_MOST = 1024, MPIQ_BLAME_MOST = 4 };

/* A part of a wait that a rank's call path is to blame for. */
struct mpiq_blame {
    uint32_t rank, path;
    float share; /* of the wait */
};

struct mpiq_stretch {
    uint64_t from, to;
    uint64_t waited; /* ticks of it, in an MPI call */
    uint32_t path;
    uint32_t blamed; /* entries used */
    struct mpiq_blame *blame;
};

struct mpiq_journal {
    struct mpiq_stretch *stretches;
    uint32_t count, room;
    uint64_t dropped; /* stretches that are gone: the first one has this number */
    uint64_t ordered; /* number of the first one that was not summed up */
};

/* Adds one; what is next to another of the same path is joined with it if it is no MPI call.  Returns its
   number.  False in *good without memory. */
uint64_t mpiq_journal_add(struct mpiq_journal *journal, uint32_t path, uint64_t from, uint64_t to, bool mpi,
                          bool *good);
/* The stretch with that number; NULL: it is gone. */
struct mpiq_stretch *mpiq_journal_at(struct mpiq_journal *journal, uint64_t number);
/* The first stretch that ends after a time; count if there is none. */
uint32_t mpiq_journal_find(const struct mpiq_journal *journal, uint64_t time);
void mpiq_journal_deinit(struct mpiq_journal *journal);

#endif
