/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plain_dll - a small message-queue DLL without the extension, that does as it should, with a place for a
 * fault in each of its functions: misbehave() is another file's.
 *
 * The symbol "where" of the process says what goes wrong: its address is 10 * PLACE + how; 0: nothing.
 * The process has MPI_COMM_WORLD with 8 ranks, of which this is rank 3, one pending send to rank 5 with tag
 * 9 and 40 bytes at "memory", and no unexpected messages.
 */
#ifndef MPIQ_TEST_PLAIN_DLL_H
#define MPIQ_TEST_PLAIN_DLL_H

#include "mpi_interface.h"

enum place {
    PLACE_IMAGE = 1,
    PLACE_PROCESS,
    PLACE_LIST,
    PLACE_COMMUNICATOR,
    PLACE_GROUP,
    PLACE_NEXT,
    PLACE_OPERATION,
    PLACE_QUEUES /* mqs_process_has_queues: the result is its message */
};

extern const mqs_basic_callbacks *plain_basic;
extern const mqs_image_callbacks *plain_image;
extern const mqs_process_callbacks *plain_process;

/* Called at each place with how it should go wrong (1 to 9), and what it is about to return.  Returns the
   code to return. */
int misbehave(enum place place, int how, mqs_process *process, void *result);

#endif
