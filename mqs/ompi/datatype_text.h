/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype_text - how a datatype was made, in words: "vector of 3 blocks of 2 MPI_INT, stride 4".
 */
#ifndef MQS_OMPI_DATATYPE_TEXT_H
#define MQS_OMPI_DATATYPE_TEXT_H

#include <stddef.h>

#include "datatype.h"
#include "mpi_interface.h"

/* "" where the library does not say; cut where it is longer than size. */
void datatype_text(struct datatypes *datatypes, mqs_taddr_t handle, char *text, size_t size);

#endif
