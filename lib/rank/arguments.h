/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments - what the MPI call that a thread is in was given, as its caller's code tells it: the words that
 * the target computes (target.h, call_words), with what they mean to that MPI library.
 *
 * Works for any MPI library whose handles and constants are known (Open MPI, MPICH and what shares its ABI,
 * the standard ABI), C and Fortran.  It is a hint: no proof may be built on it.
 */
#ifndef MPIQ_RANK_ARGUMENTS_H
#define MPIQ_RANK_ARGUMENTS_H

#include "process/target.h"
#include "rank/handles.h"
#include "state/rank_state.h"

/* An MPI call, and the words that it was given as far as they are known. */
struct mpiq_rank_call {
    struct mpiq_target *target;
    struct mpiq_rank_state *state;
    const struct mpiq_constants *constants;
    const char *name;       /* "MPI_Recv" */
    const char *parameters; /* names/parameters.h */
    bool fortran;           /* arguments are references */
    size_t count;
    size_t callee; /* as for mpiq_target_call_words, of one in progress */
    struct mpiq_call_word words[MPIQ_CALL_WORDS];
    const struct mpiq_rank_call
        *waiting; /* it has returned, and this one is in progress; NULL: it is itself */
};

/* A call of which no word is known yet; false: what it is given cannot be told. */
bool mpiq_rank_call_init(struct mpiq_rank_call *call, struct mpiq_target *target,
                         struct mpiq_rank_state *state, const char *name, bool fortran);

/* The MPI call that a thread is in (mpi_frame), with its words; false: it is in none, or that cannot be told.
   stack is where its frames came from. */
bool mpiq_rank_call_read(struct mpiq_rank_call *call, struct mpiq_target *target,
                         struct mpiq_rank_state *state, const struct mpiq_target_stack *stack,
                         const struct mpiq_thread *thread);

/* The position of the first parameter with that letter; SIZE_MAX: it has none. */
size_t mpiq_rank_call_position(const struct mpiq_rank_call *call, char letter);

/* The plain value of that parameter, even if it came from memory that the callee may write; false: not known.
 */
bool mpiq_rank_call_plain(const struct mpiq_rank_call *call, char letter, uint64_t *ret);

/* How many bytes the callee may write behind such a parameter; 0: none, UINT64_MAX: nobody knows. */
uint64_t mpiq_rank_call_writes(const struct mpiq_rank_call *call, char letter);

/* Adds one of its arguments to thread->given, if it is known; request as there. */
void mpiq_rank_call_add(const struct mpiq_rank_call *call, struct mpiq_thread *thread, size_t index,
                        uint32_t request);

/* Adds thread->given, of a thread that
   is in an MPI function (mpi_frame); stack is where its frames came from. What is not known is left out. */
void mpiq_rank_add_arguments(struct mpiq_target *target, struct mpiq_rank_state *state,
                             const struct mpiq_target_stack *stack, struct mpiq_thread *thread);

/* Whether its library is one whose arguments are understood. */
bool mpiq_rank_tells_arguments(const struct mpiq_rank_state *state);

#endif
