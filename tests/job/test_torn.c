/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at ranks that move, read piece by piece: whoever is proven never to go on never does, and who is said
 * to have stood still has.  And once nobody can do anything any more, all who have not come to the end are
 * proven stuck.
 *
 * Usage: test_torn [CASES [FIRST SEED]], a million of them in half an hour
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/graph.h"
#include "job_builder.h"
#include "made_state.h"
#include "simulator.h"
#include "suite.h"
#include "merge/merge.h"
#include "words/sentences.h"

static uint64_t cases = 10000;
static uint64_t first_seed = 1;
static struct simulator sim;
static struct simulator before;
/* At the end of the first look, at the beginning of the second, and half way. */
static struct simulator between[3];
static bool complaining;

/* What was said of all jobs. */
struct counts {
    unsigned stuck, in_window, of_threads, unread; /* threads */
    unsigned stalled;                              /* jobs */
};

/* Steps without a sign of progress after which a job has stalled: a step takes a second. */
enum { STALL_AFTER = 20 };

/* What a pair of looks said. */
struct said {
    struct mpiq_job_state *job;
    struct mpiq_diagnosis *diagnosis;
    bool stuck[SIM_RANKS][SIM_THREADS];
};

/* Which threads are proven stuck: of a rank in which one of them is, the diagnosis does not say which. */
static void find_stuck(struct said *said)
{
    uint32_t *partner = malloc(((size_t)said->job->operation_count + 1) * sizeof *partner);
    memset(partner, 0xff, ((size_t)said->job->operation_count + 1) * sizeof *partner);
    struct mpiq_wait_graph *graph = mpiq_wait_graph_create(said->job, said->diagnosis, partner);
    CU_ASSERT_FATAL(graph != NULL);
    for (uint32_t i = 0; i < said->job->rank_count; i++) {
        const struct mpiq_job_rank *rank = &said->job->ranks[i];
        for (uint32_t j = 0; j < rank->thread_count; j++) {
            const struct mpiq_job_thread *thread = &said->job->threads[rank->first_thread + j];
            said->stuck[rank->process][thread->tid != rank->pid] =
                mpiq_is_stuck(graph, rank->first_thread + j);
        }
    }
    mpiq_wait_graph_destroy(graph);
    free(partner);
}

/* The processor time of each thread between the looks: that of the half in which it got less. */
static void note_polled(struct mpiq_rank_state *state, int rank)
{
    for (size_t i = 0; i < state->thread_count; i++) {
        int number = state->threads[i].tid != state->pid;
        uint64_t times[3];
        for (int at = 0; at < 3; at++)
            times[at] = between[at].rank[rank].thread[number].cpu_ns;
        uint64_t halves[2] = {times[1] - times[0], times[2] - times[1]};
        state->threads[i].polled_ns = (int64_t)(halves[0] < halves[1] ? halves[0] : halves[1]);
    }
}

/* From the end of the first look to the beginning of the second.  at_rest: those who wait go round, though
   nothing happens. */
static void go_on(bool at_rest)
{
    between[0] = sim;
    for (int half = 1; half <= 2; half++) {
        for (int rank = 0; at_rest && rank < sim.ranks; rank++)
            sim_step_rank(&sim, rank);
        for (uint64_t steps = at_rest ? 0 : (between[0].seed >> half) % 30; steps > 0; steps--)
            sim_step(&sim);
        between[half] = sim;
    }
}

static struct said look_twice(int pause, bool at_rest)
{
    struct said said = {.job = mpiq_job_state_create()};
    FILE *made = made_state_begin();
    for (int look = 1; look <= 2; look++) {
        if (look == 2)
            go_on(at_rest);
        for (int rank = 0; rank < sim.ranks; rank++) {
            struct mpiq_rank_state *state = sim_look(&sim, rank, look, pause);
            if (look == 2)
                note_polled(state, rank);
            made_state_add(made, look, state);
            mpiq_error_destroy(mpiq_job_state_add(said.job, look, state));
            mpiq_rank_state_destroy(state);
        }
    }
    made_state_end(made);
    mpiq_error_destroy(mpiq_job_state_finish(said.job));
    struct mpiq_diagnose_options options = {.stall_after = STALL_AFTER};
    mpiq_error_destroy(mpiq_diagnose(said.job, &options, &said.diagnosis));
    mpiq_error_destroy(mpiq_write_sentences(said.job, said.diagnosis));
    find_stuck(&said);
    job_check_texts(said.diagnosis);
    return said;
}

static void forget(struct said *said)
{
    mpiq_diagnosis_destroy(said->diagnosis);
    mpiq_job_state_destroy(said->job);
}

static void complain(uint64_t seed, const char *what, int rank, const struct mpiq_diagnosis *diagnosis)
{
    complaining = true;
    printf("seed %llu, %s: rank %d %s\n", (unsigned long long)seed, sim.patched ? "patched" : "not patched",
           rank, what);
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        printf("  %s\n", diagnosis->findings[i].text);
    sim_print(&before);
    CU_FAIL("a look is not right");
}

static enum sim_kind at_kind(int rank, int thread)
{
    const struct sim_thread *row = &sim.rank[rank].thread[thread];
    return row->program[row->at].kind;
}

/* Whether a thread waits for a post of somebody whose last one it has used up, but who has not ended that
   epoch: a record says that it has posted, and not how often. */
static bool waits_for_second_post(int rank, int thread)
{
    const struct sim_thread *row = &sim.rank[rank].thread[thread];
    const struct sim_step *step = &row->program[row->at];
    bool waits = step->kind == SIM_START || (step->kind == SIM_COMPLETE && !row->asked);
    for (int other = 0; waits && other < sim.ranks; other++) {
        const struct sim_window *window = &sim.rank[other].window;
        if (step->mask >> other & 1 && sim.rank[rank].window.posts[other] == 0 &&
            window->exposure_group >> rank & 1)
            return true;
    }
    return false;
}

/* Whether what is not known keeps a job at rest from being proven stuck: what has no record, a loop of tests,
   the wait for a lock that MPI_Win_lock did not wait for, or for another post. */
static bool can_be_proven(void)
{
    bool all_end = true;
    if (sim.unread)
        return false;
    for (int rank = 0; rank < sim.ranks; rank++) {
        all_end = all_end && sim_ended(&sim, rank);
        for (int i = 0; i < sim.rank[rank].threads; i++) {
            const struct sim_thread *row = &sim.rank[rank].thread[i];
            enum sim_kind kind = at_kind(rank, i);
            if (kind == SIM_TEST || kind == SIM_UNLOCK || waits_for_second_post(rank, i) ||
                (!sim.patched && (kind == SIM_SHARED || sim_is_window(&row->program[row->at]))))
                return false;
        }
    }
    return !all_end;
}

/* Whether a job that is said to have stalled stood still: when the second look began each thread was in its
   wait, since that long before its end, or joined another one. */
static bool stood_still(const struct simulator *begin, const struct simulator *end)
{
    for (int rank = 0; rank < begin->ranks; rank++) {
        for (int i = 0; i < begin->rank[rank].threads; i++) {
            const struct sim_thread *thread = &begin->rank[rank].thread[i];
            bool joins = thread->program[thread->at].kind == SIM_JOIN;
            bool waits = thread->waiting && thread->began + STALL_AFTER <= end->clock;
            if (!joins && !waits && !(i > 0 && sim_thread_ended(begin, rank, i)))
                return false;
        }
    }
    return true;
}

/* Whether a thread has come out of its wait; where messages cannot be read, of the collective that the wait
   is in: within that it may come to another one. */
static bool goes_on(const struct sim_rank *now, const struct sim_rank *end, int thread)
{
    bool call = sim.unread && now->inside && thread == 0;
    return call ? end->returned != now->returned : end->thread[thread].ended != now->thread[thread].ended;
}

/* What was said against what becomes of the job in the end; `now`: after the looks. */
static bool check_said(uint64_t seed, const struct said *said, const struct simulator *now, bool at_rest,
                       struct counts *counts)
{
    for (int rank = 0; rank < sim.ranks; rank++) {
        for (int i = 0; i < sim.rank[rank].threads; i++) {
            bool ended = i > 0 && sim_thread_ended(&sim, rank, i);
            counts->stuck += said->stuck[rank][i];
            counts->in_window +=
                said->stuck[rank][i] &&
                sim_is_window(&sim.rank[rank].thread[i].program[sim.rank[rank].thread[i].at]);
            counts->unread += said->stuck[rank][i] && sim.unread;
            counts->of_threads += said->stuck[rank][i] && sim.rank[rank].threads > 1;
            if (said->stuck[rank][i] && goes_on(&now->rank[rank], &sim.rank[rank], i)) {
                complain(seed, "is said to be stuck, but goes on", rank, said->diagnosis);
                return false;
            }
            if (at_rest && !said->stuck[rank][i] && !ended && at_kind(rank, i) != SIM_JOIN &&
                can_be_proven()) {
                complain(seed, "will never go on, but is not said to be stuck", rank, said->diagnosis);
                return false;
            }
        }
    }
    bool stalled = said->diagnosis->verdict == MPIQ_VERDICT_STALLED;
    counts->stalled += stalled;
    if (stalled && !stood_still(&between[2], now)) {
        complain(seed, "is said to have stood still", 0, said->diagnosis);
        return false;
    }
    return true;
}

/* A pair of looks at `before`, which moves on meanwhile, against what becomes of it in the end. */
static bool check_looks(uint64_t seed, int pause, bool at_rest, struct counts *counts)
{
    struct said said = look_twice(pause, at_rest);
    struct simulator now = sim;
    sim_settle(&sim);
    bool good = check_said(seed, &said, &now, at_rest, counts);
    forget(&said);
    sim = now;
    return good;
}

/* One job: a few pairs of looks while it runs, one when nothing moves any more. */
static void try_job(uint64_t seed, struct counts *moving, struct counts *settled)
{
    enum { ROUNDS = 5 };
    sim_make(&sim, seed, seed % 3 != 0);
    bool good = true;
    for (int round = 0; round < ROUNDS && good; round++) {
        for (uint64_t steps = seed * 7 % 40 * (uint64_t)round; steps > 0; steps--)
            sim_step(&sim);
        before = sim;
        good = check_looks(seed, round % 4, false, moving);
    }
    sim_settle(&sim);
    before = sim;
    if (good)
        check_looks(seed, 0, true, settled);
}

static void test_torn_looks(void)
{
    struct counts moving = {0};
    struct counts settled = {0};
    for (uint64_t i = 0; i < cases && !complaining; i++)
        try_job(first_seed + i, &moving, &settled);
    printf(
        "%llu jobs, threads proven stuck: %u while others moved (%u in a window, %u of ranks with two, %u of "
        "jobs whose messages are not read), %u at rest; %u stalled\n",
        (unsigned long long)cases, moving.stuck, moving.in_window, moving.of_threads, moving.unread,
        settled.stuck, moving.stalled);
    CU_ASSERT(moving.stuck > cases / 20);
    CU_ASSERT(moving.in_window > cases / 200);
    CU_ASSERT(moving.of_threads > cases / 200);
    CU_ASSERT(moving.unread > cases / 200);
    CU_ASSERT(settled.stuck > cases / 4);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cases = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    CU_TestInfo tests[] = {{"no rank that can continue is called stuck", test_torn_looks}, CU_TEST_INFO_NULL};
    return suite_run("torn looks", tests);
}
