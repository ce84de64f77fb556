/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * every_call - what the parts of that program share: CALL makes a call and writes down, in a file, what the
 * recorder has to have noted of it.
 *
 * Compiled with -DLARGE, N(name) is the function with large counts.
 */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include <mpi.h>
#include <stdio.h>

#ifdef LARGE
#define N(name) MPI_##name##_c
typedef MPI_Count count_type;
typedef MPI_Aint place_type;
#else
#define N(name) MPI_##name
typedef int count_type;
typedef int place_type;
#endif

enum { NONE = -99 };
#define WORLD "MPI_COMM_WORLD"
#define ROW "row"
#define NO_COMM "-"

extern FILE *ledger;
extern int rank, other;
extern MPI_Comm row;

/* CALL(name of the communicator, peer, tag, bytes, the call) */
#define CALL(comm, peer, tag, bytes, ...)                                                                \
    (fprintf(ledger, "%d\t%s\t%d\t%d\t%d\t%s\n", __LINE__, comm, peer, tag, (int)(bytes), #__VA_ARGS__), \
     (void)(__VA_ARGS__))
#define PLAIN(...) CALL(NO_COMM, NONE, NONE, NONE, __VA_ARGS__)
#define BARRIER() CALL(WORLD, NONE, NONE, NONE, MPI_Barrier(MPI_COMM_WORLD))

void part_messages(void);
void part_requests(void);
void part_collectives(void);
void part_nonblocking(void);
void part_persistent(void);
void part_neighbours(void);
void part_communicators(void);
void part_windows(void);
void part_files(void);
void part_objects(void);

#endif
