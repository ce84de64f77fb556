/* SPDX-License-Identifier: BSD-3-Clause */
/* The evidence of a finding: which ranks share a line of it, and what that line says of all of them. */
#include <string.h>

#include "job_builder.h"
#include "suite.h"
#include "merge/merge.h"

static void check_evidence(struct job_builder *job, void (*check)(const struct mpiq_job_state *state,
                                                                  const struct mpiq_finding *finding))
{
    struct mpiq_job_state *state;
    struct mpiq_diagnosis *diagnosis = job_diagnose(job, &state);
    CU_ASSERT_FATAL(diagnosis->finding_count > 0);
    check(state, &diagnosis->findings[0]);
    mpiq_diagnosis_destroy(diagnosis);
    mpiq_job_state_destroy(state);
    job_deinit(job);
}

static void check_inside(const struct mpiq_job_state *state, const struct mpiq_finding *finding)
{
    (void)state;
    CU_ASSERT_EQUAL(finding->kind, MPIQ_FINDING_COLLECTIVE_MISMATCH);
    CU_ASSERT_EQUAL(finding->evidence_count, 2);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        CU_ASSERT_PTR_NOT_NULL_FATAL(evidence->wait);
        if (evidence->ranks.size == 1)
            continue;
        /* What each of them waits for inside is not the same: none of it is said of all. */
        CU_ASSERT_EQUAL(evidence->ranks.size, 3);
        CU_ASSERT_EQUAL(evidence->wait->part_count, 1);
        CU_ASSERT_EQUAL(evidence->wait->parts[0].kind, MPIQ_PART_COLLECTIVE);
        CU_ASSERT_EQUAL(evidence->wait->parts[0].number, 1);
        CU_ASSERT_EQUAL(evidence->wait->ranks.size, 0);
    }
}

static void test_inside_one_collective(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_collective(&job, 0, WORLD, "MPI_Allreduce", 1, 1);
    job_collective(&job, 1, WORLD, "MPI_Barrier", 1, 0);
    job_collective(&job, 2, WORLD, "MPI_Allreduce", 1, 0);
    job_collective(&job, 3, WORLD, "MPI_Allreduce", 1, 1);
    check_evidence(&job, check_inside);
}

/* The newest frame of a rank, inside its MPI call. */
static void is_inside(struct job_builder *job, int rank, const char *function, uint8_t owner)
{
    for (int look = 0; look < 2; look++) {
        struct mpiq_rank_state *state = job->states[look][rank];
        struct mpiq_thread *thread = &state->threads[0];
        CU_ASSERT_PTR_NOT_NULL_FATAL(mpiq_thread_add_frame(thread));
        memmove(&thread->frames[1], &thread->frames[0], (thread->frame_count - 1) * sizeof *thread->frames);
        thread->frames[0] = (struct mpiq_frame){
            .pc = 0x7008, .function = mpiq_rank_state_intern(state, function), .owner = owner};
        thread->mpi_frame += 1;
        thread->user_frame += 1;
    }
}

/* Each rank is in it on MPI_COMM_WORLD by its argument; rank 2 closes its file again, on the file's own one.
 */
static void one_cannot_open(struct job_builder *job)
{
    static const int all[] = {0, 1, 2, 3};
    job_init(job, 4);
    int own = job_comm(job, "of the file", 7, all, 4);
    job_unpatched(job);
    for (int rank = 0; rank < 4; rank++) {
        job_collective(job, rank, rank == 2 ? own : WORLD, "MPI_File_open", 0, (rank + 1) % 4);
        for (int look = 0; look < 2; look++) {
            struct mpiq_rank_state *state = job->states[look][rank];
            struct mpiq_given *given = mpiq_thread_add_given(&state->threads[0]);
            CU_ASSERT_PTR_NOT_NULL_FATAL(given);
            state->communicators[WORLD].handle = 4096;
            *given = (struct mpiq_given){.kind = MPIQ_GIVEN_COMM, .value = 4096};
        }
    }
}

/* Which rank it is the stack tells, if the library names its functions. */
static void test_file_that_one_cannot_open(void)
{
    static const char some[] = "deadlock: none of the 4 ranks can continue\n"
                               "wait_cycle ranks 0-3: Ranks 0-3 wait for each other inside MPI_File_open: it "
                               "may have failed on some of them (the file's name, its directory, "
                               "permissions)\n";
    struct job_builder job;
    one_cannot_open(&job);
    job_expect(&job, some);
    one_cannot_open(&job);
    is_inside(&job, 2, "mca_common_ompio_file_close", MPIQ_OWNER_PART);
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "wait_cycle ranks 0-3 suspects 2: MPI_File_open failed on rank 2 alone: ranks 0-3 wait "
                     "for each other inside it (check the file's name, its directory, permissions)\n");
    one_cannot_open(&job);
    is_inside(&job, 2, "mca_common_ompio_file_close", MPIQ_OWNER_PROGRAM); /* a user's of that name */
    job_expect(&job, some);
}

static void check_mutual(const struct mpiq_job_state *state, const struct mpiq_finding *finding)
{
    (void)state;
    CU_ASSERT_EQUAL(finding->evidence_count, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(finding->evidence[0].wait);
    CU_ASSERT_EQUAL(finding->evidence[0].ranks.size, 2);
    CU_ASSERT_EQUAL(finding->evidence[0].wait->ranks.size, 2); /* "each from the other" */
}

/* Two of four that wait for each other, which is no ring. */
static void test_two_of_four(void)
{
    struct job_builder job;
    job_init(&job, 4);
    job_recv(&job, 0, WORLD, 1, 4);
    job_recv(&job, 1, WORLD, 0, 4);
    check_evidence(&job, check_mutual);
}

static void check_differing(const struct mpiq_job_state *state, const struct mpiq_finding *finding)
{
    (void)state;
    CU_ASSERT_EQUAL(finding->evidence_count, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(finding->evidence[0].wait);
    const struct mpiq_wait_part *part = &finding->evidence[0].wait->parts[0];
    CU_ASSERT_EQUAL(part->request, 0);
    CU_ASSERT_EQUAL(part->bytes, -1);
}

/* Ranks that send to each other, each another length: no length, and no request, is all ranks'. */
static void test_what_is_of_one_rank(void)
{
    struct job_builder job;
    job_init(&job, 3);
    for (int rank = 0; rank < 3; rank++) {
        int to = (rank + 1) % 3, bytes = (1 << 20) + rank;
        job_send(&job, rank, WORLD, to, 5, bytes);
        job_channel(&job, rank, to, WORLD, 1, 1);
        job_operation(&job, to, WORLD, MPIQ_OPERATION_MESSAGE, rank, 5, bytes);
    }
    check_evidence(&job, check_differing);
}

static void check_two_communicators(const struct mpiq_job_state *state, const struct mpiq_finding *finding)
{
    (void)state;
    for (size_t i = 0; i < finding->evidence_count; i++) /* nobody else is where rank 3 is */
        CU_ASSERT(!mpiq_rank_set_contains(&finding->evidence[i].ranks, 0, 3) ||
                  finding->evidence[i].ranks.size == 1);
    CU_ASSERT_EQUAL(finding->evidence_count, 3);
}

/* Two ranks at one line, in the same collective on communicators with other names. */
static void test_two_communicators_at_one_line(void)
{
    struct job_builder job;
    job_init(&job, 4);
    int row = job_comm(&job, "row", 3, (int[]){0, 2}, 2);
    int column = job_comm(&job, "column", 4, (int[]){1, 3}, 2);
    for (int rank = 0; rank < 4; rank++)
        job_called(&job, rank, WORLD, rank < 2 ? "MPI_Bcast" : "MPI_Reduce", 1);
    for (int rank = 0; rank < 2; rank++) {
        job_at(&job, rank, "main", "split.c", 11);
        job_collective(&job, rank, WORLD, "MPI_Barrier", 2, ANY);
    }
    for (int rank = 2; rank < 4; rank++) {
        job_at(&job, rank, "main", "split.c", 10);
        job_collective(&job, rank, rank == 2 ? row : column, "MPI_Allreduce", 1, ANY);
    }
    check_evidence(&job, check_two_communicators);
}

static void check_other_threads(const struct mpiq_job_state *state, const struct mpiq_finding *finding)
{
    unsigned found = 0;
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct mpiq_evidence *evidence = &finding->evidence[i];
        if (!evidence->call || strcmp(evidence->call, "pthread_mutex_lock") != 0)
            continue;
        found++;
        CU_ASSERT_EQUAL(evidence->ranks.size, 2);
        CU_ASSERT_EQUAL(state->sites[evidence->site].line, 30);
        CU_ASSERT_STRING_EQUAL(evidence->note, "in another thread");
    }
    CU_ASSERT_EQUAL(found, 1);
    CU_ASSERT_EQUAL(finding->evidence_count, 2); /* an idle pool is not shown */
    CU_ASSERT_STRING_EQUAL(finding->text, "Ranks 0 and 1 receive from each other, and none has sent");
}

/* A thread waits for the mutex that the one in MPI holds; a third one is idle. */
static void test_thread_at_a_mutex(void)
{
    struct job_builder job;
    job_init(&job, 2);
    for (int rank = 0; rank < 2; rank++) {
        job_recv(&job, rank, WORLD, 1 - rank, 4);
        job_thread(&job, rank, 3);
        job_sleeps(&job, rank, MPIQ_SLEEP_PRIVATE_FUTEX, "__lll_lock_wait");
        job_thread(&job, rank, 3);
        job_sleeps(&job, rank, MPIQ_SLEEP_PRIVATE_FUTEX, "pthread_cond_wait");
    }
    check_evidence(&job, check_other_threads);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"waits inside one collective are one line", test_inside_one_collective},
        {"a file that one rank cannot open", test_file_that_one_cannot_open},
        {"two of four", test_two_of_four},
        {"what is of one rank is said of no other", test_what_is_of_one_rank},
        {"two communicators at one source line are told apart", test_two_communicators_at_one_line},
        {"a thread at a mutex", test_thread_at_a_mutex},
        CU_TEST_INFO_NULL};
    return suite_run("evidence", tests);
}
