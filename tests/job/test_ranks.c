/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: what ranks do, and what the looks prove. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Its parent has not taken notice of it yet: the system tells how it ended. */
static void test_gone_by(void)
{
    static const struct {
        struct mpiq_end end;
        const char *said;
    } rows[] = {{{.kind = MPIQ_END_SIGNAL, .code = 11}, "was ended by SIGSEGV"},
                {{.kind = MPIQ_END_EXIT, .code = 3}, "exited with status 3"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        char expected[512];
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_state(&job, 1, 'Z');
        for (int look = 0; look < 2; look++)
            job.states[look][1]->end = rows[i].end;
        snprintf(expected, sizeof expected,
                 "deadlock: 1 of 2 ranks can never continue\n"
                 "rank_gone ranks 1: Rank 1 %s; 1 rank has waited 1 m 0 s for it\n"
                 "  follows from 1: receive_unmatched ranks 0 suspects 1: rank 0 waits in MPI_Recv at "
                 "solver.c:20 for tag 7 from rank 1\n",
                 rows[i].said);
        job_expect(&job, expected);
    }
}

static void test_stopped(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 2; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
    job_called(&job, 2, WORLD, "MPI_Barrier", 2);
    job_state(&job, 2, 'T');
    job_expect(
        &job,
        "stalled: nothing moves: all ranks that wait, wait for ranks that are stopped\n"
        "rank_stopped? ranks 2: rank 2 is stopped at solver.c:20 (step), and kill -CONT 1002 continues it; 2 "
        "ranks have waited up "
        "to 1 m 0 s for it\n"
        "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
        "wait in MPI_Barrier at solver.c:20 for rank 2\n");
}

static void freeze(struct job_builder *job, int rank, char state, const char *freezer)
{
    job_state(job, rank, state);
    for (int look = 0; look < 2; look++) {
        job->states[look][rank]->frozen = true;
        snprintf(job->states[look][rank]->freezer, sizeof job->states[look][rank]->freezer, "%s", freezer);
    }
}

/* As the first version of control groups leaves it, in state D, and the second, in state S. */
static void test_frozen(void)
{
    static const struct {
        char state;
        const char *freezer, *advice;
    } rows[] = {
        {'D', "/sys/fs/cgroup/freezer/job/freezer.state",
         "writing THAWED to /sys/fs/cgroup/freezer/job/freezer.state thaws it"},
        {'S', "/sys/fs/cgroup/job/cgroup.freeze", "writing 0 to /sys/fs/cgroup/job/cgroup.freeze thaws it"},
        {'D', "", "thawing that group continues it"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        char expected[512];
        job_init(&job, 3);
        for (int rank = 0; rank < 2; rank++)
            job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
        job_called(&job, 2, WORLD, "MPI_Barrier", 2);
        freeze(&job, 2, rows[i].state, rows[i].freezer);
        snprintf(
            expected, sizeof expected,
            "stalled: nothing moves: all ranks that wait, wait for ranks that are frozen by the freezer of "
            "their control group\n"
            "rank_stopped? ranks 2: rank 2 is frozen by the freezer of its control group, and %s; 2 ranks "
            "have waited up to 1 m 0 s for it\n"
            "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
            "wait in MPI_Barrier at solver.c:20 for rank 2\n",
            rows[i].advice);
        job_expect(&job, expected);
    }
}

/* Frozen while they waited for each other: nothing is proven of them. */
static void test_all_frozen(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++) {
        job_operation(&job, rank, WORLD, MPIQ_OPERATION_RECEIVE, 1 - rank, 5, 8);
        freeze(&job, rank, 'D', "/sys/fs/cgroup/freezer/job/freezer.state");
    }
    job_expect(&job,
               "stalled: nothing moves: all ranks are frozen by the freezer of their control group\n"
               "rank_stopped? ranks 0-1: ranks 0 and 1 are frozen by the freezer of their control group, and "
               "writing THAWED to /sys/fs/cgroup/freezer/job/freezer.state thaws them\n");
}

static void test_frozen_and_stopped(void)
{
    struct job_builder job;
    job_init(&job, 2);
    freeze(&job, 0, 'D', "/sys/fs/cgroup/freezer/job/freezer.state");
    job_state(&job, 1, 'T');
    job_expect(&job, "stalled: nothing moves: all ranks are stopped or frozen\n"
                     "rank_stopped? ranks 0: rank 0 is frozen by the freezer of its control group, and "
                     "writing THAWED to /sys/fs/cgroup/freezer/job/freezer.state thaws it\n"
                     "rank_stopped? ranks 1: rank 1 is stopped at solver.c:20 (step), and kill -CONT 1001 "
                     "continues it\n");
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
    job_expect(
        &job,
        "stalled: nothing moves: all ranks that wait, wait for ranks that are stopped\n"
        "rank_stopped? ranks 2: rank 2 is stopped at solver.c:20 (step), and kill -CONT 1002 continues it; 2 "
        "ranks have waited up "
        "to 1 m 0 s for it\n"
        "  follows from 1: collective_incomplete? ranks 0-1 missing 2 suspects 2: ranks 0 and 1 "
        "wait in MPI_Allreduce at solver.c:20 for rank 2\n");
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

/* A rank whose threads could not be listed may have one that acts. */
static void test_threads_unread(void)
{
    for (unsigned looks = 1; looks < 4; looks++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_recv(&job, 1, WORLD, 0, 7);
        for (int look = 0; look < 2; look++) {
            if (looks >> look & 1)
                mpiq_rank_state_problem(job.states[look][1], "threads",
                                        mpiq_error_create(MPIQ_ERROR_SHORT, "too many open files"));
        }
        job_expect(
            &job,
            "unknown: cannot tell whether the job hangs: rank 1 could not be read (too many open files)\n");
    }
}

/* The MPI library's own queues were read beside the recorder in one look and not in the other: that they
   differ is no progress.  That counts or waits differ is. */
static void test_queues_of_one_look(void)
{
    for (int moves = 0; moves < 2; moves++) {
        struct job_builder job;
        job_init(&job, 2);
        for (int rank = 0; rank < 2; rank++)
            job_recv(&job, rank, WORLD, 1 - rank, 7);
        job.look = 2;
        if (moves)
            job_recv(&job, 1, WORLD, 0, 7);
        job_operation(&job, 1, WORLD, MPIQ_OPERATION_RECEIVE, 0, 8, 8);
        job.states[0][1]->library_queues = true;
        for (int look = 0; look < 2; look++)
            job.states[look][0]->source = job.states[look][1]->source = MPIQ_SOURCE_RECORDER;
        job_expect(&job,
                   moves ? "running: the job makes progress\n"
                         : "unknown: cannot tell whether the job hangs: rank 1 could not be read (two looks "
                           "at it did not see the same parts of its MPI library)\n");
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
        job.states[0][rank]->final = true;
        job_recv(&job, rank, WORLD, 1 - rank, 7);
    }
    job_expect(&job, "deadlock: none of the 2 ranks can continue\n"
                     "wait_cycle ranks 0-1: Ranks 0 and 1 receive from each other, and none has sent\n");
}

/* Nobody knows from core files whether the rank that others wait for went on. */
static void test_core_of_who_is_outside(void)
{
    static const struct {
        char state;
        const char *does;
    } rows[] = {{'S', "asleep"}, {'R', "computing"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        char expected[512];
        job_init(&job, 2);
        job.one_look = true;
        job.states[0][0]->final = job.states[0][1]->final = true;
        job_recv(&job, 0, WORLD, 1, 7);
        job_state(&job, 1, rows[i].state);
        snprintf(expected, sizeof expected,
                 "unknown: rank 1 is %s at solver.c:20 (step); 1 rank has waited 1 m 0 s for it\n"
                 "rank_elsewhere? ranks 1: rank 1 is %s at solver.c:20 (step); 1 rank has waited 1 m 0 s for "
                 "it\n",
                 rows[i].does, rows[i].does);
        job_expect(&job, expected);
    }
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

/* All that the second look finds of a rank that the first saw alive: a process that has ended. */
static void end_between_looks(struct job_builder *job, int rank)
{
    const struct mpiq_rank_state *before = job->states[1][rank];
    struct mpiq_rank_state *state = mpiq_rank_state_create();
    state->name = before->name;
    state->world_size = before->world_size;
    state->pid = before->pid;
    state->taken_ns = before->taken_ns;
    memcpy(state->nspace, before->nspace, sizeof state->nspace);
    memcpy(state->host, before->host, sizeof state->host);
    state->gone = true;
    state->process_state = 'X';
    mpiq_rank_state_destroy(job->states[1][rank]);
    job->states[1][rank] = state;
}

/* Who ended between the looks may have done before what the others wait for: their second look may be older
   than its last calls. */
static void test_gone_between_looks(void)
{
    enum { BARRIER, FINALIZE, SEND, CASES };
    for (int how = 0; how < CASES; how++) {
        struct job_builder job;
        job_init(&job, 3);
        for (int rank = 0; rank < 2; rank++) {
            if (how == BARRIER)
                job_collective(&job, rank, WORLD, "MPI_Barrier", 3, 2);
            else if (how == FINALIZE)
                job_finalize(&job, rank);
            else
                job_send(&job, rank, WORLD, 2, 7, 1 << 20);
        }
        end_between_looks(&job, 2);
        char *answer = job_answer(&job);
        CU_ASSERT_PTR_NOT_NULL(strstr(answer, "running: the job makes progress\n"));
        CU_ASSERT_PTR_NULL(strstr(answer, "never"));
        CU_ASSERT_PTR_NULL(strstr(answer, "rank_gone ranks")); /* proven */
        if (strstr(answer, "running: ") != answer)
            printf("%s", answer);
        free(answer);
        job_deinit(&job);
    }
}

/* A thread that computes may yet bring its rank on, however long MPI stands still: it may call MPI, or tell
   the one that polls. */
static void test_works_beside(void)
{
    enum { FUNNELED = 1, MULTIPLE = 3 };
    for (int level = FUNNELED; level <= MULTIPLE; level += 2) {
        for (int runs = 0; runs < 2; runs++) {
            struct job_builder job;
            job_init(&job, 2);
            if (level == MULTIPLE)
                job_recv(&job, 0, WORLD, 1, 7);
            else
                job_polls(&job, 0);
            job_thread(&job, 0, level);
            if (!runs)
                job_sleeps(&job, 0, MPIQ_SLEEP_PRIVATE_FUTEX, "pthread_cond_wait");
            job_recv(&job, 1, WORLD, 0, 7);
            job.options.still = 3600;
            struct mpiq_job_state *state;
            struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
            CU_ASSERT_EQUAL(diagnosis->ranks[0].beside_runs, runs);
            CU_ASSERT(!diagnosis->ranks[1].beside_runs);
            if (runs)
                CU_ASSERT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_RUNNING);
            if (!runs)
                CU_ASSERT_NOT_EQUAL(diagnosis->verdict, MPIQ_VERDICT_RUNNING);
            mpiq_diagnosis_destroy(diagnosis);
            mpiq_job_state_destroy(state);
            job_deinit(&job);
        }
    }
}

/* A large collective write lasts, and nothing of MPI moves meanwhile. */
static void test_writes_in_mpi(void)
{
    for (int writes = 0; writes < 2; writes++) {
        struct job_builder job;
        job_init(&job, 2);
        for (int rank = 0; rank < 2; rank++) {
            job_collective(&job, rank, WORLD, "MPI_File_write_all", 3, ANY);
            for (int look = 0; look < 2; look++)
                job.states[look][rank]->io_bytes = 4096 + writes * look;
        }
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict == MPIQ_VERDICT_STALLED, !writes);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
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
                "perhaps because of a known bug: Open MPI 4.0.1 may hang in MPI_Fetch_and_op over UCX; "
                "fixed in 4.0.2 (Open MPI 4.0.2, change log)");
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
        {"how a rank ended is told where the system tells it", test_gone_by},
        {"stopped", test_stopped},
        {"frozen", test_frozen},
        {"all frozen", test_all_frozen},
        {"frozen and stopped", test_frozen_and_stopped},
        {"held by a debugger", test_held_by_a_debugger},
        {"all held by a debugger", test_all_held_by_a_debugger},
        {"traced while it runs", test_traced_while_it_runs},
        {"stopped in a collective", test_stopped_in_a_collective},
        {"computing", test_computing},
        {"since which call", test_since_which_call},
        {"unread", test_unread},
        {"timed out", test_timed_out},
        {"timed out elsewhere", test_timed_out_elsewhere},
        {"queues of one look", test_queues_of_one_look},
        {"threads unread", test_threads_unread},
        {"part", test_part},
        {"one look", test_one_look},
        {"ping pong", test_ping_pong},
        {"threads", test_threads},
        {"torn look", test_torn_look},
        {"before the fence", test_before_the_fence},
        {"freed communicator", test_freed_communicator},
        {"gone and not looked", test_gone_and_not_looked},
        {"gone between looks", test_gone_between_looks},
        {"works beside", test_works_beside},
        {"writes in MPI", test_writes_in_mpi},
        {"core", test_core},
        {"core of who is outside", test_core_of_who_is_outside},
        {"backlog", test_backlog},
        {"unpatched ping pong", test_unpatched_ping_pong},
        {"stacks alone", test_stacks_alone},
        {"stacks and one outside", test_stacks_and_one_outside},
        {"all ranks on a host", test_all_ranks_on_a_host},
        {"known hang", test_known_hang},
        CU_TEST_INFO_NULL,
    };
    return suite_run("ranks", tests);
}
