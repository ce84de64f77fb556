/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steady STEPS - the same work each time: each rank computes for some milliseconds, then all meet in an
 * MPI_Allreduce, STEPS times.  Something for mpiq run to stand in front of (bench/run).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 4096, SWEEPS = 1000 };

static double cells[CELLS];

static double compute(void)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 1; i < CELLS - 1; i++)
            cells[i] += 0.1 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
    }
    return cells[CELLS / 2];
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 0;
    if (steps < 1) {
        fprintf(stderr, "usage: steady STEPS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    cells[CELLS / 2] = 1;
    for (int step = 0; step < steps; step++) {
        double mine = compute();
        double sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
