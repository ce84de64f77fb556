/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_request - the request of a communicator under construction (MPI_Comm_create_group, MPI_Comm_idup): a
 * schedule of steps; it waits now for the requests of the first step.  MPI_Isendrecv's is one of a single
 * step.
 */
#ifndef MQS_OMPI_COMM_REQUEST_H
#define MQS_OMPI_COMM_REQUEST_H

#include <stdbool.h>

#include "memory.h"
#include "mpi_interface.h"

/* Where the addresses of the current step's requests lie, and how many there are; false if this is no such
   request, or it cannot be read, or its step has none. */
bool comm_request_step(struct memory *memory, mqs_taddr_t request, mqs_taddr_t *array, int *count);

#endif
