/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <string.h>

#include "callbacks.h"
#include "datatype_map.h"
#include "datatype_text.h"
#include "error.h"

#define MAX_ENTRIES 65536
#define MAX_BLOCKS 4096
#define MAX_DEPTH 16
#define MAX_BASIC 64

/* Types of entries that are no basic type: opal_datatype_internal.h. */
#define ENTRY_LOOP 0
#define ENTRY_END_LOOP 1

/* opal_datatype_t.flags */
#define FLAG_PREDEFINED 0x0002
#define FLAG_COMMITTED 0x0004

/* A description while it is unrolled. */
struct description {
    struct memory *memory;
    struct datatype_map *map;
    unsigned char *entries;
    size_t width; /* bytes of an entry */
    size_t count;
    size_t left; /* entries that may still be gone through, loops included */
    mqs_datatype_block basic[MAX_BASIC];
    bool basic_known[MAX_BASIC];
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* By the library's name of a basic type, since its number differs from release to release. */
static int kind_of(const char *name, int size)
{
    name += starts_with(name, "OPAL_") ? 5 : 0;
    if (strstr(name, "COMPLEX") != NULL) {
        return mqs_element_complex;
    }
    if (starts_with(name, "FLOAT")) {
        return mqs_element_floating;
    }
    if (starts_with(name, "BOOL")) {
        return mqs_element_boolean;
    }
    if (starts_with(name, "WCHAR")) {
        return mqs_element_wide_character;
    }
    if (starts_with(name, "UINT") || starts_with(name, "UNSIGNED")) {
        return mqs_element_unsigned;
    }
    if (starts_with(name, "INT") || starts_with(name, "LONG")) {
        return size == 1 ? mqs_element_character : mqs_element_signed;
    }
    return mqs_element_bytes;
}

/* Kind and size of a basic type by its number. */
static int read_basic(struct description *description, unsigned number, mqs_datatype_block *ret)
{
    struct memory *memory = description->memory;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_datatype_block *basic;
    mqs_taddr_t table;
    mqs_taddr_t address;
    uint64_t size;
    char name[64] = "";
    int code;

    if (number >= MAX_BASIC) {
        return ERROR_DATATYPE;
    }
    basic = &description->basic[number];
    if (!description->basic_known[number]) {
        if (!symbol_find(&memory->symbols, SYMBOL_opal_datatype_basicDatatypes, &table)) {
            return ERROR_SYMBOL;
        }
        code = fetch_pointer(&memory->fetch,
                             table + (mqs_taddr_t)number * (mqs_taddr_t)memory->layout.sizes.pointer_size,
                             &address);
        if (code == mqs_ok) {
            code = fetch_structure(memory, address, AT_OPAL_TYPE, bytes);
        }
        if (code != mqs_ok) {
            return code;
        }
        size = field_unsigned(memory, bytes, AT_OPAL_TYPE_SIZE);
        if (size == 0 || size > 64) {
            return ERROR_DATATYPE;
        }
        text_copy(name, sizeof name, bytes + memory->layout.offset[AT_OPAL_TYPE_NAME],
                  (size_t)(memory->layout.size[AT_OPAL_TYPE] - memory->layout.offset[AT_OPAL_TYPE_NAME]));
        basic->kind = kind_of(name, (int)size);
        basic->size = (int)size;
        description->basic_known[number] = true;
    }
    *ret = *basic;
    return mqs_ok;
}

static unsigned type_of(const struct description *description, size_t entry)
{
    return (unsigned)field_unsigned(description->memory, description->entries + entry * description->width,
                                    AT_ENTRY_TYPE);
}

/* Index of the entry that ends the loop which begins at `loop`; count if none does. */
static size_t end_of_loop(const struct description *description, size_t loop)
{
    size_t depth = 0;

    for (size_t i = loop; i < description->count; i++) {
        unsigned type = type_of(description, i);

        if (type == ENTRY_LOOP) {
            depth++;
        } else if (type == ENTRY_END_LOOP && --depth == 0) {
            return i;
        }
    }
    return description->count;
}

static int add_block(struct description *description, size_t entry, int64_t base)
{
    struct memory *memory = description->memory;
    struct datatype_map *map = description->map;
    const unsigned char *bytes = description->entries + entry * description->width;
    mqs_datatype_block block;
    mqs_datatype_block *added;
    int code = read_basic(description, type_of(description, entry), &block);

    if (code != mqs_ok) {
        return code;
    }
    if (__builtin_add_overflow(base, field_signed(memory, bytes, AT_ELEMENT_DISPLACEMENT),
                               &block.displacement)) {
        return ERROR_DATATYPE;
    }
    block.length = field_signed(memory, bytes, AT_ELEMENT_LENGTH);
    block.count = (int64_t)field_unsigned(memory, bytes, AT_ELEMENT_COUNT);
    block.stride = field_signed(memory, bytes, AT_ELEMENT_STRIDE);
    if (block.length < 0 || block.length > INT64_MAX / 64) {
        return ERROR_DATATYPE;
    }
    added = vector_add(&map->blocks, sizeof *added, MAX_BLOCKS);
    if (added == NULL) {
        map->cut = map->blocks.count >= MAX_BLOCKS;
        return map->cut ? mqs_end_of_list : ERROR_NO_STORE;
    }
    *added = block;
    return mqs_ok;
}

/* Where the elements of that turn of a loop begin; false for what leaves the address space. */
static bool displace(int64_t base, uint64_t turn, int64_t extent, int64_t *ret)
{
    int64_t by;

    return !__builtin_mul_overflow(turn, extent, &by) && !__builtin_add_overflow(base, by, ret);
}

/* The entries [first, end), displaced by base; mqs_end_of_list once the map is full. */
static int unroll(struct description *description, size_t first, size_t end, int64_t base, int depth)
{
    for (size_t i = first; i < end; i++) {
        unsigned type = type_of(description, i);
        int code = mqs_ok;

        if (description->left == 0 || depth == MAX_DEPTH) {
            description->map->cut = true;
            return mqs_end_of_list;
        }
        description->left--;
        if (type == ENTRY_LOOP) {
            const unsigned char *bytes = description->entries + i * description->width;
            uint64_t loops = field_unsigned(description->memory, bytes, AT_LOOP_COUNT);
            int64_t extent = field_signed(description->memory, bytes, AT_LOOP_EXTENT);
            size_t last = end_of_loop(description, i);

            if (last >= end) {
                return ERROR_DATATYPE;
            }
            if (last == i + 1) { /* nothing in it */
                loops = 0;
            }
            for (uint64_t turn = 0; turn < loops && code == mqs_ok; turn++) {
                int64_t start;

                code = displace(base, turn, extent, &start)
                           ? unroll(description, i + 1, last, start, depth + 1)
                           : ERROR_DATATYPE;
            }
            i = last;
        } else if (type != ENTRY_END_LOOP) {
            code = add_block(description, i, base);
        }
        if (code != mqs_ok) {
            return code;
        }
    }
    return mqs_ok;
}

static bool layout_is_there(const struct layout *layout)
{
    return layout_has(layout, AT_OPAL_TYPE_DESCRIPTION) && layout_has(layout, AT_OPAL_TYPE_NAME) &&
           layout_has(layout, AT_OPAL_TYPE_LOWER) && layout_has(layout, AT_OPAL_TYPE_UPPER) &&
           layout_has_group(layout, GROUP_DATATYPES) &&
           layout->offset[AT_OPAL_TYPE_DESCRIPTION] <=
               layout->size[AT_OPAL_TYPE] - layout->size[AT_DESCRIPTION];
}

static int read_description(struct memory *memory, struct datatype_map *map, const unsigned char *type)
{
    const struct layout *layout = &memory->layout;
    const unsigned char *bytes = type + layout->offset[AT_OPAL_TYPE_DESCRIPTION];
    struct description description;
    mqs_taddr_t address = (mqs_taddr_t)field_unsigned(memory, bytes, AT_DESCRIPTION_ENTRIES);
    uint64_t used = field_unsigned(memory, bytes, AT_DESCRIPTION_USED);
    int code;

    if (used == 0) {
        return mqs_ok;
    }
    if (used > MAX_ENTRIES) {
        return ERROR_TOO_MANY;
    }
    memset(&description, 0, sizeof description);
    description.memory = memory;
    description.map = map;
    description.count = (size_t)used;
    description.left = (size_t)MAX_ENTRIES;
    description.width = (size_t)(layout->size[AT_LOOP] > layout->size[AT_ELEMENT] ? layout->size[AT_LOOP]
                                                                                  : layout->size[AT_ELEMENT]);
    description.entries = heap_allocate(description.count, description.width);
    if (description.entries == NULL) {
        return ERROR_NO_STORE;
    }
    code = fetch_bytes(&memory->fetch, address, description.count * description.width, description.entries);
    if (code == mqs_ok) {
        code = unroll(&description, 0, description.count, 0, 0);
    }
    heap_free(description.entries);
    return code == mqs_end_of_list ? mqs_ok : code;
}

int datatype_map_set_up(struct datatype_map *map, struct datatypes *datatypes, mqs_taddr_t handle,
                        mqs_datatype_details *ret)
{
    struct memory *memory = datatypes->memory;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    const struct datatype *type;
    uint64_t flags;
    int code;

    datatype_map_clear(map);
    memset(ret, 0, sizeof *ret);
    memory_find_datatypes(memory);
    if (!layout_has(&memory->layout, AT_TYPE) || !layout_is_there(&memory->layout)) {
        return mqs_no_information;
    }
    code = fetch_structure(memory, handle, AT_TYPE, bytes);
    if (code != mqs_ok) {
        return code;
    }
    type = datatype_get(datatypes, handle);
    flags = layout_has(&memory->layout, AT_OPAL_TYPE_FLAGS)
                ? field_unsigned(memory, bytes, AT_OPAL_TYPE_FLAGS)
                : 0;
    ret->size = type->size;
    ret->lower = field_signed(memory, bytes, AT_OPAL_TYPE_LOWER);
    if (__builtin_sub_overflow(field_signed(memory, bytes, AT_OPAL_TYPE_UPPER), ret->lower, &ret->extent)) {
        return ERROR_DATATYPE;
    }
    ret->predefined = (flags & FLAG_PREDEFINED) != 0;
    ret->committed = (flags & (FLAG_COMMITTED | FLAG_PREDEFINED)) != 0;
    memcpy(ret->name, type->name, sizeof ret->name);
    datatype_text(datatypes, handle, ret->text, sizeof ret->text);
    code = read_description(memory, map, bytes);
    if (code != mqs_ok) {
        datatype_map_clear(map);
        return code;
    }
    map->set_up = true;
    return mqs_ok;
}

int datatype_map_next(struct datatype_map *map, mqs_datatype_block *ret)
{
    if (!map->set_up) {
        return ERROR_ORDER;
    }
    if (map->next >= map->blocks.count) {
        return map->cut ? ERROR_TOO_MANY : mqs_end_of_list;
    }
    *ret = ((const mqs_datatype_block *)map->blocks.items)[map->next++];
    return mqs_ok;
}

void datatype_map_clear(struct datatype_map *map)
{
    vector_clear(&map->blocks);
    memset(map, 0, sizeof *map);
}
