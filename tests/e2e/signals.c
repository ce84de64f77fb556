/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals - a job that lives by signals and knows how many there have to be: timers of both kinds, signals
 * that carry a value, children that end with a status of theirs, and a message and a collective in each round
 * to tell the others.  It goes on until a file named "stop" is there, and then says how it went.
 */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ready.h"

enum { LONGEST_LIFE_S = 600, CHILD_EVERY = 8, TICK_NS = 2000000 };

/* What handlers count.  A signal may be handled by any thread, those of the MPI library too. */
static _Atomic int64_t alarms, ended_children, value_sum, ticks;
static int64_t children, value_expected, status_sum, status_expected;

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void on_value(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    value_sum += info->si_value.sival_int;
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    ticks += 1 + info->si_overrun;
}

static void on_child(int number)
{
    (void)number;
    ended_children++;
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void handle(int number, void (*with_info)(int, siginfo_t *, void *), void (*handler)(int))
{
    struct sigaction action = {.sa_flags = SA_RESTART | (with_info ? SA_SIGINFO : 0)};

    if (with_info)
        action.sa_sigaction = with_info;
    else
        action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

static timer_t start_timers(void)
{
    struct itimerval alarm_every = {.it_interval.tv_usec = 3000, .it_value.tv_usec = 3000};
    struct itimerspec tick = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2};
    timer_t timer;

    handle(SIGALRM, NULL, on_alarm);
    handle(SIGRTMIN + 1, on_value, NULL);
    handle(SIGRTMIN + 2, on_tick, NULL);
    handle(SIGCHLD, NULL, on_child);
    setitimer(ITIMER_REAL, &alarm_every, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &tick, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return timer;
}

/* A child that ends with a status that we know. */
static void have_child(int round)
{
    int wanted = round / CHILD_EVERY % 100, status = -1;
    pid_t child = fork();

    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        _exit(wanted);
    }
    if (child < 0)
        return;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    children++;
    status_expected += wanted;
    status_sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static bool play_round(int round, int rank, int size)
{
    int64_t mine = round * 31 + rank, got = -1, sum = 0;
    union sigval value = {.sival_int = round % 1000};

    if (sigqueue(getpid(), SIGRTMIN + 1, value) == 0)
        value_expected += value.sival_int;
    MPI_Sendrecv(&mine, 1, MPI_INT64_T, (rank + 1) % size, 3, &got, 1, MPI_INT64_T, (rank + size - 1) % size,
                 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&got, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (round % CHILD_EVERY == 0)
        have_child(round);
    return sum == (int64_t)size * round * 31 + (int64_t)size * (size - 1) / 2;
}

/* Whether every signal came once, and every tick was counted: the kernel does so for a timer that a stopped
   process could not take, too.  So many ticks were due at least and at most. */
static bool is_right(int64_t least, int64_t most)
{
    return value_sum == value_expected && status_sum == status_expected && ended_children > 0 &&
           ended_children <= children && alarms > 0 && ticks >= least - 1 - least / 100 &&
           ticks <= most + 1 + most / 100;
}

/* On a busy machine the thread that has taken a signal may not get to its handler at once. */
static bool settle(timer_t timer, int64_t before, int64_t begun, int rank)
{
    enum { PATIENCE_S = 300 };
    int64_t least = (now_ns() - begun) / TICK_NS;

    timer_delete(timer);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    int64_t most = (now_ns() - before) / TICK_NS, end = now_ns() + (int64_t)PATIENCE_S * 1000000000;
    do
        usleep(20000);
    while (!is_right(least, most) && now_ns() < end);
    if (!is_right(least, most))
        printf("rank %d: values %lld of %lld, statuses %lld of %lld, %lld signals of %lld children, %lld "
               "alarms, "
               "ticks %lld, not %lld to %lld\n",
               rank, (long long)value_sum, (long long)value_expected, (long long)status_sum,
               (long long)status_expected, (long long)ended_children, (long long)children, (long long)alarms,
               (long long)ticks, (long long)least, (long long)most);
    return is_right(least, most);
}

int main(int argc, char **argv)
{
    int rank, size, round = 0, stop = 0, all_right;
    bool right = true;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t before = now_ns();
    timer_t timer = start_timers();
    int64_t begun = now_ns();
    say_ready(rank);
    for (; !stop && right; round++) {
        right = play_round(round, rank, size);
        if (rank == 0)
            stop = access("stop", F_OK) == 0 || now_ns() - begun > (int64_t)LONGEST_LIFE_S * 1000000000;
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(300);
    }
    right = settle(timer, before, begun, rank) && right;
    int mine = right;
    MPI_Allreduce(&mine, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s after %d rounds\n", all_right ? "right" : "wrong", round);
    MPI_Finalize();
    return all_right ? 0 : 1;
}
