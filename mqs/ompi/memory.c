/* SPDX-License-Identifier: BSD-3-Clause */
#include "error.h"
#include "memory.h"

#define NAME_BYTES 64

int fetch_structure(struct memory *memory, mqs_taddr_t address, enum layout_slot size_row, void *buffer)
{
    if (!layout_has(&memory->layout, size_row)) {
        return ERROR_LAYOUT;
    }
    return fetch_bytes(&memory->fetch, address, (size_t)memory->layout.size[size_row], buffer);
}

bool fetch_variable(struct memory *memory, enum symbol symbol, enum layout_slot size_row,
                    mqs_taddr_t *address, void *buffer)
{
    return symbol_find(&memory->symbols, symbol, address) &&
           fetch_structure(memory, *address, size_row, buffer) == mqs_ok;
}

uint64_t field_unsigned(const struct memory *memory, const unsigned char *structure, enum layout_slot slot)
{
    const struct layout *layout = &memory->layout;

    if (!layout_has(layout, slot)) {
        return 0;
    }
    return number_unsigned(&memory->fetch, structure + layout->offset[slot], layout_width(layout, slot));
}

int64_t field_signed(const struct memory *memory, const unsigned char *structure, enum layout_slot slot)
{
    const struct layout *layout = &memory->layout;

    if (!layout_has(layout, slot)) {
        return 0;
    }
    return number_signed(&memory->fetch, structure + layout->offset[slot], layout_width(layout, slot));
}

mqs_taddr_t field_pointer(const struct memory *memory, const unsigned char *structure, enum layout_slot slot)
{
    return (mqs_taddr_t)field_unsigned(memory, structure, slot);
}

void field_name(struct memory *memory, const unsigned char *structure, enum layout_slot size_row,
                enum layout_slot slot, enum layout_slot next, char name[64])
{
    const struct layout *layout = &memory->layout;
    int32_t offset = layout->offset[slot];
    int room = layout->size[size_row] - offset;
    int size = next == size_row ? room : layout->offset[next] - offset;
    mqs_taddr_t address;

    name[0] = '\0';
    if (!layout_has(layout, slot) || room < layout->sizes.pointer_size) {
        return;
    }
    if (layout->size[slot] > 0) {
        size = layout->size[slot];
    }
    if (size >= NAME_BYTES) {
        text_copy(name, NAME_BYTES, structure + offset, (size_t)(room < NAME_BYTES ? room : NAME_BYTES));
        return;
    }
    address = (mqs_taddr_t)number_unsigned(&memory->fetch, structure + offset, layout->sizes.pointer_size);
    if (address != 0 && fetch_string(&memory->fetch, address, name, NAME_BYTES) != mqs_ok) {
        name[0] = '\0';
    }
}

void memory_complete_layout(struct memory *memory)
{
    struct layout *layout = &memory->layout;
    enum mqs_layout_source source = layout->source;
    bool tables = source == mqs_layout_tables;

    if (source == mqs_layout_built_in) {
        return; /* the debugger had nothing the first time */
    }
    if (tables && layout_has_group(layout, GROUP_COMMUNICATORS)) {
        return;
    }
    if (!layout_has_group(layout, GROUP_COMMUNICATORS) || !layout_has_group(layout, GROUP_REQUESTS) ||
        !layout_has_group(layout, GROUP_OB1) || !layout_has_group(layout, GROUP_LIBNBC)) {
        layout_add_debug_info(layout, memory->symbols.image, memory->symbols.callbacks);
    }
    if (tables) {
        layout->source = source;
    }
}

void memory_find_han(struct memory *memory)
{
    struct layout *layout = &memory->layout;
    enum mqs_layout_source source = layout->source;

    /* Only lines with a c_index use han on their own accord; debug information may take its time. */
    if (memory->han_asked || source != mqs_layout_tables || layout_has(layout, AT_HAN) ||
        !layout_has(layout, AT_COMM_INDEX)) {
        return;
    }
    memory->han_asked = true;
    layout_add_debug_info(layout, memory->symbols.image, memory->symbols.callbacks);
    layout->source = source;
}

void memory_find_datatypes(struct memory *memory)
{
    struct layout *layout = &memory->layout;
    enum mqs_layout_source source = layout->source;

    if (memory->datatypes_asked ||
        (layout_has_group(layout, GROUP_DATATYPES) && layout_has_group(layout, GROUP_CONSTRUCTORS))) {
        return;
    }
    memory->datatypes_asked = true;
    layout_add_datatypes(layout, memory->symbols.image, memory->symbols.callbacks);
    layout->source = source;
}
