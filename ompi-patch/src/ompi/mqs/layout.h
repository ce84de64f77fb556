/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - how a loaded object says where its members lie.
 *
 * A table is an array of these rows.  A member that a release renames breaks its build, here.  Rows bear
 * the source's names, so that a debugger's type callbacks answer the same question from DWARF.
 */
#ifndef OMPI_MQS_LAYOUT_H
#define OMPI_MQS_LAYOUT_H

#include "ompi/mqs/library.h"

#if OMPI_MQS

/* A member of struct structure, or of the type that is called so. */
#define OMPI_MQS_MEMBER(structure, member) OMPI_MQS_TYPE_MEMBER(struct structure, structure, member)
#define OMPI_MQS_TYPE_MEMBER(type, structure, member) \
    {#structure, #member, offsetof(type, member), sizeof(((type *) 0)->member)},

/* A bare flexible array has no size. */
#define OMPI_MQS_ARRAY_MEMBER(structure, member) \
    {#structure, #member, offsetof(struct structure, member), 0},

#define OMPI_MQS_SIZE(structure) OMPI_MQS_TYPE_SIZE(struct structure, structure)
#define OMPI_MQS_TYPE_SIZE(type, structure) {#structure, "", 0, sizeof(type)},

/* Constants may be negative: the reader takes offset as signed. */
#define OMPI_MQS_CONSTANT(name) {"", #name, (uint32_t) (name), sizeof(name)},

#define OMPI_MQS_TABLE(variable, name, row_array)           \
    static struct ompi_mqs_table variable = {               \
        .object = name,                                     \
        .size = sizeof(struct ompi_mqs_table),              \
        .row_size = sizeof(struct ompi_mqs_row),            \
        .row_count = sizeof(row_array) / sizeof(row_array[0]), \
    };                                                      \
    static void variable##_add(void)                        \
    {                                                       \
        variable.rows = ompi_mqs_address(row_array);        \
        ompi_mqs_table_add(&variable);                      \
    }

#endif /* OMPI_MQS */
#endif
