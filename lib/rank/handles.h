/* SPDX-License-Identifier: BSD-3-Clause */
/* handles - constants and predefined handles of the MPI libraries whose arguments are understood: Open MPI,
   MPICH and what shares its ABI, the standard ABI. */
#ifndef MPIQ_RANK_HANDLES_H
#define MPIQ_RANK_HANDLES_H

#include "process/target.h"
#include "state/rank_state.h"

struct mpiq_constants {
    int32_t any_source, any_tag, proc_null;
    uint32_t status_size;
    int handle_size;
};

/* A predefined handle: by Open MPI's symbol or by its number; 0: it is not told. */
struct mpiq_handle {
    const char *name;
    const char *symbol;
    uint32_t mpich;
    uint32_t standard;
    uint32_t size; /* of a datatype: bytes */
};

/* Those of the library that a rank has; NULL: another one. */
const struct mpiq_constants *mpiq_constants_of(const struct mpiq_rank_state *state);

/* Whether its handles are the same in Fortran. */
bool mpiq_constants_pass_numbers(const struct mpiq_constants *constants);

/* The handle of that value among those of a parameter's letter (names/parameters.h); NULL: another one. */
const struct mpiq_handle *mpiq_handle_find(struct mpiq_target *target, const struct mpiq_constants *constants,
                                           char letter, uint64_t value);

#endif
