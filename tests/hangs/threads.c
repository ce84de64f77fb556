/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads in MPI: MPI_THREAD_MULTIPLE. */
#include "corpus.h"

#include <pthread.h>

#define WORLD MPI_COMM_WORLD

static int receive(int peer, int tag)
{
    int unused;

    return MPI_Recv(&unused, 1, MPI_INT, peer, tag, WORLD, MPI_STATUS_IGNORE);
}

static pthread_t start(void *(*run)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, argument) != 0)
        abort();
    return thread;
}

static void *receive_from_the_other(void *argument)
{
    (void)argument;
    receive(1 - rank, 5);
    return NULL;
}

static void *receive_from_myself(void *argument)
{
    (void)argument;
    receive(rank, 5);
    return NULL;
}

static void *barrier_on(void *communicator)
{
    MPI_Barrier(*(MPI_Comm *)communicator);
    return NULL;
}

static void *compute(void *argument)
{
    (void)argument;
    compute_for_ever();
}

static void *sleeping(void *argument)
{
    (void)argument;
    sleep_for_ever();
}

/* One thread a rank, but MPI_THREAD_MULTIPLE's way of waiting. */
CASE_THREADS(cycle_under_thread_multiple)
{
    HANG(MPI_Recv(small, 1, MPI_INT, (rank + 1) % size, 1, WORLD, MPI_STATUS_IGNORE));
}

CASE_THREADS(barrier_skipped_under_thread_multiple)
{
    MPI_Barrier(WORLD);
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    else
        HANG(MPI_Barrier(WORLD));
}

/* Two threads of rank 0 and two of rank 1, each waits for the other rank. */
CASE_THREADS(two_threads_each_blocked)
{
    start(receive_from_the_other, NULL);
    HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 6, WORLD, MPI_STATUS_IGNORE));
}

/* Each thread in a barrier of its own communicator, which rank 1 comes to with neither. */
CASE_THREADS(two_threads_two_communicators)
{
    static MPI_Comm first, second;

    MPI_Comm_dup(WORLD, &first);
    MPI_Comm_dup(WORLD, &second);
    MPI_Comm_set_name(first, "first");
    MPI_Comm_set_name(second, "second");
    if (rank == 1) {
        HANG(WAIT_FOR_NOBODY(0));
        return;
    }
    start(barrier_on, &second);
    HANG(MPI_Barrier(first));
}

/* Two threads of one rank wait for a message from it: nobody is left to send it. */
CASE_THREADS(threads_wait_for_their_own_rank)
{
    if (rank == 0)
        start(receive_from_myself, NULL);
    HANG(MPI_Recv(small, 1, MPI_INT, rank, 6, WORLD, MPI_STATUS_IGNORE));
}

/* The main thread has nothing to do but to wait for its worker, which is blocked. */
CASE_THREADS(main_thread_joins)
{
    if (rank == 0) {
        pthread_t worker = start(receive_from_the_other, NULL);

        HANG(pthread_join(worker, NULL));
    } else {
        HANG(MPI_Recv(small, 1, MPI_INT, 0, 6, WORLD, MPI_STATUS_IGNORE));
    }
}

/* A pool of workers that wait for work, on a condition variable that nobody signals any more. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work = PTHREAD_COND_INITIALIZER;

static void *wait_for_work(void *unused)
{
    pthread_mutex_lock(&pool_lock);
    for (;;)
        pthread_cond_wait(&pool_work, &pool_lock);
    return unused;
}

/* The same of a library that looks up once an hour. */
static void *wait_for_work_an_hour(void *unused)
{
    struct timespec until;

    pthread_mutex_lock(&pool_lock);
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 3600;
        pthread_cond_timedwait(&pool_work, &pool_lock, &until);
    }
    return unused;
}

/* One that looks up a hundred times a second. */
static void *wait_for_work_a_moment(void *unused)
{
    struct timespec until;

    pthread_mutex_lock(&pool_lock);
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pool_work, &pool_lock, &until);
    }
    return unused;
}

static void receive_with_pool(void *(*worker)(void *))
{
    for (int i = 0; i < 3; i++)
        start(worker, NULL);
    HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 6, WORLD, MPI_STATUS_IGNORE));
}

CASE_THREADS(pool_idles)
{
    receive_with_pool(wait_for_work);
}

CASE_THREADS(pool_idles_with_a_timeout)
{
    receive_with_pool(wait_for_work_an_hour);
}

CASE_THREADS(pool_looks_up_often)
{
    receive_with_pool(wait_for_work_a_moment);
}

/* A thread that computes may yet send what the others wait for. */
CASE_THREADS(another_thread_computes)
{
    if (rank == 0)
        start(compute, NULL);
    HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 6, WORLD, MPI_STATUS_IGNORE));
}

/* So may one that sleeps. */
CASE_THREADS(another_thread_sleeps)
{
    if (rank == 0)
        start(sleeping, NULL);
    HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 6, WORLD, MPI_STATUS_IGNORE));
}

/* Of rank 0's two threads one is blocked for good, the other plays ping-pong. */
static void *ping_pong(void *argument)
{
    int ball = 0;

    (void)argument;
    for (;;) {
        MPI_Sendrecv_replace(&ball, 1, MPI_INT, 1 - rank, 7, 1 - rank, 7, WORLD, MPI_STATUS_IGNORE);
        advance();
    }
    return NULL;
}

CASE_THREADS(one_thread_blocked_one_plays)
{
    start(ping_pong, NULL);
    HANG(MPI_Recv(small, 1, MPI_INT, 1 - rank, 6, WORLD, MPI_STATUS_IGNORE));
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *answer_under_a_lock(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&held);
    MPI_Send(small, 1, MPI_INT, 1 - rank, 6, WORLD);
    return NULL;
}

/* Rank 0 waits under a lock that its other thread needs before it sends what rank 1 waits for. */
CASE_THREADS(receive_under_a_lock)
{
    if (rank == 0) {
        pthread_mutex_lock(&held);
        start(answer_under_a_lock, NULL);
    }
    HANG(MPI_Recv(small_received, 1, MPI_INT, 1 - rank, 6, WORLD, MPI_STATUS_IGNORE));
}

/* Two threads of one rank in collectives on one communicator at once, which MPI forbids. */
CASE_THREADS(two_threads_in_one_barrier)
{
    static MPI_Comm world;

    world = WORLD;
    if (rank == 1)
        HANG(WAIT_FOR_NOBODY(0));
    start(barrier_on, &world);
    HANG(MPI_Barrier(WORLD));
}
