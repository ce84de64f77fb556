/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * step_memory - one rank's side of mpiq run --step: reads what it is held before, and writes its orders.
 *
 * The memory file is the rank's: whatever it says is bounded, and nothing of it is mapped here.
 */
#ifndef MPIQ_SESSION_STEP_MEMORY_H
#define MPIQ_SESSION_STEP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpiq_record.h"

struct mpiq_step_memory {
    int file;
    struct mpiq_record_root root;
};

/* A thread: the call that it is held before or was held before last, and what it does now. */
struct mpiq_step_thread {
    uint32_t at; /* offset of the hold */
    struct mpiq_record_hold hold;
    char call[MPIQ_RECORD_CALL_NAME];
    bool held;       /* and nothing has been ordered yet */
    bool asks;       /* until its call site is known */
    bool inside;     /* in that call */
    uint64_t number; /* of the ordered collective that it is in; 0 */
};

/* False: it has no records yet, or none any more.  The rank is stepped if root.step is not 0. */
bool mpiq_step_memory_open(int file, struct mpiq_step_memory *ret);

/* The threads that have been held so far, at most `room`; returns how many. */
size_t mpiq_step_memory_threads(const struct mpiq_step_memory *memory, struct mpiq_step_thread *threads,
                                size_t room);

/* One of the functions that the rank records; an empty name: there is none. */
void mpiq_step_memory_function(const struct mpiq_step_memory *memory, unsigned index,
                               struct mpiq_record_function *ret);

/* Ordered collectives that the rank has begun on a communicator; false: it has no such one. */
bool mpiq_step_memory_ordered(const struct mpiq_step_memory *memory, const uint64_t id[2], uint64_t *ret);
/* Calls take for each member, by its rank in MPI_COMM_WORLD, of the communicator of a hold. */
void mpiq_step_memory_members(const struct mpiq_step_memory *memory, const struct mpiq_record_hold *hold,
                              void (*take)(void *argument, uint32_t rank), void *argument);

void mpiq_step_memory_mode(const struct mpiq_step_memory *memory, enum mpiq_record_step_mode mode);
/* Lets that hold end; skip: and passes calls that are equal to its. */
void mpiq_step_memory_go(const struct mpiq_step_memory *memory, const struct mpiq_step_thread *thread,
                         bool skip);
/* Of a hold that asks, at a call site with many lines: which breakpoints name its line. */
void mpiq_step_memory_answer(const struct mpiq_step_memory *memory, const struct mpiq_step_thread *thread,
                             uint32_t breaks);
/* Sets or, with NULL, clears a breakpoint; what is known of sites is forgotten. */
void mpiq_step_memory_break(const struct mpiq_step_memory *memory, unsigned index,
                            const struct mpiq_record_break *one);
/* The index-th call site; false: there are fewer. */
bool mpiq_step_memory_site(const struct mpiq_step_memory *memory, unsigned index,
                           struct mpiq_record_site *ret);
void mpiq_step_memory_know(const struct mpiq_step_memory *memory, unsigned index, uint32_t breaks);

/* The file and the offset in it of an address of the rank's code; false: not known. */
bool mpiq_step_memory_place(const struct mpiq_step_memory *memory, uint64_t address, char *path, size_t size,
                            uint64_t *offset);

#endif
