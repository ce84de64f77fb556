/* SPDX-License-Identifier: BSD-3-Clause */
/* programs - which programs start ranks, or are our own, by the whole name of the file. */
#ifndef MPIQ_NAMES_PROGRAMS_H
#define MPIQ_NAMES_PROGRAMS_H

#include <stdbool.h>

/* What a program is; several may be true. */
enum {
    MPIQ_PROGRAM_LAUNCHER = 1, /* the user starts it, and it the ranks */
    MPIQ_PROGRAM_DAEMON = 2,   /* a launcher starts it on each host, and it the ranks there */
    MPIQ_PROGRAM_HYDRA = 4,    /* of MPICH's launcher */
    MPIQ_PROGRAM_OPEN_MPI = 8, /* passes variables on to the ranks as Open MPI's mpirun does */
    MPIQ_PROGRAM_OURS = 16
};

/* The bits of the program at that path, or with that name; 0: a program like any other.  A distribution's
   ending counts as none: mpirun.openmpi is mpirun. */
unsigned mpiq_program(const char *path);

/* Whether the file at that path is what the user starts of that launcher ("hydra": a name of lib/hosts). */
bool mpiq_program_is_of(const char *path, const char *launcher);

/* Whether it starts ranks. */
static inline bool mpiq_program_starts_ranks(const char *path)
{
    return mpiq_program(path) & (MPIQ_PROGRAM_LAUNCHER | MPIQ_PROGRAM_DAEMON);
}

#endif
