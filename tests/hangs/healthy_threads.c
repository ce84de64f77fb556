/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that do not hang under MPI_THREAD_MULTIPLE. */
#define _GNU_SOURCE
#include "corpus.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

static void *play(void *tag)
{
    int ball = 0, number = *(int *)tag;

    for (;;) {
        MPI_Sendrecv_replace(&ball, 1, MPI_INT, 1 - rank, number, 1 - rank, number, WORLD, MPI_STATUS_IGNORE);
        advance();
    }
    return NULL;
}

CASE_THREADS(two_threads_play)
{
    static int tags[2] = {1, 2};
    pthread_t other;

    ready();
    pthread_create(&other, NULL, play, &tags[0]);
    play(&tags[1]);
}

static void *serve(void *unused)
{
    MPI_Status from;
    int ball;

    (void)unused;
    for (;;) {
        MPI_Recv(&ball, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &from);
        MPI_Send(&ball, 1, MPI_INT, from.MPI_SOURCE, 2, WORLD);
    }
    return NULL;
}

/* Each rank has a thread that serves, blocked nearly always, and one that asks. */
CASE_THREADS(a_server_thread_each)
{
    pthread_t server;
    int ball = 0;

    pthread_create(&server, NULL, serve, NULL);
    for (ready();; advance()) {
        MPI_Send(&ball, 1, MPI_INT, 1 - rank, 1, WORLD);
        MPI_Recv(&ball, 1, MPI_INT, 1 - rank, 2, WORLD, MPI_STATUS_IGNORE);
        compute_us(50);
    }
}

/* A thread of rank 0 is blocked in MPI for good, and another one, which sleeps nearly always, wakes by itself
   and sends what rank 1 waits for. */

#define PERIOD_S 2

static int beat;

static void *receive_for_ever(void *unused)
{
    MPI_Recv(small, 1, MPI_INT, 1, NOBODY, WORLD, MPI_STATUS_IGNORE);
    return unused;
}

static pthread_t start(void *(*run)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL) != 0)
        abort();
    return thread;
}

static struct timespec next_beat(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PERIOD_S;
    return until;
}

static void send_beat(void)
{
    MPI_Send(&beat, 1, MPI_INT, 1, 5, WORLD);
}

/* Of rank 1: its life. */
static void take_beats(void)
{
    for (;;) {
        MPI_Recv(&beat, 1, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE);
        advance();
    }
}

/* It waits for its worker to end, but not for ever. */
CASE_THREADS(joins_for_a_while)
{
    pthread_t worker;
    struct timespec until;

    ready();
    if (rank == 1)
        take_beats();
    for (worker = start(receive_for_ever);; send_beat()) {
        until = next_beat();
        pthread_timedjoin_np(worker, NULL, &until);
    }
}

static void *wait_and_send(void *unused)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
    struct timespec until;

    pthread_mutex_lock(&lock);
    for (;; send_beat()) {
        until = next_beat();
        pthread_cond_timedwait(&work, &lock, &until);
    }
    return unused;
}

CASE_THREADS(wakes_from_a_condition)
{
    ready();
    if (rank == 1)
        take_beats();
    start(wait_and_send);
    receive_for_ever(NULL);
}

static void *post_and_send(void *unused)
{
    static sem_t nobody_posts;
    struct timespec until;

    sem_init(&nobody_posts, 0, 0);
    for (;; send_beat()) {
        until = next_beat();
        sem_timedwait(&nobody_posts, &until);
    }
    return unused;
}

CASE_THREADS(wakes_from_a_semaphore)
{
    ready();
    if (rank == 1)
        take_beats();
    start(post_and_send);
    receive_for_ever(NULL);
}

static sem_t posted;

static void post(int number)
{
    (void)number;
    sem_post(&posted);
    alarm(PERIOD_S);
}

static void *send_when_posted(void *unused)
{
    for (;; send_beat())
        while (sem_wait(&posted) != 0) /* interrupted */
            ;
    return unused;
}

/* A signal handler wakes the thread that sends. */
CASE_THREADS(wakes_from_a_signal_handler)
{
    ready();
    if (rank == 1)
        take_beats();
    sem_init(&posted, 0, 0);
    start(send_when_posted);
    signal(SIGALRM, post);
    alarm(PERIOD_S);
    receive_for_ever(NULL);
}

static void tick(union sigval unused)
{
    (void)unused;
    send_beat();
}

/* The C library has a thread that starts one for each beat. */
CASE_THREADS(timer_sends)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    struct itimerspec period = {.it_interval.tv_sec = PERIOD_S, .it_value.tv_sec = PERIOD_S};
    timer_t timer;

    ready();
    if (rank == 1)
        take_beats();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &period, NULL) != 0)
        abort();
    receive_for_ever(NULL);
}
