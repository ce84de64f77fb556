/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify_contents.h"

#include <stdint.h>
#include <string.h>

#include "class_object.h"

const char *check_opal_type(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;

    if (!symbol_find_name(&memory->symbols, "ompi_mpi_int", &address) ||
        fetch_structure(memory, address, AT_OPAL_TYPE, bytes) != mqs_ok ||
        !(object_is_a(memory, address, "opal_datatype_t") ||
          object_is_a(memory, address, "ompi_datatype_t"))) {
        return "ompi_mpi_int is not of a datatype class";
    }
    if (field_unsigned(memory, bytes, AT_OPAL_TYPE_SIZE) != 4 ||
        field_signed(memory, bytes, AT_OPAL_TYPE_LOWER) != 0 ||
        field_signed(memory, bytes, AT_OPAL_TYPE_UPPER) != 4) {
        return "MPI_INT is not four bytes long";
    }
    return NULL;
}

const char *check_type(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    char name[64];

    if (!symbol_find_name(&memory->symbols, "ompi_mpi_int", &address) ||
        fetch_structure(memory, address, AT_TYPE, bytes) != mqs_ok) {
        return "ompi_mpi_int cannot be read";
    }
    field_name(memory, bytes, AT_TYPE, AT_TYPE_NAME, AT_TYPE, name);
    return strcmp(name, "MPI_INT") == 0 ? NULL : "ompi_mpi_int is not named MPI_INT";
}

/* MPI_INT is described by one block of one element. */
const char *check_description(struct memory *memory)
{
    unsigned char type[LAYOUT_MAX_STRUCT];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    const unsigned char *description = type + memory->layout.offset[AT_OPAL_TYPE_DESCRIPTION];

    if (!layout_has(&memory->layout, AT_ELEMENT) ||
        !symbol_find_name(&memory->symbols, "ompi_mpi_int", &address) ||
        fetch_structure(memory, address, AT_OPAL_TYPE, type) != mqs_ok) {
        return NULL;
    }
    if (field_unsigned(memory, description, AT_DESCRIPTION_USED) != 1 ||
        fetch_structure(memory, field_pointer(memory, description, AT_DESCRIPTION_ENTRIES), AT_ELEMENT,
                        bytes) != mqs_ok ||
        field_unsigned(memory, bytes, AT_ELEMENT_COUNT) != 1 ||
        field_signed(memory, bytes, AT_ELEMENT_DISPLACEMENT) != 0 ||
        field_signed(memory, bytes, AT_ELEMENT_STRIDE) != 4) {
        return "MPI_INT is not described by one element of four bytes";
    }
    return NULL;
}

const char *check_op(struct memory *memory)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t address;
    char name[64];

    if (!symbol_find_name(&memory->symbols, "ompi_mpi_op_sum", &address) ||
        fetch_structure(memory, address, AT_OP, bytes) != mqs_ok ||
        !object_is_a(memory, address, "ompi_op_t")) {
        return "ompi_mpi_op_sum is not of the class ompi_op_t";
    }
    field_name(memory, bytes, AT_OP, AT_OP_NAME, AT_OP, name);
    return strcmp(name, "MPI_SUM") == 0 ? NULL : "ompi_mpi_op_sum is not named MPI_SUM";
}
