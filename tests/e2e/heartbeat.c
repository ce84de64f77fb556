/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 waits outside MPI for a file called "let go"; a thread of it wakes up now and then, or it does
 * itself. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int ends[2];

/* A logger, a monitor, a progress bar. */
static void *beat(void *unused)
{
    while (access("let go", F_OK) != 0)
        usleep(50000);
    if (write(ends[1], "", 1) != 1)
        _exit(1);
    return unused;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && strcmp(argv[1], "poll") == 0) {
        while (access("let go", F_OK) != 0)
            sleep(1);
    } else if (rank == 1) {
        pthread_t thread;
        char byte;
        if (pipe(ends) != 0 || pthread_create(&thread, NULL, beat, NULL) != 0 || read(ends[0], &byte, 1) != 1)
            return 1;
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
