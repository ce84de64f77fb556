/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are busy, or not, outside MPI while all others wait for them. */
#include "corpus.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WORLD MPI_COMM_WORLD

/* Runs a program, and waits for its end.  It ends with the rank at the latest. */
static void run_tool(const char *command)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

#define OTHERS_IN_BARRIER(id, call)   \
    CASE(id)                          \
    {                                 \
        if (rank == 1)                \
            HANG(call);               \
        else                          \
            HANG(MPI_Barrier(WORLD)); \
    }

OTHERS_IN_BARRIER(tool_computes, run_tool("while :; do :; done"))
OTHERS_IN_BARRIER(tool_sleeps, run_tool("exec sleep 3600"))

/* Functions of the user's that begin like those of MPI, and are none. */
static void mpi_work(void)
{
    compute_for_ever();
}

static void MPI_step(void)
{
    mpi_work();
}

OTHERS_IN_BARRIER(user_function_named_mpi_computes, MPI_step())

/* Threads that sleep and end, one after the other: not MPI's progress. */
static void *nap(void *none)
{
    usleep(5000);
    return none;
}

static void start_threads_for_ever(void)
{
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nap, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

OTHERS_IN_BARRIER(threads_come_and_go, start_threads_for_ever())

/* Naps of 0.4 s between barriers: longer than the pause between two looks. */
CASE(naps_between_barriers)
{
    ready();
    for (;;) {
        if (rank == 1)
            usleep(400000);
        MPI_Barrier(WORLD);
        advance();
    }
}

/* A short tool for each step, and a file with its result. */
CASE(tool_for_each_step)
{
    ready();
    for (;;) {
        if (rank == 1)
            run_tool("i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done");
        MPI_Barrier(WORLD);
        advance();
    }
}
