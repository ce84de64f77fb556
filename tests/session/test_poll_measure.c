/* SPDX-License-Identifier: BSD-3-Clause */
/* The time between the looks: who got how much of the processor, and how long it is waited for those who get
   none. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "job/diagnose_options.h"
#include "session/poll_measure.h"
#include "suite.h"
#include "wait_until.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

enum does { SPINS, SPINS_LAST, SLEEPS };

/* A process on the first processor that we may use; SPINS_LAST: whenever nobody else wants that. */
static pid_t start(enum does does)
{
    pid_t pid = fork();
    CU_ASSERT_FATAL(pid >= 0);
    if (pid > 0)
        return pid;
    alarm(600);
    cpu_set_t own;
    cpu_set_t first;
    sched_getaffinity(0, sizeof own, &own);
    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; i++) {
        if (CPU_ISSET(i, &own))
            CPU_SET(i, &first);
    }
    sched_setaffinity(0, sizeof first, &first);
    if (does == SPINS_LAST)
        sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    prctl(PR_SET_NAME, "under way");
    if (does == SLEEPS)
        pause();
    for (;;)
        ;
}

/* Whether it does by now what it was started for. */
static bool is_under_way(pid_t pid, enum does does)
{
    struct mpiq_proc_stat stat = {.state = '-'};
    mpiq_error_destroy(mpiq_proc_stat(pid, 0, &stat));
    return strcmp(stat.name, "under way") == 0 && (does != SLEEPS || stat.state == 'S');
}

static struct mpiq_rank_state *state_of(pid_t pid, bool in_mpi)
{
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->pid = pid;
    struct mpiq_thread *thread = mpiq_rank_state_add_thread(state);
    thread->tid = pid;
    if (in_mpi)
        strcpy(thread->mpi_call, "MPI_Recv");
    return state;
}

/* What a process got between two looks, and how long that took. */
static int64_t measure(enum does does, bool in_mpi, bool patient, double seconds, double *took)
{
    pid_t rival = does == SPINS_LAST ? start(SPINS) : 0;
    pid_t pid = start(does);
    struct mpiq_look_source source = {.pid = pid, .looks = {state_of(pid, in_mpi), state_of(pid, in_mpi)}};
    struct mpiq_look_sources sources = {.items = &source, .count = 1};
    struct mpiq_poll_measure between = {0};
    WAIT_UNTIL(is_under_way(pid, does) && (rival == 0 || is_under_way(rival, SPINS)));
    double begin = now();
    struct mpiq_error *error = mpiq_poll_measure_pass(&sources, seconds, patient, &between);
    *took = now() - begin;
    CU_ASSERT_PTR_NULL(error);
    mpiq_poll_measure_note(&between, &sources);
    mpiq_poll_measure_deinit(&between);
    int64_t got = source.looks[1]->threads[0].polled_ns;
    for (int i = 0; i < 2; i++)
        mpiq_rank_state_destroy(source.looks[i]);
    pid_t ends[] = {pid, rival};
    for (int i = 0; i < 2 && ends[i] > 0; i++) {
        kill(ends[i], SIGKILL);
        waitpid(ends[i], NULL, 0);
    }
    return got;
}

/* Again, should it have taken as long as that: this process itself may have been without a processor. */
static int64_t measure_while(enum does does, bool patient, double seconds, double too_long, double *took)
{
    int64_t got;
    int tries = 0;
    do
        got = measure(does, true, patient, seconds, took);
    while (*took >= too_long && ++tries < 20);
    return got;
}

static void test_spins(void)
{
    double took;
    int64_t got = measure(SPINS, true, true, 0.1, &took);
    CU_ASSERT(got >= MPIQ_POLLED_NS || took >= 0.7); /* others may have the processor all the time */
    CU_ASSERT(got < 1000000000);
    CU_ASSERT(took >= 0.1);
}

/* Who sleeps does not want the processor: nobody waits for it. */
static void test_sleeps(void)
{
    double took;
    CU_ASSERT(measure_while(SLEEPS, true, 0.1, 0.7, &took) == 0);
    CU_ASSERT(took < 0.7);
}

/* Only of who waits in MPI anything is measured. */
static void test_outside(void)
{
    double took;
    CU_ASSERT(measure(SPINS, false, true, 0.05, &took) == -1);
}

/* Who wants the processor and gets none is waited for, but not for ever. */
static void test_starves(void)
{
    double took;
    int64_t got = measure(SPINS_LAST, true, true, 0.002, &took);
    CU_ASSERT(got >= MPIQ_POLLED_NS || took >= 0.7);
    CU_ASSERT(took > 0.01);
    measure_while(SPINS_LAST, true, 0.002, 10, &took);
    CU_ASSERT(took < 10);
    measure_while(SPINS_LAST, false, 0.002, 0.7, &took);
    CU_ASSERT(took < 0.7);
}

/* Where nothing that was seen needs it, nobody is waited for. */
static void test_matters(void)
{
    enum { NOTHING, ENDED, ENDING, RECORDED, WINDOW, STARTED, REQUEST, FREED, UNREAD, CASES };
    for (int how = 0; how < CASES; how++) {
        struct mpiq_rank_state *state = how == UNREAD ? NULL : state_of(1, true);
        struct mpiq_look_source source = {.pid = 1, .looks = {state}};
        struct mpiq_look_sources sources = {.items = &source, .count = 1};
        struct mpiq_communicator *comm = state ? mpiq_rank_state_add_communicator(state) : NULL;
        if (state)
            state->source = how == RECORDED ? MPIQ_SOURCE_RECORDER : MPIQ_SOURCE_PATCHED;
        if (how == ENDED)
            state->gone = true;
        if (how == ENDING)
            state->phase = MPIQ_PHASE_FINALIZING;
        if (how == WINDOW)
            mpiq_rank_state_add_window(state);
        if (how == STARTED)
            mpiq_communicator_add_outstanding(comm);
        if (how == REQUEST)
            mpiq_rank_state_add_operation(state)->kind = MPIQ_OPERATION_COLLECTIVE;
        if (comm)
            comm->local.count = how == FREED ? 2 : 1;
        CU_ASSERT_EQUAL(mpiq_poll_measure_matters(&sources), how != NOTHING);
        mpiq_rank_state_destroy(state);
    }
}

/* Rank 0 and rank 1 list both their halves, which share a context, and what links the two; then one of them a
   communicator of both alone. */
static void test_freed_by_one(void)
{
    struct mpiq_look_source items[2] = {{.pid = 1}, {.pid = 2}};
    struct mpiq_look_sources sources = {.items = items, .count = 2};
    for (uint64_t rank = 0; rank < 2; rank++) {
        items[rank].looks[0] = state_of((int32_t)rank + 1, true);
        items[rank].looks[0]->source = MPIQ_SOURCE_PATCHED;
        struct mpiq_communicator *half = mpiq_rank_state_add_communicator(items[rank].looks[0]);
        half->context[0] = 7;
        half->local = (struct mpiq_group){.hash = 100 + rank, .count = 1};
        struct mpiq_communicator *across = mpiq_rank_state_add_communicator(items[rank].looks[0]);
        across->context[0] = 8;
        across->local = (struct mpiq_group){.hash = 100 + rank, .count = 1};
        across->remote = (struct mpiq_group){.hash = 101 - rank, .count = 1};
    }
    CU_ASSERT(!mpiq_poll_measure_matters(&sources));
    struct mpiq_communicator *both = mpiq_rank_state_add_communicator(items[1].looks[0]);
    both->context[0] = 9;
    both->local = (struct mpiq_group){.hash = 201, .count = 2};
    CU_ASSERT(mpiq_poll_measure_matters(&sources));
    for (int rank = 0; rank < 2; rank++)
        mpiq_rank_state_destroy(items[rank].looks[0]);
}

/* Of what has ended nothing is known. */
static void test_ended(void)
{
    pid_t pid = start(SLEEPS);
    struct mpiq_look_source source = {.pid = pid, .looks = {state_of(pid, true), state_of(pid, true)}};
    struct mpiq_look_sources sources = {.items = &source, .count = 1};
    struct mpiq_poll_measure between = {0};
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CU_ASSERT_PTR_NULL(mpiq_poll_measure_pass(&sources, 0.002, true, &between));
    mpiq_poll_measure_note(&between, &sources);
    CU_ASSERT(source.looks[1]->threads[0].polled_ns == -1);
    mpiq_poll_measure_deinit(&between);
    for (int i = 0; i < 2; i++)
        mpiq_rank_state_destroy(source.looks[i]);
}

int main(void)
{
    CU_TestInfo tests[] = {{"a spinning thread has polled", test_spins},
                           {"a sleeping thread has not polled", test_sleeps},
                           {"a thread outside MPI is not measured", test_outside},
                           {"a thread without a processor is waited for", test_starves},
                           {"nothing is known of a thread that has ended", test_ended},
                           {"what needs it", test_matters},
                           {"a communicator that one has freed needs it", test_freed_by_one},
                           CU_TEST_INFO_NULL};
    return suite_run("between", tests);
}
