/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry_points - the entry points that are the same in all our DLLs (basic callbacks, versions, images), and
 * the common start of the others.
 *
 * It leaves to each DLL: its struct _mqs_process_info, mqs_version_string, and all functions that take a
 * process.
 */
#ifndef MQS_ENTRY_POINTS_H
#define MQS_ENTRY_POINTS_H

#include "error.h"
#include "mpi_interface.h"

/* Everything else stays inside. */
#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* What the debugger says when it sets up a process. */
struct entry_setup {
    mqs_image *image;
    const mqs_image_callbacks *image_callbacks;
    mqs_target_type_sizes sizes; /* checked; bool_size and size_t_size are filled, too */
};

/* Checks the arguments of mqs_setup_process.  ERROR_ORDER where the image has not been set up, ERROR_SIZES
   where the target's basic types have sizes that no code here handles. */
int entry_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks,
                        struct entry_setup *ret);

/* The whole of mqs_image_has_queues: mqs_ok if the image has one of the `variables` (NULL at the end), else
   mqs_no_information and *message set to `none`. */
int entry_image_has(mqs_image *image, const char *const *variables, const char *none, char **message);

/* What hangs on the process; NULL if nothing does. */
mqs_process_info *entry_process(mqs_process *process);

/* Begins a look if none is under way; each DLL has its own. */
int process_ensure(mqs_process_info *info);
/* What hangs on the process, with a look under way. */
static inline int entry_begin(mqs_process *process, mqs_process_info **ret)
{
    *ret = entry_process(process);
    return *ret == NULL ? ERROR_ARGUMENT : process_ensure(*ret);
}

#endif
