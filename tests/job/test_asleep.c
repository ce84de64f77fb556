/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers: ranks and threads that sleep, outside MPI and in it. */
#include <stdio.h>
#include <stdlib.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

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

/* One that looks for something now and then is no proof of life, unless another rank is. */
static void test_naps(void)
{
    for (int computes = 0; computes < 2; computes++) {
        struct job_builder job;
        job_init(&job, 3);
        job_collective(&job, 0, WORLD, "MPI_Barrier", 3, 2);
        if (!computes)
            job_collective(&job, 1, WORLD, "MPI_Barrier", 3, 2);
        job_called(&job, 2, WORLD, "MPI_Barrier", 2);
        job_at(&job, 2, "load", "io.c", 7);
        job_state(&job, 2, 'S');
        job.states[1][2]->threads[0].cpu_ns += 5000000;
        job.states[1][2]->taken_ns += 250000000;
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict, computes ? MPIQ_VERDICT_RUNNING : MPIQ_VERDICT_UNKNOWN);
        CU_ASSERT_EQUAL(diagnosis->ranks[2].activity, MPIQ_ACTIVITY_ASLEEP);
        if (!computes)
            CU_ASSERT_STRING_EQUAL(diagnosis->text,
                                   "rank 2 is asleep at io.c:7 (load) and wakes again and again; 2 ranks "
                                   "have waited up to 1 m 0 s for it");
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* The second look sees it as it wakes, still in the call that it slept in, or in its own code. */
static void test_naps_seen_awake(void)
{
    for (int in_call = 0; in_call < 2; in_call++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recv(&job, 0, WORLD, 1, 7);
        job_at(&job, 1, "load", "io.c", 7);
        job_state(&job, 1, 'S');
        job_sleeps(&job, 1, MPIQ_SLEEP_OTHER, in_call ? "usleep" : NULL);
        job.states[1][1]->threads[0].state = 'R';
        job.states[1][1]->threads[0].cpu_ns += 5000000;
        job.states[1][1]->taken_ns += 250000000;
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict, in_call ? MPIQ_VERDICT_UNKNOWN : MPIQ_VERDICT_RUNNING);
        CU_ASSERT_EQUAL(diagnosis->ranks[1].activity,
                        in_call ? MPIQ_ACTIVITY_ASLEEP : MPIQ_ACTIVITY_COMPUTING);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* That a thread has come or gone is no progress. */
static void test_passing_threads(void)
{
    struct job_builder job;
    job_init(&job, 2);
    job_recv(&job, 0, WORLD, 1, 7);
    job_at(&job, 1, "load", "io.c", 7);
    job_state(&job, 1, 'S');
    job.look = 2;
    job_thread(&job, 1, 3);
    job_sleeps(&job, 1, MPIQ_SLEEP_OTHER, "clock_nanosleep");
    job_expect(&job, "running: rank 1 is asleep at io.c:7 (load); 1 rank has waited 1 m 0 s for it\n"
                     "rank_elsewhere? ranks 1: rank 1 is asleep at io.c:7 (load); 1 rank has waited 1 m 0 s "
                     "for it\n");
}

/* Without last calls: one-sided calls in both looks, and nothing else that moved.  They tell only where
   somebody waits for who makes them. */
static void test_repeated_reads(void)
{
    static const struct {
        const char *call;
        bool behind;
        enum mpiq_verdict verdict;
    } rows[] = {
        {"MPI_Win_flush", true, MPIQ_VERDICT_UNKNOWN},
        {"MPI_Win_unlock", true, MPIQ_VERDICT_UNKNOWN},
        {"MPI_Win_flush", false, MPIQ_VERDICT_RUNNING},
        {"MPI_Put", true, MPIQ_VERDICT_RUNNING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        job_init(&job, 2);
        if (rows[i].behind)
            job_collective(&job, 0, WORLD, "MPI_Barrier", 3, 1);
        int window = job_window(&job, "field", WORLD);
        for (job.look = 1; job.look <= 2; job.look++) {
            for (int rank = rows[i].behind; rank < 2; rank++)
                job_wait_window(&job, rank, rows[i].call, MPIQ_WAIT_FLUSH, window, 0, MPIQ_LOCK_SHARED);
        }
        job.look = 0;
        struct mpiq_job_state *state;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &state);
        CU_ASSERT_EQUAL(diagnosis->verdict, rows[i].verdict);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(state);
        job_deinit(&job);
    }
}

/* Both looks see rank 1 outside MPI.  It reads a window again and again, with naps in between, or computes in
   between, or has left its loop and computes. */
static void test_naps_between_reads(void)
{
    enum { CALLS = 64, MS = 1000000, BETWEEN_NS = 200 * MS };
    static const struct {
        int64_t every_ns;
        int64_t last_ns; /* before the second look */
        uint64_t cpu_ns;
        enum mpiq_verdict verdict;
    } rows[] = {
        {MS, MS, BETWEEN_NS / 20, MPIQ_VERDICT_UNKNOWN},
        {MS, MS, BETWEEN_NS / 2, MPIQ_VERDICT_RUNNING},
        {MS, 2 * BETWEEN_NS, BETWEEN_NS / 20, MPIQ_VERDICT_RUNNING},
        {BETWEEN_NS / 2, 2 * BETWEEN_NS, BETWEEN_NS / 20, MPIQ_VERDICT_RUNNING},
        {BETWEEN_NS / 2, BETWEEN_NS + MS, BETWEEN_NS / 20, MPIQ_VERDICT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job_builder job;
        job_init(&job, 2);
        job_recorded(&job);
        job_recv(&job, 0, WORLD, 1, 7);
        struct mpiq_rank_state *state = job.states[1][1];
        state->taken_ns = job.states[0][1]->taken_ns + BETWEEN_NS;
        state->cpu_ns = job.states[0][1]->cpu_ns + rows[i].cpu_ns;
        for (int call = 0; call < CALLS; call++) {
            int64_t begin = state->taken_ns - rows[i].last_ns - (CALLS - 1 - call) * rows[i].every_ns;
            job_past(&job, 1, "MPI_Compare_and_swap",
                     &(struct mpiq_past_call){
                         .begin_ns = begin, .end_ns = begin + 1000, .peer_local = -1, .tag = -1});
        }
        struct mpiq_job_state *merged;
        struct mpiq_diagnosis *diagnosis = job_diagnose(&job, &merged);
        CU_ASSERT_EQUAL(diagnosis->verdict, rows[i].verdict);
        mpiq_diagnosis_destroy(diagnosis);
        mpiq_job_state_destroy(merged);
        job_deinit(&job);
    }
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
            CU_ASSERT_STRING_EQUAL(diagnosis->assumptions[0].text,
                                   "threads whose stacks show them waiting in the C library are assumed to "
                                   "wait for other threads "
                                   "of the same rank, and without a timeout");
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

/* Nobody acts: whoever is stopped does not go on by itself, whom a debugger holds may, and who sleeps, too.
 */
static void test_nobody_acts(void)
{
    static const struct {
        char first, second;
        bool traced;
        const char *verdict;
    } rows[] = {
        {'T', 'T', false, "stalled: nothing moves: all ranks are stopped (SIGCONT continues them)"},
        {'t', 't', true, "unknown: cannot tell whether the job hangs: all ranks are held by a debugger"},
        {'S', 'S', false, "unknown: cannot tell whether the job hangs: all ranks are asleep outside MPI"},
        {'S', 'T', false,
         "unknown: cannot tell whether the job hangs: all ranks are asleep outside MPI, or stopped"},
        {'Z', 'T', false,
         "stalled: nothing moves: all ranks that have not ended are stopped (SIGCONT continues them)"},
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

int main(void)
{
    CU_TestInfo tests[] = {
        {"asleep", test_asleep},
        {"asleep: naps", test_naps},
        {"asleep: naps seen awake", test_naps_seen_awake},
        {"asleep: threads come and go", test_passing_threads},
        {"one-sided calls again and again", test_repeated_reads},
        {"naps between one-sided calls", test_naps_between_reads},
        {"idle helper", test_idle_helper},
        {"woken helper", test_woken_helper},
        {"a library's thread", test_library_thread},
        {"nobody acts", test_nobody_acts},
        {"a dozing worker", test_dozing_worker},
        {"another process that a rank waits for", test_partner},
        {"all are asleep", test_all_asleep},
        {"sleeping thread", test_sleeping_thread},
        {"asleep inside MPI", test_asleep_inside_mpi},
        {"calls of a GPU", test_calls_of_a_gpu},
        {"names of the C library", test_names_of_the_c_library},
        {"chain to sleeper", test_chain_to_sleeper},
        CU_TEST_INFO_NULL,
    };
    return suite_run("asleep", tests);
}
