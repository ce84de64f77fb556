/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries, functions and threads that are called like those of MPI, and are the user's: what is healthy,
   and beside each what hangs.  The libraries are in names.d. */
#include "corpus.h"

#include <sys/prctl.h>

#define WORLD MPI_COMM_WORLD

void solver_mpi_init(double seconds);
int solver_mpi_finalize(int peer, int tag);
int mpi_test(int peer, int tag);
void progress_start(int peer, int tag, int microseconds);
void progress_receive(int peer, int tag);
void io_open(void);
int io_write_all(int n);

/* Variables of the program's, too. */
int MPIR_being_debugged_by_me, ompi_mpi_finalize_calls, mpi_init_done = 1;

/* Rank 0 computes in solver_mpi_init, the others wait for what it sends then. */
CASE(computes_in_a_library_named_mpi)
{
    int value = 0;

    for (ready();; advance()) {
        if (rank == 0) {
            solver_mpi_init(0.3);
            for (int i = 1; i < size; i++)
                MPI_Send(&value, 1, MPI_INT, i, 5, WORLD);
        } else {
            value += solver_mpi_finalize(0, 5);
        }
    }
}

/* The same functions in the program itself. */
static __attribute__((noinline)) void step_mpi_finalize(void)
{
    compute_us(300000);
}

CASE(computes_in_a_function_named_finalize)
{
    int value = 0;

    for (ready();; advance()) {
        if (rank == 0) {
            step_mpi_finalize();
            MPI_Send(&value, 1, MPI_INT, 1, 5, WORLD);
        } else if (rank == 1) {
            MPI_Recv(&value, 1, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE);
        } else {
            compute_us(1000);
        }
    }
}

/* All ranks wait for what a thread of a library of the user's sends; no frame of its stack is the program's.
 */
CASE_THREADS(a_library_named_mpi_sends)
{
    int value, from = (rank + size - 1) % size;

    progress_start((rank + 1) % size, 7, 200000);
    for (ready();; advance())
        MPI_Recv(&value, 1, MPI_INT, from, 7, WORLD, MPI_STATUS_IGNORE);
}

/* A thread of the program called as those of runtimes are. */
CASE_THREADS(a_thread_named_like_a_runtimes)
{
    int value, from = (rank + size - 1) % size;

    prctl(PR_SET_NAME, "async"); /* UCX's */
    progress_start((rank + 1) % size, 8, 200000);
    for (ready();; advance())
        MPI_Recv(&value, 1, MPI_INT, from, 8, WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 and rank 1 wait for each other, in a library of the user's. */
CASE(hangs_in_a_library_named_mpi)
{
    if (rank < 2)
        HANG(solver_mpi_finalize(1 - rank, 5));
    else
        HANG(MPI_Barrier(WORLD));
}

/* In a function whose name is one of MPI's to Fortran. */
CASE(hangs_in_a_function_named_test)
{
    if (rank < 2)
        HANG(mpi_test(1 - rank, 6));
    else
        HANG(MPI_Barrier(WORLD));
}

/* The thread of the user's library waits, too. */
CASE_THREADS(a_library_named_mpi_receives)
{
    progress_receive((rank + 1) % size, 9);
    HANG(wait_for_nobody((rank + 1) % size));
}

/* One rank has nothing to write, and does not call the library, which was built without -g: the line of the
   others is the one that called it. */
static __attribute__((noinline)) void save(int n)
{
    if (n > 0)
        HANG(io_write_all(n)); /* MPI_Allreduce */
}

CASE(skips_a_library_without_g)
{
    io_open();
    save(rank == 1 ? 0 : 5);
    HANG(MPI_Barrier(WORLD));
}
