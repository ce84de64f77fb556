/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * built_in - layouts of stock releases, compiled into the DLL: for libraries without the patch's tables and
 * without debug information.
 *
 * A layout is trusted only after checks on the process itself.  The library states its release.  Each class
 * object that it exports gives the name and size of its class.  Objects that every process has contain known
 * values (verify).  A structure that fails a check is left out, with everything that depends on it, and the
 * failure is kept as a sentence; the rest can be trusted.
 */
#ifndef MQS_OMPI_BUILT_IN_H
#define MQS_OMPI_BUILT_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "memory.h"
#include "mqs_extensions.h"

#define BUILT_IN_FAILURES (sizeof(((mqs_layout_details *)0)->failures) / sizeof(mqs_layout_failure))

/* What came of the checks.  A zeroed one has checked nothing. */
struct built_in {
    bool settled;        /* nothing is missing and nothing failed: not checked again */
    bool waiting;        /* MPI is not initialized, or no longer: there is nothing to check against */
    char release[32];    /* of the library, "" if it does not say */
    const char *variant; /* how the layout in use was configured, "" for the default; NULL: no layout */
    size_t failed;
    mqs_layout_failure failures[BUILT_IN_FAILURES]; /* the first ones */
};

/* Fills the layout with what of its release's rows stands the checks, unless tables or debug information
   filled it.  Call it once a look. */
void built_in_complete(struct memory *memory, struct built_in *built_in);

/* Number of layouts, and the release and variant of one of them. */
size_t built_in_count(void);
void built_in_describe(size_t index, const char **release, const char **variant);

/* For tests: uses this layout, whatever the library says about its release and its class sizes; (size_t)-1
   ends that. */
void built_in_force(size_t index);

#endif
