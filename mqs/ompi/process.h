/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process - what the DLL attaches to the debugger's process: the state of its MPI library, and the iterators
 * on it.
 *
 * A look begins with mqs_update_communicator_list (process_refresh); see library.
 */
#ifndef MQS_OMPI_PROCESS_H
#define MQS_OMPI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "call.h"
#include "datatype_map.h"
#include "library.h"
#include "mqs_extensions.h"
#include "operations.h"
#include "unexpected.h"
#include "wait.h"
#include "window.h"

struct _mqs_process_info {
    struct library library;
    bool fresh; /* process_refresh has succeeded */

    size_t current; /* index of the current communicator; the number of them past the end */
    bool iterating;
    struct operations operations;
    struct calls calls;
    struct calls process_calls;
    struct channels channels;
    struct waits waits;
    struct windows windows;
    struct datatype_map datatype_map;
    mqs_operation_details details; /* of the operation returned last */
    bool details_valid;

    char message[320]; /* for mqs_process_has_queues */
};

/* Ends all iterators and begins a look with what everything else stands on (library_begin). */
int process_begin(mqs_process_info *info);

/* Begins a look.  On failure the process has no communicators, and all that needs them returns the code. */
int process_refresh(mqs_process_info *info);

/* The current communicator, or NULL. */
const struct communicator *process_current(const mqs_process_info *info);

/* Ends the iterators that run on the current communicator. */
void process_leave_communicator(mqs_process_info *info);

/* Frees all that a look holds. */
void process_clear(mqs_process_info *info);

#endif
