/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mangled - the names of C++ functions as their source spells them, for objects that have no debug
 * information.
 *
 * The Itanium ABI's mangling, as far as names go: namespaces and classes, without the arguments of functions
 * and templates, in which nobody is interested who looks for a place.
 */
#ifndef MPIQ_NAMES_MANGLED_H
#define MPIQ_NAMES_MANGLED_H

#include <stdbool.h>
#include <stddef.h>

/* "sim::Solver::step" of _ZN3sim6SolverIdE4stepEi; false for what is no such name, has operators or lambdas
   in it, or does not fit.  The symbol is untrusted. */
bool mpiq_unmangle(const char *symbol, char *ret, size_t size);

#endif
