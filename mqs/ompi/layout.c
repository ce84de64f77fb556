/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "layout.h"

struct row {
    const char *structure;
    const char *tagged; /* "struct …", for debuggers that want it said */
    const char *member;
    const char *missing;
    enum layout_kind kind;
    enum layout_group group;
};

#define LAYOUT_SENTENCE(structure, member)                                                                   \
    "The MPI library of %s cannot be read: neither layout tables nor debug information have member '" member \
    "' of " structure " (an empty name: its size). It needs Open MPI with mpiq's patch, one built "          \
    "with -g, or a release that mpiq knows."

static const struct row rows[AT_END] = {
#define LAYOUT_ROW(slot, structure, member, kind, group) \
    {structure, "struct " structure, member, LAYOUT_SENTENCE(structure, member), KIND_##kind, GROUP_##group},
    LAYOUT_ROWS(LAYOUT_ROW)
#undef LAYOUT_ROW
};

void layout_init(struct layout *layout, const mqs_target_type_sizes *sizes)
{
    memset(layout, 0, sizeof *layout);
    layout->sizes = *sizes;
    layout_clear(layout);
}

void layout_clear(struct layout *layout)
{
    layout->source = mqs_layout_none;
    layout->nbc_base = 0;
    for (int i = 0; i < AT_END; i++) {
        layout->offset[i] = -1;
        layout->size[i] = 0;
    }
}

bool layout_has(const struct layout *layout, enum layout_slot slot)
{
    return layout->offset[slot] >= 0;
}

bool layout_has_group(const struct layout *layout, enum layout_group group)
{
    return layout_missing(layout, group) == NULL;
}

const char *layout_missing(const struct layout *layout, enum layout_group group)
{
    for (int i = 0; i < AT_END; i++) {
        if (rows[i].group == group && layout->offset[i] < 0) {
            return rows[i].missing;
        }
    }
    return NULL;
}

int layout_width(const struct layout *layout, enum layout_slot slot)
{
    switch (rows[slot].kind) {
    case KIND_BYTE:
        return 1;
    case KIND_HALF:
        return 2;
    case KIND_WORD:
        return 4;
    case KIND_DOUBLE:
        return 8;
    case KIND_POINTER:
        return layout->sizes.pointer_size;
    case KIND_SIZE:
        return layout->sizes.size_t_size;
    case KIND_ANY:
        break;
    }
    return layout->size[slot];
}

bool layout_is_size(enum layout_slot slot)
{
    return rows[slot].member[0] == '\0';
}

const char *layout_structure(enum layout_slot slot)
{
    return rows[slot].structure;
}

static bool is_size_row(int slot)
{
    return layout_is_size((enum layout_slot)slot);
}

/* Rows of a structure stand together: the index after the last of them. */
static int end_of_structure(int first)
{
    int i = first + 1;

    while (i < AT_END && strcmp(rows[i].structure, rows[first].structure) == 0) {
        i++;
    }
    return i;
}

/* A member that is itself a structure of ours, and that structure: it must fit where the member lies. */
static const struct {
    enum layout_slot member;
    enum layout_slot inner;
} embedded[] = {
    {AT_GROUP_SPARSE, AT_SPORADIC},    {AT_GROUP_SPARSE, AT_STRIDED},       {AT_GROUP_SPARSE, AT_BITMAP},
    {AT_PROC_NAME, AT_NAME},           {AT_REQUEST_STATUS, AT_STATUS},      {AT_LIST_SENTINEL, AT_ITEM},
    {AT_FREE_LIST_CHUNKS, AT_LIST},    {AT_OB1_COMM_WILD, AT_LIST},         {AT_OB1_PROC_POSTED, AT_LIST},
    {AT_OB1_PROC_UNEXPECTED, AT_LIST}, {AT_FRAG_HEADER, AT_RENDEZVOUS},     {AT_FRAG_SEGMENTS, AT_SEGMENT},
    {AT_LIBNBC_ACTIVE, AT_LIST},       {AT_COMM_REQUEST_SCHEDULE, AT_LIST}, {AT_ENDPOINT_EAGER, AT_BTLS},
};

/* A structure that begins with another one of ours. */
static const struct {
    enum layout_slot derived;
    enum layout_slot base;
} derived[] = {
    {AT_FREE_ITEM, AT_ITEM},
    {AT_REQUEST, AT_FREE_ITEM},
    {AT_PML, AT_REQUEST},
    {AT_SEND, AT_PML},
    {AT_RECV, AT_PML},
    {AT_HEADER, AT_HEADER_COMMON},
    {AT_FRAG, AT_FREE_ITEM},
    {AT_RENDEZVOUS, AT_HEADER},
    {AT_OB1_SEND, AT_SEND},
    {AT_NBC, AT_REQUEST},
    {AT_COMM_REQUEST, AT_REQUEST},
    {AT_COMM_STEP, AT_ITEM},
    {AT_PART_ITEM, AT_ITEM},
    {AT_PARTITIONED, AT_REQUEST},
    {AT_TYPE, AT_OPAL_TYPE},
};

void layout_check(struct layout *layout)
{
    for (size_t i = 0; i < sizeof derived / sizeof derived[0]; i++) {
        if (layout->size[derived[i].derived] < layout->size[derived[i].base]) {
            layout->offset[derived[i].derived] = -1;
        }
    }
    for (int first = 0; first < AT_END; first = end_of_structure(first)) {
        int end = end_of_structure(first);
        int32_t whole = layout->offset[first] < 0 ? -1 : layout->size[first];

        for (int i = first + 1; i < end; i++) {
            if (layout->offset[i] >= 0 &&
                (whole < 0 || layout->offset[i] > whole - layout_width(layout, (enum layout_slot)i))) {
                layout->offset[i] = -1;
            }
        }
    }
    for (size_t i = 0; i < sizeof embedded / sizeof embedded[0]; i++) {
        int member = embedded[i].member;
        int outer = member;

        while (!is_size_row(outer)) {
            outer--;
        }
        if (layout->offset[member] > layout->size[outer] - layout->size[embedded[i].inner]) {
            layout->offset[member] = -1;
        }
    }
}

static bool is_datatypes(enum layout_group group)
{
    return group == GROUP_DATATYPES || group == GROUP_CONSTRUCTORS;
}

static void add_debug_info(struct layout *layout, mqs_image *image, const mqs_image_callbacks *callbacks,
                           bool datatypes)
{
    for (int first = 0; first < AT_END; first = end_of_structure(first)) {
        int end = end_of_structure(first);
        mqs_type *type;
        int size;

        if (layout->offset[first] >= 0 || is_datatypes(rows[first].group) != datatypes) {
            continue;
        }
        /* The interface takes char *, and no debugger writes to it. */
        type = callbacks->mqs_find_type_fp(image, (char *)rows[first].structure, mqs_lang_c);
        if (type == NULL) {
            type = callbacks->mqs_find_type_fp(image, (char *)rows[first].tagged, mqs_lang_c);
        }
        if (type == NULL) {
            continue;
        }
        size = callbacks->mqs_sizeof_fp(type);
        if (size <= 0 || size > LAYOUT_MAX_STRUCT) {
            continue;
        }
        layout->offset[first] = 0;
        layout->size[first] = size;
        for (int i = first + 1; i < end; i++) {
            int offset = callbacks->mqs_field_offset_fp(type, (char *)rows[i].member);

            layout->offset[i] = offset < 0 || offset >= size ? -1 : offset;
        }
        layout->source = mqs_layout_debug_info;
    }
    layout_check(layout);
}

void layout_add_debug_info(struct layout *layout, mqs_image *image, const mqs_image_callbacks *callbacks)
{
    add_debug_info(layout, image, callbacks, false);
}

void layout_add_datatypes(struct layout *layout, mqs_image *image, const mqs_image_callbacks *callbacks)
{
    add_debug_info(layout, image, callbacks, true);
}

/* A pointer may share its place with a number of 8 bytes (opal_ptr_t): it lies at the start. */
static bool width_fits(const struct layout *layout, int slot, uint32_t size)
{
    uint32_t width = (uint32_t)layout_width(layout, (enum layout_slot)slot);

    return size == width || (rows[slot].kind == KIND_POINTER && size == 8 && width < 8);
}

void layout_add_row(struct layout *layout, const char *structure, const char *member, uint32_t offset,
                    uint32_t size)
{
    for (int i = 0; i < AT_END; i++) {
        if (strcmp(rows[i].structure, structure) != 0 || strcmp(rows[i].member, member) != 0) {
            continue;
        }
        if (size == 0 || size > LAYOUT_MAX_STRUCT || offset >= LAYOUT_MAX_STRUCT) {
            return;
        }
        if (rows[i].kind != KIND_ANY && !width_fits(layout, i, size)) {
            return;
        }
        layout->offset[i] = is_size_row(i) ? 0 : (int32_t)offset;
        layout->size[i] = (int32_t)size;
        layout->source = mqs_layout_tables;
        return;
    }
}

void layout_set(struct layout *layout, enum layout_slot slot, int32_t offset, int32_t size)
{
    layout->offset[slot] = offset;
    layout->size[slot] = size;
}

void layout_drop(struct layout *layout, enum layout_slot structure)
{
    int end = end_of_structure(structure);

    for (int i = structure; i < end; i++) {
        layout->offset[i] = -1;
        layout->size[i] = 0;
    }
}
