/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrong_turn - a job that hangs: all ranks but rank 1 are in MPI_Bcast, for which they need rank 1, its
 * root; that one waits for a message with tag 99 from the last rank that nobody sends.  An eager message
 * with tag 7 lies unexpected at rank 2.
 *
 * Usage: wrong_turn [FILE].  With FILE the last rank waits, asleep, until there is such a file, and sends:
 * all ranks end, and rank 0 prints the sum over what they got.  Says "ready RANK PID" as tests/support/job.py
 * expects it.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "ready.h"

struct step {
    int number;
    double residual;
};

static int take_step(struct step *step, int rank, int size, const char *release)
{
    int value = rank == 1 ? step->number : 0, late = -1;
    say_ready(rank);
    if (rank == size - 1 && release) {
        while (access(release, F_OK) != 0)
            usleep(10000);
        MPI_Send(&rank, 1, MPI_INT, 1, 99, MPI_COMM_WORLD);
    }
    if (rank == 1)
        MPI_Recv(&late, 1, MPI_INT, size - 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the wrong turn */
    MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    return rank == 1 ? value + late : value;
}

int main(int argc, char **argv)
{
    struct step step = {5, 0.25};
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < step.number; i++)
        MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 2, 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* the message is on its way before rank 2 goes on */
    value = take_step(&step, rank, size, argc > 1 ? argv[1] : NULL);
    int sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
