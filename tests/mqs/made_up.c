/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up_private.h"

void *made_up_need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "made_up: out of memory\n");
        abort();
    }
    return memory;
}

struct made_up *made_up_create(int pointer_size, bool big_endian)
{
    struct made_up *made_up = made_up_need(calloc(1, sizeof *made_up));

    made_up->image.owner = made_up;
    made_up->process.owner = made_up;
    made_up->pointer_size = pointer_size;
    made_up->big_endian = big_endian;
    return made_up;
}

void made_up_destroy(struct made_up *made_up)
{
    if (made_up == NULL) {
        return;
    }
    for (size_t i = 0; i < made_up->segment_count; i++) {
        free(made_up->segments[i].bytes);
    }
    free(made_up->segments);
    free(made_up);
}

void made_up_set_gap(struct made_up *made_up, size_t gap)
{
    made_up->gap = gap;
}

void made_up_run(struct made_up *made_up, uint64_t seed)
{
    made_up->motion = seed * 2 + 1;
}

void made_up_after_fetch(struct made_up *made_up,
                         void (*after)(struct made_up *made_up, mqs_taddr_t address, size_t size))
{
    made_up->after_fetch = after;
}

struct segment *made_up_add_segment(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    struct segment *segment;

    made_up->segments =
        made_up_need(realloc(made_up->segments, (made_up->segment_count + 1) * sizeof *segment));
    segment = &made_up->segments[made_up->segment_count++];
    segment->address = address;
    segment->size = size;
    segment->capacity = size;
    segment->bytes = made_up_need(calloc(1, size == 0 ? 1 : size));
    return segment;
}

mqs_taddr_t made_up_allocate(struct made_up *made_up, size_t size)
{
    struct segment *last =
        made_up->segment_count == 0 ? NULL : &made_up->segments[made_up->segment_count - 1];
    mqs_taddr_t address;

    size = (size + 15) & ~(size_t)15;
    if (last == NULL) {
        last = made_up_add_segment(made_up, BASE, 0);
    }
    if (made_up->gap > 0) {
        last = made_up_add_segment(made_up, last->address + last->size + made_up->gap, size);
        return last->address;
    }
    if (last->size + size > last->capacity) {
        size_t capacity = (last->size + size) * 2;

        last->bytes = made_up_need(realloc(last->bytes, capacity));
        memset(last->bytes + last->size, 0, capacity - last->size);
        last->capacity = capacity;
    }
    address = last->address + last->size;
    last->size += size;
    return address;
}

/* The bytes at an address, or NULL if not all are there. */
static unsigned char *find_bytes(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    size_t low = 0;
    size_t high = made_up->segment_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct segment *segment = &made_up->segments[middle];

        if (address < segment->address) {
            high = middle;
        } else if (address - segment->address >= segment->size) {
            low = middle + 1;
        } else {
            size_t offset = address - segment->address;

            return size <= segment->size - offset ? segment->bytes + offset : NULL;
        }
    }
    return NULL;
}

void made_up_put_bytes(struct made_up *made_up, mqs_taddr_t address, const void *bytes, size_t size)
{
    memcpy(made_up_need(find_bytes(made_up, address, size)), bytes, size);
}

void made_up_put(struct made_up *made_up, mqs_taddr_t address, int width, uint64_t value)
{
    unsigned char *bytes = made_up_need(find_bytes(made_up, address, (size_t)width));

    for (int i = 0; i < width; i++) {
        bytes[made_up->big_endian ? width - 1 - i : i] = (unsigned char)(value >> 8 * i);
    }
}

uint64_t made_up_get(struct made_up *made_up, mqs_taddr_t address, int width)
{
    const unsigned char *bytes = made_up_need(find_bytes(made_up, address, (size_t)width));
    uint64_t value = 0;

    for (int i = 0; i < width; i++) {
        value |= (uint64_t)bytes[made_up->big_endian ? width - 1 - i : i] << 8 * i;
    }
    return value;
}

void made_up_put_text(struct made_up *made_up, mqs_taddr_t address, const char *text)
{
    made_up_put_bytes(made_up, address, text, strlen(text) + 1);
}

void made_up_symbol(struct made_up *made_up, const char *name, mqs_taddr_t address)
{
    struct symbol *symbol = NULL;

    for (int i = 0; i < made_up->symbol_count; i++) {
        if (strcmp(made_up->symbols[i].name, name) == 0) {
            symbol = &made_up->symbols[i];
        }
    }
    if (symbol == NULL) {
        symbol = &made_up->symbols[made_up->symbol_count++];
    }
    snprintf(symbol->name, sizeof symbol->name, "%s", name);
    symbol->address = address;
}

mqs_taddr_t made_up_find_symbol(const struct made_up *made_up, const char *name)
{
    for (int i = 0; i < made_up->symbol_count; i++) {
        if (strcmp(made_up->symbols[i].name, name) == 0) {
            return made_up->symbols[i].address;
        }
    }
    return 0;
}

const unsigned char *made_up_find(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    return find_bytes(made_up, address, size);
}

int made_up_type_index(struct made_up *made_up, const char *name)
{
    for (int i = 0; i < made_up->type_count; i++) {
        if (strcmp(made_up->types[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void made_up_structure(struct made_up *made_up, const char *name)
{
    struct mqs_type_ *type = &made_up->types[made_up->type_count++];

    type->owner = made_up;
    snprintf(type->name, sizeof type->name, "%s", name);
    type->size = 0;
    type->alignment = 1;
}

void made_up_member(struct made_up *made_up, const char *name, const char *what)
{
    struct mqs_type_ *type = &made_up->types[made_up->type_count - 1];
    struct member *member = &made_up->members[made_up->member_count++];
    int size;
    int alignment;

    switch (what[0]) {
    case 'p':
    case 'z':
        size = alignment = made_up->pointer_size;
        break;
    case 'i':
        size = alignment = 4;
        break;
    case 'h':
        size = alignment = 2;
        break;
    case 'b':
        size = alignment = 1;
        break;
    case 'l':
        size = alignment = 8;
        break;
    default:
        if (what[0] >= '0' && what[0] <= '9') {
            size = atoi(what);
            alignment = 1;
        } else {
            const struct mqs_type_ *inner = &made_up->types[made_up_type_index(made_up, what + 1)];

            size = inner->size;
            alignment = inner->alignment;
        }
    }
    member->type = made_up->type_count - 1;
    snprintf(member->name, sizeof member->name, "%s", name);
    /* Sizes were rounded up when the last member came: members of a structure are added in a row. */
    member->offset = (type->id + alignment - 1) / alignment * alignment;
    member->width = size;
    type->id = member->offset + size;
    type->alignment = alignment > type->alignment ? alignment : type->alignment;
    type->size = (type->id + type->alignment - 1) / type->alignment * type->alignment;
}

void made_up_remove_type(struct made_up *made_up, const char *name)
{
    int index = made_up_type_index(made_up, name);

    if (index >= 0) {
        made_up->types[index].name[0] = '\0';
    }
}

int made_up_size(struct made_up *made_up, const char *structure)
{
    int index = made_up_type_index(made_up, structure);

    return index < 0 ? -1 : made_up->types[index].size;
}

const struct member *made_up_find_member(struct made_up *made_up, int type, const char *name)
{
    for (int i = 0; i < made_up->member_count; i++) {
        if (made_up->members[i].type == type && strcmp(made_up->members[i].name, name) == 0) {
            return &made_up->members[i];
        }
    }
    return NULL;
}

int made_up_offset(struct made_up *made_up, const char *structure, const char *member)
{
    const struct member *found = made_up_find_member(made_up, made_up_type_index(made_up, structure), member);

    return found == NULL ? -1 : found->offset;
}

void made_up_set(struct made_up *made_up, mqs_taddr_t address, const char *structure, const char *member,
                 uint64_t value)
{
    const struct member *found = made_up_find_member(made_up, made_up_type_index(made_up, structure), member);

    if (found == NULL) {
        fprintf(stderr, "made_up: no %s in %s\n", member, structure);
        abort();
    }
    made_up_put(made_up, address + (mqs_taddr_t)found->offset, found->width, value);
}

mqs_taddr_t made_up_new(struct made_up *made_up, const char *structure)
{
    return made_up_allocate(made_up, (size_t)made_up_size(made_up, structure));
}

int made_up_pointer_size(const struct made_up *made_up)
{
    return made_up->pointer_size;
}

bool made_up_is_big_endian(const struct made_up *made_up)
{
    return made_up->big_endian;
}

size_t made_up_bytes(const struct made_up *made_up)
{
    size_t sum = 0;

    for (size_t i = 0; i < made_up->segment_count; i++) {
        sum += made_up->segments[i].size;
    }
    return sum;
}

static const struct segment *segment_of(const struct made_up *made_up, size_t *index)
{
    size_t i = 0;

    while (*index >= made_up->segments[i].size) {
        *index -= made_up->segments[i++].size;
    }
    return &made_up->segments[i];
}

unsigned char *made_up_byte(struct made_up *made_up, size_t index)
{
    const struct segment *segment = segment_of(made_up, &index);

    return segment->bytes + index;
}

mqs_taddr_t made_up_address(const struct made_up *made_up, size_t index)
{
    const struct segment *segment = segment_of(made_up, &index);

    return segment->address + index;
}

void made_up_strip(struct made_up *made_up)
{
    made_up->stripped = true;
}

mqs_process *made_up_process(struct made_up *made_up)
{
    return &made_up->process;
}

mqs_image *made_up_image(struct made_up *made_up)
{
    return &made_up->image;
}
