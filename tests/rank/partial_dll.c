/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with two functions of a message-queue DLL. */
#include "mpi_interface.h"

int mqs_version_compatibility(void)
{
    return MQS_INTERFACE_COMPATIBILITY;
}

int mqs_dll_taddr_width(void)
{
    return (int)sizeof(mqs_taddr_t);
}
