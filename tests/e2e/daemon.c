/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon: rank 0 leaves a process behind that has its environment and its libraries; then rank 1 waits for a
   message of rank 0's, which waits for it in a barrier. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ready.h"

static void leave_behind(void)
{
    pid_t rank = getpid(), between = fork();
    if (between < 0)
        abort();
    if (between > 0) {
        waitpid(between, NULL, 0);
        return;
    }
    if (setsid() < 0 || fork() != 0)
        _exit(0);
    while (kill(rank, 0) == 0) /* no longer than the rank */
        usleep(100000);
    _exit(0);
}

int main(int argc, char **argv)
{
    int rank, message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        leave_behind();
    say_ready(rank);
    if (rank == 1)
        MPI_Recv(&message, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
