/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks: rank 1 receives what nobody sends, rank 2 pauses deep in a recursion, the others are in a barrier.
   A second thread of each rank waits for a lock that the first one has. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int depth = 5;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock); /* line of the lock */
    return unused;
}

static int descend(int left)
{
    return left > 0 ? descend(left - 1) + 1 : pause(); /* line of the recursion */
}

static void receive(void)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line of the receive */
}

int main(int argc, char **argv)
{
    int rank;
    pthread_t thread;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, work, NULL);
    if (rank == 1)
        receive(); /* line of the call */
    if (rank == 2)
        depth = descend(depth);
    MPI_Barrier(MPI_COMM_WORLD); /* line of the barrier */
    MPI_Finalize();
    return 0;
}
