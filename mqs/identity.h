/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity - who the process is, what library it runs, how far it has come.
 */
#ifndef MQS_IDENTITY_H
#define MQS_IDENTITY_H

#include "mpi_interface.h"

/* What the rest of a look stands on: the PML, and the process's own name. */
void identity_read_pml(mqs_process_info *info);
void identity_read_name(mqs_process_info *info);

int identity_get(mqs_process_info *info, mqs_process_identity *ret);

#endif
