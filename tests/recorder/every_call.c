/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * every_call PART LEDGER READY - makes calls with known arguments on two ranks, writes each to LEDGER.RANK,
 * then "RANK PID" to READY.RANK, and idles.  test_every_call.py compares the ledger with the records.
 */
#include "every_call.h"

#include <string.h>
#include <unistd.h>

FILE *ledger;
int rank, other;
MPI_Comm row;

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"messages", part_messages},
    {"requests", part_requests},
    {"collectives", part_collectives},
    {"nonblocking", part_nonblocking},
    {"persistent", part_persistent},
    {"neighbours", part_neighbours},
    {"communicators", part_communicators},
    {"windows", part_windows},
    {"files", part_files},
    {"objects", part_objects},
};

int main(int argc, char **argv)
{
    char name[4096];
    int level;
    if (strcmp(argv[1], "objects") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    snprintf(name, sizeof name, "%s.%d", argv[2], rank);
    ledger = fopen(name, "w");
    CALL(WORLD, NONE, NONE, NONE, MPI_Comm_dup(MPI_COMM_WORLD, &row));
    CALL(ROW, NONE, NONE, NONE, MPI_Comm_set_name(row, ROW));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, argv[1]) == 0)
            parts[i].run();
    }
    BARRIER();
    fclose(ledger);
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    FILE *ready = fopen(name, "w");
    fprintf(ready, "%d\n", (int)getpid());
    fclose(ready);
    pause();
    MPI_Finalize();
    return 0;
}
