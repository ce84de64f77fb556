/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * python - the innermost Python frame of a thread that runs CPython's interpreter.
 *
 * Where Python code calls MPI through a binding such as mpi4py, the C stack ends in the binding and the
 * interpreter; file and line are in the interpreter's own records.  They are read from memory, for releases
 * whose layout is known (3.9 to 3.14), once the process has identified itself as one.  All of this is
 * untrusted: every length and chain is bounded, and inconsistent data gives no frame.
 *
 * It leaves to others: which frame of the C stack the Python frame replaces.
 */
#ifndef MPIQ_RANK_PYTHON_H
#define MPIQ_RANK_PYTHON_H

#include "state/rank_state.h"
#include "target/target.h"

/* Whether a function with its source file is C that Cython made, of mpi4py first of all: built with -g it has
   lines, but nobody wrote them.  Those of a .pyx file somebody did. */
bool mpiq_python_made(const char *function, const char *file);

/* Puts the thread's innermost Python frame before its user_frame, where that one is a binding's (it has no
   source file, or C that Cython made) and the stack comes from the interpreter.  Does nothing where it cannot
   be read: the C frame stays the user's. */
void mpiq_rank_add_python(struct mpiq_target *target, struct mpiq_rank_state *state,
                          struct mpiq_thread *thread);

#endif
