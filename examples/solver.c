/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * solver - heat spreading along a rod, in parallel: something for mpiq to look at.
 *
 * Each rank holds a piece of the rod.  In each step one rank, the owner of that step, broadcasts the
 * parameters; then all exchange the edges of their pieces with their neighbours and advance.  At the end
 * rank 0 prints the total heat, which is the same for any number of steps and ranks that share the rod.
 *
 *   solver [--steps N] [--pause MS] [--ready FILE]     runs to its end
 *   solver --hang | --crash [--ready FILE]             takes a wrong turn and hangs, or crashes
 *
 * With --hang, rank 1 takes a wrong turn when it owns a step: it tells rank 2 that it refines the mesh (which
 * rank 2 never asked for), and waits for the last rank to answer.  Nobody will: all others are in MPI_Bcast.
 * With --ready, each rank adds a line to FILE when it comes to the last step, or to the one that hangs.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 1000, TAG_LEFT = 11, TAG_RIGHT = 12, TAG_REFINE = 98, TAG_REFINED = 99 };

struct options {
    int steps;
    int pause_ms;
    bool hang, crash;
    const char *ready;
};

struct rod {
    int rank;
    int size;
    double cell[CELLS + 2]; /* a halo cell at either end */
};

static void say_ready(const char *path, int rank)
{
    char line[32];
    int length = snprintf(line, sizeof line, "%d\n", rank);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    if (fd >= 0 && write(fd, line, (size_t)length) != length)
        perror(path);
    if (fd >= 0)
        close(fd);
}

/* The wrong turn: only one rank takes it, and the protocol it speaks exists nowhere else. */
static void refine_mesh(const struct rod *rod)
{
    int level = 2;
    double answer;
    MPI_Send(&level, 1, MPI_INT, 2 % rod->size, TAG_REFINE, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_DOUBLE, rod->size - 1, TAG_REFINED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double share_parameters(const struct rod *rod, int step)
{
    double parameters[4] = {0};
    int owner = step % rod->size;
    if (rod->rank == owner)
        parameters[0] = 0.1 + 0.001 * (step % 7);
    MPI_Bcast(parameters, 4, MPI_DOUBLE, owner, MPI_COMM_WORLD);
    return parameters[0];
}

static void exchange_edges(struct rod *rod)
{
    int left = rod->rank > 0 ? rod->rank - 1 : MPI_PROC_NULL;
    int right = rod->rank < rod->size - 1 ? rod->rank + 1 : MPI_PROC_NULL;
    rod->cell[0] = rod->cell[1]; /* no heat leaves at the ends */
    rod->cell[CELLS + 1] = rod->cell[CELLS];
    MPI_Sendrecv(&rod->cell[1], 1, MPI_DOUBLE, left, TAG_LEFT, &rod->cell[CELLS + 1], 1, MPI_DOUBLE, right,
                 TAG_LEFT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&rod->cell[CELLS], 1, MPI_DOUBLE, right, TAG_RIGHT, &rod->cell[0], 1, MPI_DOUBLE, left,
                 TAG_RIGHT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void advance(struct rod *rod, double rate)
{
    double before = rod->cell[0];
    for (int i = 1; i <= CELLS; i++) {
        double here = rod->cell[i];
        rod->cell[i] += rate * (before - 2 * here + rod->cell[i + 1]);
        before = here;
    }
}

/* A cell number that somebody has computed wrongly. */
static void heat(struct rod *rod, long cell)
{
    rod->cell[cell] += 1;
}

static void solve(struct rod *rod, const struct options *options)
{
    int wrong_step = rod->size + 1; /* the second step that rank 1 owns */
    int last = options->hang ? wrong_step : options->steps - 1;
    for (int step = 0; step < options->steps; step++) {
        if (step == last)
            say_ready(options->ready, rod->rank);
        if (options->hang && step == wrong_step && rod->rank == 1)
            refine_mesh(rod);
        if (options->crash && step == wrong_step && rod->rank == 1)
            heat(rod, CELLS * 1000000L);
        double rate = share_parameters(rod, step);
        exchange_edges(rod);
        advance(rod, rate);
        if (options->pause_ms > 0)
            usleep((useconds_t)options->pause_ms * 1000);
    }
}

static bool parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--hang") == 0)
            options->hang = true;
        else if (strcmp(argv[i], "--crash") == 0)
            options->crash = true;
        else if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc)
            options->steps = atoi(argv[++i]);
        else if (strcmp(argv[i], "--pause") == 0 && i + 1 < argc)
            options->pause_ms = atoi(argv[++i]);
        else if (strcmp(argv[i], "--ready") == 0 && i + 1 < argc)
            options->ready = argv[++i];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct rod rod;
    struct options options = {.steps = 100};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rod.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rod.size);
    if (!parse(argc, argv, &options) || (options.hang && rod.size < 3)) {
        if (rod.rank == 0)
            fprintf(stderr, "usage: solver [--steps N] [--pause MS] [--hang | --crash] [--ready FILE]; "
                            "--hang needs 3 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rod.rank == 0)
        rod.cell[CELLS / 2] = 1000;
    solve(&rod, &options);

    double mine = 0, all = 0;
    for (int i = 1; i <= CELLS; i++)
        mine += rod.cell[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rod.rank == 0)
        printf("heat %.6f\n", all);
    MPI_Finalize();
    return 0;
}
