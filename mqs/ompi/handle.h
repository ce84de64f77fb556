/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle - what the program's handles stand for: the slots of the extension table that take a handle.
 */
#ifndef MQS_OMPI_HANDLE_H
#define MQS_OMPI_HANDLE_H

#include "mqs_extensions.h"

/* The name of a handle that is the same for all programs (MPI_COMM_NULL); mqs_no_information for others. */
int handle_name(mqs_process *process, mqs_taddr_t handle, char name[64]);

/* The operation that a request stands for; its details are those of the operation returned last. */
int handle_request(mqs_process *process, mqs_taddr_t handle, mqs_pending_operation *ret);

/* As many members as there is room for, in rank order; *size says how many there are. */
int handle_group(mqs_process *process, mqs_taddr_t handle, int room, mqs_process_name *names, int *size);

/* An MPI_Status of the program's. */
int handle_status(mqs_process *process, mqs_taddr_t address, mqs_status_details *ret);

int handle_setup_datatype_iterator(mqs_process *process, mqs_taddr_t handle, mqs_datatype_details *ret);
int handle_next_datatype_block(mqs_process *process, mqs_datatype_block *ret);

#endif
