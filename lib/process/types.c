/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/debug.h"
#include "base/memory.h"
#include "base/name_table.h"
#include "process/debug_info.h"
#include "process/die.h"
#include "process/die_walk.h"
#include "process/type_index.h"

/* A typedef of a typedef of … ends; so do structs inside structs. */
enum { TYPEDEF_LIMIT = 64, NESTING_LIMIT = 16, MEMBER_LIMIT = 65536, TYPE_LIMIT = 100000 };

struct member {
    const char *name;
    uint64_t offset;
    struct mpiq_entry type;
};

struct mpiq_type {
    struct mpiq_object *object;
    char *name;
    struct mpiq_entry entry; /* typedefs and qualifiers stripped */
    uint64_t size;
    bool has_size;
    bool members_read;
    struct member *members; /* anonymous ones' members in their place */
    size_t member_count, member_capacity;
};

struct mpiq_types {
    struct mpiq_name_table by_name; /* of what was asked for: index + 1 of found, 0: there is none */
    struct mpiq_type **found;
    size_t count, capacity;
    char **missing; /* names that by_name holds with 0 */
    size_t missing_count, missing_capacity;
    struct mpiq_type_index *index; /* NULL: there is no debug information */
    bool index_tried;
};

static bool is_tagged(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_enumeration_type;
}

/* Follows typedefs and qualifiers.  The tag of what is left; 0: nothing is (void). */
static int strip(struct mpiq_entry *entry)
{
    for (int i = 0; i < TYPEDEF_LIMIT; i++) {
        struct mpiq_debug_unit *unit;
        _cleanup_die_ Dwarf_Die die = mpiq_die_at(entry, &unit);
        int tag = die ? mpiq_die_tag(die) : 0;
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
            tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
            return tag;
        struct mpiq_entry next;
        if (!mpiq_die_reference(unit, die, DW_AT_type, &next))
            return 0;
        *entry = next;
    }
    return 0;
}

/* Replaces a declaration by the definition of the same name elsewhere in the object.  Its tag, 0 if there is
   none. */
static int complete(struct mpiq_types *types, struct mpiq_entry *entry)
{
    int tag = strip(entry);
    if (!is_tagged(tag))
        return tag;
    struct mpiq_debug_unit *unit;
    _cleanup_die_ Dwarf_Die die = mpiq_die_at(entry, &unit);
    if (!die || !mpiq_die_has(die, DW_AT_declaration))
        return tag;
    const char *name = mpiq_die_string(unit, die, DW_AT_name);
    return name && mpiq_type_index_find(types->index, name, MPIQ_TYPE_TAGGED, entry) ? tag : 0;
}

static bool lookup(struct mpiq_types *types, const char *name, struct mpiq_entry *ret)
{
    static const char *const keywords[] = {"struct ", "union ", "enum ", "class "};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        size_t length = strlen(keywords[i]);
        if (strncmp(name, keywords[i], length) == 0)
            return mpiq_type_index_find(types->index, name + length, MPIQ_TYPE_TAGGED, ret);
    }
    return (mpiq_type_index_find(types->index, name, MPIQ_TYPE_NAMED, ret) && complete(types, ret)) ||
           mpiq_type_index_find(types->index, name, MPIQ_TYPE_TAGGED, ret);
}

static bool size_of(struct mpiq_types *types, struct mpiq_entry entry, int depth, uint64_t *ret);

/* How many elements an array has; false if that is not said. */
static bool count_elements(struct mpiq_debug_unit *unit, Dwarf_Die array, uint64_t *ret)
{
    uint64_t product = 1;
    int dimensions = 0;
    Dwarf_Die child = mpiq_die_child(unit, array);
    while (child && dimensions < NESTING_LIMIT) {
        uint64_t count = 0, low = 0;
        if (mpiq_die_tag(child) == DW_TAG_subrange_type) {
            dimensions++;
            if (!mpiq_die_number(child, DW_AT_count, &count)) {
                mpiq_die_number(child, DW_AT_lower_bound, &low);
                if (mpiq_die_number(child, DW_AT_upper_bound, &count))
                    count = count - low + 1;
                else
                    dimensions = NESTING_LIMIT + 1;
            }
            if (__builtin_mul_overflow(product, count, &product))
                dimensions = NESTING_LIMIT + 1;
        }
        Dwarf_Die next = mpiq_die_sibling(unit, child);
        mpiq_die_free(child);
        child = next;
    }
    mpiq_die_free(child);
    *ret = product;
    return dimensions > 0 && dimensions < NESTING_LIMIT;
}

/* Bytes of a type; entry need not be stripped. */
static bool size_of(struct mpiq_types *types, struct mpiq_entry entry, int depth, uint64_t *ret)
{
    int tag = complete(types, &entry);
    struct mpiq_debug_unit *unit = NULL;
    _cleanup_die_ Dwarf_Die die = tag ? mpiq_die_at(&entry, &unit) : NULL;
    if (!die || depth > NESTING_LIMIT)
        return false;
    if (mpiq_die_number(die, DW_AT_byte_size, ret))
        return true;
    struct mpiq_entry inner;
    switch (tag) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        *ret = unit->address_size;
        return true;
    case DW_TAG_enumeration_type:
        return mpiq_die_reference(unit, die, DW_AT_type, &inner) && size_of(types, inner, depth + 1, ret);
    case DW_TAG_array_type: {
        uint64_t count, size;
        return mpiq_die_reference(unit, die, DW_AT_type, &inner) && size_of(types, inner, depth + 1, &size) &&
               count_elements(unit, die, &count) && !__builtin_mul_overflow(count, size, ret);
    }
    default:
        return false;
    }
}

static void *grow(void *array, size_t count, size_t *capacity, size_t item)
{
    if (count < *capacity)
        return array;
    size_t larger_capacity = *capacity ? *capacity * 2 : 16;
    void *larger = mpiq_memory_checked(realloc(array, larger_capacity * item));
    if (larger)
        *capacity = larger_capacity;
    return larger;
}

static void remember_missing(struct mpiq_types *types, const char *name)
{
    char **larger = types->missing_count < TYPE_LIMIT
                        ? grow(types->missing, types->missing_count, &types->missing_capacity, sizeof *larger)
                        : NULL;
    char *copy = larger ? strdup(name) : NULL;
    if (larger)
        types->missing = larger;
    if (copy) {
        types->missing[types->missing_count++] = copy;
        mpiq_name_table_add(&types->by_name, copy, 0);
    }
}

static const struct mpiq_type *remember(struct mpiq_types *types, struct mpiq_object *object,
                                        const char *name, const struct mpiq_entry *entry)
{
    struct mpiq_type **larger =
        grow(types->found, types->count, &types->capacity, sizeof *larger); /* NOLINT */
    if (!larger)
        return NULL;
    types->found = larger;
    struct mpiq_type *type = mpiq_memory_checked(calloc(1, sizeof *type));
    if (!type || !(type->name = mpiq_memory_checked(strdup(name)))) {
        free(type);
        return NULL;
    }
    type->object = object;
    type->entry = *entry;
    type->has_size = size_of(types, *entry, 0, &type->size);
    types->found[types->count++] = type;
    mpiq_name_table_add(&types->by_name, type->name, types->count);
    return type;
}

static void types_deinit(void *memory)
{
    struct mpiq_types *types = memory;
    for (size_t i = 0; i < types->count; i++) {
        free(types->found[i]->members);
        free(types->found[i]->name);
        free(types->found[i]);
    }
    for (size_t i = 0; i < types->missing_count; i++)
        free(types->missing[i]);
    free(types->found);
    free(types->missing);
    mpiq_name_table_deinit(&types->by_name);
    mpiq_type_index_destroy(types->index);
}

static struct mpiq_types *types_of(struct mpiq_object *object)
{
    struct mpiq_types *types =
        mpiq_object_part(object, MPIQ_OBJECT_TYPES, sizeof(struct mpiq_types), types_deinit);
    if (types && !types->index_tried) {
        types->index_tried = true;
        struct mpiq_debug_info *info = mpiq_object_debug_info(object);
        types->index = info ? mpiq_type_index_create(info) : NULL;
    }
    return types;
}

const struct mpiq_type *mpiq_types_find(struct mpiq_object *object, const char *name)
{
    mpiq_object_lock();
    struct mpiq_types *types = types_of(object);
    const struct mpiq_type *type = NULL;
    uint64_t number;
    struct mpiq_entry entry;
    if (!types || !types->index)
        type = NULL;
    else if (mpiq_name_table_get(&types->by_name, name, &number))
        type = number && types->found ? types->found[number - 1] : NULL;
    else if (lookup(types, name, &entry))
        type = remember(types, object, name, &entry);
    else
        remember_missing(types, name);
    mpiq_object_unlock();
    return type;
}

bool mpiq_type_size(const struct mpiq_type *type, uint64_t *ret)
{
    if (type->has_size)
        *ret = type->size;
    return type->has_size;
}

const char *mpiq_type_name(const struct mpiq_type *type)
{
    return type->name;
}

/* The constant that DWARF 2's expression adds: DW_OP_plus_uconst or DW_OP_constu and a number. */
static bool added_constant(const struct mpiq_debug_unit *unit, Dwarf_Attribute attribute, uint64_t *ret)
{
    Dwarf_Block *block = NULL;
    Dwarf_Unsigned length = 0;
    Dwarf_Ptr expression = NULL;
    Dwarf_Error error = NULL;
    const unsigned char *bytes = NULL;
    if (mpiq_dwarf_ok(dwarf_formexprloc(attribute, &length, &expression, &error), error)) {
        bytes = expression;
    } else {
        error = NULL;
        if (!mpiq_dwarf_ok(dwarf_formblock(attribute, &block, &error), error))
            return false;
        bytes = block->bl_data;
        length = block->bl_len;
    }
    uint64_t value = 0;
    bool known = length >= 2 && (bytes[0] == DW_OP_plus_uconst || bytes[0] == DW_OP_constu);
    Dwarf_Unsigned at = 1;
    for (unsigned shift = 0; known; shift += 7) {
        if (at == length || shift > 56) {
            known = false;
            break;
        }
        value |= (uint64_t)(bytes[at] & 127) << shift;
        if (!(bytes[at++] & 128))
            break;
    }
    known = known && at == length;
    if (block)
        dwarf_dealloc(unit->view->debug, block, DW_DLA_BLOCK);
    if (known)
        *ret = value;
    return known;
}

/* The member's offset in its struct; those of a union have none written down. */
static bool member_offset(const struct mpiq_debug_unit *unit, Dwarf_Die die, uint64_t *ret)
{
    uint64_t value;
    if (mpiq_die_number(die, DW_AT_data_member_location, ret))
        return true;
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error = NULL;
    if (mpiq_dwarf_ok(dwarf_attr(die, DW_AT_data_member_location, &attribute, &error), error)) {
        bool known = added_constant(unit, attribute, ret);
        dwarf_dealloc_attribute(attribute);
        return known;
    }
    /* A bit field, or a union's member. */
    *ret = mpiq_die_number(die, DW_AT_data_bit_offset, &value) ? value / 8 : 0;
    return true;
}

static void add_member(struct mpiq_type *type, const char *name, uint64_t offset,
                       const struct mpiq_entry *entry)
{
    struct member *larger = type->member_count < MEMBER_LIMIT ? grow(type->members, type->member_count,
                                                                     &type->member_capacity, sizeof *larger)
                                                              : NULL;
    if (!larger)
        return;
    type->members = larger;
    type->members[type->member_count++] = (struct member){.name = name, .offset = offset, .type = *entry};
}

static void read_members(struct mpiq_type *type, struct mpiq_types *types, const struct mpiq_entry *aggregate,
                         uint64_t base, int depth)
{
    struct mpiq_debug_unit *unit = NULL;
    Dwarf_Die parent = depth <= NESTING_LIMIT ? mpiq_die_at(aggregate, &unit) : NULL;
    Dwarf_Die child = parent ? mpiq_die_child(unit, parent) : NULL;
    mpiq_die_free(parent);
    for (int visited = 0; child && visited < MEMBER_LIMIT; visited++) {
        struct mpiq_entry member_type;
        uint64_t offset;
        if (mpiq_die_tag(child) == DW_TAG_member &&
            mpiq_die_reference(unit, child, DW_AT_type, &member_type) &&
            member_offset(unit, child, &offset)) {
            const char *name = mpiq_die_string(unit, child, DW_AT_name);
            if (name)
                add_member(type, name, base + offset, &member_type);
            else if (complete(types, &member_type))
                read_members(type, types, &member_type, base + offset, depth + 1);
        }
        Dwarf_Die next = mpiq_die_sibling(unit, child);
        mpiq_die_free(child);
        child = next;
    }
    mpiq_die_free(child);
}

/* One name without dots. */
static const struct member *find_member(struct mpiq_type *type, const char *name, size_t length)
{
    for (size_t i = 0; i < type->member_count; i++) {
        if (strncmp(type->members[i].name, name, length) == 0 && type->members[i].name[length] == '\0')
            return &type->members[i];
    }
    return NULL;
}

/* The part before the first dot is a member of type; the rest is looked up in that member's own type. */
static bool find_path(struct mpiq_type *type, const char *path, int depth, uint64_t *ret)
{
    struct mpiq_types *types = types_of(type->object);
    if (!type->members_read) {
        type->members_read = true;
        read_members(type, types, &type->entry, 0, 0);
    }
    size_t length = strcspn(path, ".");
    const struct member *member = find_member(type, path, length);
    if (!member)
        return false;
    if (!path[length]) {
        *ret = member->offset;
        return true;
    }
    if (depth >= NESTING_LIMIT)
        return false;
    struct mpiq_type inner = {.object = type->object, .entry = member->type};
    uint64_t offset;
    bool found = complete(types, &inner.entry) && find_path(&inner, path + length + 1, depth + 1, &offset);
    free(inner.members);
    if (found)
        *ret = member->offset + offset;
    return found;
}

bool mpiq_type_member(const struct mpiq_type *type, const char *member, uint64_t *ret)
{
    mpiq_object_lock();
    bool found = find_path((struct mpiq_type *)type, member, 0, ret);
    mpiq_object_unlock();
    return found;
}
