/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran - where a Fortran program calls MPI.
 *
 * The library's Fortran layer calls the C functions, which are recorded, but their caller is the layer.
 * These wrappers record the program's own call site while the layer runs, and call the layer.  They have the
 * names that compilers use: those of mpif.h and `use mpi`, of `use mpi_f08`, and MPICH's with descriptors
 * for buffers.  Each takes sixteen words: a C function's thirteen, the error code, and the lengths of two
 * strings.
 */
#include "fortran.h"

#include <string.h>

#include "recorder.h"

#define PARAMETERS                                                                                          \
    word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l, word m, \
        word n, word o, word p
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p

typedef word fortran_function(PARAMETERS);

__attribute__((noinline)) static fortran_function *look_up(const char *name, fortran_function **next)
{
    mpi_function *definition = next_definition(name);
    fortran_function *found;
    memcpy(&found, &definition, sizeof found);
    __atomic_store_n(next, found, __ATOMIC_RELEASE);
    return found;
}

static inline __attribute__((always_inline)) word pass(const char *name, fortran_function **next, word caller,
                                                       PARAMETERS)
{
    fortran_function *function = __atomic_load_n(next, __ATOMIC_ACQUIRE);
    if (__builtin_expect(!function, 0)) {
        function = look_up(name, next);
        if (!function)
            return 0;
    }
    word before = recorder_self.fortran_caller;
    recorder_self.fortran_caller = caller;
    word result = function(ARGUMENTS);
    recorder_self.fortran_caller = before;
    return result;
}

#define WRAPPER(symbol)                                                            \
    __attribute__((visibility("default"))) word symbol(PARAMETERS);                \
    word symbol(PARAMETERS)                                                        \
    {                                                                              \
        static fortran_function *next;                                             \
        return pass(#symbol, &next, (word)__builtin_return_address(0), ARGUMENTS); \
    }
#define WRAPPERS(name) WRAPPER(mpi_##name##_) WRAPPER(mpi_##name##_f08_) WRAPPER(mpi_##name##_f08ts_)

RECORDER_FORTRAN(WRAPPERS)
