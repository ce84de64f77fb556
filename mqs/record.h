/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record - our own structures in the process's memory (ompi_mqs.h, mpiq_record.h): they have the same
 * offsets in every process and contain their size.
 */
#ifndef MQS_RECORD_H
#define MQS_RECORD_H

#include <stddef.h>

#include "fetch.h"
#include "mpi_interface.h"

/* A member of a record that was fetched as bytes. */
#define RECORD(fetch, bytes, type, member)                                                   \
    number_unsigned((fetch), (const unsigned char *)(bytes) + offsetof(struct type, member), \
                    (int)sizeof(((struct type *)0)->member))

/* Fetches a record that holds its own size, as a 4-byte number at `size_offset`.  Takes at most `size` bytes
   and zeroes the rest of the buffer.  ERROR_ROOT_CORRUPT if the record says that it is shorter than
   `least`. */
int record_fetch(struct fetch *fetch, mqs_taddr_t address, size_t size_offset, size_t least, size_t size,
                 void *buffer);

#endif
