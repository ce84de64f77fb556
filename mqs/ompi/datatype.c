/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "datatype.h"

#include "mqs_extensions.h"

/* More than any memory holds is a corrupt datatype. */
#define MAX_BYTES (INT64_C(1) << 56)

const struct datatype *datatype_get(struct datatypes *datatypes, mqs_taddr_t address)
{
    struct memory *memory = datatypes->memory;
    struct datatype *slot = &datatypes->slots[(address >> 4) % DATATYPE_CACHE];
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    uint64_t size;

    if (slot->address == address && address != 0) {
        return slot;
    }
    memset(slot, 0, sizeof *slot);
    slot->address = address;
    slot->size = -1;
    if (address == 0 || !layout_has(&memory->layout, AT_TYPE) ||
        fetch_structure(memory, address, AT_TYPE, bytes) != mqs_ok) {
        return slot;
    }
    slot->known = true;
    if (layout_has(&memory->layout, AT_OPAL_TYPE_SIZE)) {
        size = field_unsigned(memory, bytes, AT_OPAL_TYPE_SIZE);
        slot->size = size > MAX_BYTES ? -1 : (int64_t)size;
    }
    field_name(memory, bytes, AT_TYPE, AT_TYPE_NAME, AT_TYPE, slot->name);
    return slot;
}

int64_t datatype_bytes(struct datatypes *datatypes, mqs_taddr_t address, int64_t count)
{
    int64_t size;

    if (count == 0) {
        return 0;
    }
    size = datatype_get(datatypes, address)->size;
    if (size < 0 || count < 0 || (size > 0 && count > MAX_BYTES / size)) {
        return -1;
    }
    return count * size;
}

void datatype_op_name(struct datatypes *datatypes, mqs_taddr_t op, char name[64])
{
    struct memory *memory = datatypes->memory;
    unsigned char bytes[LAYOUT_MAX_STRUCT];

    name[0] = '\0';
    if (op != 0 && layout_has(&memory->layout, AT_OP) &&
        fetch_structure(memory, op, AT_OP, bytes) == mqs_ok) {
        field_name(memory, bytes, AT_OP, AT_OP_NAME, AT_OP, name);
        if (strncmp(name, "MPI_", 4) != 0) { /* the library leaves the name of others as it found it */
            snprintf(name, 64, "%s", MQS_USER_OP);
        }
    }
}

void datatypes_clear(struct datatypes *datatypes)
{
    memset(datatypes->slots, 0, sizeof datatypes->slots);
}
