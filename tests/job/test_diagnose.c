/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole answers to jobs that hang, and to some that do not. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_builder.h"

static void expect(struct job_builder *job, const char *wanted)
{
    char *answer = job_answer(job);
    bool same = strcmp(answer, wanted) == 0;
    CU_ASSERT(same);
    if (!same)
        printf("\n--- wanted\n%s--- got\n%s---\n", wanted, answer);
    free(answer);
    job_deinit(job);
}

/* 63 ranks in MPI_Bcast, the root of it waits for one of them. */
static void test_bcast_and_receive(void)
{
    struct job_builder job;
    job_init(&job, 64);
    job.waited = 11520.4;
    for (int rank = 0; rank < 64; rank++) {
        if (rank == 1)
            continue;
        job_at(&job, rank, "share", "solver.c", 88);
        int parent = rank == 0 ? 1 : rank <= 4 ? 0 : rank - 3;
        job_collective(&job, rank, WORLD, "MPI_Bcast", 6, parent == rank ? 0 : parent);
    }
    job_called(&job, 1, WORLD, "MPI_Bcast", 5);
    job_at(&job, 1, "refine", "solver.c", 71);
    job_recv(&job, 1, WORLD, 63, 99);
    job_unexpected(&job, 2, WORLD, 1, 98, 4);
    job_channel(&job, 1, 2, WORLD, 1, 1);
    expect(&job,
           "deadlock: all 64 ranks can never go on\n"
           "collective_incomplete ranks 0,2-63 missing 1 suspects 1: 63 ranks are in MPI_Bcast #6 at solver.c:88; rank 1 "
           "is not: it has waited 3 h 12 m at solver.c:71 for tag 99 from rank 63, which is itself in that Bcast\n"
           "receive_unmatched ranks 1: rank 1 has waited 3 h 12 m in MPI_Recv at solver.c:71 for tag 99 from rank 63; "
           "rank 63 is in MPI_Bcast #6 at solver.c:88, since 3 h 12 m\n"
           "wait_cycle ranks 1,63: 2 ranks wait for each other in a circle: rank 1 in MPI_Recv for tag 99 from rank 63 at "
           "solver.c:71, rank 63 in MPI_Bcast #6 at solver.c:88\n");
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("diagnose", NULL, NULL);
    CU_add_test(suite, "bcast and receive", test_bcast_and_receive);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0;
}
