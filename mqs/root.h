/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * root - the record from which a patched library's state is found (ompi_mqs.h), its layout tables and its
 * clock.
 */
#ifndef MQS_ROOT_H
#define MQS_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi_interface.h"
#include "ompi_mqs.h"

struct root {
    bool present;                /* a patched library, of a version that we know */
    struct ompi_mqs_root record; /* in our byte order; strings terminated */
    mqs_taddr_t newest_table;    /* of those that are in the layout */
};

/* Reads the root and what tables it has gained; mqs_ok also where the library is not patched. */
int root_read(mqs_process_info *info);

/* Bytes of a record that says its own size: no more than ours, the rest zero.  `size_offset` is where it
   says it, `least` what it must have. */
int record_fetch(mqs_process_info *info, mqs_taddr_t address, size_t size_offset, size_t least, size_t size,
                 void *buffer);

/* A member of a record that was fetched as bytes. */
#define RECORD(info, bytes, type, member)                                                   \
    number_unsigned((info), (const unsigned char *)(bytes) + offsetof(struct type, member), \
                    (int)sizeof(((struct type *)0)->member))

/* Nanoseconds since the epoch of a cycle count; 0 if it cannot be told. */
int64_t root_time(const struct root *root, uint64_t cycles);

#endif
