/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * han - the hierarchical collectives component splits a communicator into hidden ones, by node; a wait in
 * one of them is a wait in a collective on the one that the user called on.
 */
#ifndef MQS_OMPI_HAN_H
#define MQS_OMPI_HAN_H

#include "communicator.h"
#include "memory.h"

/* Marks the hidden communicators of `communicator`, if it is served by han.  What cannot be read is left
   unmarked. */
void han_mark(struct memory *memory, struct communicators *communicators,
              const struct communicator *communicator);

#endif
