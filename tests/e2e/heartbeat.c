/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 waits outside MPI for a file called "let go"; a thread of it wakes up now and then, or it does
 * itself.  Or it is in MPI all the time, and a thread of it computes until the file is there. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
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

static atomic_bool done;

/* sends: MPI is told, else the thread that polls. */
static void *compute(void *sends)
{
    volatile double value = 1;
    while (access("let go", F_OK) != 0)
        for (int i = 0; i < 1000000; i++)
            value = value * 0.999 + 0.001;
    if (sends)
        MPI_Send(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD);
    done = true;
    return NULL;
}

static void wait_for_worker(bool polls)
{
    pthread_t worker;
    int there;
    if (pthread_create(&worker, NULL, compute, polls ? NULL : &done) != 0)
        _exit(1);
    if (!polls)
        MPI_Recv(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!done)
        MPI_Iprobe(0, 6, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    pthread_join(worker, NULL);
}

int main(int argc, char **argv)
{
    int rank, level;
    bool sends = strcmp(argv[1], "worker sends") == 0;
    bool tells = strcmp(argv[1], "worker tells") == 0;
    MPI_Init_thread(&argc, &argv,
                    sends   ? MPI_THREAD_MULTIPLE
                    : tells ? MPI_THREAD_FUNNELED
                            : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && (sends || tells)) {
        wait_for_worker(tells);
    } else if (rank == 1 && strcmp(argv[1], "poll") == 0) {
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
