/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype_map - what a datatype consists of: which elements lie where, and how the user made it.
 *
 * The library keeps a description of each datatype: entries for blocks of one basic type, and loops around
 * them.  Loops are unrolled here, so that a debugger sees only blocks.
 */
#ifndef MQS_OMPI_DATATYPE_MAP_H
#define MQS_OMPI_DATATYPE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "datatype.h"
#include "mqs_extensions.h"
#include "vector.h"

struct datatype_map {
    bool set_up;
    bool cut;             /* there are more blocks than a map takes */
    struct vector blocks; /* of mqs_datatype_block, in the order of the type map */
    size_t next;
};

/* Fills the map; mqs_no_information where the library's description cannot be read. */
int datatype_map_set_up(struct datatype_map *map, struct datatypes *datatypes, mqs_taddr_t handle,
                        mqs_datatype_details *ret);

/* mqs_end_of_list after the last; ERROR_TOO_MANY if there are more that it did not take. */
int datatype_map_next(struct datatype_map *map, mqs_datatype_block *ret);

void datatype_map_clear(struct datatype_map *map);

#endif
