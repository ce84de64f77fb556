/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is no message-queue DLL. */
#include "mpi_interface.h"

extern int nothing_of_the_kind;
int nothing_of_the_kind = MQS_INTERFACE_COMPATIBILITY;
