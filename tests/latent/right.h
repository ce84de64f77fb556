/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * right - what the programs in which nothing is wrong share: each is a list of cases, of which
 * `PROGRAM CASE` runs one and `PROGRAM all_of_them` all.
 */
#ifndef RIGHT_H
#define RIGHT_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

struct right_case {
    const char *name;
    void (*run)(void);
};
#define CASE(name)  \
    {               \
#name, name \
    }

static inline int right(void)
{
    return (rank + 1) % size;
}

static inline int left(void)
{
    return (rank + size - 1) % size;
}

static inline int right_main(int argc, char **argv, const struct right_case *cases, size_t count)
{
    const char *name = argc > 1 ? argv[1] : "";
    int all = strcmp(name, "all_of_them") == 0, found = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    for (size_t i = 0; i < count; i++) {
        if (!all && strcmp(name, cases[i].name) != 0)
            continue;
        cases[i].run();
        found = 1;
        if (all)
            MPI_Barrier(WORLD); /* or a receive from anybody might take the next one's message */
    }
    if (!found) {
        fprintf(stderr, "there is no case %s\n", name);
        MPI_Abort(WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}

#endif
