/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on one communicator of a library that counts none: who left one out. */
#include <stdio.h>

#include "job_builder.h"
#include "suite.h"

/* Six ranks; rank 4 waits in MPI_Bcast for rank 2, all others in MPI_Allgather behind it. */
static void begin(struct job_builder *job)
{
    job_init(job, 6);
    job_unpatched(job);
    for (int rank = 0; rank < 6; rank++) {
        job_at(job, rank, "step", "solver.c", rank == 4 ? 20 : 21);
        job_collective(job, rank, WORLD, rank == 4 ? "MPI_Bcast" : "MPI_Allgather", 1, rank == 4 ? 2 : 4);
    }
}

/* A message of a collective lies at rank 2, from that rank. */
static void lies(struct job_builder *job, int from, int tag)
{
    job_unexpected(job, 2, WORLD, from, tag, 4);
    job_channel(job, from, 2, WORLD, 1, 1);
}

#define LEFT_OUT                                                                                             \
    "deadlock: none of the 6 ranks can continue\n"                                                           \
    "collective_incomplete ranks 4 missing 2 suspects 2: Rank 2 is not in the MPI_Bcast that rank 4 is "     \
    "waiting in\n"                                                                                           \
    "  follows from 1: collective_incomplete ranks 0-3,5 missing 4: ranks 0-1,3,5 wait in MPI_Allgather at " \
    "solver.c:21 for rank 4\n"
#define NOBODY_NAMED                                                                                        \
    "deadlock: none of the 6 ranks can continue\n"                                                          \
    "collective_incomplete ranks 0-3,5 missing 4: Rank 4 never entered the MPI_Allgather that the other 5 " \
    "ranks are waiting in\n"

/* What the root sent it in that call lies there, and the root is where it is itself. */
static void test_passed_by(void)
{
    struct job_builder job;
    begin(&job);
    job_expect(&job, NOBODY_NAMED); /* rank 4 may as well have taken the wrong root */
    begin(&job);
    lies(&job, 0, -17);
    job_expect(&job, LEFT_OUT);
    begin(&job); /* of another call */
    lies(&job, 0, -21);
    job_expect(&job, NOBODY_NAMED);
    begin(&job); /* from one that is in another call */
    job_at(&job, 0, "step", "solver.c", 40);
    lies(&job, 0, -17);
    job_expect(&job, NOBODY_NAMED);
}

/* A ring whose rank 3 leaves one exchange out: its neighbours wait for it, and all others for them. */
static void test_neighbours(void)
{
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct job_builder job;
    job_init(&job, 8);
    job_unpatched(&job);
    int ring = job_comm(&job, "ring", 7, all, 8);
    for (int rank = 0; rank < 8; rank++) {
        bool waits = rank == 2 || rank == 4;
        job_at(&job, rank, "step", "ring.c", waits ? 30 : 31);
        job_collective(&job, rank, ring, waits ? "MPI_Neighbor_alltoall" : "MPI_Allreduce", 1, waits ? 3 : 2);
        if (waits)
            job_source(&job, rank, ring, 1, 3);
    }
    job_expect(&job,
               "deadlock: none of the 8 ranks can continue\n"
               "collective_incomplete ranks 2,4 missing 3 suspects 3: Rank 3 never entered the "
               "MPI_Neighbor_alltoall on \"ring\" that ranks 2 and 4 are waiting in\n"
               "  follows from 1: collective_incomplete ranks 0-1,3,5-7 missing 2,4: ranks 0-1,5-7 wait "
               "in MPI_Allreduce at ring.c:31 for ranks 2 and 4\n");
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"passed by", test_passed_by}, {"among neighbours", test_neighbours}, CU_TEST_INFO_NULL};
    return suite_run("uncounted", tests);
}
