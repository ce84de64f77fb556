/* SPDX-License-Identifier: BSD-3-Clause */
/* core_end - how a process ended, as a note in the core files that mpiq run makes (remains_core.h). */
#ifndef MPIQ_CORE_END_H
#define MPIQ_CORE_END_H

#include <stdbool.h>
#include <stdint.h>

#define MPIQ_CORE_NOTE "MPIQ" /* owner of the note, whose description is a struct mpiq_core_end */
#define MPIQ_CORE_NOTE_END 1

enum mpiq_core_end_kind {
    MPIQ_CORE_END_NONE,    /* no such core file */
    MPIQ_CORE_END_UNKNOWN, /* it has ended, and nobody knows how */
    MPIQ_CORE_END_LIVES,
    MPIQ_CORE_END_ABORT, /* it called MPI_Abort */
    MPIQ_CORE_END_EXIT,
    MPIQ_CORE_END_ERROR, /* the MPI library ended it */
    MPIQ_CORE_END_SIGNAL,
    MPIQ_CORE_END_COUNT
};

struct mpiq_core_end {
    uint32_t kind;  /* enum mpiq_core_end_kind */
    int32_t code;   /* given to MPI_Abort; exit status; the library's error code; the signal */
    int64_t at_ns;  /* since the epoch; 0 not known */
    int32_t rank;   /* as the launcher says; -1 */
    uint32_t order; /* in which the job's processes ended or began to, from 1; 0 not known */
};

#endif
