/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * begin - how each job of bench/read begins: all ranks are there, and say so.
 *
 * A line "ready" of each rank on standard output; bench/read counts them.
 */
#ifndef MPIQ_BENCH_BEGIN_H
#define MPIQ_BENCH_BEGIN_H

#include <mpi.h>
#include <stdio.h>

/* From MPI_Init on; returns this process's rank.  MPI_Finalize is the caller's. */
static inline int begin(int *argc, char ***argv)
{
    int rank;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("ready\n");
    fflush(stdout);
    return rank;
}

#endif
