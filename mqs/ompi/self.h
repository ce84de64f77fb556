/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self - the process's own name, and the name of its PML.
 */
#ifndef MQS_OMPI_SELF_H
#define MQS_OMPI_SELF_H

#include "group.h"
#include "memory.h"
#include "root.h"

#define PML_NAME 48

/* Fills groups->self, from the root or else from the library's own process structure. */
void self_read_name(const struct root *root, struct groups *groups);

/* "ob1"; "" if it is not known (yet). */
void self_read_pml(struct memory *memory, const struct root *root, char pml[PML_NAME]);

#endif
