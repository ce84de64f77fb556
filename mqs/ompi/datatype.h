/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype - name and size of a datatype by its handle; names of reduction operations.
 */
#ifndef MQS_OMPI_DATATYPE_H
#define MQS_OMPI_DATATYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"
#include "mpi_interface.h"

#define DATATYPE_CACHE 64

struct datatype {
    mqs_taddr_t address; /* 0: empty slot */
    bool known;          /* it could be read */
    int64_t size;        /* bytes of data in one element; -1 if not known */
    char name[64];       /* "" if it has none */
};

/* Those that were asked for in this look.  With memory set and the rest zero it is empty. */
struct datatypes {
    struct memory *memory;
    struct datatype slots[DATATYPE_CACHE];
};

/* Valid until the next call; never NULL: what cannot be read is not known. */
const struct datatype *datatype_get(struct datatypes *datatypes, mqs_taddr_t address);

/* Bytes of `count` elements; -1 if not known. */
int64_t datatype_bytes(struct datatypes *datatypes, mqs_taddr_t address, int64_t count);

/* Name of a reduction operation, "" if it has none. */
void datatype_op_name(struct datatypes *datatypes, mqs_taddr_t op, char name[64]);

/* Drops what was read. */
void datatypes_clear(struct datatypes *datatypes);

#endif
