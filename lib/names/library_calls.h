/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library_calls - functions outside MPI in which a rank may wait for what is not on its processor: a GPU, the
 * ranks of another collectives library, the launcher's runtime.
 *
 * Sources: the public headers of CUDA (cuda_runtime_api.h, cuda.h), HIP (hip_runtime_api.h), NCCL and RCCL
 * (nccl.h), UCC (ucc/api/ucc.h), PMIx (pmix.h), PMI and PMI-2 (pmi.h, pmi2.h).
 */
#ifndef MPIQ_NAMES_LIBRARY_CALLS_H
#define MPIQ_NAMES_LIBRARY_CALLS_H

#include <stdbool.h>

enum mpiq_library_call {
    MPIQ_LIBRARY_CALL_NONE,
    MPIQ_LIBRARY_CALL_DEVICE,  /* a GPU's, or of a library that moves data between GPUs */
    MPIQ_LIBRARY_CALL_RUNTIME, /* the launcher's: PMIx, PMI */
};

/*
 * What a function of an object (a path) is.  By its name if the object is a library of that kind.  If it is
 * linked into another object it must be one of a few that wait, and without a source line (`has_line`): the
 * libraries that are linked so have none, and a function of the user's that happens to have the name does.
 * Both strings may be NULL.
 */
enum mpiq_library_call mpiq_library_call_of(const char *object, const char *function, bool has_line);

/* Whether a function of an MPI library, inside a call of MPI's, takes back what the call could not do: ompio
   closes a file again that it has failed to open, together with all who have opened it. */
bool mpiq_takes_back(const char *call, const char *function);

#endif
