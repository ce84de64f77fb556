/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's library, called like an MPI library's part, that starts a thread: nothing of the program is on its
   stack. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

void progress_start(int peer, int tag, int microseconds);
void progress_receive(int peer, int tag);

static int to, number, nap;

static void *send_now_and_then(void *unused)
{
    for (int value = 0;; value++) {
        usleep((useconds_t)nap);
        MPI_Send(&value, 1, MPI_INT, to, number, MPI_COMM_WORLD);
    }
    return unused;
}

static void *receive(void *unused)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, to, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}

static void start(void *function(void *), int peer, int tag)
{
    pthread_t thread;

    to = peer;
    number = tag;
    pthread_create(&thread, NULL, function, NULL);
}

void progress_start(int peer, int tag, int microseconds)
{
    nap = microseconds;
    start(send_now_and_then, peer, tag);
}

void progress_receive(int peer, int tag)
{
    start(receive, peer, tag);
}
