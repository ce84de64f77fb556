/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * free_list - all items of one of the library's free lists, those in use and those not, chunk by chunk: the
 * library takes requests from chunks and never returns the chunks, so every request in use is in one.  It
 * leaves to others: which items are in use.
 */
#ifndef MQS_OMPI_FREE_LIST_H
#define MQS_OMPI_FREE_LIST_H

#include <stddef.h>

#include "memory.h"
#include "mpi_interface.h"

/* What is done with an item: its address and its first `size` bytes.  Anything but mqs_ok ends the walk
   and is its result. */
typedef int (*free_list_visit)(struct memory *memory, void *argument, mqs_taddr_t address,
                               const unsigned char *bytes);

/* Visits all items of the free list at `address`.  size: how much of each the visitor reads; a list whose
   items are smaller, or with more than `limit` of them, is corrupt. */
int free_list_walk(struct memory *memory, mqs_taddr_t address, size_t size, size_t limit,
                   free_list_visit visit, void *argument);

#endif
