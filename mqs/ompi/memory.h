/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory - the memory of an Open MPI process by structures and members: bytes (fetch), where members lie
 * (layout), where variables are (symbol).
 *
 * It leaves to others: what the structures mean.
 */
#ifndef MQS_OMPI_MEMORY_H
#define MQS_OMPI_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "fetch.h"
#include "layout.h"
#include "mpi_interface.h"
#include "symbol.h"

struct memory {
    struct fetch fetch;
    struct layout layout;
    struct symbols symbols;
    bool han_asked;       /* of the debugger's types, see memory_find_han */
    bool datatypes_asked; /* likewise */
};

/* A structure of the layout; its size row must be there.  The buffer takes LAYOUT_MAX_STRUCT bytes. */
int fetch_structure(struct memory *memory, mqs_taddr_t address, enum layout_slot size_row, void *buffer);

/* Likewise, at a variable of the library, whose address it gives; false if one of them cannot be read. */
bool fetch_variable(struct memory *memory, enum symbol symbol, enum layout_slot size_row,
                    mqs_taddr_t *address, void *buffer);

/* A member of a structure that was fetched whole; 0 where the layout has no such row. */
uint64_t field_unsigned(const struct memory *memory, const unsigned char *structure, enum layout_slot slot);
int64_t field_signed(const struct memory *memory, const unsigned char *structure, enum layout_slot slot);
mqs_taddr_t field_pointer(const struct memory *memory, const unsigned char *structure, enum layout_slot slot);

/* A name in a structure that was fetched whole: an array of 64 characters, or a pointer to them, as later
   releases have.  Its size shows which; if the layout does not have the size, the space up to the member
   `next` does, or with size_row there the space up to the end of the structure.  "" if there is no name, or
   it cannot be read. */
void field_name(struct memory *memory, const unsigned char *structure, enum layout_slot size_row,
                enum layout_slot slot, enum layout_slot next, char name[64]);

/* Asks the debugger's types for what the library's own tables do not tell.  To be called at the start of each
   look: components are loaded as the process goes on. */
void memory_complete_layout(struct memory *memory);

/* Asks once for han's structures, which only few processes need. */
void memory_find_han(struct memory *memory);

/* Asks once for what datatypes consist of, which only a question about one needs. */
void memory_find_datatypes(struct memory *memory);

#endif
