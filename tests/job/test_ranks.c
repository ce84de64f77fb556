/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: what ranks do, and what the looks prove. */
#include <stdio.h>
#include <stdlib.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

static void test_finished(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        job_phase(&job, rank, MPIQ_PHASE_FINALIZED);
    job_expect(&job, "finished: no rank is in MPI any more\n");
}

static void test_gone(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++) {
        job_at(&job, rank, "step", "gone.c", 12);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    }
    job_state(&job, 2, 'Z');
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "rank_gone ranks 2: Rank 2 has ended; 2 ranks have waited up to 1 m 0 s for it\n"
                     "  follows from 1: collective_incomplete ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
                     "wait in MPI_Barrier at gone.c:12 for rank 2\n");
}

static void test_stopped(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_state(&job, 2, 'T');
    job_expect(&job, "stalled: nothing moves: all ranks that wait, wait for ranks that are stopped\n"
                     "rank_stopped? ranks 2: rank 2 is stopped at solver.c:20 (step); 2 ranks have waited up "
                     "to 1 m 0 s for it\n"
                     "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
                     "wait in MPI_Barrier at solver.c:20 for rank 2\n");
}

/* Whom a debugger holds goes on: however long that takes, the job is not stalled. */
static void test_held_by_a_debugger(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_state(&job, 2, 't');
    for (int look = 0; look < 2; look++)
        job.states[look][2]->traced = true;
    job.options.still = 3600;
    job_expect(&job,
               "unknown: cannot tell whether the job hangs: rank 2 is held by a debugger\n"
               "rank_stopped? ranks 2: rank 2 is held by a debugger at solver.c:20 (step); 2 ranks have "
               "waited up to 1 m 0 s for it\n"
               "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
               "wait in MPI_Barrier at solver.c:20 for rank 2\n");
}

/* Every rank of a healthy job, stopped inside a collective in which its wait is recorded. */
static void test_all_held_by_a_debugger(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
        job_state(&job, rank, 't');
        for (int look = 0; look < 2; look++)
            job.states[look][rank]->traced = true;
    }
    job.options.still = 3600;
    job_expect(&job, "unknown: cannot tell whether the job hangs: all ranks are held by a debugger\n"
                     "rank_stopped? ranks 0-2: ranks 0-2 are held by a debugger at solver.c:20 (step)\n");
}

/* mpiq run --step holds the rank's last thread before that call. */
static void step_before(struct job_builder *job, int rank, const char *call)
{
    job_call(job, rank, call); /* the recorder's function is on the stack */
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_thread *thread = &state->threads[state->thread_count - 1];
        snprintf(thread->stepped, sizeof thread->stepped, "%s", call);
        thread->stepped_number = 7;
        thread->state = 'S';
        thread->sleep = MPIQ_SLEEP_TIMED_FUTEX;
    }
}

/* Whom the step mode holds goes on: however long that takes, nobody who waits for it is stuck. */
static void test_held_by_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    step_before(&job, 2, "MPI_Barrier");
    job.options.still = 3600;
    job_expect(&job,
               "unknown: cannot tell whether the job hangs: rank 2 is held by mpiq run --step\n"
               "rank_elsewhere? ranks 2: rank 2 is held by mpiq run --step before MPI_Barrier at solver.c:20 "
               "(step); 2 ranks have waited up to 1 m 0 s for it\n"
               "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
               "wait in MPI_Barrier at solver.c:20 for rank 2\n");
}

static void test_all_held_by_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        step_before(&job, rank, "MPI_Recv");
    job.options.still = 3600;
    job_expect(&job, "unknown: cannot tell whether the job hangs: all ranks are held by mpiq run --step\n");
}

/* Two wait for each other, whatever the third one will do. */
static void test_stuck_beside_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    step_before(&job, 2, "MPI_Barrier");
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Held before one more MPI_Test: that is no loop that goes round without end. */
static void test_polls_in_the_step_mode(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    for (int look = 0; look < 2; look++)
        snprintf(job.states[look][1]->last_mpi_call, sizeof job.states[look][1]->last_mpi_call, "MPI_Test");
    step_before(&job, 1, "MPI_Test");
    job.options.still = 3600;
    job_expect(&job,
               "unknown: cannot tell whether the job hangs: rank 1 is held by mpiq run --step\n"
               "rank_elsewhere? ranks 1: rank 1 is held by mpiq run --step before MPI_Test at solver.c:20 "
               "(step); 1 rank has waited 1 m 0 s for it\n");
}

/* One thread of the rank is held, the other waits for what the held one may send. */
static void test_thread_in_the_step_mode(void)
{
    static const int levels[] = {2, 3};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
        job_thread(&job, 1, levels[i]);
        step_before(&job, 1, "MPI_Send");
        job.options.still = 3600;
        job_expect(
            &job, "unknown: cannot tell whether the job hangs: rank 1 is held by mpiq run --step\n"
                  "rank_elsewhere? ranks 1: rank 1 is held by mpiq run --step before MPI_Send at solver.c:30 "
                  "(worker); 2 ranks have waited up to 1 m 0 s for it\n");
    }
}

/* strace lets it run, and its stacks cannot be read: it is not taken for one that computes, unless its
   library records what it does. */
static void test_traced_while_it_runs(void)
{
    static const struct {
        enum mpiq_source source;
        enum mpiq_verdict verdict;
    } rows[] = {{MPIQ_SOURCE_LAYOUTS, MPIQ_VERDICT_UNKNOWN},
                {MPIQ_SOURCE_STACKS, MPIQ_VERDICT_UNKNOWN},
                {MPIQ_SOURCE_RECORDER, MPIQ_VERDICT_RUNNING}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        job_init(&job, 2);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *traced = job.states[look][0];
            traced->traced = true;
            traced->source = (uint8_t)rows[i].source;
            mpiq_rank_state_problem(
                traced, "stack",
                mpiq_error_create(MPIQ_ERROR_PERMISSION, "process 7 is traced by strace (process 9)"));
        }
        job_state(&job, 0, 'R');
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict, rows[i].verdict);
        CU_ASSERT_EQUAL(strstr(diagnosis->text, "rank 0 could not be read (process 7 is traced by strace") !=
                            NULL,
                        rows[i].verdict == MPIQ_VERDICT_UNKNOWN);
        if (diagnosis->verdict != rows[i].verdict)
            puts(diagnosis->text);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* Stopped in the midst of a collective: a message of its own that is there already takes it no further. */
static void test_stopped_in_a_collective(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Allreduce", 3, 2);
    job_operation(&job, 2, WORLD, MPIQ_OPERATION_RECEIVE, 0, -12, 8);
    job_unexpected(&job, 2, WORLD, 0, -12, 8);
    job_state(&job, 2, 'T');
    job_expect(&job, "stalled: nothing moves: all ranks that wait, wait for ranks that are stopped\n"
                     "rank_stopped? ranks 2: rank 2 is stopped at solver.c:20 (step); 2 ranks have waited up "
                     "to 1 m 0 s for it\n"
                     "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
                     "wait in MPI_Allreduce at solver.c:20 for rank 2\n");
}

static void test_asleep(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_at(&job, 2, "load", "io.c", 7);
    job_state(&job, 2, 'S');
    job_expect(&job, "running: rank 2 is asleep at io.c:7 (load); 2 ranks have waited up to 1 m 0 s for it\n"
                     "rank_elsewhere? ranks 2: rank 2 is asleep at io.c:7 (load); 2 ranks have waited up to "
                     "1 m 0 s for it\n"
                     "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
                     "wait in MPI_Barrier at solver.c:20 for rank 2\n");
}

static void test_computing(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_expect(
        &job, "running: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to 1 m 0 s for it\n"
              "rank_elsewhere? ranks 2: rank 2 is computing at solver.c:20 (step); 2 ranks have waited up to "
              "1 m 0 s for it\n"
              "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 wait "
              "in MPI_Barrier at solver.c:20 for rank 2\n");
}

/* Ranks outside MPI say since which call, and for how long the longest of them; a rank in MPI does not. */
static void test_since_which_call(void)
{
    static const int ago[] = {2, 0, 5};
    struct mpiq_job_state *state = NULL;
    struct job_builder job;
    job_init(&job, 4);
    job_collective(&job, 3, WORLD, "MPI_Barrier", 3, ANY);
    for (int rank = 0; rank < 4; rank++) {
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *one = job.states[look][rank];
            snprintf(one->last_mpi_call, sizeof one->last_mpi_call, "MPI_Allreduce");
            one->last_mpi_end_ns = rank == 1 ? 0 : one->taken_ns - ago[rank % 3] * INT64_C(1000000000);
            one->last_mpi_collective = true;
        }
    }
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    struct mpiq_last_call all = {0};
    for (int rank = 0; rank < 3; rank++)
        mpiq_last_call_add(&all, &diagnosis->ranks[rank].last);
    CU_ASSERT_TRUE(diagnosis->ranks[0].last.known);
    CU_ASSERT_DOUBLE_EQUAL(diagnosis->ranks[0].last.ago, 2, 0.01);
    CU_ASSERT_FALSE(diagnosis->ranks[1].last.known);
    CU_ASSERT_FALSE(diagnosis->ranks[3].last.known);
    CU_ASSERT_TRUE(all.known && all.collective);
    CU_ASSERT_STRING_EQUAL(all.call, "MPI_Allreduce");
    CU_ASSERT_DOUBLE_EQUAL(all.ago, 5, 0.01);
    const struct mpiq_evidence *evidence = &diagnosis->findings[0].evidence[0];
    CU_ASSERT_TRUE(evidence->last.known);
    CU_ASSERT_DOUBLE_EQUAL(evidence->last.ago, 5, 0.01);
    const struct mpiq_last_call other = {.known = true, .call = "MPI_Recv", .ago = 1};
    mpiq_last_call_add(&all, &other);
    CU_ASSERT_PTR_NULL(all.call);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
}

static void test_unread(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job.unread[2] = true;
    job_expect(&job, "unknown: cannot tell whether the job hangs: rank 2 could not be read\n");
}

/* A look at a rank that timed out: bare, or (partial) after its library was read. */
static void time_out(struct job_builder *job, int rank, int look, bool partial)
{
    struct mpiq_rank_state **state = &job->states[look - 1][rank];
    if (!partial) {
        struct mpiq_rank_state *bare = mpiq_rank_state_create();
        CU_ASSERT_PTR_NOT_NULL_FATAL(bare);
        bare->pid = (*state)->pid;
        bare->name = (*state)->name;
        bare->world_size = (*state)->world_size;
        bare->process_state = '?';
        mpiq_rank_state_destroy(*state);
        *state = bare;
    }
    mpiq_rank_state_problem(*state, partial ? "stack" : "process",
                            mpiq_error_create(MPIQ_ERROR_TIMEOUT, "it took too long"));
}

/* Three ranks that wait for each other in a circle: reading one of them timed out, in one look or both, whole
   or in part, while the others move or do not.  It is never taken for a rank that gets on. */
static void test_timed_out(void)
{
    enum { PARTIAL = 4, MOVES = 8, ALL = 16 };
    for (unsigned how = 0; how < ALL; how++) {
        struct job_builder job;
        if ((how & 3) == 0)
            continue;
        job_init(&job, 3);
        for (int rank = 0; rank < 3; rank++)
            job_recv(&job, rank, WORLD, (rank + 1) % 3, 7);
        if (how & MOVES) {
            job.look = 2;
            job_recv(&job, 0, WORLD, 1, 7);
        }
        for (int look = 1; look <= 2; look++) {
            if (how & (unsigned)look)
                time_out(&job, 1, look, how & PARTIAL);
        }
        job_expect(
            &job,
            "unknown: cannot tell whether the job hangs: rank 1 could not be read (it took too long)\n");
    }
}

/* Whoever waits for each other without it is stuck all the same. */
static void test_timed_out_elsewhere(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    time_out(&job, 2, 2, false);
    job_expect(&job, "deadlock: 2 of 3 ranks can never continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* A deadlocked part beside one that goes on. */
static void test_part(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_polls(&job, 2);
    job_expect(&job, "deadlock: 2 of 4 ranks can never continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

static void test_one_look(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job.one_look = true;
    job_recv(&job, 0, WORLD, 1, 7);
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job,
               "unknown: the ranks wait, but they were not seen twice in the same wait: one look proves "
               "nothing\n");
}

/* The same places, but other waits: a ping-pong at full speed. */
static void test_ping_pong(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int look = 1; look <= 2; look++) {
        job.look = look;
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
    }
    job_expect(&job, "running: the job makes progress\n");
}

static void test_threads(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_thread(&job, 0, 3);
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job, "running: no rank is proven to be stuck\n"); /* rank 0's other thread may send it */

    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_thread(&job, 0, 3);
    job_recv(&job, 0, WORLD, 1, 8);
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Core files: one look is all there is. */
static void test_core(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job.one_look = true;
    for (int rank = 0; rank < 2; rank++) {
        job.states[0][rank]->core = true;
        job_recv(&job, rank, WORLD, 1 - rank, 7);
    }
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* More messages than a queue should hold, and a receiver that computes. */
static void test_backlog(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int i = 0; i < 1200; i++)
        job_unexpected(&job, 1, WORLD, 0, 3, 8);
    job_channel(&job, 0, 1, WORLD, 1200, 1200);
    job_expect(
        &job,
        "running: no rank is proven to be stuck\n"
        "unexpected_backlog? ranks 1: rank 1 holds 1200 messages that nobody has posted a receive for\n");
}

/* Rank 1 is waited for by all in the end, through a chain. */
static void test_chain_to_sleeper(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int rank = 0; rank < 3; rank++)
        job_recv(&job, rank, WORLD, rank + 1, 7);
    job_at(&job, 3, "load", "io.c", 7);
    job_state(&job, 3, 'S');
    job_expect(&job, "running: rank 3 is asleep at io.c:7 (load); 3 ranks have waited up to 1 m 0 s for it\n"
                     "rank_elsewhere? ranks 3: rank 3 is asleep at io.c:7 (load); 3 ranks have waited up to "
                     "1 m 0 s for it\n");
}

/* Without a record: the same call at the same place, but another receive. */
static void test_unpatched_ping_pong(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_unpatched(&job);
    for (int look = 1; look <= 2; look++) {
        job.look = look;
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
    }
    job_expect(&job, "running: the job makes progress\n");
}

/* An idle worker: only its own process can wake it, which is the kernel's word; or, where the kernel says
   nothing and it waits for a condition, that is assumed.  One that naps, or wakes by itself after a time, may
   send then, though it never called MPI before. */
static void test_idle_helper(void)
{
    static const struct {
        enum mpiq_sleep sleep;
        const char *function;
        bool proven;
    } rows[] = {
        {MPIQ_SLEEP_PRIVATE_FUTEX, "__pthread_cond_wait", true},
        {MPIQ_SLEEP_PRIVATE_FUTEX, NULL, true},
        {MPIQ_SLEEP_PRIVATE_FUTEX, "__new_sem_wait", true},
        {MPIQ_SLEEP_SIGNAL_FUTEX, "__new_sem_wait_slow64.constprop.0", false},
        {MPIQ_SLEEP_SIGNAL_FUTEX, "__pthread_cond_wait", true},
        {MPIQ_SLEEP_SIGNAL_FUTEX, NULL, false},
        {MPIQ_SLEEP_OTHER, "__pthread_clockjoin_ex", true},
        {MPIQ_SLEEP_TIMED_FUTEX, "pthread_cond_timedwait", false},
        {MPIQ_SLEEP_TIMED_FUTEX, "__pthread_clockjoin_ex", false},
        {MPIQ_SLEEP_TIMED_FUTEX, NULL, false},
        {MPIQ_SLEEP_UNKNOWN, "___pthread_cond_wait", true},
        {MPIQ_SLEEP_UNKNOWN, "pthread_cond_timedwait", false},
        {MPIQ_SLEEP_UNKNOWN, "sem_wait", false},
        {MPIQ_SLEEP_UNKNOWN, NULL, false},
        {MPIQ_SLEEP_OTHER, "clock_nanosleep", false},
        {MPIQ_SLEEP_OTHER, "__pthread_cond_wait", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_thread(&job, 0, 3);
        job_sleeps(&job, 0, rows[i].sleep, rows[i].function);
        job_recv(&job, 1, WORLD, 0, 7);
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict == MPIQ_VERDICT_DEADLOCK, rows[i].proven);
        bool assumed = rows[i].proven && rows[i].sleep == MPIQ_SLEEP_UNKNOWN;
        CU_ASSERT_EQUAL(diagnosis->assumption_count, assumed ? 1 : 0);
        if (assumed)
            CU_ASSERT_STRING_EQUAL(
                diagnosis->assumptions[0].text,
                "have threads whose stacks show them waiting in the C library: these are assumed to wait for "
                "other threads of the same rank, and without a timeout");
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* A futex that was left between the looks, or that the first look did not see, proves nothing. */
static void test_woken_helper(void)
{
    for (int how = 0; how < 3; how++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_thread(&job, 0, 3);
        job.look = how == 0 ? 2 : 0;
        job_sleeps(&job, 0, MPIQ_SLEEP_PRIVATE_FUTEX, NULL);
        job.look = 0;
        struct mpiq_thread *thread = &job.states[1][0]->threads[1];
        if (how == 1)
            thread->cpu_ns += 5000000;
        if (how == 2)
            thread->frames[0].pc++;
        job_recv(&job, 1, WORLD, 0, 7);
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* A thread with no function of the program's on its stack: the MPI library's own waits for what MPI is asked
   to do; one that another library has started, or that runs timers, may come to call MPI. */
static void test_library_thread(void)
{
    static const struct {
        const char *objects[3];
        bool proven;
    } rows[] = {
        {{"/lib/libc.so.6", "/opt/ucx/lib/libucs.so.0", "/lib/libc.so.6"}, true},
        {{"/lib/libc.so.6", "/lib/libevent_core-2.1.so.7", "/opt/mpi/lib/libpmix.so.2"}, true},
        {{"/lib/libc.so.6", "/lib/libc.so.6", "/lib/libc.so.6"}, false},
        {{"/lib/libc.so.6", "/home/me/libphysics.so", "/lib/libc.so.6"}, false},
        {{"/lib/libc.so.6", "/usr/lib/libcurl.so.4", "/lib/libc.so.6"}, false},
        {{"/lib/libevent_core-2.1.so.7", "/home/me/libphysics.so", "/lib/libc.so.6"}, false},
        {{"/lib/libc.so.6", NULL, "/opt/ucx/lib/libucs.so.0"}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_thread(&job, 0, 3);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][0];
            struct mpiq_thread *thread = &state->threads[1];
            thread->state = 'S';
            thread->sleep = MPIQ_SLEEP_OTHER;
            thread->user_frame = -1;
            while (thread->frame_count < 3)
                mpiq_thread_add_frame(thread);
            for (size_t j = 0; j < 3; j++)
                thread->frames[j] = (struct mpiq_frame){
                    .pc = 100 + j, .object = mpiq_rank_state_intern(state, rows[i].objects[j])};
        }
        job_recv(&job, 1, WORLD, 0, 7);
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict == MPIQ_VERDICT_DEADLOCK, rows[i].proven);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* Whom a rank outside MPI waits for. */
static void test_partner(void)
{
    static const struct {
        int32_t call;
        char state;
        const char *whom;
    } cases[] = {
        {61, 'T', "for its child process sort (pid 4711), which is stopped"},
        {61, 'S', "for its child process sort (pid 4711), which is asleep"},
        {1, 'T', "to sort (pid 4711), which is stopped"},
        {0, 'S', "from sort (pid 4711)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job_builder job;
        char *wanted = NULL;
        job_init(&job, 2);
        job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
        job_state(&job, 1, 'S');
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][1];
            struct mpiq_thread *thread = &state->threads[0];
            snprintf(state->architecture, sizeof state->architecture, "x86-64");
            thread->sleep = MPIQ_SLEEP_OTHER;
            thread->system_call = cases[i].call;
            thread->partner = 4711;
            thread->partner_name = mpiq_rank_state_intern(state, "sort");
            thread->partner_state = cases[i].state;
        }
        if (asprintf(
                &wanted,
                "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                "rank_elsewhere? ranks 1: rank 1 is asleep at solver.c:20 (step), %s; 1 rank has waited 1 m "
                "0 s for it\n"
                "  follows from 1: collective_incomplete? ranks 0 missing 1 suspects 1: rank 0 waits in "
                "MPI_Barrier at solver.c:20 for rank 1\n",
                cases[i].whom) < 0)
            abort();
        job_expect(&job, wanted);
        free(wanted);
    }
}

/* Nobody waits for anybody: where they sleep is all that can be said. */
static void test_all_asleep(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++)
        job_state(&job, rank, 'S');
    job_expect(&job, "unknown: cannot tell whether the job hangs: all ranks are asleep outside MPI\n"
                     "rank_elsewhere? ranks 0-1: ranks 0 and 1 are asleep at solver.c:20 (step)\n");
}

/* Rank `rank` sleeps for a lock on a file that rank 0 has. */
static void wait_for_lock(struct job_builder *job, int rank, enum mpiq_sleep sleep)
{
    job_state(job, rank, 'S');
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_thread *thread = &state->threads[0];
        snprintf(state->architecture, sizeof state->architecture, "x86-64");
        thread->sleep = sleep;
        thread->system_call = 72; /* fcntl */
        thread->lock_holder = job->states[look][0]->pid;
        thread->file = mpiq_rank_state_intern(state, "/home/me/run.log");
    }
}

/* A lock of a process's own is as good a wait as any; another kind, which nobody knows who may release, is
 * none. */
static void test_file_lock(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    wait_for_lock(&job, 1, MPIQ_SLEEP_LOCK);
    wait_for_lock(&job, 2, MPIQ_SLEEP_LOCK);
    job_expect(&job,
               "deadlock: none of the 3 ranks can continue\n"
               "file_lock ranks 1-2 missing 0 suspects 0: Rank 0 holds the lock on run.log and has been in "
               "MPI_Barrier (collective 1) at solver.c:20 for 1 m 0 s; ranks 1 and 2 wait for that lock\n");

    job_init(&job, 3); /* its holder goes on */
    job_state(&job, 0, 'S');
    wait_for_lock(&job, 1, MPIQ_SLEEP_LOCK);
    job_collective(&job, 2, WORLD, "MPI_Barrier", 1, ANY);
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
    CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT_EQUAL(diagnosis->findings[0].kind, MPIQ_FINDING_RANK_ELSEWHERE);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);

    job_init(&job, 2);
    job_collective(&job, 0, WORLD, "MPI_Barrier", 1, ANY);
    wait_for_lock(&job, 1, MPIQ_SLEEP_OTHER);
    diagnosis = job_diagnose(&job, &state);
    CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_DEADLOCK);
    CU_ASSERT_EQUAL(diagnosis->findings[0].kind, MPIQ_FINDING_FILE_LOCK);
    CU_ASSERT(!diagnosis->findings[0].proven);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(&job);
}

/* A thread that waits for Python's interpreter lock wakes all the time, and acts no sooner than the one that
 * has it. */
static void test_interpreter_lock(void)
{
    for (int stuck = 0; stuck < 2; stuck++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_thread(&job, 0, 3); /* computes, or waits */
        job_thread(&job, 0, 3);
        job_recv(&job, 1, WORLD, 0, 7);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][0];
            for (size_t i = stuck ? 1 : 2; i < 3; i++) {
                state->threads[i].interpreter = true;
                state->threads[i].owner = state->threads[stuck ? 0 : 1].tid;
                state->threads[i].state = look ? 'R' : 'S';
                state->threads[i].cpu_ns = look ? 50000000 : 0;
            }
        }
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict == MPIQ_VERDICT_DEADLOCK, stuck);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* One of the looks could not read what the other one could: the answer says what. */
static void test_torn_look(void)
{
    for (int look = 0; look < 2; look++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
        for (int both = 0; both < 2; both++)
            mpiq_rank_state_problem(job.states[both][1], "layout",
                                    mpiq_error_create(MPIQ_ERROR_CORRUPT, "old"));
        mpiq_rank_state_problem(job.states[look][1], "queues",
                                mpiq_error_create(MPIQ_ERROR_CORRUPT, "the list of requests changed"));
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_UNKNOWN);
        CU_ASSERT_STRING_EQUAL(diagnosis->text, "cannot tell whether the job hangs: rank 1 could not be read "
                                                "(the list of requests changed)");
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* Nobody acts: whoever is stopped does not go on by itself, whom a debugger holds may, and who sleeps, too.
 */
static void test_nobody_acts(void)
{
    static const struct {
        char first, second;
        bool traced;
        const char *verdict;
    } rows[] = {
        {'T', 'T', false, "stalled: nothing moves: all ranks are stopped"},
        {'t', 't', true, "unknown: cannot tell whether the job hangs: all ranks are held by a debugger"},
        {'S', 'S', false, "unknown: cannot tell whether the job hangs: all ranks are asleep outside MPI"},
        {'S', 'T', false,
         "unknown: cannot tell whether the job hangs: all ranks are asleep outside MPI, or stopped"},
        {'Z', 'T', false, "stalled: nothing moves: all ranks that have not ended are stopped"},
        {'R', 'S', false, "running: no rank is proven to be stuck"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        job_init(&job, 2);
        job_state(&job, 0, rows[i].first);
        job_state(&job, 1, rows[i].second);
        for (int look = 0; look < 2; look++)
            job.states[look][0]->traced = job.states[look][1]->traced = rows[i].traced;
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        char *text = NULL;
        if (asprintf(&text, "%s: %s", mpiq_verdict_word(diagnosis->verdict), diagnosis->text) < 0)
            abort();
        CU_ASSERT_STRING_EQUAL(text, rows[i].verdict);
        if (strcmp(text, rows[i].verdict) != 0)
            puts(text);
        free(text);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* A worker that looks for work now and then is no proof, but nothing moves; one that computes is at work,
   even where it gets little of the processor. */
static void test_dozing_worker(void)
{
    static const struct {
        char state;
        uint64_t cpu_ns;
        enum mpiq_verdict verdict;
    } rows[] = {
        {'S', 50000000, MPIQ_VERDICT_STALLED},
        {'R', 50000000, MPIQ_VERDICT_RUNNING},
        {'S', 500000000, MPIQ_VERDICT_RUNNING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int watched = 0; watched < 2; watched++) {
            struct job_builder job;
            job_init(&job, 2);
            job_recv(&job, 0, WORLD, 1, 7);
            job_thread(&job, 0, 3);
            job_recv(&job, 1, WORLD, 0, 7);
            job.options.still = watched ? 61 : 0;
            job.states[1][0]->taken_ns = job.states[0][0]->taken_ns + 1000000000;
            for (int look = 0; look < 2; look++)
                job.states[look][0]->threads[1].state = rows[i].state;
            job.states[1][0]->threads[1].cpu_ns += rows[i].cpu_ns;
            struct mpiq_job_state *state;
            struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
            bool dozes = rows[i].verdict == MPIQ_VERDICT_STALLED;
            CU_ASSERT_EQUAL(diagnosis->verdict, watched ? rows[i].verdict
                                                : dozes ? MPIQ_VERDICT_UNKNOWN
                                                        : MPIQ_VERDICT_RUNNING);
            mpiq_diagnosis_destroy(diagnosis);
            mpiq_job_state_destroy(state);
            job_deinit(&job);
        }
    }
}

/* A thread that sleeps beside the one that waits may yet send what all wait for. */
static void test_sleeping_thread(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_thread(&job, 0, 3);
    job_state(&job, 0, 'S');
    for (int look = 0; look < 2; look++)
        job.states[look][0]->process_state = 'R';
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(&job, "running: a thread of rank 0 is asleep at solver.c:30 (worker); 2 ranks have waited up "
                     "to 1 m 0 s for it\n"
                     "rank_elsewhere? ranks 0: a thread of rank 0 is asleep at solver.c:30 (worker); 2 ranks "
                     "have waited up to 1 m 0 s for it\n");
}

/* In a call of MPI, but not in one of its waits: in a user's operation, say. */
static void test_asleep_inside_mpi(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_polls(&job, 0);
    job_state(&job, 0, 'S');
    for (int look = 0; look < 2; look++)
        job.states[look][0]->threads[0].state = 'D';
    job_recv(&job, 1, WORLD, 0, 7);
    job_expect(
        &job,
        "running: rank 0 is asleep in MPI_Test() at solver.c:20 (step); 1 rank has waited 1 m 0 s for it\n"
        "rank_elsewhere? ranks 0: rank 0 is asleep in MPI_Test() at solver.c:20 (step); 1 rank has waited 1 "
        "m 0 s for it\n");
}

/* What the program called, by its name in the manual, and not what the C library does for it. */
static void test_names_of_the_c_library(void)
{
    static const char *const names[][2] = {
        {"___pthread_cond_timedwait64", "pthread_cond_timedwait"},
        {"___pthread_timedjoin_np64", "pthread_timedjoin_np"},
        {"___pthread_mutex_timedlock64", "pthread_mutex_timedlock"},
        {"__sem_timedwait64", "sem_timedwait"},
        {"cnd_wait", "cnd_wait"},
        {"__GI___clock_nanosleep", "clock_nanosleep"},
        {"__sleep", "sleep"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char wanted[400];
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 1, WORLD, 0, 5);
        job_state(&job, 0, 'S');
        job_sleeps(&job, 0, MPIQ_SLEEP_OTHER, names[i][0]);
        snprintf(
            wanted, sizeof wanted,
            "running: rank 0 is asleep in %s() at solver.c:20 (step); 1 rank has waited 1 m 0 s for it\n"
            "rank_elsewhere? ranks 0: rank 0 is asleep in %s() at solver.c:20 (step); 1 rank has waited 1 "
            "m 0 s for it\n",
            names[i][1], names[i][1]);
        job_expect(&job, wanted);
    }
}

/* Who waits for a GPU does not compute, whether it spins there or sleeps; a poll between stays a poll. */
static void test_calls_of_a_gpu(void)
{
    for (int asleep = 0; asleep < 2; asleep++) {
        char wanted[400];
        const char *does = asleep ? "is asleep in" : "is in";
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 1, WORLD, 0, 5);
        job_sleeps(&job, 0, MPIQ_SLEEP_OTHER, "cudaStreamSynchronize");
        job_state(&job, 0, asleep ? 'S' : 'R');
        snprintf(wanted, sizeof wanted,
                 "running: rank 0 %s cudaStreamSynchronize() at solver.c:20 (step); 1 rank has waited 1 m 0 "
                 "s for it\n"
                 "rank_elsewhere? ranks 0: rank 0 %s cudaStreamSynchronize() at solver.c:20 (step); 1 rank "
                 "has waited 1 m 0 s for it\n",
                 does, does);
        job_expect(&job, wanted);
    }
}

/* Rank 0 is in MPI_Finalize and not in its last fence: an attribute's deletion waits for a message. */
static void test_before_the_fence(void)
{
    struct job_builder job;
    job_init(&job, 3);
    job_wait(&job, 0, "MPI_Finalize", MPIQ_WAIT_RECEIVE);
    job_wait_receive(&job, 0, WORLD, 1, 9);
    job_finalize(&job, 1);
    job_finalize(&job, 2);
    job_expect(&job, "deadlock: none of the 3 ranks can continue\n"
                     "receive_unmatched ranks 0 suspects 1: Rank 1 is in MPI_Finalize while rank 0 still "
                     "waits for a message from it\n");
}

/* What a rank sent before it freed the communicator nobody can count any more: only that the receiver has
   turned round in MPI since then shows that nothing is under way. */
static void test_freed_communicator(void)
{
    static const int members[] = {0, 1};
    enum { PROVEN, SLOW_RECEIVER, FREED_BETWEEN, OTHER_HOST, CASES };
    for (int how = 0; how < CASES; how++) {
        struct job_builder job;
        job_init(&job, 3);
        int made = job_comm(&job, "made", 5, members, 2);
        job_recv(&job, 0, made, 1, 7);
        job_recv(&job, 1, WORLD, 0, 9);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job.states[look][1];
            if (how != FREED_BETWEEN || look == 1)
                state->communicators[made].context[0] = 77; /* it has another one by now */
            if (how == OTHER_HOST)
                snprintf(state->host, sizeof state->host, "far");
            if (how == SLOW_RECEIVER)
                job.states[look][0]->threads[0].cpu_ns = 5;
        }
        job_expect(&job,
                   how == PROVEN
                       ? "deadlock: 2 of 3 ranks can never continue\n"
                         "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n"
                   : how == FREED_BETWEEN ? "running: the job makes progress\n"
                                          : "running: no rank is proven to be stuck\n");
    }
}

/* The same of one who has ended: what it sent may still have to be taken in. */
static void test_gone_and_not_looked(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_state(&job, 1, 'Z');
    for (int look = 0; look < 2; look++)
        job.states[look][0]->threads[0].cpu_ns = 5;
    job_expect(&job, "stalled: nothing has moved for 1 m 0 s, but no rank is proven to be stuck for good\n"
                     "rank_gone? ranks 1: rank 1 has ended\n");

    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job.look = 2;
    job_state(&job, 1, 'Z'); /* it ended between the looks */
    job_phase(&job, 1, MPIQ_PHASE_UNKNOWN);
    job_expect(&job, "running: the job makes progress\n"
                     "rank_gone? ranks 1: rank 1 has ended\n");
}

/* Of stacks alone nothing is proven: who is in which call is a hint, the few first. */
/* A job of which stacks alone were read: rank n is in calls[n], NULL: it computes. */
static void make_stacks(struct job_builder *job, const char *const *calls, int count)
{
    job_init(job, count);
    job_unpatched(job);
    for (int rank = 0; rank < count; rank++) {
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job->states[look][rank];
            state->source = MPIQ_SOURCE_STACKS;
            state->queues = MPIQ_UNKNOWN;
            for (; state->communicator_count > 0; state->communicator_count--)
                free(state->communicators[state->communicator_count - 1].local.members);
        }
        if (calls[rank])
            job_call(job, rank, calls[rank]);
    }
}

static void test_stacks_alone(void)
{
    static const char *const calls[] = {"MPI_Bcast", "MPI_Barrier", "MPI_Bcast", "MPI_Bcast"};
    struct job_builder job;
    make_stacks(&job, calls, 4);
    job_expect(&job, "unknown: only stacks could be read (Open MPI 4.1.4), so nothing can be proven\n"
                     "stacks_differ? ranks 0-3: rank 1 is in MPI_Barrier, ranks 0,2-3 are in MPI_Bcast\n");
}

/* Who is in no call may be the one that the others wait for. */
static void test_stacks_and_one_outside(void)
{
    static const char *const calls[] = {"MPI_Barrier", NULL, "MPI_Barrier"};
    struct job_builder job;
    make_stacks(&job, calls, 3);
    job_expect(&job, "unknown: only stacks could be read (Open MPI 4.1.4), so nothing can be proven\n"
                     "stacks_differ? ranks 0,2 missing 1: rank 1 is outside MPI, ranks 0 and 2 are in "
                     "MPI_Barrier\n");
}

/* Where the hosts of ranks say something, it is said. */
static void test_all_ranks_on_a_host(void)
{
    static const char *const calls[] = {"MPI_Bcast", "MPI_Bcast", "MPI_Barrier", "MPI_Barrier",
                                        "MPI_Barrier"};
    static const char *const wanted[][2] = {{"all 2 ranks on n1", "all 3 ranks on n2"}, {NULL, NULL}};
    for (int split = 0; split < 2; split++) { /* then one in a barrier is on n1, too */
        struct job_builder job;
        make_stacks(&job, calls, 5);
        for (int rank = 0; rank < 5; rank++) {
            for (int look = 0; look < 2; look++)
                snprintf(job.states[look][rank]->host, sizeof job.states[look][rank]->host, "n%d",
                         rank < 2 + split ? 1 : 2);
        }
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL_FATAL(diagnosis->finding_count, 1);
        CU_ASSERT_EQUAL_FATAL(diagnosis->findings[0].evidence_count, 2);
        for (int i = 0; i < 2; i++) {
            const char *note = diagnosis->findings[0].evidence[i].note;
            CU_ASSERT_STRING_EQUAL(note ? note : "", wanted[split][i] ? wanted[split][i] : "");
        }
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* A hang that a release is known for is told of that release alone, and not where the program explains it. */
static void test_known_hang(void)
{
    static const char *const calls[] = {"MPI_Fetch_and_op", "MPI_Win_flush"};
    static const struct {
        const char *library, *pml;
        size_t told;
    } rows[] = {{"Open MPI 4.0.1", "ucx", 1}, {"Open MPI 4.0.2", "ucx", 0}, {"Open MPI 4.0.1", "ob1", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        make_stacks(&job, calls, 2);
        for (int rank = 0; rank < 2; rank++) {
            for (int look = 0; look < 2; look++) {
                struct mpiq_rank_state *state = job.states[look][rank];
                snprintf(state->library, sizeof state->library, "%s", rows[i].library);
                snprintf(state->pml, sizeof state->pml, "%s", rows[i].pml);
            }
        }
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->known_hang_count, rows[i].told);
        if (diagnosis->known_hang_count == 1) {
            CU_ASSERT_EQUAL(diagnosis->known_hangs[0].ranks.size, 1);
            CU_ASSERT_STRING_EQUAL(
                diagnosis->known_hangs[0].text,
                "perhaps by a known bug: Open MPI 4.0.1 may hang in MPI_Fetch_and_op over UCX, "
                "and 4.0.2 is the first release without it (Open MPI 4.0.2, change log)");
        }
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"finished", test_finished},
        {"gone", test_gone},
        {"stopped", test_stopped},
        {"held by a debugger", test_held_by_a_debugger},
        {"all held by a debugger", test_all_held_by_a_debugger},
        {"traced while it runs", test_traced_while_it_runs},
        {"stopped in a collective", test_stopped_in_a_collective},
        {"held by the step mode", test_held_by_the_step_mode},
        {"all held by the step mode", test_all_held_by_the_step_mode},
        {"stuck beside the step mode", test_stuck_beside_the_step_mode},
        {"polls in the step mode", test_polls_in_the_step_mode},
        {"a thread in the step mode", test_thread_in_the_step_mode},
        {"asleep", test_asleep},
        {"computing", test_computing},
        {"since which call", test_since_which_call},
        {"unread", test_unread},
        {"timed out", test_timed_out},
        {"timed out elsewhere", test_timed_out_elsewhere},
        {"part", test_part},
        {"one look", test_one_look},
        {"ping pong", test_ping_pong},
        {"threads", test_threads},
        {"idle helper", test_idle_helper},
        {"woken helper", test_woken_helper},
        {"a library's thread", test_library_thread},
        {"torn look", test_torn_look},
        {"nobody acts", test_nobody_acts},
        {"a dozing worker", test_dozing_worker},
        {"a file lock", test_file_lock},
        {"another process that a rank waits for", test_partner},
        {"all are asleep", test_all_asleep},
        {"an interpreter lock", test_interpreter_lock},
        {"sleeping thread", test_sleeping_thread},
        {"asleep inside MPI", test_asleep_inside_mpi},
        {"calls of a GPU", test_calls_of_a_gpu},
        {"names of the C library", test_names_of_the_c_library},
        {"before the fence", test_before_the_fence},
        {"freed communicator", test_freed_communicator},
        {"gone and not looked", test_gone_and_not_looked},
        {"core", test_core},
        {"backlog", test_backlog},
        {"chain to sleeper", test_chain_to_sleeper},
        {"unpatched ping pong", test_unpatched_ping_pong},
        {"stacks alone", test_stacks_alone},
        {"stacks and one outside", test_stacks_and_one_outside},
        {"all ranks on a host", test_all_ranks_on_a_host},
        {"known hang", test_known_hang},
        CU_TEST_INFO_NULL,
    };
    return suite_run("ranks", tests);
}
