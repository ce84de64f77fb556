/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran.h - the call site of a Fortran program.
 *
 * A binding of mpif.h calls the C function, which then finds itself called by the binding.  So the binding leaves word
 * of who called it; what records a call takes that in place of its own caller, if that is the binding.  A word that
 * an earlier binding left is recognised by the same test, so nothing is taken back at the end.
 *
 * The blocking collectives of inner loops do not ask, to spare C programs: their binding corrects the record of the
 * call at its end.
 */
#ifndef OMPI_MQS_FORTRAN_H
#define OMPI_MQS_FORTRAN_H

#include "ompi/mqs/thread.h"

#if OMPI_MQS

/* A return address in a binding is less than so many bytes behind its begin. */
#define OMPI_MQS_BINDING 4096u

struct ompi_mqs_binding {
    uintptr_t function;     /* that was called last by the thread; 0: none */
    const void *caller;     /* who called it */
};

OMPI_DECLSPEC extern __thread struct ompi_mqs_binding ompi_mqs_binding
    __attribute__((tls_model("initial-exec")));

/* The calls in the ring of the communicator with this Fortran handle know the user's call site. */
OMPI_DECLSPEC void ompi_mqs_binding_end(const int *const *comm);

OMPI_MQS_INLINE void ompi_mqs_binding_begin(uintptr_t function, const void *caller)
{
    /* One binding may call another. */
    if ((uintptr_t) caller - ompi_mqs_binding.function >= OMPI_MQS_BINDING) {
        ompi_mqs_binding.caller = caller;
    }
    ompi_mqs_binding.function = function;
}

/* First thing in a binding, whose name is function. */
#define OMPI_MQS_BINDING_OF(function) \
    ompi_mqs_binding_begin((uintptr_t) (function), __builtin_return_address(0));

/* The same for a blocking collective on comm, the binding's own argument. */
#define OMPI_MQS_BINDING_ON(function, comm)                                                          \
    const int *mqs_comm __attribute__((cleanup(ompi_mqs_binding_end), unused)) = (const int *) (comm); \
    OMPI_MQS_BINDING_OF(function)

#else

#define OMPI_MQS_BINDING_OF(function)
#define OMPI_MQS_BINDING_ON(function, comm)

#endif /* OMPI_MQS */
#endif
