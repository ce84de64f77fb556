/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * envelopes - two ranks that hang with messages of many datatypes pending, and with handles of all kinds in
 * the frame of hang(): what `mpi message` and the printing of handles are tested with.
 *
 * Rank 0 waits in MPI_Waitall for what rank 1 never sends or takes; rank 1 in MPI_Wait.  Says "ready RANK
 * PID" as tests/support/job.py expects it.
 */
#include <complex.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "ready.h"

struct particle {
    int id;
    double position[3];
    char name[8];
};

enum { PAIRS = 20000, REQUESTS = 10, WIDE = 1 << 20 };

static struct particle particles[2] = {{7, {0.5, 1.5, 2.5}, "left"}, {9, {-1, -2, -3}, "right"}};
static double expected[6] = {1, 2, 3, 4, 5, 6};
static double matrix[3][4] = {{11, 12, 13, 14}, {21, 22, 23, 24}, {31, 32, 33, 34}};
static int grid[8] = {100, 101, 102, 103, 104, 105, 106, 107};
static double complex wave[2] = {1 + 2 * I, 3 - 4 * I};
static int pairs[PAIRS][2];
static int wide[WIDE]; /* more than anybody is shown */
static int small[3] = {71, 72, 73};
static long numbers[5] = {1000, 2000, 3000, 4000, 5000};
static struct {
    double value;
    int rank;
} worst[2] = {{0.25, 3}, {0.75, 1}};

static MPI_Datatype make_particle(void)
{
    int lengths[] = {1, 3, 8};
    MPI_Aint places[] = {offsetof(struct particle, id), offsetof(struct particle, position),
                         offsetof(struct particle, name)};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, packed, whole;
    MPI_Type_create_struct(3, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct particle), &whole);
    MPI_Type_set_name(whole, "particle");
    MPI_Type_commit(&whole);
    return whole;
}

static MPI_Datatype make_vector(int blocks, int length, int stride, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_vector(blocks, length, stride, of, &type);
    MPI_Type_commit(&type);
    return type;
}

static void hang(int rank, MPI_Comm side)
{
    MPI_Datatype particle = make_particle(), column = make_vector(3, 1, 4, MPI_DOUBLE);
    MPI_Datatype firsts = make_vector(PAIRS, 1, 2, MPI_INT), corner = make_vector(2, 1, 2, MPI_INT), corners;
    MPI_Datatype every = make_vector(WIDE / 4, 1, 4, MPI_INT);
    MPI_Comm nobody = MPI_COMM_NULL;
    MPI_Request requests[REQUESTS], nothing = MPI_REQUEST_NULL, first;
    MPI_Group members;
    MPI_Status status;
    int got[2], other = 1 - rank;

    MPI_Type_create_hvector(2, 1, 5 * sizeof(int), corner, &corners);
    MPI_Type_commit(&corners);
    MPI_Comm_group(side, &members);
    MPI_Sendrecv((int[]){rank, 5}, 2, MPI_INT, other, 30, got, 2, MPI_INT, other, 30, side, &status);
    if (rank == 0) {
        for (int i = 0; i < PAIRS; i++)
            pairs[i][0] = i;
        MPI_Irecv(expected, 6, MPI_DOUBLE, 1, 10, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(got, 2, MPI_INT, MPI_ANY_SOURCE, 13, side, &requests[1]);
        MPI_Issend(particles, 2, particle, 1, 11, MPI_COMM_WORLD, &requests[2]);
        MPI_Issend(&matrix[0][1], 1, column, 1, 12, MPI_COMM_WORLD, &requests[3]);
        MPI_Issend(grid, 1, corners, 1, 14, MPI_COMM_WORLD, &requests[4]);
        MPI_Issend(wave, 2, MPI_C_DOUBLE_COMPLEX, 1, 15, MPI_COMM_WORLD, &requests[5]);
        MPI_Issend(worst, 2, MPI_DOUBLE_INT, 1, 16, MPI_COMM_WORLD, &requests[6]);
        MPI_Issend(pairs, 1, firsts, 1, 17, MPI_COMM_WORLD, &requests[7]);
        for (int i = 0; i < WIDE; i++)
            wide[i] = -i;
        MPI_Issend(wide, 1, every, 1, 19, MPI_COMM_WORLD, &requests[8]);
        MPI_Ibsend(pairs, 1, firsts, 1, 18, MPI_COMM_WORLD, &requests[9]);
    } else {
        MPI_Send(small, 3, MPI_INT, 0, 20, MPI_COMM_WORLD);
        MPI_Issend(numbers, 5, MPI_LONG, 0, 21, MPI_COMM_WORLD, &requests[0]);
    }
    first = requests[0];
    MPI_Barrier(side); /* what was sent is there */
    say_ready(rank);
    if (rank == 0)
        MPI_Waitall(REQUESTS - 1, requests, MPI_STATUSES_IGNORE); /* never */
    else
        MPI_Wait(&first, MPI_STATUS_IGNORE);
    printf("%p %p\n", (void *)&nobody, (void *)&nothing);
}

int main(int argc, char **argv)
{
    MPI_Comm side;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Buffer_attach(malloc(1 << 20), 1 << 20);
    MPI_Comm_dup(MPI_COMM_WORLD, &side);
    MPI_Comm_set_name(side, "side");
    hang(rank, side);
    MPI_Finalize();
    return 0;
}
