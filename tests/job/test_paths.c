/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks took another path: of two collectives that wait for each other, and of two ranks that exchange
   messages. */
#include <stdio.h>

#include "job_builder.h"
#include "suite.h"

static int library(struct job_builder *job)
{
    static int all[16];
    for (int rank = 0; rank < job->ranks; rank++)
        all[rank] = rank;
    return job_comm(job, "library", 7, all, job->ranks);
}

/* One rank skips what the others wait in, and is in the barrier behind it. */
static void test_skipped(void)
{
    struct job_builder job;
    job_init(&job, 4);
    int comm = library(&job);
    for (int rank = 0; rank < 4; rank++) {
        job_at(&job, rank, "save", "io.c", rank == 1 ? 30 : 12);
        job_collective(&job, rank, rank == 1 ? WORLD : comm, rank == 1 ? "MPI_Barrier" : "MPI_Allreduce", 1,
                       ANY);
    }
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "collective_incomplete ranks 0,2-3 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Allreduce on \"library\" that the other 3 ranks are waiting in\n");
}

/* Two and two: nothing tells which of them is wrong. */
static void test_halves(void)
{
    struct job_builder job;
    job_init(&job, 4);
    int comm = library(&job);
    for (int rank = 0; rank < 4; rank++)
        job_collective(&job, rank, rank < 2 ? WORLD : comm, rank < 2 ? "MPI_Barrier" : "MPI_Allreduce", 1,
                       ANY);
    job_expect(
        &job, "deadlock: none of the 4 ranks can continue\n"
              "wait_cycle ranks 0-3: Two communicators are entered in opposite order, or a call was skipped: "
              "ranks 0 and 1 are in MPI_Barrier on MPI_COMM_WORLD, ranks 2 and 3 are in MPI_Allreduce on "
              "\"library\"\n");
}

/* Those who are no members of the smaller communicator are no witnesses. */
static void test_part_and_world(void)
{
    struct job_builder job;
    int members[] = {0, 1};
    job_init(&job, 6);
    int comm = job_comm(&job, "part", 7, members, 2);
    job_collective(&job, 0, comm, "MPI_Barrier", 1, ANY);
    for (int rank = 1; rank < 6; rank++)
        job_collective(&job, rank, WORLD, "MPI_Barrier", 1, ANY);
    job_expect(
        &job, "deadlock: none of the 6 ranks can continue\n"
              "wait_cycle ranks 0-5: Two communicators are entered in opposite order, or a call was skipped: "
              "rank 0 is in MPI_Barrier on \"part\", ranks 1-5 are in MPI_Barrier on MPI_COMM_WORLD\n");
}

/* Rank 0 needs the reduction of rank 3, which is in the barrier.  Ranks 1 and 2 have left it before they came
   there: that they are more than those in the reduction says nothing. */
static void test_left_before(void)
{
    struct job_builder job;
    job_init(&job, 4);
    int comm = library(&job);
    job_collective(&job, 0, comm, "MPI_Reduce", 1, 3);
    job_arguments(&job, 0, comm, 0, "MPI_SUM", 8);
    for (int rank = 1; rank < 4; rank++) {
        if (rank < 3) {
            job_called(&job, rank, comm, "MPI_Reduce", 1);
            job_arguments(&job, rank, comm, 0, "MPI_SUM", 8);
        }
        job_collective(&job, rank, WORLD, "MPI_Barrier", 1, ANY);
    }
    job_expect(&job,
               "deadlock: none of the 4 ranks can continue\n"
               "collective_incomplete ranks 0 missing 3 suspects 3: Rank 3 never entered the MPI_Reduce "
               "on \"library\" that rank 0 is waiting in\n"
               "  follows from 1: collective_incomplete ranks 1-3 missing 0: ranks 1 and 2 wait in "
               "MPI_Barrier at solver.c:20 for rank 0\n");
}

/* The neighbours of rank 1 wait for it; all others have had their exchange, and are in the barrier with it.
 */
static void make_neighbours(struct job_builder *job, bool counted, int from, int to)
{
    job_init(job, 8);
    if (!counted)
        job_unpatched(job);
    int comm = library(job);
    for (int rank = 0; rank < 8; rank++) {
        bool waits = rank == from - 1 || rank == to + 1;
        bool skips = rank >= from && rank <= to;
        job_at(job, rank, "step", "halo.c", waits ? 10 : skips ? 20 : 30);
        if (waits) {
            job_collective(job, rank, comm, "MPI_Neighbor_allgather", 1, rank < from ? from : to);
            job_source(job, rank, comm, 1, rank < from ? from : to);
            continue;
        }
        if (!skips && counted)
            job_called(job, rank, comm, "MPI_Neighbor_allgather", 1);
        job_collective(job, rank, WORLD, "MPI_Barrier", 1, from - 1);
    }
}

static void test_neighbours(void)
{
    struct job_builder job;
    make_neighbours(&job, true, 1, 1);
    job_expect(&job, "deadlock: none of the 8 ranks can continue\n"
                     "collective_incomplete ranks 0,2 missing 1 suspects 1: Rank 1 never entered the "
                     "MPI_Neighbor_allgather on \"library\" that ranks 0 and 2 are waiting in\n"
                     "  follows from 1: collective_incomplete ranks 1,3-7 missing 0,2: ranks 3-7 wait in "
                     "MPI_Barrier at halo.c:30 for ranks 0 and 2\n");
    make_neighbours(&job, true, 1, 4); /* as many as there are victims, and more */
    job_expect(&job,
               "deadlock: none of the 8 ranks can continue\n"
               "collective_incomplete ranks 0,5 missing 1,4 suspects 1-4: Ranks 1 and 4 never "
               "entered the MPI_Neighbor_allgather on \"library\" that ranks 0 and 5 are waiting in\n"
               "  follows from 1: collective_incomplete ranks 1-4,6-7 missing 0,5: ranks 6 and 7 wait in "
               "MPI_Barrier at halo.c:30 for ranks 0 and 5\n");
}

/* Rank 2 has sent to its two neighbours what each was to get from the other one. */
static void test_mixed_tags(void)
{
    struct job_builder job;
    job_init(&job, 4);
    for (int side = 0; side < 2; side++) {
        int rank = 1 + 2 * side;
        job_wait(&job, rank, "MPI_Waitall", MPIQ_WAIT_ALL);
        job_wait_receive(&job, rank, WORLD, 2, 11 + side);
        job_unexpected(&job, rank, WORLD, 2, 12 - side, 4);
        job_channel(&job, 2, rank, WORLD, 1, 1);
        job_collective(&job, rank - 1, WORLD, "MPI_Barrier", 1, 1);
    }
    job_expect(&job, "deadlock: none of the 4 ranks can continue\n"
                     "receive_unmatched ranks 1,3 suspects 2: Ranks 1 and 3 receive with tag 11 what is sent "
                     "with tag 12, and "
                     "with tag 12 what is sent with tag 11\n"
                     "  follows from 1: collective_incomplete ranks 0,2 missing 1,3 suspects 1,3: rank 0 "
                     "waits in MPI_Barrier at "
                     "solver.c:20 for ranks 1 and 3\n");
}

/* A line in which each rank takes the two tags the other way round. */
static void test_swapped_tags(void)
{
    struct job_builder job;
    job_init(&job, 6);
    for (int rank = 0; rank < 6; rank++) {
        job_wait(&job, rank, "MPI_Waitall", MPIQ_WAIT_ALL);
        for (int side = 0; side < 2; side++) {
            int peer = side == 0 ? rank - 1 : rank + 1;
            if (peer < 0 || peer > 5)
                continue;
            job_wait_receive(&job, rank, WORLD, peer, 1 + side);
            job_unexpected(&job, rank, WORLD, peer, 2 - side, 8);
            job_channel(&job, peer, rank, WORLD, 1, 1);
        }
    }
    job_expect(&job, "deadlock: none of the 6 ranks can continue\n"
                     "receive_unmatched ranks 0-5: Ranks 0-5 receive with tag 2 what is sent with tag 1, and "
                     "with tag 1 what is sent with tag 2\n");
}

/* A wrong tag along a line, with blocking receives: the first rank's is at another place. */
static void test_line(void)
{
    struct job_builder job;
    job_init(&job, 8);
    for (int rank = 0; rank < 8; rank++) {
        job_at(&job, rank, "shift", "line.c", rank == 0 ? 9 : 7);
        job_recv(&job, rank, WORLD, rank == 0 ? 1 : rank - 1, 200);
        for (int side = -1; side < 2; side += 2) {
            if (rank + side < 0 || rank + side > 7)
                continue;
            job_unexpected(&job, rank, WORLD, rank + side, 100, 8);
            job_channel(&job, rank + side, rank, WORLD, 1, 1);
        }
    }
    job_expect(&job, "deadlock: none of the 8 ranks can continue\n"
                     "receive_unmatched ranks 0-7: Ranks 0-7 are receiving tag 200, but the messages sent to "
                     "them have tag 100\n");
}

/* Rank 5 sent to rank 3 what is meant for rank 0.  The others are in a collective that stands before. */
static void test_stray(void)
{
    struct job_builder job;
    job_init(&job, 6);
    job_at(&job, 0, "exchange", "halo.c", 7);
    job_recv(&job, 0, WORLD, 5, 12);
    job_unexpected(&job, 3, WORLD, 5, 12, 8);
    job_channel(&job, 5, 3, WORLD, 1, 1);
    for (int rank = 1; rank < 6; rank++) {
        job_at(&job, rank, "main", "main.c", 30);
        job_collective(&job, rank, WORLD, "MPI_Allreduce", 3, ANY);
    }
    job_expect(&job,
               "deadlock: none of the 6 ranks can continue\n"
               "receive_unmatched ranks 0 suspects 5: Rank 5 never sent the message with tag 12 that rank "
               "0 is waiting for; it sent one to rank 3\n"
               "  follows from 1: collective_incomplete ranks 1-5 missing 0 suspects 0: ranks 1-4 wait in "
               "MPI_Allreduce at main.c:30 for rank 0\n");
}

/* Rank 5 takes rank 3 for its partner, with rank 0 left alone; or rank 3 has left rank 5 alone, whose next
   partner is rank 0.  With one tag for both directions nobody can tell. */
static void test_wrong_partner(void)
{
    for (int tags = 1; tags <= 2; tags++) {
        struct job_builder job;
        job_init(&job, 6);
        job_at(&job, 0, "exchange", "halo.c", 7);
        job_at(&job, 5, "exchange", "halo.c", 7);
        job_recv(&job, 0, WORLD, 5, 12);
        job_recv(&job, 5, WORLD, 3, tags == 1 ? 12 : 11);
        job_unexpected(&job, 3, WORLD, 5, 12, 8);
        job_unexpected(&job, 5, WORLD, 0, tags == 1 ? 12 : 11, 8);
        job_channel(&job, 5, 3, WORLD, 1, 1);
        job_channel(&job, 0, 5, WORLD, 1, 1);
        for (int rank = 1; rank < 5; rank++)
            job_collective(&job, rank, WORLD, "MPI_Allreduce", 1, ANY);
        job_expect(&job,
                   tags == 1
                       ? "deadlock: none of the 6 ranks can continue\n"
                         "receive_unmatched ranks 5: Rank 3 never sent the message with tag 12 that rank "
                         "5 is waiting for; rank 0 has sent one\n"
                         "  follows from 1: collective_incomplete ranks 1-4 missing 0,5 suspects 0,5: "
                         "ranks 1-2,4 wait in MPI_Allreduce at solver.c:20 for ranks 0 and 5\n"
                       : "deadlock: none of the 6 ranks can continue\n"
                         "receive_unmatched ranks 5 suspects 5: Rank 5 sent tag 12 to rank 3 and is "
                         "receiving tag 11 from it, but it is rank 0 that waits for the one and sent the "
                         "other\n"
                         "  follows from 1: collective_incomplete ranks 1-4 missing 0,5 suspects 0,5: "
                         "ranks 1-2,4 wait in MPI_Allreduce at solver.c:20 for ranks 0 and 5\n");
    }
}

/* Of three origins two have completed their access: nothing of the library's tells which. */
static void test_origins(void)
{
    for (int open = 0; open < 2; open++) {
        struct job_builder job;
        job_init(&job, 4);
        int window = job_window(&job, "field", WORLD);
        for (int origin = 1; origin < 4; origin++) {
            job_post(&job, 0, window, origin);
            job_collective(&job, origin, WORLD, "MPI_Barrier", 1, ANY);
        }
        job_wait_window(&job, 0, "MPI_Win_wait", MPIQ_WAIT_WAIT, window, ANY, MPIQ_LOCK_NONE);
        if (open)
            job_start(&job, 2, window, 0);
        job_expect(
            &job,
            open ? "deadlock: none of the 4 ranks can continue\n"
                   "window_wait ranks 0 missing 2 suspects 2: Rank 2 never completed the access to "
                   "window \"field\" (MPI_Win_complete) that rank 0 waits for\n"
                   "  follows from 1: collective_incomplete ranks 1-3 missing 0 suspects 0: ranks 1 and 3 "
                   "wait in MPI_Barrier at solver.c:20 for rank 0\n"
                 : "deadlock: none of the 4 ranks can continue\n"
                   "window_wait ranks 0: Rank 0 waits in MPI_Win_wait on window \"field\" for "
                   "MPI_Win_complete by ranks 1-3; at least one of them has not called it\n");
    }
}

/* In each row the second rank waits for a message instead: one bug, of which no row is the cause of another.
 */
static void test_rows(void)
{
    struct job_builder job;
    job_init(&job, 6);
    for (int first = 0; first < 6; first += 3) {
        int members[] = {first, first + 1, first + 2};
        int row = job_comm(&job, "row", 10 + first, members, 3);
        for (int i = 0; i < 3; i++) {
            job_at(&job, first + i, "step", "rows.c", i == 1 ? 5 : 9);
            if (i == 1)
                job_recv(&job, first + 1, WORLD, first, 1);
            else
                job_collective(&job, first + i, row, "MPI_Barrier", 1, ANY);
        }
    }
    job_expect(&job,
               "deadlock: none of the 6 ranks can continue\n"
               "collective_incomplete ranks 0,2-3,5 missing 1,4 suspects 1,4: Ranks 1 and 4 never entered "
               "the MPI_Barrier on \"row\" that ranks 0,2-3,5 are waiting in\n");
}

/* The same, but that the second row's rank waits for the first row's: the second row is a victim. */
static void test_row_behind_a_row(void)
{
    struct job_builder job;
    job_init(&job, 6);
    for (int first = 0; first < 6; first += 3) {
        int members[] = {first, first + 1, first + 2};
        int row = job_comm(&job, "row", 10 + first, members, 3);
        for (int i = 0; i < 3; i++) {
            job_at(&job, first + i, i == 1 ? "lost" : "step", i == 1 ? "other.c" : "rows.c", 9);
            if (i == 1)
                job_recv(&job, first + 1, WORLD, first == 0 ? 0 : 1, 1);
            else
                job_collective(&job, first + i, row, "MPI_Barrier", 1, ANY);
        }
    }
    job_expect(&job,
               "deadlock: none of the 6 ranks can continue\n"
               "collective_incomplete ranks 0,2 missing 1 suspects 1: Rank 1 never entered the MPI_Barrier "
               "on \"row\" that the other 2 ranks are waiting in\n"
               "  follows from 1: collective_incomplete ranks 3,5 missing 4 suspects 4: ranks 3 and 5 wait "
               "in MPI_Barrier at rows.c:9 for rank 4\n");
}

int main(void)
{
    CU_TestInfo tests[] = {{"a collective of a library's is skipped", test_skipped},
                           {"of two halves nobody is suspected", test_halves},
                           {"a part and the world", test_part_and_world},
                           {"who has left the first collective is a witness", test_left_before},
                           {"a neighbourhood against the barrier behind it", test_neighbours},
                           {"two tags the wrong way round are one cause", test_swapped_tags},
                           {"tags of two receivers mixed up", test_mixed_tags},
                           {"a wrong tag along a line is one cause", test_line},
                           {"a message that went to another rank", test_stray},
                           {"a wrong partner", test_wrong_partner},
                           {"one bug in each row is one cause", test_rows},
                           {"a row that waits for another row", test_row_behind_a_row},
                           {"one of several origins has not completed", test_origins},
                           CU_TEST_INFO_NULL};
    return suite_run("paths", tests);
}
