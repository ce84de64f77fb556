/* SPDX-License-Identifier: BSD-3-Clause */
/* client_print - all that the interface gives of a process, as JSON. */
#ifndef CLIENT_PRINT_H
#define CLIENT_PRINT_H

#include "mpi_interface.h"

/* A code that is no success, and the DLL's sentence for it, under that name. */
void print_failure(const char *where, int code);

/* One look, with all that the DLL asked for since the last one. */
void print_look(mqs_process *process);

#endif
