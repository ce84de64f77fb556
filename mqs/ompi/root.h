/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * root - the record that leads to a patched library's state (ompi_mqs.h), its layout tables and its clock.
 */
#ifndef MQS_OMPI_ROOT_H
#define MQS_OMPI_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "mpi_interface.h"
#include "ompi_mqs.h"

struct root {
    bool present;                /* a patched library, of a version that we know */
    struct ompi_mqs_root record; /* in our byte order; strings terminated */
    mqs_taddr_t newest_table;    /* of those that are in the layout */
};

/* Reads the root, and the tables that it has gained into the layout; mqs_ok also where the library is not
   patched. */
int root_read(struct memory *memory, struct root *root);

/* Nanoseconds since the epoch of a cycle count; 0 if it cannot be told. */
int64_t root_time(const struct root *root, uint64_t cycles);

#endif
