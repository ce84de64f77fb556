/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/known_hangs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Sources: Open MPI's change logs (docs/release-notes/changelog/v2.x, v3.1.x and v4.0.x) and MPICH's CHANGES.
 */
static const struct mpiq_known_hang rows[] = {
    {"Open MPI", 20000, 20100, "MPI_Win_lock_all", NULL, " with MPI_Put", "2.1.0",
     "Open MPI 2.1.0, change log"},
    {"Open MPI", 20000, 40000, "MPI_Finalize", "ucx", " over UCX", "4.0.0", "Open MPI 4.0.0, change log"},
    {"Open MPI", 30100, 30106, "MPI_Win_lock", "ucx", " over UCX", "3.1.6", "Open MPI 3.1.6, change log"},
    {"Open MPI", 40000, 40002, "MPI_Fetch_and_op", "ucx", " over UCX", "4.0.2", "Open MPI 4.0.2, change log"},
    {"Open MPI", 40000, 40005, "MPI_File_read_at_all", NULL, "", "4.0.5", "Open MPI 4.0.5, change log"},
    {"MPICH", 30000, 30103, "MPI_Comm_idup", NULL, " called by several threads", "3.1.3",
     "MPICH 3.1.3, CHANGES"},
    {"MPICH", 30300, 30301, "MPI_Waitany", NULL, "", "3.3.1", "MPICH 3.3.1, CHANGES"},
};

/* 40001 of " 4.0.1", 30300 of " 3.3"; 0: it is no release. */
static uint32_t release_of(const char *text)
{
    unsigned long parts[3] = {0};
    size_t count = 0;
    for (; count < 3 && *text == (count ? '.' : ' '); count++) {
        char *end;
        parts[count] = strtoul(text + 1, &end, 10);
        if (end == text + 1 || parts[count] > 99)
            return 0;
        text = end;
    }
    return count < 2 ? 0 : (uint32_t)(10000 * parts[0] + 100 * parts[1] + parts[2]);
}

const struct mpiq_known_hang *mpiq_known_hang_find(const char *library, const char *pml, const char *call)
{
    for (size_t i = 0; library && call && i < sizeof rows / sizeof *rows; i++) {
        const struct mpiq_known_hang *row = &rows[i];
        const size_t length = strlen(row->library);
        if (strncmp(library, row->library, length) != 0 || strcmp(call, row->call) != 0)
            continue;
        const uint32_t release = release_of(library + length);
        if (release >= row->from && release < row->fixed &&
            (!row->pml || (pml && strcmp(pml, row->pml) == 0)))
            return row;
    }
    return NULL;
}
