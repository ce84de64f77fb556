/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator_details - details of one communicator beyond the Forum's interface.
 */
#ifndef MQS_OMPI_COMMUNICATOR_DETAILS_H
#define MQS_OMPI_COMMUNICATOR_DETAILS_H

#include "communicator.h"
#include "library.h"
#include "mqs_extensions.h"

int communicator_details(struct library *library, const struct communicator *communicator,
                         mqs_communicator_details *ret);

#endif
