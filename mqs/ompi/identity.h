/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity - who the process is, which library it runs, and its phase.
 */
#ifndef MQS_OMPI_IDENTITY_H
#define MQS_OMPI_IDENTITY_H

#include "library.h"
#include "mqs_extensions.h"

int identity_get(struct library *library, mqs_process_identity *ret);

#endif
