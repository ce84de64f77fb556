/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known_hangs - releases of MPI libraries that are known to hang in a function by a bug of their own.
 *
 * Only what a library's own list of changes names with the function, so that a match means something; it is
 * a possibility all the same.
 */
#ifndef MPIQ_NAMES_KNOWN_HANGS_H
#define MPIQ_NAMES_KNOWN_HANGS_H

#include <stdint.h>

struct mpiq_known_hang {
    const char *library; /* "Open MPI", "MPICH" */
    uint32_t from,
        fixed;        /* releases from the first on, before the second: 10000 * major + 100 * minor + patch */
    const char *call; /* "MPI_Finalize" */
    const char *pml;  /* how it sends messages: "ucx"; NULL: however */
    const char *where;    /* " over UCX", " on several threads"; "" */
    const char *fixed_in; /* "4.0.0" */
    const char *reference;
};

/* What is known of a library ("Open MPI 4.0.1"), its PML (NULL: not known) and the function that a rank waits
   in; NULL: nothing. */
const struct mpiq_known_hang *mpiq_known_hang_find(const char *library, const char *pml, const char *call);

#endif
